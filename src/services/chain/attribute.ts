import type { ChainReader, NamedTransaction, ScannedBlock, Transfer } from '../../chain/port.ts';
import { type BalanceDifference, Deposit } from '../../db/entities/index.ts';
import { NATIVE_CURRENCY } from '../../domain/assets.ts';
import { depositIdOf } from '../deposits/identity.ts';
import type { Deps } from '../deps.ts';
import { transact } from '../transact.ts';
import { addressKeyOf } from './address-key.ts';
import { assetKey, expectedUnits } from './expected.ts';
import type { FollowedChain } from './follow.ts';
import { recordAgain } from './rescan.ts';
import { recordUnrecognised } from './unrecognised.ts';

/** One of our own wallets sent it: no deposit, but it explains a balance. */
export const FROM_OWN_WALLET = 'from one of our own wallets';

/** What the ledger says lies on the difference's address, in its currency, at the end of a block. */
export async function expectedAt(deps: Deps, kept: BalanceDifference, blockNumber: number): Promise<bigint> {
  const { network, addressKey, currency } = kept;
  const found = await expectedUnits(deps, deps.orm.em.fork(), { network, addressKeys: [addressKey], blockNumber });
  return found.get(assetKey(addressKey, currency)) ?? 0n;
}

/** True for a movement to the difference's address in its currency. */
export function explains(kept: BalanceDifference, transfer: Transfer): boolean {
  return transfer.currency === kept.currency && addressKeyOf(transfer.to) === kept.addressKey;
}

/** Records what a block shows for us and was not recorded: deposits, and what our own wallets sent to this address. */
export async function recordShown(deps: Deps, chain: FollowedChain, kept: BalanceDifference, block: ScannedBlock): Promise<void> {
  if (block.transfers.length > 0) await recordLate(deps, chain, block);
  const own = (block.own ?? []).filter((transfer) => explains(kept, transfer));
  if (own.length === 0) return;
  const { network } = kept;
  await transact(deps, async ({ em }) => {
    const transfers = own.map(({ txHash, to, amountUnits, kind }) => ({
      ...{ txHash, to, amountUnits, reason: FROM_OWN_WALLET },
      contract: kind === 'native' ? null : deps.settings.contracts[network],
    }));
    await recordUnrecognised(em, deps, { network, block, transfers });
  });
}

/**
 * Makes one transaction of a block account for an amount that reached the address inside it: an ordinary deposit under the transaction's own
 * identity. Where that deposit is known already (its plain part, say), it becomes as much larger. Money that was credited is never
 * rewritten: then nothing changes and the difference stays for the operator.
 */
export async function recordCandidate(
  deps: Deps,
  chain: FollowedChain,
  input: { readonly kept: BalanceDifference; readonly block: ScannedBlock; readonly named: NamedTransaction; readonly units: bigint },
): Promise<void> {
  const { kept, block, named, units } = input;
  const { network, currency, addressKey } = kept;
  const id = depositIdOf({ mode: 'live', network, transactionHash: named.txHash, addressKey, currency });
  const known = await deps.orm.em.fork().findOne(Deposit, id);
  const shown = block.transfers.find((transfer) => transfer.txHash === named.txHash && explains(kept, transfer));
  const before = known?.blockHash === block.hash ? known.amountUnits : (shown?.amountUnits ?? 0n);
  const transfer: Transfer = {
    ...{ txHash: named.txHash, to: `0x${addressKey}`, currency, amountUnits: before + units },
    // Which contract paid in the end is not known: the one that was called may have called others.
    ...{ kind: currency === NATIVE_CURRENCY[network] ? 'native' : 'token', from: null },
  };
  await recordLate(deps, chain, { ...block, transfers: [...block.transfers.filter((other) => other !== shown), transfer] });
}

async function recordLate(deps: Deps, { reader, report }: FollowedChain, block: ScannedBlock): Promise<number> {
  const found = await recordAgain(deps, reader, block);
  if (found > 0) {
    report?.foundLate?.({ network: reader.network, deposits: found });
    deps.log.warn(
      { network: reader.network, block: block.number, deposits: found },
      'the reconciliation found deposits that no read had shown',
    );
  }
  return found;
}

/** Reads a block that lies in the past; a chain that does not have it is an error here. */
export async function scanPast(
  reader: ChainReader,
  chain: FollowedChain,
  at: { readonly number: number; readonly naming: readonly string[]; readonly signal: AbortSignal },
): Promise<ScannedBlock> {
  const block = await reader.scan(at.number, chain.watched.index, at.signal, at.naming);
  if (!block) throw new Error(`no endpoint of ${reader.network} has block ${at.number} any more`);
  return block;
}

/** True where the calldata holds this amount as a whole 32-byte word, wherever it stands: packed batch calls are not aligned. */
export function namesAmount(named: NamedTransaction, units: bigint): boolean {
  return named.calldata.includes(units.toString(16).padStart(64, '0'));
}
