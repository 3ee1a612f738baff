import { expect } from 'chai';
import { migratedDatabase, ownPostgres } from '../../../../dev/support/parts.ts';
import type { ReceivedRequest, Script } from '../../../../dev/support/receiver.ts';
import { type DeliveryRow, type Registered, type Shops, startShops } from '../../../support/shop.ts';

const OUTAGE_MS = 150_000;
const NOMINAL_GAPS_MS = [1_000, 5_000, 15_000, 60_000];
/** What a loaded machine may add to a gap. */
const LATE_MS = 4_000;

const hasEnded = (row: DeliveryRow): boolean => row.status !== 'pending';
const firstIsRecorded = (row: DeliveryRow): boolean => row.attempts[0]?.finished_at != null;

/** What a receiver may rely on over several attempts of one delivery. */
function expectSameEvent(requests: readonly ReceivedRequest[]): void {
  expect(requests.map((request) => request.headers['x-webhook-attempt'])).to.deep.equal(
    requests.map((_, index) => String(index + 1)),
  );
  expect(new Set(requests.map((request) => request.headers['x-webhook-id'])).size, 'ids').to.equal(1);
  expect(new Set(requests.map((request) => request.body.toString('hex'))).size, 'bodies').to.equal(1);
  expect(requests.every((request) => request.verified)).to.equal(true);
}

describe('the schedule of a webhook', function () {
  this.timeout(260_000);
  let shops: Shops;

  before(async () => {
    shops = await startShops((await migratedDatabase()).url);
  });
  after(async () => {
    await shops?.stop();
  });

  /** One event to one receiver of a new merchant. */
  async function announceTo(behaviour: Script, where: Shops = shops): Promise<Registered> {
    const merchant = await where.merchant();
    const registered = await merchant.register(behaviour);
    await merchant.announce();
    return registered;
  }

  // These two run at the same time, because each takes minutes of waiting.
  describe('over minutes', () => {
    let whole: Promise<void>;
    let interrupted: Promise<void>;

    before(() => {
      whole = fiveAttempts();
      interrupted = outageInBetween();
      for (const run of [whole, interrupted]) run.catch(() => undefined);
    });

    it('is 1, 5, 15 and 60 seconds after the end of the attempt before, five attempts, and then it has failed', () =>
      whole);
    it('loses no attempt to an outage of the database of 150 seconds', () => interrupted);
  });

  async function fiveAttempts(): Promise<void> {
    const { receiver, endpointId } = await announceTo(500);
    const open = await shops.delivery(endpointId, 'the record of attempt 1', firstIsRecorded);
    expect(open.status).to.equal('pending');
    expect(
      Date.parse(String(open.next_attempt_at)) - Date.parse(String(open.attempts[0]?.finished_at)),
    ).to.be.within(950, 1_050);
    const end = await shops.delivery(endpointId, 'the end', hasEnded, 120_000);
    expect(end).to.include({ status: 'failed', next_attempt_at: null });
    expect(end.attempts.map((attempt) => attempt.number)).to.deep.equal([1, 2, 3, 4, 5]);
    expect(
      end.attempts.every((attempt) => attempt.status_code === 500 && attempt.finished_at !== null),
    ).to.equal(true);
    expectSameEvent(receiver.requests);
    for (const [index, nominalMs] of NOMINAL_GAPS_MS.entries()) {
      const [before, after] = [end.attempts[index], end.attempts[index + 1]];
      const gapMs = Date.parse(String(after?.started_at)) - Date.parse(String(before?.finished_at));
      expect(gapMs, `gap after attempt ${index + 1}`).to.be.within(nominalMs, nominalMs + LATE_MS);
      // What the receiver itself measures, whose clock starts when the request is there.
      const seenMs = (receiver.requests[index + 1]?.at ?? 0) - (receiver.requests[index]?.at ?? 0);
      expect(seenMs, `gap seen after attempt ${index + 1}`).to.be.within(
        nominalMs - 50,
        nominalMs + LATE_MS + 1_000,
      );
    }
  }

  async function outageInBetween(): Promise<void> {
    const postgres = await ownPostgres();
    const others = await startShops(postgres.now.url);
    try {
      const { receiver, endpointId } = await announceTo([503, 503, 200], others);
      const first = await others.delivery(endpointId, 'the record of attempt 1', firstIsRecorded);
      await postgres.stop();
      await new Promise((resolve) => setTimeout(resolve, OUTAGE_MS));
      await postgres.start();
      const end = await others.delivery(endpointId, 'the end', hasEnded, 40_000);
      expect(end.status).to.equal('succeeded');
      expect(end.attempts.map((attempt) => attempt.status_code)).to.deep.equal([503, 503, 200]);
      expect(end.attempts[0]).to.deep.equal(first.attempts[0]);
      expectSameEvent(receiver.requests);
      const [start, , last] = receiver.requests;
      expect((last?.at ?? 0) - (start?.at ?? 0)).to.be.at.least(OUTAGE_MS);
    } finally {
      await others.stop();
      await postgres.stop();
    }
  }
});
