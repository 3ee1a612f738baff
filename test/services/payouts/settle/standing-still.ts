// A worker that stands still in the middle of a step, as a process that is stopped or whose host is frozen.
import { expect } from 'chai';
import type { AddressKey } from '../../../../src/chains/address-key.ts';
import type { Spending } from '../../../../src/chains/spending.ts';
import type { SettlementStep } from '../../../../src/services/payouts/settle/input.ts';

type Asks = 'quote' | 'broadcast' | 'outcomes';
export type StandingStill = {
  /** What the worker asks and sends over. */
  readonly over: Spending;
  /** Resolves when it stands. */
  readonly stands: Promise<void>;
  goOn(): void;
};

/** Stands still at the n-th of these questions, with its answer in the hand; or before it sends. */
export function standingStill(
  spending: Spending,
  n: number,
  asks: readonly Asks[] = ['quote', 'broadcast'],
): StandingStill {
  const standing = Promise.withResolvers<void>();
  const going = Promise.withResolvers<void>();
  let asked = 0;
  const turn = async (name: Asks): Promise<void> => {
    if (!asks.includes(name)) return;
    asked += 1;
    if (asked !== n) return;
    standing.resolve();
    await going.promise;
  };
  const over: Spending = {
    ...spending,
    quote: async (...question) => {
      const answer = await spending.quote(...question);
      await turn('quote');
      return answer;
    },
    outcomes: async (...question) => {
      const answer = await spending.outcomes(...question);
      await turn('outcomes');
      return answer;
    },
    broadcast: async (...question) => {
      await turn('broadcast');
      return await spending.broadcast(...question);
    },
  };
  return { over, stands: standing.promise, goOn: () => going.resolve() };
}

/** The parts of a stage on which one worker overtakes another. */
type Stage = {
  settle(key: AddressKey): Promise<SettlementStep[]>;
  settleOver(over: Spending): (key: AddressKey) => Promise<SettlementStep[]>;
  tokensOf(key: string): Promise<bigint>;
  finish(): Promise<void>;
  readonly clock: { aheadMs: number };
};
/** By then what one worker has noted as sent is sent again by another one, on every chain. */
const RESEND_MS = 31_000;

/**
 * One worker takes the steps of an address until it stands still, and another one goes on until everything
 * is paid out. Then the first one goes on where it was, until nothing is left to do. Returns what the
 * destination got from the second; the first one adds nothing.
 */
export async function overtaken(
  the: Stage,
  key: AddressKey,
  destination: AddressKey,
  { over, stands, goOn }: StandingStill,
): Promise<bigint> {
  const tokens = (): Promise<bigint> => the.tokensOf(destination);
  const had = await tokens();
  const first = the.settleOver(over)(key);
  await Promise.race([stands, first.then(() => expect.fail('it never stood still'))]);
  the.clock.aheadMs += RESEND_MS;
  await the.settle(key);
  const paid = (await tokens()) - had;
  expect(await the.tokensOf(key), 'what is left').to.equal(0n);
  goOn();
  expect((await first).at(-1)).to.include({ kind: 'rest' });
  await the.finish();
  expect((await tokens()) - had, 'nothing more is paid').to.equal(paid);
  return paid;
}
