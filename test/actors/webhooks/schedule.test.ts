import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { QUICK } from '../../../dev/support/live-gateway.ts';
import { migratedDatabase } from '../../../dev/support/parts.ts';
import { type ReceivedRequest, type Script, startReceiver } from '../../../dev/support/receiver.ts';
import { updateEndpoint } from '../../../dev/support/use-cases.ts';
import { Deposit } from '../../../src/db/entities/index.ts';
import { BACKOFF_MS, DEFAULT_MAX_ATTEMPTS } from '../../../src/domain/webhook.ts';
import { workflowIdOf } from '../../../src/services/deposits/actor-message.ts';
import { type DeliveryRow, type Shops, startShops } from '../../support/shop.ts';
import { webUi } from '../../support/web-ui.ts';

const hasEnded = (row: DeliveryRow): boolean => row.status !== 'pending';
const secondIsRecorded = (row: DeliveryRow): boolean => row.attempts[1]?.finished_at != null;
const attemptsOf = (requests: readonly ReceivedRequest[]) =>
  requests.map(({ headers }) => headers['x-webhook-attempt']);

/** The attempts at one event, at a tenth of their distances; test/long waits for them as they are. */
describe('the attempts at a webhook', function () {
  this.timeout(90_000);
  let shops: Shops;
  before(async () => {
    shops = await startShops((await migratedDatabase()).url, QUICK);
  });
  after(() => shops?.stop());

  const sql = <T>(text: string) => shops.gateway.deps.orm.em.fork().execute<T[]>(text);
  /** One event to one receiver of a new merchant. */
  async function announceTo(behaviour: Script) {
    const merchant = await shops.merchant();
    const registered = await merchant.register(behaviour);
    const { transactionHash } = await merchant.announce();
    return { ...registered, transactionHash, scope: merchant.scope };
  }

  it('are five of the same event with the distances of the schedule, each signed, and then it has failed', async () => {
    // Each row as an attempt left it: how long after its end the next one is due.
    await sql(`create table planned as select number, null::float as after_ms from webhook_attempts limit 0`);
    await sql(`create function plan() returns trigger language plpgsql as $$ begin
        insert into planned select number, extract(epoch from new.next_attempt_at - finished_at) * 1000
        from webhook_attempts where delivery_id = new.id order by number desc limit 1;
        return null; end $$`);
    await sql(`create constraint trigger plan after update of next_attempt_at on webhook_deliveries
      deferrable initially deferred for each row
      when (new.next_attempt_at is not null) execute function plan()`);
    const { receiver, endpointId } = await announceTo(500);
    const end = await shops.delivery(endpointId, 'the end', hasEnded);
    await sql('drop function plan cascade');
    expect(end).to.include({ status: 'failed', next_attempt_at: null });
    expect(end.attempts.map(({ number, status_code }) => [number, status_code])).to.deep.equal(
      [1, 2, 3, 4, 5].map((number) => [number, 500]),
    );
    const planned = await sql<{ number: number; after_ms: number }>('select * from planned order by number');
    // The end is written a moment after the time of the next one was chosen: never more than its distance.
    const steps = BACKOFF_MS.slice(0, DEFAULT_MAX_ATTEMPTS - 1).map((ms) => ms * QUICK.pace);
    expect(
      planned.map(({ number, after_ms }) => [number, steps.find((step) => after_ms <= step)]),
    ).to.deep.equal(steps.map((step, index) => [index + 1, step]));
    const { requests } = receiver;
    expect(attemptsOf(requests)).to.deep.equal(['1', '2', '3', '4', '5']);
    const different = (of: (request: ReceivedRequest) => unknown) => new Set(requests.map(of)).size;
    expect({
      ids: different(({ headers }) => headers['x-webhook-id']),
      bodies: different(({ body }) => body.toString('hex')),
      verified: requests.filter(({ verified }) => verified).length,
    }).to.deep.equal({ ids: 1, bodies: 1, verified: 5 });
  });

  it('follow what the merchant changes between them: the next one goes to the new URL with the new signature', async () => {
    const { deps, gateway } = shops.gateway;
    const setPace = (pace: number): void => void Object.assign(deps.settings, { pace });
    // After the second attempt there is all the time for the changes.
    const { receiver, endpointId, secret, scope, transactionHash } = await announceTo((index) => {
      if (index === 1) setPace(10);
      return 503;
    });
    const row = await shops.delivery(endpointId, 'attempt 2', secondIsRecorded);
    const change = { ...scope, id: endpointId };
    const rotated = await updateEndpoint(deps, { ...change, rotateSecret: true });
    const next = await startReceiver({ secret: rotated.secret ?? '' });
    try {
      await updateEndpoint(deps, { ...change, url: next.url });
      setPace(QUICK.pace);
      const deposit = await deps.orm.em.fork().findOneOrFail(Deposit, { transactionHash });
      const { link } = gateway;
      if (!link) throw new Error('no Temporal');
      await webUi(link, workflowIdOf(deposit)).resetActivity(`deliver:${row.id}`);
      const end = await shops.delivery(endpointId, 'the end', hasEnded);
      expect(end.status).to.equal('succeeded');
      expect(attemptsOf(receiver.requests)).to.deep.equal(['1', '2']);
      expect(attemptsOf(next.requests)).to.deep.equal(['3']);
      const [{ headers, body, verified }] = next.requests as [ReceivedRequest];
      expect(verified).to.equal(true);
      // By hand: a verifier may take the other header, which is signed with both.
      const signedBy = (key: string) =>
        createHmac('sha256', key).update(`${headers['x-webhook-timestamp']}.`).update(body).digest('hex');
      expect(headers['x-webhook-signature']).to.equal(signedBy(rotated.secret ?? ''));
      expect(headers['x-webhook-signature']).to.not.equal(signedBy(secret));
      expect(String(headers['webhook-signature']).split(' ')).to.have.length(2);
    } finally {
      setPace(QUICK.pace);
      await next.stop();
    }
  });
});
