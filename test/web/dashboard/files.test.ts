import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import Koa, { type Context } from 'koa';
import { eventually } from '../../../dev/support/eventually.ts';
import { createFiles } from '../../../src/web/dashboard/files.ts';
import type { Download, Visit } from '../../../src/web/dashboard/visit.ts';

/** A file whose second piece does not come before the test ends. */
const ENDLESS: Download = {
  name: 'endless-{mode}.csv',
  type: 'text/csv',
  async *pieces() {
    yield 'name\r\n';
    await new Promise(() => undefined);
  },
};
const QUICK: Download = {
  ...ENDLESS,
  async *pieces() {
    yield 'name\r\n';
  },
};
const TOO_OFTEN = Object.assign(new Error('too often'), { status: 429, expose: true });

describe('files that are made while they are read', () => {
  let server: Server;
  let origin = '';
  before(async () => {
    const send = createFiles();
    const app = new Koa();
    app.use(async (ctx: Context) => {
      const [, merchantId = '', what] = ctx.path.split('/');
      const door = { tooOften: () => TOO_OFTEN, late: (cause: Error) => cause };
      const visit = { ctx, door, mode: 'live', owner: { merchantId } } as unknown as Visit;
      await send(visit, what === 'quick' ? QUICK : ENDLESS, 1_000);
    });
    app.silent = true;
    server = createServer(app.callback());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  it('are a few of a merchant at a time, and leave those of another alone', async () => {
    const readers = Array.from({ length: 5 }, () => new AbortController());
    const open = (merchant: string, signal?: AbortSignal) =>
      fetch(`${origin}/${merchant}/endless`, signal ? { signal } : {});
    for (const { signal } of readers) expect((await open('one', signal)).status).to.equal(200);
    expect((await open('one')).status).to.equal(429);
    const other = new AbortController();
    expect((await open('other', other.signal)).status).to.equal(200);
    // Whoever leaves makes room, and what was read, also where nobody wanted its rows.
    readers[0]?.abort();
    for (const method of ['GET', 'HEAD', 'GET', 'HEAD', 'GET', 'HEAD', 'GET'])
      await eventually('a place', async () => {
        const answer = await fetch(`${origin}/one/quick`, { method });
        await answer.text();
        return answer.status === 200;
      });
    for (const reader of [...readers, other]) reader.abort();
  });
});
