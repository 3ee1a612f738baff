import { expect } from 'chai';
import fc from 'fast-check';
import {
  type DepositState,
  FAILURE_CODES,
  type FailureCode,
  mayTransition,
  TRANSITIONS,
} from '../../src/domain/deposit.ts';
import {
  LEDGER_ACCOUNTS,
  type LedgerAccount,
  postingsOf,
  replacedPostings,
} from '../../src/domain/ledger.ts';

type Step = {
  readonly from: DepositState | null;
  readonly to: DepositState;
  readonly failureCode: FailureCode | null;
};
type Balances = Record<LedgerAccount, bigint>;

const AMOUNT = 1_000n;
const HELD = { state: 'failed', failureCode: 'REJECTED_BY_OPERATOR', amountUnits: AMOUNT } as const;
const BEGIN: Step = { from: null, to: 'detected', failureCode: null };

/** Where the money of a deposit must lie when it rests in a state. */
function homesOf({ to, failureCode }: Step, amount: bigint, settled: bigint): Partial<Balances> {
  if (to === 'settled') return { settled, fees: amount - settled };
  if (to === 'failed') return failureCode === 'REORGED' ? {} : { held: amount };
  return to === 'completed' ? { available: amount } : { pending: amount };
}

/** A walk over the transition table, as long as the choices last. */
function walk(choices: readonly number[]): Step[] {
  const steps: Step[] = [BEGIN];
  let state: DepositState = 'detected';
  let failed: FailureCode | null = null;
  for (const choice of choices) {
    const next: Step[] = TRANSITIONS[state].flatMap((to): Step[] => {
      if (to === 'failed') return FAILURE_CODES.map((failureCode) => ({ from: state, to, failureCode }));
      return mayTransition({ from: state, to, failureCode: failed })
        ? [{ from: state, to, failureCode: null }]
        : [];
    });
    const step = next[choice % Math.max(1, next.length)];
    if (!step) break;
    steps.push(step);
    state = step.to;
    failed = step.failureCode;
  }
  return steps;
}

function balancesAfter(steps: readonly Step[], amountUnits: bigint, settledUnits = amountUnits): Balances {
  const balances = Object.fromEntries(LEDGER_ACCOUNTS.map((account) => [account, 0n])) as Balances;
  for (const step of steps)
    for (const posting of postingsOf({ ...step, amountUnits, settledUnits }))
      balances[posting.account] += posting.amountUnits;
  return balances;
}

const walks = fc.array(fc.nat({ max: 11 }), { maxLength: 12 }).map(walk);
const amounts = fc.bigInt({ min: 1n, max: 2n ** 256n - 1n });
/** An amount and what was paid out of it, at most all. */
const paid = fc.tuple(amounts, amounts).map(([a, b]) => (a > b ? [a, b] : [b, a]) as [bigint, bigint]);

describe('the postings of a deposit', () => {
  it('sum to zero at every step of every way through the states', () => {
    fc.assert(
      fc.property(walks, paid, (steps, [amountUnits, settledUnits]) => {
        for (const step of steps) {
          const sum = postingsOf({ ...step, amountUnits, settledUnits }).reduce(
            (total, posting) => total + posting.amountUnits,
            0n,
          );
          expect(sum).to.equal(0n);
        }
      }),
    );
  });

  it('leave the whole amount in the account that belongs to the state, a fee apart, and nothing anywhere else', () => {
    fc.assert(
      fc.property(walks, paid, (steps, [amountUnits, settledUnits]) => {
        const homes = homesOf(steps.at(-1) ?? BEGIN, amountUnits, settledUnits);
        const came = Object.values(homes).reduce((sum, units) => sum + units, 0n);
        const balances = balancesAfter(steps, amountUnits, settledUnits);
        for (const account of LEDGER_ACCOUNTS)
          expect(
            balances[account],
            `${account} after ${steps.map(({ to, failureCode }) => failureCode ?? to).join(', ')}`,
          ).to.equal(account === 'chain' ? -came : (homes[account] ?? 0n));
      }),
      { numRuns: 1_000 },
    );
  });

  it('never make an account of ours negative on the way', () => {
    fc.assert(
      fc.property(walks, (steps) => {
        for (let end = 1; end <= steps.length; end += 1) {
          const { chain, ...ours } = balancesAfter(steps.slice(0, end), AMOUNT);
          expect(chain <= 0n && Object.values(ours).every((units) => units >= 0n)).to.equal(true);
        }
      }),
    );
  });

  it('hold nothing for a deposit that fails while its block is replaced, and its amount from its return on', () => {
    const failing = {
      from: 'confirming',
      to: 'failed',
      failureCode: 'REJECTED_BY_OPERATOR',
      amountUnits: AMOUNT,
      onChain: false,
    } as const;
    expect(postingsOf(failing)).to.deep.equal([
      { account: 'pending', amountUnits: -AMOUNT },
      { account: 'chain', amountUnits: AMOUNT },
    ]);
    expect(replacedPostings('back', HELD)).to.deep.equal([
      { account: 'chain', amountUnits: -AMOUNT },
      { account: 'held', amountUnits: AMOUNT },
    ]);
    const both = [...replacedPostings('gone', HELD), ...replacedPostings('back', HELD)];
    for (const account of ['held', 'chain']) {
      expect(
        both.filter((line) => line.account === account).reduce((sum, line) => sum + line.amountUnits, 0n),
      ).to.equal(0n);
    }
  });

  it('show a shortfall where the chain takes back what was paid out, never less than nothing available', () => {
    fc.assert(
      fc.property(paid, ([amountUnits, settledUnits]) => {
        const settled = { state: 'settled', failureCode: null, amountUnits, settledUnits } as const;
        expect(replacedPostings('gone', settled)).to.deep.equal([
          { account: 'shortfall', amountUnits: -amountUnits },
          { account: 'chain', amountUnits },
        ]);
        expect(replacedPostings('back', settled)).to.deep.equal([
          { account: 'chain', amountUnits: -amountUnits },
          { account: 'shortfall', amountUnits },
        ]);
      }),
    );
  });

  it('move nothing when the block of a deposit is replaced that is not decided yet', () => {
    for (const state of ['detected', 'confirming', 'completed'] as const)
      expect(replacedPostings('gone', { state, failureCode: null, amountUnits: AMOUNT })).to.deep.equal([]);
  });
});
