import net, { type AddressInfo, type Socket } from 'node:net';

/**
 * A TCP door in front of a server: while it is closed its port
 * refuses connections, as a host does whose service is down.
 */
export type Gate = {
  readonly url: string;
  /** Where connections go; may be set after the port is known. */
  target(url: string): void;
  close(): Promise<void>;
  open(): Promise<void>;
  /**
   * From now on every byte is accepted and none is passed on, nor is an end: the other side
   * has vanished without a word, as behind a firewall that forgot the connection. New
   * connections are accepted and never answered.
   */
  vanish(): void;
  /** New connections work again; those from before stay dead. */
  reappear(): void;
};

/** Opens a gate on a free port of 127.0.0.1. */
export async function startGate(): Promise<Gate> {
  const sockets = new Set<Socket>();
  let to: URL | undefined;
  let vanished = false;
  const server = net.createServer({ allowHalfOpen: true }, (near) => {
    if (vanished) {
      forget(near);
      return;
    }
    if (!to) {
      near.destroy();
      return;
    }
    const far = net.connect(Number.parseInt(to.port, 10), to.hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.once('close', () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  /** Reads and drops what still comes, and sends nothing more; the end of the process closes it. */
  const forget = (socket: Socket): void => {
    sockets.add(socket);
    socket.unpipe();
    for (const event of ['close', 'end', 'error']) socket.removeAllListeners(event);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
    socket.resume();
  };
  const listen = (port: number): Promise<void> =>
    new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    target: (url) => {
      to = new URL(url);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
    open: () => listen(port),
    vanish: () => {
      vanished = true;
      for (const socket of [...sockets]) forget(socket);
    },
    reappear: () => {
      vanished = false;
    },
  };
}
