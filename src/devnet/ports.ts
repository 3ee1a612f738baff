import { createServer } from 'node:net';

const TRIES = 4;

function listenOnce(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : undefined));
    });
  });
}

/** A TCP port of 127.0.0.1 that nothing listened on a moment ago. */
export async function freePort(): Promise<number> {
  const port = await listenOnce(0);
  if (port === undefined) throw new Error('no free TCP port on 127.0.0.1: stop some programs and try again');
  return port;
}

/**
 * Starts something on the port that was asked for, or on a free one. A free port can be taken by another program before ours gets
 * it, so that case is tried again with a new one. A port that was asked for and is taken gives a sentence.
 */
export async function onPort<T>(name: string, port: number | undefined, start: (port: number) => Promise<T>): Promise<T> {
  if (port !== undefined) {
    if ((await listenOnce(port)) === undefined)
      throw new Error(`port ${port} of 127.0.0.1, wanted for ${name}, is taken: stop the program that has it or choose another port`);
    return start(port);
  }
  for (let attempt = 1; ; attempt++) {
    const candidate = await freePort();
    try {
      return await start(candidate);
    } catch (error) {
      if (attempt === TRIES || (await listenOnce(candidate)) !== undefined) throw error;
    }
  }
}
