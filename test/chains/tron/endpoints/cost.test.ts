import { expect } from 'chai';
import { createBudget } from '../../../../src/chains/tron/budget.ts';
import { createGenesis } from '../../../../src/chains/tron/genesis.ts';
import { createTronPool } from '../../../../src/chains/tron/protocol.ts';
import { type Answer, GENESIS, madeUpClock, OTHER_GENESIS, startNode, type TestNode } from './node.ts';

const { signal } = new AbortController();
const HOUR_MS = 3_600_000;
const BLOCK_MS = 3_000;
const BLOCKS = HOUR_MS / BLOCK_MS;

/** What ails a node. */
const AILMENTS = {
  nothing: () => undefined,
  'is away': () => ({ status: 503, text: '' }),
  'names no block 0': ({ url }) => (url.includes('bynum') ? { json: {} } : undefined),
  'serves another chain': ({ url }) =>
    url.includes('bynum') ? { json: { blockID: OTHER_GENESIS } } : undefined,
  'fails at every second head': ({ url }, heads) =>
    url.includes('now') && heads % 2 === 1 ? { json: { Error: 'out of order' } } : undefined,
} satisfies Record<string, (asked: { url: string }, heads: number) => Answer | undefined>;
type Ailment = keyof typeof AILMENTS;

describe('what endpoints of Tron cost of the day’s budget', function () {
  this.timeout(20_000);
  const nodes: TestNode[] = [];
  before(async () => {
    for (let count = 0; count < 10; count++) nodes.push(await startNode());
  });
  after(() => {
    for (const node of nodes) node.stop();
  });

  /** Asks for a head every three seconds of an hour, and sooner where it fails; returns what that cost. */
  async function anHour(ailments: readonly Ailment[]): Promise<{ requests: number; served: number }> {
    ailments.forEach((ailment, at) => {
      const node = nodes[at];
      if (node) node.fault = (asked) => AILMENTS[ailment](asked, node.count('now'));
    });
    const clock = madeUpClock();
    const budget = createBudget({ perDay: 100_000, perSecond: 1_000, ...clock, date: () => clock.now() });
    const pool = createTronPool({
      name: 'tron',
      urls: ailments.flatMap((_, at) => nodes[at]?.url ?? []),
      budget,
      genesis: createGenesis({ usdtContract: 'TGQ1Rb3iQbuBUNcBV3Qo4AakT9PtQJDDmJ', known: GENESIS }),
      ...clock,
      random: () => 0.5,
    });
    let served = 0;
    while (clock.now() < HOUR_MS) {
      const beganMs = clock.now();
      const head = await pool
        .run((session) => session.call('wallet/getnowblock', {}), signal)
        .catch(() => undefined);
      if (head) served++;
      await clock.pause(head ? Math.max(0, beganMs + BLOCK_MS - clock.now()) : 20);
    }
    return { requests: budget.today().used, served };
  }

  for (const ailment of Object.keys(AILMENTS) as Ailment[]) {
    it(`is little beside what is asked for, where one of two ails: ${ailment}`, async () => {
      for (const both of [[ailment, 'nothing'] as const, ['nothing', ailment] as const]) {
        const { requests, served } = await anHour(both);
        expect(served).to.be.within(BLOCKS - 2, BLOCKS + 1);
        expect(requests - served, both.join()).to.be.at.most(160);
      }
    });
  }

  it('is a request for each failure at the only one, and a proof of the chain once in a minute', async () => {
    const { requests, served } = await anHour(['fails at every second head']);
    expect(served).to.be.at.least(0.9 * BLOCKS);
    expect(requests).to.be.at.most(2 * served + 65);
  });

  it('is the same however many are away: an outage of a day leaves three quarters of it', async () => {
    for (const count of [1, 3, 10]) {
      const { requests, served } = await anHour(Array.from({ length: count }, () => 'is away' as const));
      expect(served).to.equal(0);
      expect(requests, `${count} endpoints`).to.be.within(700, 25_000 / 24 + 10 * count);
    }
  });
});
