import type { ChainReader, NamedTransaction, ScannedBlock } from '../../chain/port.ts';
import { BalanceDifference, Deposit, DepositAddress } from '../../db/entities/index.ts';
import { NATIVE_CURRENCY, type Network } from '../../domain/assets.ts';
import { DecisionRefused } from '../deposits/operator.ts';
import type { Deps } from '../deps.ts';
import { addressKeyOf } from './address-key.ts';
import { expectedAt, recordCandidate, scanPast } from './attribute.ts';
import { readCursor } from './cursor.ts';
import { settleDifference } from './differences.ts';
import { unitsOf } from './expected.ts';
import type { FollowedChain } from './follow.ts';
import { recordAgain } from './rescan.ts';
import { loadWatched } from './watched.ts';

const MAX_OPEN = 1_000;

type Claimed = { readonly deposits: readonly Deposit[] };

/**
 * Records a transaction that an operator names, after it was verified on the chain: it is final, succeeded, and pays one of our live
 * addresses something that is not recorded. Throws {@link DecisionRefused} with the reason otherwise, and the reader's errors; then nothing
 * has changed.
 */
export async function claimTransaction(
  deps: Deps,
  chain: FollowedChain,
  input: { readonly txHash: string; readonly signal: AbortSignal },
): Promise<Claimed> {
  const { reader } = chain;
  const { signal } = input;
  const txHash = input.txHash.toLowerCase();
  if (!/^0x[0-9a-f]{64}$/.test(txHash)) throw new DecisionRefused('a transaction hash is 0x and 64 hex digits; copy it again');
  const before = await recordedOf(deps, reader, txHash);
  const number = await finalBlockOf(deps, reader, txHash, signal);
  await loadWatched(deps, chain.watched);
  const open = await openRises(deps, reader, number);
  const naming = [...new Set(open.map((kept) => kept.addressKey))];
  const block = await scanPast(reader, chain, { number, naming, signal });
  const shown = block.transfers.filter((transfer) => transfer.txHash === txHash);
  const live = await liveKeys(
    deps,
    reader.network,
    shown.map((transfer) => addressKeyOf(transfer.to)),
  );
  const missing = shown.filter(
    (transfer) => live.has(addressKeyOf(transfer.to)) && !before.some((deposit) => isThis(deposit, transfer.to, transfer.currency)),
  );
  if (missing.length > 0) await recordAgain(deps, reader, block);
  const inside = (block.named ?? []).filter((named) => named.txHash === txHash);
  for (const named of block.untraced ? inside : []) await claimInside(deps, chain, { named, block, open, signal });
  await settleTouched(deps, chain, [...missing, ...inside]);
  const after = await recordedOf(deps, reader, txHash);
  const gained = after.filter((deposit) => !before.some((old) => old.id === deposit.id && old.amountUnits === deposit.amountUnits));
  if (gained.length > 0) return { deposits: gained };
  const [known] = before;
  if (known) throw new DecisionRefused(`transaction ${txHash} is recorded already; look at it with "deposit show ${known.id}"`);
  throw new DecisionRefused(
    `transaction ${txHash} does not pay a live address of ours in ${NATIVE_CURRENCY[reader.network]} or USDT, as far as the endpoints show; compare it with "deposit list --unrecognised"`,
  );
}

function isThis(deposit: Deposit, to: string, currency: string): boolean {
  return deposit.addressKey === addressKeyOf(to) && deposit.currency === currency && deposit.blockHash != null;
}

async function recordedOf(deps: Deps, { network }: ChainReader, transactionHash: string): Promise<Deposit[]> {
  return await deps.orm.em.fork().find(Deposit, { mode: 'live', network, transactionHash });
}

/** What was claimed may have been the whole of a difference, or a part of it. */
async function settleTouched(deps: Deps, chain: FollowedChain, touched: readonly { readonly to: string }[]): Promise<void> {
  const addressKeys = [...new Set(touched.map(({ to }) => addressKeyOf(to)))];
  const { network } = chain.reader;
  const open = await deps.orm.em.fork().find(BalanceDifference, { network, addressKey: { $in: addressKeys } });
  for (const kept of open) await settleDifference(deps, kept, { reason: kept.reason, report: chain.report });
}

async function liveKeys(deps: Deps, network: Network, keys: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await deps.orm.em.fork().find(DepositAddress, { network, mode: 'live', addressKey: { $in: [...keys] } });
  return new Set(rows.map((row) => row.addressKey));
}

async function finalBlockOf(deps: Deps, reader: ChainReader, txHash: string, signal: AbortSignal): Promise<number> {
  const place = await reader.locate(txHash, signal);
  if (!place)
    throw new DecisionRefused(`no endpoint of ${reader.network} has transaction ${txHash} in a block; check the hash and the network`);
  const cursor = await readCursor(deps, reader.network);
  if (!cursor || place.blockNumber > cursor.verifiedNumber) {
    throw new DecisionRefused(
      `block ${place.blockNumber} of transaction ${txHash} is not final yet or was not read twice (that is done up to ${cursor?.verifiedNumber ?? 'nothing'}); try again in a minute`,
    );
  }
  return place.blockNumber;
}

/** Live addresses that hold more of the native coin than the ledger knows, where this block lies in the time in question. */
async function openRises(deps: Deps, { network }: ChainReader, number: number): Promise<BalanceDifference[]> {
  const rows = await deps.orm.em.fork().find(
    BalanceDifference,
    {
      ...{ network, currency: NATIVE_CURRENCY[network], differenceUnits: { $gt: 0n } },
      ...{ sinceNumber: { $lt: number }, foundNumber: { $gte: number } },
    },
    { limit: MAX_OPEN },
  );
  const live = await liveKeys(
    deps,
    network,
    rows.map((row) => row.addressKey),
  );
  return rows.filter((row) => live.has(row.addressKey));
}

type Inside = {
  readonly named: NamedTransaction;
  readonly block: ScannedBlock;
  readonly open: readonly BalanceDifference[];
  readonly signal: AbortSignal;
};

/** Money that a contract passed on and no trace shows: as much as the balance rose in that block, or as is missing in all. */
async function claimInside(deps: Deps, chain: FollowedChain, { named, block, open, signal }: Inside): Promise<void> {
  const kept = open.find((one) => one.addressKey === addressKeyOf(named.to));
  if (!kept) return;
  const missing = kept.chainUnits - (await expectedAt(deps, kept, kept.foundNumber));
  const rose = await riseIn(deps, chain, kept, block.number, signal);
  const units = rose === undefined || rose > missing ? missing : rose;
  if (units > 0n) await recordCandidate(deps, chain, { kept, block, named, units });
}

/** By how much the balance rose in a block beyond what the ledger knows of it; undefined where no endpoint keeps balances that old. */
async function riseIn(
  deps: Deps,
  { reader }: FollowedChain,
  kept: BalanceDifference,
  number: number,
  signal: AbortSignal,
): Promise<bigint | undefined> {
  const address = [`0x${kept.addressKey}`];
  const [before, after] = [await reader.balances?.(address, number - 1, signal), await reader.balances?.(address, number, signal)];
  const [was, is] = [before?.[0], after?.[0]];
  if (!was || !is) return undefined;
  const known = (await expectedAt(deps, kept, number)) - (await expectedAt(deps, kept, number - 1));
  return unitsOf(is, kept.network, kept.currency) - unitsOf(was, kept.network, kept.currency) - known;
}
