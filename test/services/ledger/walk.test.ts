import { expect } from 'chai';
import fc from 'fast-check';
import type { Transfer } from '../../../src/chains/reader.ts';
import { SIMULATED_OUTCOMES } from '../../../src/domain/deposit.ts';
import { auditLedger } from '../../../src/services/ledger/audit.ts';
import { foldBalances } from '../../../src/services/ledger/totals.ts';
import { BIG, startWorld, type World } from './support.ts';

const units = fc.constantFrom(5n, 10n, 77n, 10n ** 15n, BIG);
const index = fc.nat({ max: 1_000 });

const what = fc.constant;
/** What can happen to money, in any order; indexes are taken modulo what there is. */
const happening = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: what('pay' as const),
      to: index,
      currency: fc.constantFrom('USDT' as const, 'BNB' as const),
      units,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: what('replace' as const), depth: fc.integer({ min: 1, max: 4 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: what('mine again' as const), units: fc.option(units, { nil: undefined }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: what('finalize' as const), behind: fc.nat({ max: 2 }) }) },
  { weight: 5, arbitrary: fc.record({ do: what('look' as const) }) },
  { weight: 3, arbitrary: fc.record({ do: what('advance' as const) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('fail' as const, 'release' as const, 'settle' as const),
      which: index,
      withheld: fc.constantFrom(0n, 1n, 3n),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: what('simulate' as const), outcome: fc.constantFrom(...SIMULATED_OUTCOMES) }),
  },
  { weight: 1, arbitrary: fc.record({ do: what('fold' as const) }) },
);
type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never;

describe('the books after whatever can happen', function () {
  this.timeout(120_000);
  let world: World;
  const addresses: string[] = [];
  before(async () => {
    world = await startWorld();
    for (let i = 0; i < 3; i++) addresses.push(await world.newAddress());
  });
  after(() => world?.stop());

  async function perform(one: Happening, dropped: Transfer[]): Promise<void> {
    const { chain } = world;
    const head = chain.blocks.length - 1;
    if (one.do === 'pay')
      chain.mine([
        world.transfer({
          to: addresses[one.to % addresses.length] ?? '',
          currency: one.currency,
          units: one.units,
        }),
      ]);
    else if (one.do === 'replace') dropped.push(...chain.replace(one.depth));
    else if (one.do === 'mine again')
      chain.mine(
        dropped
          .splice(0)
          .map((transfer) => ({ ...transfer, amountUnits: one.units ?? transfer.amountUnits })),
      );
    else if (one.do === 'finalize') chain.final = Math.max(chain.final, head - one.behind);
    else if (one.do === 'look') await world.poll();
    else if (one.do === 'advance') await world.advance();
    else if (one.do === 'simulate') await world.simulate(one.outcome);
    else if (one.do === 'fold') await foldBalances(world.deps);
    else {
      // Of the newest ones, because something can still happen to them.
      const ids = (await world.depositIds()).slice(-4);
      const id = ids[one.which % Math.max(1, ids.length)];
      if (id === undefined) return;
      if (one.do === 'settle') await world.settle(id, one.withheld);
      else await world[one.do](id);
    }
  }

  it('agree: replaced blocks, other amounts, broken finality, decisions, payouts, folds', async () => {
    const dropped: Transfer[] = [];
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { minLength: 10, maxLength: 30 }), async (happenings) => {
        for (const one of happenings) await perform(one, dropped);
        const books = await auditLedger(world.deps);
        expect(books.differences).to.deep.equal([]);
        expect(books.total).to.equal(0);
      }),
      { numRuns: 10, seed: 20, endOnFailure: true },
    );
    const kinds = (await world.rows('select distinct kind from ledger_transactions order by kind')).map(
      ({ kind }) => kind,
    );
    expect(kinds.length, kinds.join(', ')).to.be.at.least(4);
  });
});
