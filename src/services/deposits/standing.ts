import { ChainCursor, type Deposit } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { decideAdvance, type FailureCode } from '../../domain/deposit.ts';
import { isoSeconds } from '../../domain/events.ts';
import type { Deps } from '../deps.ts';
import { type HeldPayout, readHolds } from '../payouts/stuck.ts';
import { ACTIONS } from './actions.ts';
import { factsOf, waitReason } from './advance.ts';
import { describeStuck, isStuck } from './stuck.ts';

/** Where something stands, for an operator: why it is not further, and what to do about that. */
export type Standing = { readonly why: string; readonly action: string };

/**
 * Where deposits stand, by id: in the words of `deposit stuck` for those that it lists, and of the rule that
 * decides on each step for the others. Reads only what the watcher and the payouts wrote.
 */
export async function readStandings(
  em: Em,
  deps: Deps,
  deposits: readonly Deposit[],
): Promise<ReadonlyMap<string, Standing>> {
  const cursors = new Map((await em.find(ChainCursor, {})).map((cursor) => [cursor.network, cursor]));
  const credited = deposits.filter(({ status, simulated }) => status === 'completed' && !simulated);
  const holds = await readHolds(em, deps, {
    payoutIds: credited.flatMap(({ payoutId }) => payoutId ?? []),
    addressKeys: credited.filter(({ payoutId }) => payoutId == null).map(({ addressKey }) => addressKey),
  });
  return new Map(
    deposits.map((deposit) => {
      const hold = holds.get(deposit.payoutId ?? `${deposit.network}:${deposit.addressKey}`);
      return [deposit.id, standingOf(deps, deposit, { cursor: cursors.get(deposit.network) ?? null, hold })];
    }),
  );
}

type Around = { readonly cursor: ChainCursor | null; readonly hold: HeldPayout | undefined };

function standingOf(deps: Deps, deposit: Deposit, { cursor, hold }: Around): Standing {
  if (deposit.simulated) return { why: 'it is simulated: no chain moves it', action: NOTHING };
  if (isStuck(deps, deposit, cursor)) {
    const { reason, action } = describeStuck(deps, deposit, cursor);
    return { why: reason, action };
  }
  if (deposit.status === 'failed') return failed(deposit);
  if (deposit.status === 'settled') return { why: 'it was paid out to the merchant', action: NOTHING };
  if (deposit.status === 'completed') return completed(deps, deposit, hold);
  const decision = decideAdvance(factsOf(deps, deposit, cursor));
  if (decision.kind !== 'wait') return { why: 'the chain permits the next step', action: GOES_ON };
  return {
    why: waitReason(deps, deposit, cursor, decision),
    // Time brings blocks, and no price: what hinders one is there to be found at once.
    action: decision.waitsFor === 'price' ? ACTIONS.price : GOES_ON,
  };
}

const NOTHING = 'nothing to do';
const GOES_ON = 'nothing to do: it goes on by itself, and "deposit stuck" lists it where it does not';

function completed(deps: Deps, deposit: Deposit, hold: HeldPayout | undefined): Standing {
  const { mode, network, payoutId, merchantId } = deposit;
  if (mode === 'test')
    return { why: 'it was credited in test mode, where nothing is paid out', action: NOTHING };
  if (!deps.settings.payouts.networks.includes(network))
    return {
      why: `it was credited; ${network} is not watched here, so nothing is paid out on it`,
      action: NOTHING,
    };
  if (hold)
    return {
      why: `it was credited, and its payout waits since ${isoSeconds(hold.since)}: ${hold.reason}`,
      action: hold.action ?? GOES_ON,
    };
  if (payoutId != null)
    return {
      why: `it was credited, and payout ${payoutId} pays it out`,
      action: `nothing to do; see "payout show ${payoutId}"`,
    };
  return {
    why: 'it was credited, and waits for its payout',
    action: `nothing to do; where it lasts, see with "find ${merchantId}" that a withdraw address is set, and run "repair"`,
  };
}

function failed({ id, failureCode, failureReason }: Deposit): Standing {
  const code = failureCode ?? 'REJECTED_BY_OPERATOR';
  return {
    why: `it failed (${code}): ${failureReason ?? 'no reason is kept'}`,
    action: AFTER_FAILURE[code](id),
  };
}

const release = (id: string): string => `"deposit release ${id} --by NAME --reason TEXT" credits it`;
const AFTER_FAILURE: Readonly<Record<FailureCode, (id: string) => string>> = {
  REORGED: () =>
    'nothing to do: no final block holds the transaction. Where it is mined again, it comes back by itself',
  MONTHLY_LIMIT: (id) =>
    `raise the limit with "merchant set --monthly-limit-usd" where that is right; ${release(id)}`,
  BELOW_MINIMUM: (id) => `nothing to do; ${release(id)} all the same`,
  REJECTED_BY_OPERATOR: (id) => `nothing to do; ${release(id)} after all`,
};
