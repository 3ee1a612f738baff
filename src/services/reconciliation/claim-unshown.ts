import type { AddressKey } from '../../chains/address-key.ts';
import { addressKeyOf } from '../../chains/addresses.ts';
import type { ScannedBlock, Transfer } from '../../chains/reader.ts';
import { type BalanceDifference, Deposit, DepositAddress } from '../../db/entities/index.ts';
import { assetOf, NATIVE_CURRENCY, type Network } from '../../domain/assets.ts';
import { formatUnits } from '../../domain/money.ts';
import type { Deps } from '../deps.ts';
import { readCursor } from '../watcher/cursor.ts';
import type { WatchedChain } from '../watcher/watched-chain.ts';
import { attributeTo, expectedAt, namesAmount, placeOf, riseIn, tellLate } from './attribute.ts';
import type { Proof } from './enlarge.ts';
import { comparedAssets, unitsOf } from './expected-balances.ts';
import type { Place } from './place.ts';
import type { Decider } from './reason.ts';
import { candidatesFor } from './search.ts';
import { recordTraced } from './traced.ts';

/**
 * An operator's word: the whole amount that the transaction brought to the address
 * in the native coin, and which address it was if the transaction names none.
 */
export type Word = {
  readonly carriedUnits: bigint;
  readonly addressKey?: AddressKey | undefined;
  readonly decider: Decider;
};

export type Unshown = {
  readonly block: ScannedBlock;
  readonly txHash: string;
  /** The differences that the transaction may explain. */
  readonly open: readonly BalanceDifference[];
  readonly word: Word | undefined;
  readonly decider: Decider | undefined;
  readonly signal: AbortSignal;
};

/**
 * Claims what a contract passed on inside a transaction whose block came without a trace: by a trace
 * of the transaction alone if one can be had, else by an operator's word if there is one, else by the
 * balance of its block, else as the only candidate of all blocks in question. Returns why nothing was
 * recorded, with the next action; undefined when something was. Throws the reader's errors.
 */
export async function claimUnshown(
  deps: Deps,
  chain: WatchedChain,
  unshown: Unshown,
): Promise<string | undefined> {
  const { block, txHash, open, word, signal } = unshown;
  if (!block.untraced?.succeeded.has(txHash))
    return `transaction ${txHash} failed on the chain and moved nothing; look for another one`;
  const traced = await chain.reader.traceTransaction?.(block, txHash, chain.watched.index, signal);
  if (traced && !traced.agreed)
    return `the endpoints ${traced.hosts.join(', ')} trace transaction ${txHash} differently; take the wrong one out of the RPC URLs and run it again`;
  if (traced) return await claimTraced(deps, chain, unshown, traced.transfers);
  if (word && open.length > 1)
    return `transaction ${txHash} names ${open.length} addresses where money is missing; add --address`;
  if (word && open.length === 0)
    return `no money is missing on an address that transaction ${txHash} names; run "reconcile", and add --address where its data names none`;
  let refusal: string | undefined;
  for (const kept of open) {
    const refused = await claimAt(deps, chain, unshown, kept);
    refusal ??= refused;
  }
  return refusal;
}

/** Which of these keys are our live addresses. */
export async function liveKeys(
  deps: Deps,
  network: Network,
  keys: readonly AddressKey[],
): Promise<ReadonlySet<AddressKey>> {
  const rows = await deps.orm.em
    .fork()
    .find(DepositAddress, { network, mode: 'live', addressKey: { $in: [...keys] } });
  return new Set(rows.map((row) => row.addressKey));
}

/**
 * A trace is the whole truth about a transaction, unless an RPC endpoint
 * lies: so the balance of each address has to have room for it.
 */
async function claimTraced(
  deps: Deps,
  chain: WatchedChain,
  unshown: Unshown,
  transfers: readonly Transfer[],
): Promise<string | undefined> {
  const { block, txHash, word, signal } = unshown;
  const { network } = chain.reader;
  const inside = transfers.filter((transfer) => transfer.currency === NATIVE_CURRENCY[network]);
  if (inside.length === 0)
    return `transaction ${txHash} pays none of our live addresses in ${NATIVE_CURRENCY[network]} or USDT, as its trace shows; look for another one`;
  const meant = inside.filter(
    ({ to }) => word?.addressKey === undefined || addressKeyOf(network, to) === word.addressKey,
  );
  const other = word && (meant.length !== 1 || meant[0]?.amountUnits !== word.carriedUnits);
  if (other)
    return `the trace of transaction ${txHash} shows ${textOf(network, inside)}; leave --amount out to record that`;
  const decider = word?.decider ?? unshown.decider;
  const bounds = await boundsOf(deps, chain, inside, signal);
  tellLate(
    deps,
    chain,
    block,
    await recordTraced(deps, chain, { block, txHash, transfers, bounds, decider }),
  );
  return undefined;
}

