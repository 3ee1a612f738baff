import { randomInt } from 'node:crypto';
import { connect, createServer } from 'node:net';

const TRIES = 4;
const DRAWS = 100;
// Below what systems give to outgoing connections (from 32768): else a client that keeps trying a stopped
// server is given that very port as its own, connects to itself, and the server cannot come back.
const FIRST_PORT = 20_000;
const END_PORT = 32_000;

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** Whether something takes connections on this port of 127.0.0.1 now. */
export function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

/** A TCP port of 127.0.0.1 that nothing listened on a moment ago. Throws a sentence when there is none. */
export async function freePort(): Promise<number> {
  for (let draw = 0; draw < DRAWS; draw++) {
    const port = randomInt(FIRST_PORT, END_PORT);
    if (await isFree(port)) return port;
  }
  throw new Error(
    `no free TCP port from ${FIRST_PORT} to ${END_PORT} on 127.0.0.1: stop some programs and try again`,
  );
}

/** The wanted port, or a free one where none was named. Throws a sentence when the wanted one is taken. */
export async function choosePort(name: string, wanted: number | undefined): Promise<number> {
  if (wanted === undefined) return freePort();
  if (await isFree(wanted)) return wanted;
  throw new Error(
    `port ${wanted} of 127.0.0.1, wanted for ${name}, is taken: stop the program that has it or choose another port`,
  );
}

/**
 * Runs `start` again, a few times, when another program was faster to take
 * a port that was free a moment before.
 */
export async function retryTakenPort<T>(start: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start();
    } catch (error) {
      if (attempt === TRIES || !/address already in use/i.test(String(error))) throw error;
    }
  }
}
