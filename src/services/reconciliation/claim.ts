import type { AddressKey } from '../../chains/address-key.ts';
import { addressKeyOf, hashForm, transactionHashOf } from '../../chains/addresses.ts';
import type { ChainReader, NamedTransaction, ScannedBlock, Transfer } from '../../chains/reader.ts';
import { BalanceDifference, Deposit } from '../../db/entities/index.ts';
import { NATIVE_CURRENCY, type Network } from '../../domain/assets.ts';
import { DecisionRefused } from '../deposits/decisions.ts';
import type { Deps } from '../deps.ts';
import { readCursor } from '../watcher/cursor.ts';
import { recordAgain } from '../watcher/rescan.ts';
import { loadWatched } from '../watcher/watched-addresses.ts';
import type { WatchedChain } from '../watcher/watched-chain.ts';
import { scanPast } from './attribute.ts';
import { claimUnshown, liveKeys, type Word } from './claim-unshown.ts';
import { settleDifference } from './differences.ts';
import type { Decider } from './reason.ts';

const MAX_OPEN = 1_000;

export type ClaimInput = {
  readonly txHash: string;
  /** An operator's word for an amount that nothing proves; see {@link Word}. */
  readonly word?: Word | undefined;
  /** Who claims it and why, kept in the audit row. */
  readonly decider?: Decider | undefined;
  readonly signal: AbortSignal;
};

type Claimed = { readonly deposits: readonly Deposit[] };

/**
 * Records a transaction that an operator names, after it was verified on the chain: it is
 * final, succeeded, and pays one of our live addresses something that is not recorded. How
 * much is what a read or a trace of it shows, else what the balance proves, else what the
 * operator says; never more than is missing. Throws {@link DecisionRefused} with the
 * reason and the next action otherwise, and the reader's errors; then nothing has changed.
 */
export async function claimTransaction(deps: Deps, chain: WatchedChain, input: ClaimInput): Promise<Claimed> {
  const { reader } = chain;
  const { word, signal } = input;
  const txHash = transactionHashOf(reader.network, input.txHash);
  if (txHash === undefined)
    throw new DecisionRefused(`a transaction hash is ${hashForm(reader.network)}; copy it again`);
  const before = await recordedOf(deps, reader, txHash);
  const number = await finalBlockOf(deps, reader, txHash, signal);
  await loadWatched(deps, chain.watched);
  const open = await openRises(deps, reader, number, word?.addressKey);
  const naming = [...new Set(open.map((kept) => kept.addressKey))];
  const block = await scanPast(reader, chain, { number, naming, signal });
  const missing = await unrecorded(deps, reader.network, block, { txHash, before });
  const inside = (block.named ?? []).filter((named) => named.txHash === txHash);
  if (missing.length > 0)
    await recordAgain(deps, reader, block, { claimed: txHash, reason: input.decider?.reason });
  const refusal = block.untraced
    ? await claimUnshown(deps, chain, {
        block,
        txHash,
        open: claimable(open, inside, word),
        word,
        decider: input.decider,
        signal,
      })
    : undefined;
  await settleTouched(deps, chain, [...missing.map(({ to }) => addressKeyOf(reader.network, to)), ...naming]);
  const after = await recordedOf(deps, reader, txHash);
  const gained = after.filter(
    (deposit) => !before.some((old) => old.id === deposit.id && old.amountUnits === deposit.amountUnits),
  );
  if (gained.length > 0) return { deposits: gained };
  const [known] = before;
  if (refusal !== undefined && (word || !known)) throw new DecisionRefused(refusal);
  if (known)
    throw new DecisionRefused(
      `transaction ${txHash} is recorded already; look at it with "deposit show ${known.id}"`,
    );
  throw new DecisionRefused(
    `transaction ${txHash} pays none of our live addresses in ${NATIVE_CURRENCY[reader.network]} or USDT, as far as the endpoints show; compare it with "deposit list --unrecognised"`,
  );
}

/**
 * The differences that this transaction may explain: those of the
 * addresses that it names, or of the one that the operator names.
 */
function claimable(
  open: readonly BalanceDifference[],
  inside: readonly NamedTransaction[],
  word: Word | undefined,
): BalanceDifference[] {
  return open.filter(
    (kept) => word?.addressKey !== undefined || inside.some((named) => named.addressKey === kept.addressKey),
  );
}

async function unrecorded(
  deps: Deps,
  network: Network,
  block: ScannedBlock,
  { txHash, before }: { readonly txHash: string; readonly before: readonly Deposit[] },
) {
  const shown = block.transfers.filter((transfer) => transfer.txHash === txHash);
  const live = await liveKeys(
    deps,
    network,
    shown.map((transfer) => addressKeyOf(network, transfer.to)),
  );
  return shown.filter(
    (transfer) =>
      live.has(addressKeyOf(network, transfer.to)) && !before.some((deposit) => isThis(deposit, transfer)),
  );
}

/**
 * Whether the transfer is recorded with this amount: one that was
 * recorded with another is corrected by the read, as long as it is open.
 */
function isThis(deposit: Deposit, { to, currency, amountUnits }: Transfer): boolean {
  const { addressKey, blockHash } = deposit;
  return (
    addressKey === addressKeyOf(deposit.network, to) &&
    deposit.currency === currency &&
    blockHash != null &&
    deposit.amountUnits === amountUnits
  );
}

async function recordedOf(deps: Deps, { network }: ChainReader, transactionHash: string): Promise<Deposit[]> {
  return await deps.orm.em.fork().find(Deposit, { mode: 'live', network, transactionHash });
}

/** Settles the differences again: what was claimed may have been the whole of one, or a part of it. */
async function settleTouched(deps: Deps, chain: WatchedChain, touched: readonly AddressKey[]): Promise<void> {
  const { network } = chain.reader;
  const open = await deps.orm.em
    .fork()
    .find(BalanceDifference, { network, addressKey: { $in: [...new Set(touched)] }, searched: true });
  for (const kept of open) await settleDifference(deps, kept, { reason: kept.reason, report: chain.report });
}

async function finalBlockOf(
  deps: Deps,
  reader: ChainReader,
  txHash: string,
  signal: AbortSignal,
): Promise<number> {
  const place = await reader.locate(txHash, signal);
  if (!place)
    throw new DecisionRefused(
      `no endpoint of ${reader.network} has transaction ${txHash} in a block; check the hash and the network`,
    );
  const cursor = await readCursor(deps, reader.network);
  if (!cursor || place.blockNumber > cursor.verifiedNumber) {
    throw new DecisionRefused(
      `block ${place.blockNumber} of transaction ${txHash} is not final yet or was not read twice (that is done up to ${cursor?.verifiedNumber ?? 'nothing'}); try again in a minute`,
    );
  }
  return place.blockNumber;
}

/**
 * Differences of live addresses that hold more of the native coin than the
 * ledger knows, compared at this block or later; the newest differences first.
 */
async function openRises(
  deps: Deps,
  { network }: ChainReader,
  number: number,
  addressKey?: AddressKey,
): Promise<BalanceDifference[]> {
  const at = addressKey === undefined ? {} : { addressKey };
  const where = {
    network,
    currency: NATIVE_CURRENCY[network],
    differenceUnits: { $gt: 0n },
    foundNumber: { $gte: number },
    ...at,
  };
  const rows = await deps.orm.em
    .fork()
    .find(BalanceDifference, where, { limit: MAX_OPEN, orderBy: { notedAt: 'desc' } });
  const live = await liveKeys(
    deps,
    network,
    rows.map((row) => row.addressKey),
  );
  return rows.filter((row) => live.has(row.addressKey));
}
