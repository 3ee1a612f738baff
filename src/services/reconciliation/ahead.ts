// Which addresses a pass compares before it goes through all others in the order of their key. Needed where
// a pass through all of them takes longer than a day's requests last.
import { raw } from '@mikro-orm/core';
import type { AddressKey } from '../../chains/address-key.ts';
import { BalanceDifference, DepositAddress, type ReconciliationPass } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { rows, sql } from '../../db/sql.ts';

/** So few that even a free key's day has requests for them and for the others. */
const MAX_AHEAD = 400;
/** Of these; a place that one kind does not need is taken by the next. */
const MAX_LEFT_OUT = 100;
const MAX_DIFFERING = 150;
/** Deposits that are looked at for it: whoever is paid often must not take every place. */
const MAX_DEPOSITS = 5_000;
/** Of those left out so many are remembered by name. */
export const MAX_REMEMBERED = 400;

/** What lay on an address before it was our address is known, and no fault of the ledger. */
export const UNEXPLAINED = { $not: { differenceUnits: raw('before_units + replaced_units') } };

/**
 * The addresses to compare first, at most 400: those that could not be compared the last time, those with an
 * open difference, and those with a deposit in a block above `sinceNumber`; the newest of each kind first.
 */
export async function addressesAhead(
  em: Em,
  {
    network,
    leftOut,
    sinceNumber,
  }: Pick<ReconciliationPass, 'network' | 'leftOut'> & { sinceNumber: number },
): Promise<AddressKey[]> {
  const differing = await em.find(
    BalanceDifference,
    { network, ...UNEXPLAINED },
    { orderBy: { notedAt: 'desc', addressKey: 'asc' }, limit: MAX_DIFFERING },
  );
  // In this form the index of deposits by block is read from its end, and no further than the inner limit.
  const paid = await rows(
    em,
    sql<{ addressKey: AddressKey }>`
      select address_key from (
        select address_key, block_number from deposits
          where network = ${network} and block_hash is not null and block_number > ${sinceNumber}
            and mode = 'live'
          order by block_number desc limit ${MAX_DEPOSITS}
      ) newest group by address_key order by max(block_number) desc, address_key limit ${MAX_AHEAD}`,
  );
  const keys = [
    ...leftOut.slice(0, MAX_LEFT_OUT),
    ...differing.map(({ addressKey }) => addressKey),
    ...paid.map(({ addressKey }) => addressKey),
  ];
  return [...new Set(keys)].slice(0, MAX_AHEAD);
}

type NextAddresses = {
  readonly addresses: readonly DepositAddress[];
  /** The keys of these, and of those ahead that are no addresses any more. */
  readonly named: readonly AddressKey[];
  readonly isAhead: boolean;
};

/** The next addresses of a pass, at most so many: those ahead, then the others in the order of their key. */
export async function nextAddresses(
  em: Em,
  pass: ReconciliationPass,
  { position, limit }: { readonly position: AddressKey; readonly limit: number },
): Promise<NextAddresses> {
  const { network, aheadKeys, aheadDone, leftOut } = pass;
  const keys = aheadKeys.slice(aheadDone, aheadDone + limit);
  if (keys.length > 0) {
    const found = await em.find(DepositAddress, { network, addressKey: { $in: keys } });
    return { addresses: found, named: keys, isAhead: true };
  }
  const again = new Set(leftOut);
  const done = aheadKeys.filter((key) => !again.has(key));
  const addressKey = done.length > 0 ? { $gt: position, $nin: done } : { $gt: position };
  const options = { orderBy: { addressKey: 'asc' }, limit } as const;
  const addresses = await em.find(DepositAddress, { network, addressKey }, options);
  return { addresses, named: addresses.map((one) => one.addressKey), isAhead: false };
}

/**
 * Whom a pass has still to compare after a step: those left out before that this step did not name, then
 * those that it asked in vain. `named` are all keys of the step, also of addresses that are gone.
 */
export function stillLeftOut(
  before: readonly AddressKey[],
  step: {
    readonly named: readonly AddressKey[];
    readonly asked: readonly AddressKey[];
    readonly compared: readonly AddressKey[];
  },
): AddressKey[] {
  const named = new Set(step.named);
  const compared = new Set(step.compared);
  const inVain = step.asked.filter((key) => !compared.has(key));
  return [...before.filter((key) => !named.has(key)), ...inVain].slice(0, MAX_REMEMBERED);
}
