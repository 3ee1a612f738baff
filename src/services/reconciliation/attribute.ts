import type { AddressKey } from '../../chains/address-key.ts';
import { addressKeyOf } from '../../chains/addresses.ts';
import type { ChainReader, NamedTransaction, ScannedBlock, Transfer } from '../../chains/reader.ts';
import type { BalanceDifference } from '../../db/entities/index.ts';
import type { Deps } from '../deps.ts';
import { sentByUs } from '../payouts/sent.ts';
import { transact } from '../transact.ts';
import { recordUnrecognised } from '../uncredited/unrecognised.ts';
import { recordAgain } from '../watcher/rescan.ts';
import type { WatchedChain } from '../watcher/watched-chain.ts';
import { type Attributed, type Attribution, enlargeDeposit } from './enlarge.ts';
import { boundUnits, unitsOf } from './expected-balances.ts';
import type { Place } from './place.ts';

/** One of our own wallets sent it: it is no deposit, but it explains a balance. */
export const FROM_OWN_WALLET = 'from one of our own wallets';

/** The place of a difference. */
export function placeOf({ network, addressKey, currency }: BalanceDifference): Place {
  return { network, addressKey, currency };
}

/**
 * What blocks of the chain have brought to the difference's address, in its currency, by the end of a block.
 */
export async function expectedAt(deps: Deps, kept: BalanceDifference, blockNumber: number): Promise<bigint> {
  return await boundUnits(deps.orm.em.fork(), deps, placeOf(kept), blockNumber);
}

/**
 * By how much the balance rose in a block, whatever is known of
 * it; undefined when no RPC endpoint keeps balances that old.
 */
export async function riseIn(
  reader: ChainReader,
  place: Place,
  blockNumber: number,
  signal: AbortSignal,
): Promise<bigint | undefined> {
  const addresses = [place.addressKey];
  const was = (await reader.balances?.(addresses, Math.max(0, blockNumber - 1), signal))?.[0];
  const is = (await reader.balances?.(addresses, blockNumber, signal))?.[0];
  if (!was || !is) return undefined;
  return unitsOf(is, place.network, place.currency) - unitsOf(was, place.network, place.currency);
}

/** True for a movement to the difference's address in its currency. */
export function explains(kept: BalanceDifference, transfer: Transfer): boolean {
  return transfer.currency === kept.currency && addressKeyOf(kept.network, transfer.to) === kept.addressKey;
}

/**
 * Records what a block shows of us and was not recorded: deposits, what our own wallets sent, and of that
 * what they sent to this address without our signature. What we signed explains itself.
 */
export async function recordShown(
  deps: Deps,
  chain: WatchedChain,
  kept: BalanceDifference,
  block: ScannedBlock,
): Promise<void> {
  if (block.transfers.length > 0 || block.sent)
    tellLate(deps, chain, block, await recordAgain(deps, chain.reader, block));
  const { network } = kept;
  const shown = (block.own ?? []).filter((transfer) => explains(kept, transfer));
  if (shown.length === 0) return;
  const hashes = shown.map(({ txHash }) => txHash);
  const ours = await sentByUs(deps.orm.em.fork(), network, hashes);
  const own = shown.filter(({ txHash }) => !ours.has(txHash));
  if (own.length === 0) return;
  await transact(deps, async ({ em }) => {
    const transfers = own.map(({ txHash, to, amountUnits, kind }) => ({
      txHash,
      to,
      amountUnits,
      reason: FROM_OWN_WALLET,
      contract: kind === 'native' ? null : deps.settings.contracts[network],
    }));
    await recordUnrecognised(em, deps, { network, blockNumber: block.number, transfers });
  });
}

/** {@link enlargeDeposit}; new deposits are reported as found late. */
export async function attributeTo(
  deps: Deps,
  chain: WatchedChain,
  attribution: Attribution,
): Promise<Attributed> {
  const outcome = await enlargeDeposit(deps, chain, attribution);
  if ('created' in outcome) tellLate(deps, chain, attribution.block, outcome.created);
  return outcome;
}

/** Reports that deposits were found which no read had shown. */
export function tellLate(
  deps: Deps,
  { reader, report }: WatchedChain,
  block: Pick<ScannedBlock, 'number'>,
  found: number,
): void {
  if (found === 0) return;
  report?.foundLate?.({ network: reader.network, deposits: found });
  deps.log.warn(
    { network: reader.network, block: block.number, deposits: found },
    'the reconciliation found deposits that no read had shown',
  );
}

/** Reads a block that lies in the past; a chain that does not have it is an error here. */
export async function scanPast(
  reader: ChainReader,
  chain: WatchedChain,
  at: { readonly number: number; readonly naming: readonly AddressKey[]; readonly signal: AbortSignal },
): Promise<ScannedBlock> {
  const block = await reader.scan(at.number, chain.watched.index, at.signal, at.naming);
  if (!block) throw new Error(`no endpoint of ${reader.network} has block ${at.number} any more`);
  return block;
}

/**
 * True where the calldata holds this amount as a whole 32-byte
 * word, wherever it stands: packed batch calls are not aligned.
 */
export function namesAmount(named: NamedTransaction, units: bigint): boolean {
  return named.calldata.includes(units.toString(16).padStart(64, '0'));
}