function textOf(network: Place['network'], transfers: readonly Transfer[]): string {
  return transfers
    .map(
      ({ to, currency, amountUnits }) =>
        `${formatUnits(amountUnits, assetOf(network, currency).decimals)} ${currency} to ${to}`,
    )
    .join(' and ');
}

/** What lies on the addresses now, as far as RPC endpoints tell it: nothing beyond that may be credited. */
async function boundsOf(
  deps: Deps,
  { reader }: WatchedChain,
  transfers: readonly Transfer[],
  signal: AbortSignal,
) {
  const { network } = reader;
  const cursor = await readCursor(deps, network);
  const addresses = [...new Set(transfers.map(({ to }) => addressKeyOf(network, to)))];
  const found = cursor ? await reader.balances?.(addresses, cursor.verifiedNumber, signal) : undefined;
  return (found ?? []).flatMap((balance) =>
    comparedAssets(network).map((currency) => ({
      network,
      addressKey: balance.addressKey,
      currency,
      foundNumber: cursor?.verifiedNumber ?? null,
      arrivedUnits: unitsOf(balance, network, currency),
    })),
  );
}

/**
 * Claims without a trace: by the operator's word if there is one, else by what
 * the balances prove, else because no other transaction can have brought it.
 */
async function claimAt(
  deps: Deps,
  chain: WatchedChain,
  unshown: Unshown,
  kept: BalanceDifference,
): Promise<string | undefined> {
  const { block, txHash, word } = unshown;
  const place = placeOf(kept);
  const proof = await proofOf(deps, chain, unshown, kept);
  if (typeof proof === 'string') {
    const asset = assetOf(place.network, place.currency);
    const missing = `${formatUnits(kept.differenceUnits - kept.beforeUnits, asset.decimals)} ${place.currency}`;
    return `nothing proves what transaction ${txHash} brought to ${kept.address}, where ${missing} are missing: no endpoint traces it, and ${proof}; put an endpoint that traces into the RPC URLs, or name the whole that it brought there with --amount AMOUNT --by NAME --reason TEXT`;
  }
  const outcome = await attributeTo(deps, chain, {
    place,
    block,
    txHash,
    proof,
    claimed: true,
    decider: word?.decider ?? unshown.decider,
  });
  return 'refused' in outcome ? outcome.refused : undefined;
}

async function proofOf(
  deps: Deps,
  chain: WatchedChain,
  unshown: Unshown,
  kept: BalanceDifference,
): Promise<Proof | string> {
  const { block, txHash, word, signal } = unshown;
  const roseUnits = await riseIn(chain.reader, placeOf(kept), block.number, signal);
  if (word) return { basis: 'operator', carriedUnits: word.carriedUnits, roseUnits, decider: word.decider };
  if (roseUnits !== undefined) {
    const left =
      roseUnits -
      (await expectedAt(deps, kept, block.number)) +
      (await expectedAt(deps, kept, block.number - 1));
    const here = (block.named ?? []).filter((named) => named.addressKey === kept.addressKey);
    const exact = here.filter((named) => namesAmount(named, left));
    const sole = here.length === 1 ? here[0] : exact.length === 1 ? exact[0] : undefined;
    if (sole?.txHash === txHash) return { basis: 'balance', roseUnits };
    return `${here.length} transactions of block ${block.number} name that address`;
  }
  if (block.number <= kept.sinceNumber)
    return `endpoints that keep the balances of block ${block.number} are missing`;
  const seen = await candidatesFor(deps, chain, kept, signal);
  if (!seen)
    return `no endpoint keeps the balances of block ${block.number}, and a search reads ${chain.reader.pace.searchBlocks} blocks at most of the ${kept.foundNumber - kept.sinceNumber} in question`;
  const hashes = new Set(seen.map(({ named }) => named.txHash));
  // What a trace proved is known to the last unit: it brought nothing beside that.
  const proven = {
    mode: 'live',
    network: kept.network,
    addressKey: kept.addressKey,
    provenUnits: { $ne: null },
  } as const;
  for (const deposit of await deps.orm.em.fork().find(Deposit, proven))
    hashes.delete(deposit.transactionHash);
  if (hashes.size === 1 && hashes.has(txHash)) return { basis: 'candidate' };
  return `${hashes.size} transactions of blocks ${kept.sinceNumber + 1} to ${kept.foundNumber} name that address`;
}
