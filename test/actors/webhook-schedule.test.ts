import { expect } from 'chai';
import { simulateDeposit } from '../../src/services/simulate.ts';
import {
  createCustomer,
  createEndpoint,
  createMerchant,
  eventually,
  type LiveGateway,
  ownTemporal,
  randomHash,
  startLiveGateway,
} from '../support/live-gateway.ts';
import { freshDatabase, ownPostgres } from '../support/parts.ts';
import { type ReceivedRequest, type Receiver, type Script, startReceiver } from '../support/receiver.ts';

type AttemptRow = {
  number: number;
  status_code: number | null;
  error: string | null;
  started_at: string;
  finished_at: string | null;
};
type Delivery = { id: string; status: string; next_attempt_at: string | null; attempts: AttemptRow[] };

/** A gateway with one merchant in test mode. */
async function startShop(databaseUrl: string) {
  const temporal = await ownTemporal();
  const gateway = await startLiveGateway({ databaseUrl, temporalAddress: temporal.now.address });
  const { merchantId } = await createMerchant(gateway.deps, { name: 'Shop', subscriptionActive: true });
  const scope = { merchantId, mode: 'test' as const };
  const customer = await createCustomer(gateway.deps, { ...scope, externalId: 'user-1', email: null, name: null, metadata: {} });
  const receivers: Receiver[] = [];
  return {
    gateway,
    /** A receiver of its own for one deposit: the event of that deposit is the only one that it gets. */
    announceTo: async (behaviour: Script): Promise<{ receiver: Receiver; delivery: () => Promise<Delivery> }> => {
      const receiver = await startReceiver({ behaviour });
      receivers.push(receiver);
      const endpoint = await createEndpoint(gateway.deps, {
        ...scope,
        url: receiver.url,
        events: ['deposit.completed'],
        description: null,
      });
      receiver.setSecret(endpoint.secret);
      await simulateDeposit(gateway.deps, {
        ...{ merchantId, customerId: customer.id, network: 'bsc', currency: 'USDT', amountUnits: 10n ** 19n },
        ...{ transactionHash: randomHash(), outcome: 'completed', events: 'final' },
      });
      // Nothing that is announced later goes there; what is on its way still does.
      await gateway.deps.orm.em
        .fork()
        .execute(`update webhook_endpoints set events = array['payment.completed'] where id = ?`, [endpoint.id]);
      return { receiver, delivery: () => deliveryTo(gateway, endpoint.id) };
    },
    stop: async () => {
      await gateway.stop();
      await Promise.all(receivers.map((receiver) => receiver.stop()));
      await temporal.stop();
    },
  };
}

async function deliveryTo(gateway: LiveGateway, endpointId: string): Promise<Delivery> {
  const em = gateway.deps.orm.em.fork();
  const rows = await em.execute<Omit<Delivery, 'attempts'>[]>(
    'select id, status, next_attempt_at from webhook_deliveries where endpoint_id = ?',
    [endpointId],
  );
  const [row] = rows;
  if (!row || rows.length !== 1) throw new Error(`${rows.length} deliveries instead of one`);
  const attempts = await em.execute<AttemptRow[]>(
    'select number, status_code, error, started_at, finished_at from webhook_attempts where delivery_id = ? order by number',
    [row.id],
  );
  return { ...row, attempts };
}

const ended = (delivery: () => Promise<Delivery>, limitMs: number): Promise<Delivery> =>
  eventually(
    'the end of the delivery',
    async () => {
      const now = await delivery();
      return now.status !== 'pending' && now;
    },
    limitMs,
  );

/** What a receiver may rely on over several attempts of one delivery. */
function expectSameEvent(requests: readonly ReceivedRequest[]): void {
  expect(requests.map((request) => request.headers['x-webhook-attempt'])).to.deep.equal(requests.map((_, index) => String(index + 1)));
  expect(new Set(requests.map((request) => request.headers['x-webhook-id'])).size, 'ids').to.equal(1);
  expect(new Set(requests.map((request) => request.body.toString('hex'))).size, 'bodies').to.equal(1);
  expect(requests.every((request) => request.verified)).to.equal(true);
  for (const request of requests) {
    const sentMs = Date.parse(String(request.headers['x-webhook-timestamp']));
    expect(request.at - sentMs, 'age of the timestamp').to.be.within(-1_000, 3_000);
  }
  const signatures = new Set(requests.map((request) => request.headers['x-webhook-signature']));
  const timestamps = new Set(requests.map((request) => request.headers['x-webhook-timestamp']));
  expect(signatures.size, 'one signature for each timestamp').to.equal(timestamps.size);
}

