import { connect } from 'node:net';
import { expect } from 'chai';
import Koa from 'koa';
import { createServer } from '../../../src/api/server.ts';

/**
 * Sends the bytes and never ends its side: resolves when
 * the server has left for good, which only a write tells.
 */
async function heldOpen(port: number, bytes: string): Promise<{ first: string; closed: boolean }> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
  });
  socket.on('error', () => undefined);
  socket.write(bytes, 'latin1');
  const writing = setInterval(() => socket.write('a'), 200);
  const closed = await new Promise<boolean>((resolve) => {
    socket.once('close', () => resolve(true));
    setTimeout(() => resolve(false), 45_000).unref();
  });
  clearInterval(writing);
  socket.destroy();
  return { first: received.slice(0, 12), closed };
}

describe('a refused connection that its sender never ends', function () {
  this.timeout(60_000);

  it('is cut, whatever it was refused for, and does not keep the server from closing', async () => {
    const app = new Koa();
    // The frame answers errors elsewhere; a body that breaks off is none here.
    app.silent = true;
    app.use(async (ctx) => {
      for await (const _ of ctx.req);
      ctx.body = 'read';
    });
    const server = createServer(app, {
      headersTimeout: 300,
      requestTimeout: 600,
      connectionsCheckingInterval: 100,
    });
    const { port } = await server.listen({ port: 0, host: '127.0.0.1' });
    const cases: readonly (readonly [string, string])[] = [
      ['408', 'GET / HTTP/1.1\r\nX-A: '],
      ['400', 'no request at all\r\n\r\n'],
      ['405', 'CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n'],
    ];
    const seen = await Promise.all(cases.map(([, bytes]) => heldOpen(port, bytes)));
    expect(seen).to.deep.equal(cases.map(([status]) => ({ first: `HTTP/1.1 ${status}`, closed: true })));
    const tunnel = heldOpen(port, 'CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((resolve) => setTimeout(resolve, 300));
    await server.close(100);
    expect((await tunnel).closed).to.equal(true);
  });
});
