import { expect } from 'chai';
import { missingSearchAttributes } from '../../../src/temporal/search-attributes.ts';
import { type OutageStage, startOutageStage } from '../../actors/support/outage.ts';

const OUTAGE_MS = 20_000;
const NOTICED_WITHIN_MS = 20_000;
const BLOCK_EVERY_MS = 1_000;
const PAY_UNTIL_MS = 12_000;

/**
 * Each part in turn is away for 20 s while customers go on paying: nothing may be lost and nothing doubled.
 */
describe('an outage', function () {
  this.timeout(150_000);
  let the: OutageStage;
  before(async () => {
    the = await startOutageStage();
  });
  after(() => the?.stop());

  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  /** Customers pay all the time, and blocks go on. */
  async function payFor(ms: number): Promise<void> {
    for (const until = Date.now() + ms; Date.now() < until; await sleep(BLOCK_EVERY_MS)) await the.pay();
  }
  /** The reason is named within 20 s of the beginning. */
  const expectNoticed = (sinceMs: number, reason: RegExp) =>
    the.named(reason, Math.max(1_000, NOTICED_WITHIN_MS - (Date.now() - sinceMs)));
  const rest = (sinceMs: number) => sleep(Math.max(0, OUTAGE_MS - (Date.now() - sinceMs)));

  it('of PostgreSQL is answered with 503 within 2 s, named, and caught up afterwards', async () => {
    await payFor(2_500);
    const sinceMs = Date.now();
    await the.postgres.stop();
    const paying = payFor(PAY_UNTIL_MS);
    for (const [path, body] of [
      ['/customers'],
      ['/customers', { external_id: 'lost' }],
      ['/webhook-endpoints'],
    ] as const) {
      const answer = await the.ask(path, body);
      expect(answer, path).to.include({ status: 503 });
      expect(answer.body).to.include({ code: 'UNAVAILABLE' });
      expect(answer.tookMs, path).to.be.below(2_500);
    }
    await expectNoticed(sinceMs, /PostgreSQL/);
    await paying;
    await rest(sinceMs);
    await the.postgres.start();
    await the.expectHealed();
    expect((await the.ask('/customers')).body['data']).to.deep.equal([]);
  });

  it('of a PostgreSQL that hangs is answered with 503 within 2 s too', async () => {
    await payFor(1_500);
    const sinceMs = Date.now();
    the.postgres.now.pause();
    const paying = payFor(PAY_UNTIL_MS);
    try {
      for (let count = 0; count < 12; count += 1)
        expect(await the.ask('/customers'))
          .to.include({ status: 503 })
          .and.property('tookMs')
          .below(2_500);
      await expectNoticed(sinceMs, /PostgreSQL/);
      await paying;
      await rest(sinceMs);
    } finally {
      the.postgres.now.resume();
    }
    await the.expectHealed();
  });

  it('of Temporal stops neither the API nor the recording of deposits, and what they announce is delivered afterwards', async () => {
    const sinceMs = Date.now();
    await the.live.temporal.stop();
    const paying = payFor(PAY_UNTIL_MS);
    const made: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      const customer = await the.ask('/customers', { external_id: `away-${count}` });
      expect(customer).to.include({ status: 201 });
      expect(customer.tookMs).to.be.below(2_000);
      const simulated = await the.ask('/test/simulate-deposit', {
        customer_id: customer.body['id'],
        amount: '10',
      });
      expect(simulated).to.include({ status: 201 });
      expect(simulated.tookMs).to.be.below(2_000);
      made.push(String(customer.body['id']), String(simulated.body['id']));
    }
    await expectNoticed(sinceMs, /Temporal/);
    await paying;
    await rest(sinceMs);
    expect(the.testReceiver.requests).to.have.length(0);
    await the.live.temporal.start();
    await the.expectHealed();
    const about = the.testReceiver.requests.map((request) =>
      String(JSON.parse(request.body.toString()).data.id),
    );
    expect(new Set(about)).to.deep.equal(new Set(made));
    const ids = the.testReceiver.requests.map((request) => request.headers['x-webhook-id']);
    expect(new Set(ids).size).to.equal(made.length);
  });

  it('of a Temporal that takes calls and answers none keeps no worker from starting', async () => {
    const { link, config } = the.live.gateway.gateway;
    if (!link) throw new Error('this gateway has no Temporal');
    expect(await missingSearchAttributes(link, config.temporal.namespace)).to.deep.equal([]);
    the.live.temporal.now.pause();
    const sinceMs = Date.now();
    try {
      const checked = await missingSearchAttributes(link, config.temporal.namespace).then(
        () => 'answered',
        () => 'failed',
      );
      expect(checked).to.equal('failed');
      expect(Date.now() - sinceMs).to.be.below(10_000);
    } finally {
      the.live.temporal.now.resume();
    }
  });

  it('of every RPC endpoint that hangs is named and caught up', async () => {
    await payFor(1_500);
    const sinceMs = Date.now();
    the.live.chain.anvil.pause();
    try {
      await expectNoticed(sinceMs, /^bsc was not read for \d+ s: /);
      await rest(sinceMs);
    } finally {
      the.live.chain.anvil.resume();
    }
    await payFor(1_500);
    await the.expectHealed();
  });

  it('of every RPC endpoint that refuses is named, and the blocks of that time are caught up in order', async () => {
    const sinceMs = Date.now();
    await the.gate.close();
    const paying = payFor(PAY_UNTIL_MS);
    await expectNoticed(sinceMs, /^bsc was not read for \d+ s: /);
    await paying;
    await rest(sinceMs);
    await the.gate.open();
    await the.expectHealed();
  });
});
