import { expect } from 'chai';
import fc from 'fast-check';
import {
  type DepositState,
  FAILURE_CODES,
  type FailureCode,
  mayTransition,
  TRANSITIONS,
} from '../../src/domain/deposit.ts';
import { heldPostings, LEDGER_ACCOUNTS, type LedgerAccount, postingsOf } from '../../src/domain/ledger.ts';

type Step = {
  readonly from: DepositState | null;
  readonly to: DepositState;
  readonly failureCode: FailureCode | null;
};
type Balances = Record<LedgerAccount, bigint>;

const AMOUNT = 1_000n;
const BEGIN: Step = { from: null, to: 'detected', failureCode: null };

/** Where the money of a deposit must lie when it rests in a state. */
function accountOf(state: DepositState, code: FailureCode | null): LedgerAccount | undefined {
  if (state === 'failed') return code === 'REORGED' ? undefined : 'held';
  return { detected: 'pending', confirming: 'pending', completed: 'available', settled: 'settled' }[
    state
  ] as LedgerAccount;
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

function balancesAfter(steps: readonly Step[], amountUnits: bigint): Balances {
  const balances = Object.fromEntries(LEDGER_ACCOUNTS.map((account) => [account, 0n])) as Balances;
  for (const step of steps)
    for (const posting of postingsOf({ ...step, amountUnits }))
      balances[posting.account] += posting.amountUnits;
  return balances;
}

const walks = fc.array(fc.nat({ max: 11 }), { maxLength: 12 }).map(walk);
const amounts = fc.bigInt({ min: 1n, max: 2n ** 256n - 1n });

describe('the postings of a deposit', () => {
  it('sum to zero at every step of every way through the states', () => {
    fc.assert(
      fc.property(walks, amounts, (steps, amountUnits) => {
        for (const step of steps) {
          const sum = postingsOf({ ...step, amountUnits }).reduce(
            (total, posting) => total + posting.amountUnits,
            0n,
          );
          expect(sum).to.equal(0n);
        }
      }),
    );
  });

  it('leave the whole amount in the one account that belongs to the state, and nothing anywhere else', () => {
    fc.assert(
      fc.property(walks, amounts, (steps, amountUnits) => {
        const last = steps.at(-1) ?? BEGIN;
        const home = accountOf(last.to, last.failureCode);
        const balances = balancesAfter(steps, amountUnits);
        for (const account of LEDGER_ACCOUNTS) {
          const expected =
            account === 'chain' ? (home ? -amountUnits : 0n) : account === home ? amountUnits : 0n;
          expect(
            balances[account],
            `${account} after ${steps.map(({ to, failureCode }) => failureCode ?? to).join(', ')}`,
          ).to.equal(expected);
        }
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

  it('do not exist for a first confirmation: the money stays pending', () => {
    expect(
      postingsOf({ from: 'detected', to: 'confirming', failureCode: null, amountUnits: AMOUNT }),
    ).to.deep.equal([]);
  });

  it('give a deposit that is released after its failure from held to available', () => {
    expect(
      postingsOf({ from: 'failed', to: 'completed', failureCode: null, amountUnits: AMOUNT }),
    ).to.deep.equal([
      { account: 'held', amountUnits: -AMOUNT },
      { account: 'available', amountUnits: AMOUNT },
    ]);
  });

  it('give back to the chain what a reorg took, from wherever it was', () => {
    for (const [from, account] of [
      ['detected', 'pending'],
      ['confirming', 'pending'],
      ['completed', 'available'],
    ] as const)
      expect(postingsOf({ from, to: 'failed', failureCode: 'REORGED', amountUnits: AMOUNT })).to.deep.equal([
        { account, amountUnits: -AMOUNT },
        { account: 'chain', amountUnits: AMOUNT },
      ]);
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
    expect(heldPostings('back', AMOUNT)).to.deep.equal([
      { account: 'chain', amountUnits: -AMOUNT },
      { account: 'held', amountUnits: AMOUNT },
    ]);
    const both = [...heldPostings('gone', AMOUNT), ...heldPostings('back', AMOUNT)];
    for (const account of ['held', 'chain']) {
      expect(
        both.filter((line) => line.account === account).reduce((sum, line) => sum + line.amountUnits, 0n),
      ).to.equal(0n);
    }
  });
});
