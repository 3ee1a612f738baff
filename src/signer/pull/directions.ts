// Whether the rows that direct money are what those wrote who hold the key.

import type { AddressKey } from '../../chains/address-key.ts';
import { addressKeyOf } from '../../chains/addresses.ts';
import { CLOCKS_DIFFER_MS, type Direction, readSeal } from '../../domain/payouts/direction.ts';
import type { Journal } from '../journal.ts';
import type { Bench, SealJudge } from './bench.ts';
import type { DestinationRow, Facts } from './facts.ts';
import { NotSigned, Sealed } from './refusal.ts';

/** No clock that is right has made a seal of that time: it is never noted, or nothing later would count. */
export const isAhead = (at: Date, now: Date): boolean => at.getTime() > now.getTime() + CLOCKS_DIFFER_MS;

/**
 * When a row was sealed. Throws {@link NotSigned} for a row without one and for one under an unknown
 * key, and {@link Sealed} where it is wrong under a known one: whoever wrote it knows how seals look, and has
 * no key.
 */
export function provenAt({ keys }: SealJudge, direction: Direction, seal: Uint8Array | null): Date {
  const what =
    direction.kind === 'address'
      ? `the address ${direction.addressKey} on ${direction.network}`
      : `the withdraw address of merchant ${direction.merchantId} on ${direction.network}`;
  if (seal === null)
    throw new NotSigned(
      'destination',
      `${what} carries no seal, so nobody can tell who wrote it: ${next(direction)}`,
    );
  const at = readSeal(keys, direction, seal);
  if (!at) {
    const known = keys.some(({ mark }) => Buffer.from(seal.subarray(0, mark.length)).equals(mark));
    throw known
      ? new Sealed(
          'tampered',
          `${what} was changed by somebody who does not have SECRETS_KEY: nothing is signed. Find out who writes to the database, then ${next(direction)}`,
        )
      : new NotSigned(
          'key',
          `${what} is sealed under another SECRETS_KEY than the signer's: give every process the same, and the other one as SECRETS_KEY_PREVIOUS; where no process ever had another, find out who writes to the database, then ${next(direction)}`,
        );
  }
  return at;
}

const next = (direction: Direction): string =>
  direction.kind === 'address'
    ? 'compare it with a backup, and put back what was written there'
    : 'ask the merchant for the address, and set it again with "merchant set"';

const ZERO = '0'.repeat(40);

const noDestination = ({ merchantId, network }: Facts['payout']): NotSigned =>
  new NotSigned(
    'destination',
    `merchant ${merchantId} has no withdraw address on ${network}: set one with "merchant set"; the payout is given up by itself`,
  );

/**
 * Where a payout goes: what the row of the moment says, under a seal (see {@link provenAt}), and for long
 * enough. Throws {@link NotSigned}.
 */
export function provenDestination(bench: Bench, facts: Facts): AddressKey {
  const { asked, payout, destination, isToOurs } = facts;
  const { merchantId, network } = payout;
  if (!destination) throw noDestination(payout);
  const { address: text, seal } = destination;
  const at = provenAt(bench, { kind: 'destination', network, merchantId, address: text }, seal);
  if (text === null) throw noDestination(payout);
  if (isAhead(at, bench.now))
    throw new NotSigned(
      'new_destination',
      `the withdraw address ${text} was set at ${at.toISOString()} by the clock of the machine that set it, and it is ${bench.now.toISOString()} by the signer's: correct the clock that is wrong; where it was the other one, set the address of merchant ${merchantId} again then, with "merchant set"`,
    );
  if (payout.destination !== text)
    throw new NotSigned(
      'destination',
      `the merchant's withdraw address is ${text} by now, and the payout was planned to another one: it is given up by itself, and planned again`,
    );
  const address = addressKeyOf(network, text);
  const wrong =
    (address === ZERO && 'the address zero, which nobody owns') ||
    (address === bench.transfers.token && 'the contract of the token') ||
    (isToOurs && address === asked.toKey && 'a wallet of this gateway') ||
    undefined;
  if (wrong)
    throw new NotSigned(
      'destination',
      `${text} is ${wrong}: ask the merchant for an address of their own, and set it with "merchant set"`,
    );
  requireOldEnough(bench, payout, address, at);
  return address;
}

/**
 * Waits until the journal has known a changed destination for long enough, or an operator approved of it
 * after it was set; a merchant's first is paid to at once. Throws {@link NotSigned} until then, and for one
 * that is older than one the journal knows.
 */
function requireOldEnough(
  { index, newDestinationAfterMs: afterMs, now }: Bench,
  { merchantId, network, destination }: Facts['payout'],
  address: AddressKey,
  setAt: Date,
): void {
  const seen = index.destination(merchantId, network);
  if (seen && setAt < new Date(seen.set_at))
    throw new NotSigned(
      'backup',
      `the withdraw address ${destination} is older than what this signer has seen: was a backup restored? Ask the merchant, and set it again with "merchant set"`,
    );
  if (seen?.address !== address) throw new Error('a destination is noted before it is paid to');
  const until = new Date(new Date(seen.at).getTime() + afterMs);
  const approvedAt = index.approvedAt(merchantId, network, address);
  const isFirst = !index.hasChangedDestination(merchantId, network);
  if (afterMs === 0 || isFirst || now >= until || (approvedAt && approvedAt >= setAt)) return;
  throw new NotSigned(
    'new_destination',
    `the withdraw address ${destination} is new and is paid to from ${until.toISOString()} on: ask the merchant whether it is theirs; "payout approve-destination ${merchantId} ${destination}" on the signer's machine shortens the wait`,
  );
}

/**
 * Notes in the journal that a withdraw address is another one than it knew, none any more, or was set again,
 * so that none which was set in between can be put back. Throws as {@link provenAt} does.
 */
export async function noteDestination(
  { index, append }: Journal,
  { keys, now }: SealJudge,
  { merchantId, network, address, seal }: DestinationRow,
): Promise<void> {
  const at = provenAt({ keys, now }, { kind: 'destination', network, merchantId, address }, seal);
  const key = address === null ? null : addressKeyOf(network, address);
  const seen = index.destination(merchantId, network);
  const seenAt = seen ? new Date(seen.set_at) : undefined;
  if (isAhead(at, now) || (seenAt && (at < seenAt || (seen?.address === key && at <= seenAt)))) return;
  const set_at = at.toISOString();
  await append({ kind: 'destination', merchant_id: merchantId, network, address: key, set_at }, now);
}
