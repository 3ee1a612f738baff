import { connect } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { eventually } from '../../../../dev/support/eventually.ts';
import { ownPostgres } from '../../../../dev/support/parts.ts';
import { html, raw } from '../../../../src/web/html.ts';
import { call, troublesOf } from '../../../support/gateway.ts';
import { openEvents } from '../../../support/http/event-stream.ts';
import { type Shop, startShop } from '../../../support/payment-shop.ts';
import { statementsOf } from '../../../support/statements.ts';

/** What is in use, without what is only not yet collected. */
const keptBytes = (): number => {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};
const passed = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('the end of a stream', function () {
  this.timeout(60_000);
  const shops: Shop[] = [];
  afterEach(async () => {
    for (const shop of shops.splice(0)) await shop.stop();
  });

  const start = async (options: Parameters<typeof startShop>[0] = {}) => {
    const shop = await startShop(options);
    shops.push(shop);
    const customerId = await shop.customer();
    const link = await shop.link({ customerId });
    const follow = (from?: string) =>
      openEvents(`${shop.api.origin}/pay/${link.token}/live`, from ? { from } : {});
    return { shop, link, customerId, follow };
  };

  const SIZE = 4_000_000;
  /** Somebody who opens the stream of a very large page and never reads. */
  const startDeaf = async (lifeEveryMs: number) => {
    const made = { count: 0 };
    const none = () => ({ title: 'x', body: html`` });
    const render = () => {
      made.count += 1;
      return { title: 'x', body: raw(`<p>${made.count}</p>${'x'.repeat(SIZE)}`) };
    };
    const pages = { render, unknown: none, tooOften: none, unavailable: none };
    const started = await start({ pay: { pages, times: { lifeEveryMs } } });
    const { port, hostname } = new URL(started.shop.api.origin);
    const deaf = connect(Number(port), hostname).pause();
    deaf.on('error', () => undefined);
    deaf.write(`GET /pay/${started.link.token}/live HTTP/1.1\r\nHost: x\r\n\r\n`);
    await eventually('the first rendering', () => made.count >= 1);
    return { ...started, deaf, made };
  };

  it('waits at a shutdown for no reader who does not read', async () => {
    const { shop, customerId, deaf, made } = await startDeaf(15_000);
    for (let change = 0; change < 3; change += 1) {
      await shop.pay(customerId, { coins: '1', state: 'detected' });
      await eventually('another rendering', () => made.count >= change + 2);
    }
    shops.length = 0;
    const from = performance.now();
    await shop.stop();
    expect(performance.now() - from).to.be.lessThan(1_000);
    deaf.destroy();
  });

  it('comes for a reader who does not read, for whom no more than the newest is kept', async () => {
    const { shop, customerId, deaf, made } = await startDeaf(6_000);
    const before = keptBytes();
    for (let change = 0; change < 8; change += 1) {
      await shop.pay(customerId, { coins: '1', state: 'detected' });
      await eventually('another rendering', () => made.count >= change + 2);
    }
    expect(keptBytes() - before).to.be.lessThan(6 * SIZE);
    const sent = await statementsOf(shop.deps.orm);
    await passed(14_000);
    sent.length = 0;
    await passed(2_000);
    expect(sent, 'nobody watches any more').to.deep.equal([]);
    deaf.destroy();
  });

  it('leaves nothing of callers who open and go, thousands of times', async () => {
    const { shop, link, follow } = await start();
    const { port, hostname } = new URL(shop.api.origin);
    const rush = async (count: number) => {
      for (let done = 0; done < count; done += 1) {
        await new Promise<void>((resolve) => {
          const socket = connect(Number(port), hostname, () => {
            socket.write(`GET /pay/${link.token}/live HTTP/1.1\r\nHost: x\r\n\r\n`);
            setTimeout(() => socket.destroy(), done % 12);
          });
          socket.on('error', () => undefined).once('close', () => resolve());
        });
      }
    };
    await Promise.all(Array.from({ length: 20 }, () => rush(100)));
    await eventually('a place again', async () => {
      const stream = await follow();
      stream.close();
      return stream.status === 200;
    });
    const sent = await statementsOf(shop.deps.orm);
    await passed(1_500);
    sent.length = 0;
    await passed(2_000);
    expect(sent, 'nobody watches any more').to.deep.equal([]);
    expect(troublesOf(shop.api)).to.deep.equal([]);
  });

  it('does not come while the database is away: it waits, says so once, and goes on', async () => {
    const server = await ownPostgres();
    try {
      const { shop, customerId, follow } = await start({ databaseUrl: server.now.url });
      const other = await shop.link({ customerId: await shop.customer() });
      const stream = await follow();
      await stream.view('a first view', () => true);
      await server.stop();
      await passed(4_000);
      expect(stream.isEnded()).to.equal(false);
      const told = troublesOf(shop.api).filter(({ text }) => text.includes('cannot be read'));
      expect(told).to.have.length(1);
      const another = await openEvents(`${shop.api.origin}/pay/${other.token}/live`);
      expect(another.status, 'of a link that nobody watched').to.equal(503);
      await server.start();
      await eventually('the database', async () => (await call(`${shop.api.url}/payments/x`)).status === 404);
      await shop.pay(customerId, { coins: '1', state: 'detected' });
      await stream.view('money', ({ main }) => /Payment seen/.test(main));
      shops.length = 0;
      await shop.stop();
    } finally {
      await server.stop();
    }
  });
});
