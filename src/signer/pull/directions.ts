// Whether the rows that direct money are what those wrote who hold the key.
import type { AddressKey } from '../../chains/address-key.ts';
import { addressKeyOf } from '../../chains/addresses.ts';
import { CLOCKS_DIFFER_MS, type Direction, readSeal, type SealKey } from '../../domain/payouts/direction.ts';
import type { Journal } from '../journal.ts';
import type { DestinationRow, SignCase } from './facts.ts';
import { notSigned, Sealed } from './refusal.ts';

/** No clock that is right has made a seal of that time: it is never noted, or nothing later would count. */
export const isAhead = (at: Date, now: Date): boolean => at.getTime() > now.getTime() + CLOCKS_DIFFER_MS;

/**
 * When a row was sealed. Throws `NotSigned` for a row without a seal and for one under an unknown key, and
 * {@link Sealed} where it is wrong under a known one: whoever wrote it knows how seals look, and has no key.
 */
export function provenAt(keys: readonly SealKey[], row: Direction & { readonly seal: Buffer | null }): Date {
  const { kind, seal, network, merchantId } = row;
  const [what, next] =
    kind === 'address'
      ? [
          `the address ${row.addressKey} on ${network}`,
          'compare it with a backup, and put back what was written there',
        ]
      : [
          `the withdraw address of merchant ${merchantId} on ${network}`,
          'ask the merchant for the address, and set it again with "merchant set"',
        ];
  if (seal === null)
    throw notSigned.destination`${what} carries no seal, so nobody can tell who wrote it: ${next}`;
  const at = readSeal(keys, row, seal);
  if (at) return at;
  if (keys.some(({ mark }) => seal.subarray(0, mark.length).equals(mark)))
    throw new Sealed(
      'tampered',
      `${what} was changed by somebody who does not have SECRETS_KEY: nothing is signed. Find out who writes to the database, then ${next}`,
    );
  throw notSigned.key`${what} is sealed under another SECRETS_KEY than the signer's: give every process the same, and the other one as SECRETS_KEY_PREVIOUS; where no process ever had another, find out who writes to the database, then ${next}`;
}

const ZERO = '0'.repeat(40);

const noDestination = ({ merchantId, network }: SignCase['payout']) =>
  notSigned.destination`merchant ${merchantId} has no withdraw address on ${network}: set one with "merchant set"; the payout is given up by itself`;

/**
 * Where a payout goes: what the row of the moment says, under a seal (see {@link provenAt}), and for long
 * enough. Throws `NotSigned`.
 */
export function provenDestination(facts: SignCase): AddressKey {
  const { asked, payout, destination, isToOurs, keys, now, transfers } = facts;
  if (!destination) throw noDestination(payout);
  const at = provenAt(keys, destination);
  const { address: text } = destination;
  if (text === null) throw noDestination(payout);
  if (isAhead(at, now))
    throw notSigned.new_destination`the withdraw address ${text} was set at ${at.toISOString()} by the clock of the machine that set it, and it is ${now.toISOString()} by the signer's: correct the clock that is wrong; where it was the other one, set the address of merchant ${payout.merchantId} again then, with "merchant set"`;
  if (payout.destination !== text)
    throw notSigned.destination`the merchant's withdraw address is ${text} by now, and the payout was planned to another one: it is given up by itself, and planned again`;
  const address = addressKeyOf(payout.network, text);
  const wrong =
    (address === ZERO && 'the address zero, which nobody owns') ||
    (address === transfers.token && 'the contract of the token') ||
    (isToOurs && address === asked.toKey && 'a wallet of this gateway') ||
    undefined;
  if (wrong)
    throw notSigned.destination`${text} is ${wrong}: ask the merchant for an address of their own, and set it with "merchant set"`;
  requireOldEnough(facts, address, at);
  return address;
}

/**
 * Waits until the journal has known a changed destination for long enough, or an operator approved of it
 * after it was set; a merchant's first is paid to at once. Throws `NotSigned` until then, and for one that is
 * older than one the journal knows.
 */
function requireOldEnough(facts: SignCase, address: AddressKey, setAt: Date): void {
  const { index, newDestinationAfterMs: afterMs, now, payout } = facts;
  const { merchantId, network, destination } = payout;
  const seen = index.destination(merchantId, network);
  if (seen && setAt < new Date(seen.set_at))
    throw notSigned.backup`the withdraw address ${destination} is older than what this signer has seen: was a backup restored? Ask the merchant, and set it again with "merchant set"`;
  if (seen?.address !== address) throw new Error('a destination is noted before it is paid to');
  const until = new Date(new Date(seen.at).getTime() + afterMs);
  const approvedAt = index.approvedAt(merchantId, network, address);
  if (afterMs === 0 || !seen.changed || now >= until || (approvedAt && approvedAt >= setAt)) return;
  throw notSigned.new_destination`the withdraw address ${destination} is new and is paid to from ${until.toISOString()} on: ask the merchant whether it is theirs; "payout approve-destination ${merchantId} ${destination}" on the signer's machine shortens the wait`;
}

/**
 * Notes in the journal that a withdraw address is another one than it knew, none any more, or was set again,
 * so that none which was set in between can be put back. Throws as {@link provenAt} does.
 */
export async function noteDestination(
  { index, append }: Journal,
  { keys, now }: Pick<SignCase, 'keys' | 'now'>,
  row: DestinationRow,
): Promise<void> {
  const at = provenAt(keys, row);
  const { merchantId: merchant_id, network, address: text } = row;
  const address = text === null ? null : addressKeyOf(network, text);
  const seen = index.destination(merchant_id, network);
  const seenAt = seen ? new Date(seen.set_at) : undefined;
  if (isAhead(at, now) || (seenAt && (at < seenAt || (seen?.address === address && at <= seenAt)))) return;
  await append({ kind: 'destination', merchant_id, network, address, set_at: at.toISOString() }, now);
}