describe('the schedule of a webhook', function () {
  this.timeout(240_000);
  let shop: Awaited<ReturnType<typeof startShop>>;

  before(async () => {
    shop = await startShop((await freshDatabase()).url);
  });
  after(async () => {
    await shop?.stop();
  });

  for (const status of [400, 404, 410, 301, 302, 304]) {
    it(`ends after one attempt that is answered ${status}`, async () => {
      const { receiver, delivery } = await shop.announceTo({ kind: 'answer', status, headers: { Location: 'http://127.0.0.1:9/' } });
      const end = await ended(delivery, 15_000);
      expect(end).to.include({ status: 'failed', next_attempt_at: null });
      expect(end.attempts).to.have.length(1);
      expect(end.attempts[0]).to.include({ number: 1, status_code: status });
      expect(end.attempts[0]?.error).to.match(new RegExp(`^HTTP ${status} from 127\\.0\\.0\\.1`));
      expect(receiver.requests).to.have.length(1);
    });
  }

  for (const [name, behaviour, said] of [
    ['429', 429, /^HTTP 429/],
    ['503', 503, /^HTTP 503/],
    ['a reset connection', { kind: 'reset' }, /connection closed before an answer/],
  ] as const) {
    it(`tries again after ${name}, and succeeds`, async () => {
      const { receiver, delivery } = await shop.announceTo([behaviour, 204]);
      const end = await ended(delivery, 20_000);
      expect(end.status).to.equal('succeeded');
      expect(end.attempts.map((attempt) => attempt.number)).to.deep.equal([1, 2]);
      expect(end.attempts[0]?.error).to.match(said);
      expect(end.attempts[1]).to.include({ status_code: 204, error: null });
      expectSameEvent(receiver.requests);
    });
  }

  // These two run at the same time, because each takes more than a minute of waiting.
  describe('over minutes', () => {
    let whole: Promise<void>;
    let interrupted: Promise<void>;

    before(() => {
      whole = fiveAttempts();
      interrupted = outageInBetween();
      for (const run of [whole, interrupted]) run.catch(() => undefined);
    });

    it('is 1, 5, 15 and 60 seconds after the end of the attempt before, five attempts, and then it has failed', () => whole);
    it('loses no attempt to an outage of the database of 150 seconds', () => interrupted);
  });

  async function fiveAttempts(): Promise<void> {
    const { receiver, delivery } = await shop.announceTo(500);
    await receiver.waitFor(1, 15_000);
    const open = await eventually('the record of attempt 1', async () => {
      const now = await delivery();
      return now.attempts[0]?.finished_at != null && now;
    });
    expect(open.status).to.equal('pending');
    expect(Date.parse(String(open.next_attempt_at)) - Date.parse(String(open.attempts[0]?.finished_at))).to.be.within(950, 1_050);
    const end = await ended(delivery, 120_000);
    expect(end).to.include({ status: 'failed', next_attempt_at: null });
    expect(end.attempts.map((attempt) => attempt.number)).to.deep.equal([1, 2, 3, 4, 5]);
    expect(end.attempts.every((attempt) => attempt.status_code === 500 && attempt.finished_at !== null)).to.equal(true);
    expect(receiver.requests).to.have.length(5);
    expectSameEvent(receiver.requests);
    for (const [index, nominalMs] of [1_000, 5_000, 15_000, 60_000].entries()) {
      const before = end.attempts[index];
      const after = end.attempts[index + 1];
      const gapMs = Date.parse(String(after?.started_at)) - Date.parse(String(before?.finished_at));
      expect(gapMs, `gap after attempt ${index + 1}`).to.be.within(nominalMs, nominalMs + 4_000);
      // What the receiver itself measures, whose clock starts when the request is there.
      const seenMs = (receiver.requests[index + 1]?.at ?? 0) - (receiver.requests[index]?.at ?? 0);
      expect(seenMs, `gap seen after attempt ${index + 1}`).to.be.within(nominalMs - 50, nominalMs + 5_000);
    }
  }

  async function outageInBetween(): Promise<void> {
    const postgres = await ownPostgres();
    const other = await startShop(postgres.now.url);
    try {
      const { receiver, delivery } = await other.announceTo([503, 503, 200]);
      await receiver.waitFor(1, 15_000);
      const first = await eventually('the record of attempt 1', async () => {
        const now = await delivery();
        return now.attempts[0]?.finished_at != null && now;
      });
      await postgres.stop();
      await new Promise((resolve) => setTimeout(resolve, 150_000));
      await postgres.start();
      const end = await ended(() => eventually('the database', () => delivery().catch(() => undefined)), 40_000);
      expect(end.status).to.equal('succeeded');
      // At most one attempt may have been sent before the server was down for good; none was used up by the outage.
      expect(end.attempts.map((attempt) => attempt.number)).to.deep.equal([1, 2, 3]);
      expect(end.attempts.map((attempt) => attempt.status_code)).to.deep.equal([503, 503, 200]);
      expect(end.attempts[0]).to.deep.equal(first.attempts[0]);
      expect(receiver.requests).to.have.length(3);
      expectSameEvent(receiver.requests);
      expect((receiver.requests[2]?.at ?? 0) - (receiver.requests[0]?.at ?? 0)).to.be.at.least(150_000);
    } finally {
      await other.stop();
      await postgres.stop();
    }
  }
});
