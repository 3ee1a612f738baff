import { expect } from 'chai';
import fc from 'fast-check';
import type { ListedEvent } from '../../../packages/sdk/src/index.ts';
import { followEvents, type ReadEvents } from '../../../src/cli/follow/events.ts';

const BEGIN = Date.parse('2026-11-20T09:00:00Z');
const seconds = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

type Written = {
  readonly id: string;
  readonly at: number;
  readonly subject: string;
  readonly sequence: number;
};

/**
 * The list as the gateway has it: events are dated when a transaction writes them, appear when it commits,
 * and lie by that date. Pages are small, so that every walk has several.
 */
class Gateway {
  now = BEGIN;
  readonly committed: Written[] = [];
  readonly open = new Map<number, { readonly since: number; readonly events: Written[] }>();
  isAway = false;
  readonly #pageSize: number;
  #made = 0;

  constructor(pageSize: number) {
    this.#pageSize = pageSize;
  }

  write(transaction: number, subject: number): void {
    const own = this.open.get(transaction) ?? { since: this.now, events: [] };
    this.#made += 1;
    // Ids of the same moment are in no order at all.
    const id = `${(this.#made * 7_919) % 1_000_003}-${this.#made}`;
    const all = [...this.committed, ...[...this.open.values()].flatMap(({ events }) => events)];
    const sequence = all.filter((row) => row.subject === `s${subject}`).length + 1;
    own.events.push({ id, at: this.now, subject: `s${subject}`, sequence });
    this.open.set(transaction, own);
  }

  commit(transaction: number): void {
    this.committed.push(...(this.open.get(transaction)?.events ?? []));
    this.open.delete(transaction);
  }

  readonly read: ReadEvents = async (query) => {
    if (this.isAway) throw new Error('away');
    const { limit = 100, created_from: from, starting_after: older } = query;
    const complete = Math.min(this.now, ...[...this.open.values()].map(({ since }) => since));
    const key = ({ at, id }: Written): string => `${at} ${id}`;
    const sorted = this.committed.toSorted((a, b) => (key(a) < key(b) ? 1 : -1));
    const cursor = sorted.find(({ id }) => id === older);
    if (older !== undefined && !cursor) throw new Error('no such cursor');
    const first = from instanceof Date ? from.getTime() : Number.NEGATIVE_INFINITY;
    const matching = sorted
      .filter(({ at }) => at >= first)
      .filter((row) => !cursor || key(row) < key(cursor));
    const rows = matching.slice(0, Math.min(limit, this.#pageSize));
    return {
      data: rows.map(listed),
      has_more: matching.length > rows.length,
      pagination: { page: null, limit, total: 0, total_pages: 0 },
      complete_before: seconds(complete),
    };
  };
}

function listed({ id, at, subject, sequence }: Written): ListedEvent {
  const payload = JSON.stringify({ event: 'deposit.detected', data: {}, timestamp: seconds(at) });
  const about = { event: 'deposit.detected', subject_id: subject, sequence, data: {}, payload };
  return { id, ...about, timestamp: seconds(at), created_at: seconds(at) };
}

type Step =
  | { readonly do: 'write'; readonly transaction: number; readonly subject: number }
  | { readonly do: 'commit'; readonly transaction: number }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'look' }
  | { readonly do: 'away'; readonly after: number };

const steps = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant('write' as const), transaction: fc.nat(3), subject: fc.nat(3) }),
    fc.record({ do: fc.constant('write' as const), transaction: fc.nat(3), subject: fc.nat(3) }),
    fc.record({ do: fc.constant('commit' as const), transaction: fc.nat(3) }),
    fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(0, 1, 400, 1_000, 5_000, 90_000) }),
    fc.record({ do: fc.constant('look' as const) }),
    fc.record({ do: fc.constant('away' as const), after: fc.nat(4) }),
  ),
  { minLength: 1, maxLength: 60 },
);

describe('following events by their list', function () {
  this.timeout(60_000);

  async function play(gateway: Gateway, script: readonly Step[], look: (after?: number) => Promise<void>) {
    for (const step of script) {
      if (step.do === 'write') gateway.write(step.transaction, step.subject);
      else if (step.do === 'commit') gateway.commit(step.transaction);
      else if (step.do === 'pass') gateway.now += step.ms;
      else await look(step.do === 'away' ? step.after : undefined);
    }
  }
  /** Reads what is new; with `after` the gateway goes away once so many events were taken. */
  function looker(gateway: Gateway, feed: ReturnType<typeof followEvents>, taken: ListedEvent[]) {
    return async (after?: number) => {
      try {
        let left = after ?? Number.POSITIVE_INFINITY;
        gateway.isAway = left <= 0;
        for await (const event of feed.news()) {
          taken.push(event);
          left -= 1;
          gateway.isAway = left <= 0;
        }
      } catch {
        // The next look goes on.
      }
      gateway.isAway = false;
    };
  }

  it('loses nothing and doubles nothing, however late a transaction commits and whenever it is away', async () => {
    await fc.assert(
      fc.asyncProperty(steps, steps, fc.integer({ min: 1, max: 4 }), async (before, after, pageSize) => {
        const gateway = new Gateway(pageSize);
        await play(gateway, before, async () => undefined);
        const known = new Set(gateway.committed.map(({ id }) => id));
        const feed = followEvents(gateway.read, undefined);
        await feed.begin();
        const taken: ListedEvent[] = [];
        const look = looker(gateway, feed, taken);
        await play(gateway, after, look);
        for (const transaction of [...gateway.open.keys()]) gateway.commit(transaction);
        await look();
        const wanted = gateway.committed.filter(({ id }) => !known.has(id)).map(({ id }) => id);
        const got = taken.map(({ id }) => id);
        expect(new Set(got).size, 'none twice').to.equal(got.length);
        expect(got.toSorted()).to.deep.equal(wanted.toSorted());
      }),
      { numRuns: 500 },
    );
  });

  it('begins with what happened since a time, and with nothing from before', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 4 }), fc.nat(200), async (before, pageSize, ago) => {
        const gateway = new Gateway(pageSize);
        await play(gateway, before, async () => undefined);
        for (const transaction of [...gateway.open.keys()]) gateway.commit(transaction);
        const since = new Date(gateway.now - ago * 1_000);
        const feed = followEvents(gateway.read, since);
        await feed.begin();
        const taken: ListedEvent[] = [];
        await looker(gateway, feed, taken)();
        const from = Math.floor(since.getTime() / 1_000) * 1_000;
        const wanted = gateway.committed.filter(({ at }) => at >= from).map(({ id }) => id);
        expect(taken.map(({ id }) => id).toSorted()).to.deep.equal(wanted.toSorted());
      }),
      { numRuns: 300 },
    );
  });

  it('gives the events of one subject that were written at one moment in their order', async () => {
    const gateway = new Gateway(100);
    const feed = followEvents(gateway.read, undefined);
    await feed.begin();
    for (let n = 0; n < 30; n += 1) gateway.write(1, n % 2);
    gateway.commit(1);
    const taken: ListedEvent[] = [];
    await looker(gateway, feed, taken)();
    for (const subject of ['s0', 's1'])
      expect(taken.filter((row) => row.subject_id === subject).map(({ sequence }) => sequence)).to.deep.equal(
        Array.from({ length: 15 }, (_, index) => index + 1),
      );
  });
});
