import { connect } from 'node:net';
import { expect } from 'chai';
import { eventually } from '../../../../dev/support/eventually.ts';
import { ownPostgres } from '../../../../dev/support/parts.ts';
import { call, troublesOf } from '../../../support/gateway.ts';
import { openEvents } from '../../../support/http/event-stream.ts';
import { type Shop, startShop } from '../../../support/payment-shop.ts';
import { statementsOf } from '../../../support/statements.ts';

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
