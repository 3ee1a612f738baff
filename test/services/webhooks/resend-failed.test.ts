import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { migratedDatabase } from '../../../dev/support/parts.ts';
import { resendFailed, sendTestEvent } from '../../../dev/support/use-cases.ts';
import { type Shops, startShops } from '../../support/shop.ts';
import { type Bench, startDeliveries } from './support.ts';

/** `RESEND_TEST_COUNT=1000` runs it at full size, which takes two minutes. */
const COUNT = Number(process.env['RESEND_TEST_COUNT'] ?? 60);
const EVERY_MS = 100;

describe('everything that failed at an endpoint', function () {
  this.timeout(90_000 + COUNT * 600);
  let shops: Shops;
  before(async () => {
    shops = await startShops((await migratedDatabase()).url);
  });
  after(() => shops?.stop());

  it('arrives by one call, once each, with the same ids and bodies, ten a second', async () => {
    const { deps } = shops.gateway;
    const merchant = await shops.merchant();
    const { receiver, endpointId } = await merchant.register(404);
    const scope = { ...merchant.scope, id: endpointId };
    const since = new Date(Date.now() - 1_000);
    for (let index = 0; index < COUNT; index += 1) await sendTestEvent(deps, scope);
    const failed = async () =>
      (await shops.deliveriesTo(endpointId)).every(({ status }) => status === 'failed');
    await eventually('the failures', failed, 30_000 + COUNT * 300);
    const first = receiver.requests.slice();
    expect(first).to.have.length(COUNT);
    receiver.setBehaviour(200);
    expect(await resendFailed(deps, { ...scope, since })).to.deep.equal({ resent: COUNT, hasMore: false });
    const succeeded = async () =>
      (await shops.deliveriesTo(endpointId)).every(({ status }) => status === 'succeeded');
    await eventually('the successes', succeeded, 30_000 + COUNT * 200);
    const second = receiver.requests.slice(COUNT);
    expect(second).to.have.length(COUNT);
    const bodies = (requests: typeof first) =>
      new Map(requests.map(({ headers, body }) => [headers['x-webhook-id'], body.toString()]));
    expect(bodies(second).size).to.equal(COUNT);
    expect(bodies(second)).to.deep.equal(bodies(first));
    expect(
      second.every(({ headers, verified }) => verified && headers['x-webhook-attempt'] === '1'),
    ).to.equal(true);
    // Never earlier than its own time; how late is the machine's affair.
    const began = second[0]?.at ?? 0;
    expect((second.at(-1)?.at ?? 0) - began).to.be.at.least((COUNT - 1) * EVERY_MS - 1_500);
    const perSecond = second.map(
      (_, index) =>
        second.filter(({ at }) => at >= began + index * 250 && at < began + index * 250 + 1_000).length,
    );
    expect(Math.max(...perSecond), 'in one second').to.be.at.most(25);
  });
});

describe('a delivery that is resent with many others', function () {
  this.timeout(20_000);
  let bench: Bench;
  before(async () => {
    bench = await startDeliveries();
  });
  after(() => bench?.stop());

  it('is not sent before its time, whoever starts its actor', async () => {
    const target = await bench.target([404, 404, 404, 503, 200]);
    const events = [];
    for (let index = 0; index < 3; index += 1) {
      events.push(await bench.make(target));
      const event = events.at(-1);
      if (event) await bench.deliver(event);
      bench.pass(1_000);
    }
    const [, , last] = events;
    if (!last) throw new Error('three events were expected');
    const since = new Date(bench.now() - 60_000);
    expect(await resendFailed(bench.deps, { ...target.scope, id: target.endpointId, since })).to.include({
      resent: 3,
    });
    expect(await bench.deliver(last)).to.include({ kind: 'later', delayMs: 2 * EVERY_MS });
    expect(target.receiver.requests).to.have.length(3);
    bench.pass(2 * EVERY_MS);
    // From the first attempt on, the usual pauses.
    expect(await bench.deliver(last)).to.include({ kind: 'retry', delayMs: 1_000 });
    bench.pass(1_000);
    expect(await bench.deliver(last)).to.include({ kind: 'done', status: 'succeeded' });
    expect(
      target.receiver.requests.slice(3).map(({ headers }) => headers['x-webhook-attempt']),
    ).to.deep.equal(['1', '2']);
  });
});
