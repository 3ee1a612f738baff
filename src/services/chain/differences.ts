import { BalanceDifference } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { assetOf, type Currency, NATIVE_CURRENCY, type Network } from '../../domain/assets.ts';
import { formatUnits } from '../../domain/money.ts';
import type { Deps } from '../deps.ts';
import { assetKey, expectedUnits } from './expected.ts';
import type { ChainReport } from './report.ts';

/** A balance as it was found at the end of a block, beside what the ledger says. */
export type Compared = {
  readonly network: Network;
  readonly addressKey: string;
  readonly address: string;
  readonly currency: Currency;
  readonly chainUnits: bigint;
  readonly expectedUnits: bigint;
  readonly blockNumber: number;
  /** The newest block at which this balance is known to have agreed, where no difference is kept. */
  readonly agreedNumber: number;
};

/**
 * Keeps the outcome of one comparison: nothing where both agree, else a difference that has to be searched. What was searched already is
 * not searched again. Returns whether something is new.
 */
export async function keepComparison(em: Em, deps: Deps, compared: Compared): Promise<boolean> {
  const { network, addressKey, currency, blockNumber } = compared;
  const differenceUnits = compared.chainUnits - compared.expectedUnits;
  const kept = await em.findOne(BalanceDifference, { network, addressKey, currency });
  if (differenceUnits === 0n) {
    if (kept) await forget(em, deps, kept);
    return false;
  }
  if (kept && kept.differenceUnits === differenceUnits) return false;
  // What an earlier search could not explain is known; one that did not come to a search yet still has its whole window before it.
  const known = kept?.searched ? { units: kept.differenceUnits, at: kept.foundNumber } : undefined;
  await em.upsert(BalanceDifference, {
    ...{ network, addressKey, currency, address: compared.address, chainUnits: compared.chainUnits, differenceUnits },
    knownUnits: known?.units ?? kept?.knownUnits ?? 0n,
    beforeUnits: kept?.beforeUnits ?? 0n,
    sinceNumber: known?.at ?? kept?.sinceNumber ?? compared.agreedNumber,
    ...{ foundNumber: blockNumber, searched: false, reason: 'not searched yet', notedAt: deps.now() },
  });
  return true;
}

async function forget(em: Em, deps: Deps, kept: BalanceDifference): Promise<void> {
  await em.nativeDelete(BalanceDifference, { network: kept.network, addressKey: kept.addressKey, currency: kept.currency });
  await showUnrecognised(em, deps, kept, 0n);
}

/**
 * Compares a difference with the ledger as it is now, after a search or a claim recorded something: it is forgotten where nothing is left,
 * else it is what the operator has to look at. `reason` says why nothing explained it. Returns what is left, in base units.
 */
export async function settleDifference(
  deps: Deps,
  kept: BalanceDifference,
  outcome: { readonly reason: string; readonly beforeUnits?: bigint | undefined; readonly report?: ChainReport | undefined },
): Promise<bigint> {
  return await deps.orm.em.fork().transactional(async (em) => {
    const { network, addressKey, currency, foundNumber } = kept;
    const expected = await expectedUnits(deps, em, { network, addressKeys: [addressKey], blockNumber: foundNumber });
    const left = kept.chainUnits - (expected.get(assetKey(addressKey, currency)) ?? 0n);
    if (left === 0n) {
      await forget(em, deps, kept);
      return left;
    }
    const beforeUnits = outcome.beforeUnits ?? kept.beforeUnits;
    const unexplained = left - beforeUnits;
    let reason = left < 0n ? 'less lies on the address than the ledger says' : outcome.reason;
    if (unexplained === 0n) reason = 'it lay on the address before the address was one of ours';
    await em.nativeUpdate(
      BalanceDifference,
      { network, addressKey, currency },
      { differenceUnits: left, beforeUnits, searched: true, reason: reason.slice(0, 290), notedAt: deps.now() },
    );
    await showUnrecognised(em, deps, kept, unexplained);
    if (unexplained === 0n) return left;
    const amount = `${formatUnits(unexplained < 0n ? -unexplained : unexplained, assetOf(network, currency).decimals)} ${currency}`;
    const blocks = `${kept.sinceNumber + 1} to ${foundNumber}`;
    deps.log.error(
      { network, address: kept.address, currency, amount, blocks, reason },
      unexplained < 0n
        ? 'an address holds less than the ledger says; compare it with an explorer'
        : 'money arrived that no transaction explains; find it with an explorer and run "deposit claim --tx HASH"',
    );
    outcome.report?.difference?.({ network, currency, units: unexplained });
    return left;
  });
}

/** The row that `deposit list --unrecognised` shows for money without a transaction: one for each address and asset, without a hash. */
async function showUnrecognised(em: Em, deps: Deps, kept: BalanceDifference, units: bigint): Promise<void> {
  const { network, addressKey, currency } = kept;
  const contract = currency === NATIVE_CURRENCY[network] ? '' : deps.settings.contracts[network];
  await em.execute(
    `delete from unrecognised_transfers where network = ? and transaction_hash = '' and address_key = ? and contract_address = ?`,
    [...[network, addressKey, contract]],
  );
  if (units <= 0n) return;
  const reason = `arrived between block ${kept.sinceNumber + 1} and ${kept.foundNumber}, in no transaction that could be found`;
  await em.execute(
    `insert into unrecognised_transfers (id, network, transaction_hash, address, address_key, contract_address, amount_units, block_number, reason, created_at)
     values (?, ?, '', ?, ?, ?, ?, ?, ?, ?)`,
    [deps.newId(), network, kept.address, addressKey, contract, units.toString(), kept.foundNumber, reason, deps.now()],
  );
}
