import { expect } from 'chai';
import { QUICK } from '../../../dev/support/live-gateway.ts';
import { type OutageStage, startOutageStage } from '../support/outage.ts';

/** Servers that are away for a moment; test/long takes each of them away for longer. */
describe('a short outage', function () {
  this.timeout(120_000);
  let the: OutageStage;
  before(async () => {
    the = await startOutageStage(QUICK);
  });
  after(() => the?.stop());

  it('of PostgreSQL is answered with 503 and named, and what was paid meanwhile is credited once', async () => {
    await the.pay();
    await the.postgres.stop();
    await the.pay();
    for (const [path, body] of [['/customers'], ['/customers', { external_id: 'lost' }]] as const) {
      const { status, body: said } = await the.ask(path, body);
      expect({ status, code: said['code'] }, path).to.deep.equal({ status: 503, code: 'UNAVAILABLE' });
    }
    await the.named(/PostgreSQL/);
    await the.postgres.start();
    await the.expectHealed();
    expect((await the.ask('/customers')).body['data']).to.deep.equal([]);
  });

  it('of Temporal stops neither API nor deposits, and what they announce is delivered once afterwards', async () => {
    await the.live.temporal.stop();
    await the.pay();
    const customer = await the.ask('/customers', { external_id: 'away' });
    const simulated = await the.ask('/test/simulate-deposit', {
      customer_id: customer.body['id'],
      amount: '10',
    });
    expect([customer.status, simulated.status]).to.deep.equal([201, 201]);
    await the.named(/Temporal/);
    expect(the.testReceiver.requests).to.have.length(0);
    await the.live.temporal.start();
    await the.expectHealed();
    const told = the.testReceiver.requests.map(({ body }) => String(JSON.parse(body.toString()).data.id));
    expect([...new Set(told)]).to.have.members([customer.body['id'], simulated.body['id']]);
  });
});
