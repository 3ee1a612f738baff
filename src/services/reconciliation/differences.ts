import { LockMode } from '@mikro-orm/core';
import type { AddressKey } from '../../chains/address-key.ts';
import type { Balance } from '../../chains/reader.ts';
import { BalanceDifference } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { run, sql } from '../../db/sql.ts';
import { assetOf, type Currency, NATIVE_CURRENCY, type Network } from '../../domain/assets.ts';
import { formatUnits } from '../../domain/money.ts';
import { fitted, MAX_REASON } from '../../domain/text.ts';
import type { Deps } from '../deps.ts';
import type { ChainReport } from '../watcher/report.ts';
import {
  assetKey,
  comparedAssets,
  type ExpectedBalance,
  expectedUnits,
  NOTHING_EXPECTED,
  unitsOf,
} from './expected-balances.ts';

/** A balance as it was found at the end of a block, beside what the ledger says. */
export type Compared = {
  readonly network: Network;
  readonly addressKey: AddressKey;
  readonly address: string;
  readonly currency: Currency;
  readonly chainUnits: bigint;
  readonly expected: ExpectedBalance;
  readonly blockNumber: number;
  /** The newest block at which this balance is known to have agreed, if no difference is kept. */
  readonly agreedNumber: number;
};

const LESS = 'less lies on the address than the ledger says';

/** Addresses of one chain with what lies on each at the end of a block, in the same order. */
export type Batch = Pick<Compared, 'network' | 'blockNumber' | 'agreedNumber'> & {
  readonly addresses: readonly Pick<Compared, 'addressKey' | 'address'>[];
  readonly found: readonly Balance[];
};

/**
 * Compares what lies on addresses with what the ledger says, and keeps what differs or did before.
 * Returns the addresses whose native coin agrees to the last unit.
 */
export async function compareBatch(em: Em, deps: Deps, batch: Batch): Promise<ReadonlySet<string>> {
  const { network, addresses, found, blockNumber, agreedNumber } = batch;
  const addressKeys = addresses.map((row) => row.addressKey);
  const expected = await expectedUnits(em, deps, { network, addressKeys, blockNumber });
  const agreeing = new Set<string>();
  const kept = new Set(
    (await em.find(BalanceDifference, { network, addressKey: { $in: addressKeys } })).map((row) =>
      assetKey(row.addressKey, row.currency),
    ),
  );
  for (const [index, { addressKey, address }] of addresses.entries()) {
    const balance = found[index];
    if (!balance) throw new Error('a balance is missing');
    for (const currency of comparedAssets(network)) {
      const compared: Compared = {
        network,
        addressKey,
        address,
        currency,
        blockNumber,
        agreedNumber,
        chainUnits: unitsOf(balance, network, currency),
        expected: expected.get(assetKey(addressKey, currency)) ?? NOTHING_EXPECTED,
      };
      const { boundUnits, replacedUnits } = compared.expected;
      if (currency === NATIVE_CURRENCY[network] && compared.chainUnits === boundUnits)
        agreeing.add(addressKey);
      if (
        compared.chainUnits !== boundUnits ||
        replacedUnits !== 0n ||
        kept.has(assetKey(addressKey, currency))
      )
        await keepComparison(em, deps, compared);
    }
  }
  return agreeing;
}

/**
 * Keeps the outcome of one comparison: nothing if chain and ledger agree and no
 * block is missing, else a difference. What no block brought has to be searched;
 * what was searched already is not searched again. Returns whether something is new.
 */
export async function keepComparison(em: Em, deps: Deps, compared: Compared): Promise<boolean> {
  const { network, addressKey, currency, blockNumber } = compared;
  const { boundUnits, replacedUnits } = compared.expected;
  const differenceUnits = compared.chainUnits - boundUnits;
  const kept = await em.findOne(BalanceDifference, { network, addressKey, currency });
  if (differenceUnits === 0n && replacedUnits === 0n) {
    if (kept) await forget(em, deps, kept);
    return false;
  }
  const sameDifference = (kept?.differenceUnits ?? 0n) === differenceUnits;
  if (kept && sameDifference && kept.replacedUnits === replacedUnits) return false;
  // What an earlier search could not explain is known; a difference
  // that was not searched yet still has its whole window before it.
  const known = kept?.searched ? { units: kept.differenceUnits, at: kept.foundNumber } : undefined;
  const nothingToSearch = sameDifference && (kept?.searched ?? true);
  await em.upsert(BalanceDifference, {
    network,
    addressKey,
    currency,
    address: compared.address,
    chainUnits: compared.chainUnits,
    differenceUnits,
    replacedUnits,
    knownUnits: known?.units ?? kept?.knownUnits ?? 0n,
    beforeUnits: kept?.beforeUnits ?? 0n,
    sinceNumber: known?.at ?? kept?.sinceNumber ?? compared.agreedNumber,
    foundNumber: blockNumber,
    searched: nothingToSearch,
    notedAt: deps.now(),
    reason: nothingToSearch ? (kept?.reason ?? LESS) : 'not searched yet',
  });
  if (replacedUnits > (kept?.replacedUnits ?? 0n)) {
    const amount = `${formatUnits(replacedUnits, assetOf(network, currency).decimals)} ${currency}`;
    deps.log.error(
      { network, address: compared.address, amount },
      'the ledger holds money whose block was replaced; look at it with "deposit stuck"',
    );
  }
  return true;
}

async function forget(em: Em, deps: Deps, kept: BalanceDifference): Promise<void> {
  await em.nativeDelete(BalanceDifference, {
    network: kept.network,
    addressKey: kept.addressKey,
    currency: kept.currency,
  });
  await showUnrecognised(em, deps, kept, 0n);
}

/**
 * Compares a difference with the ledger as it is now, after a search or a claim recorded
 * something. It is forgotten if nothing is left; otherwise an operator has to look at
 * it. `reason` says why nothing explained it. Returns what is left, in base units.
 */
export async function settleDifference(
  deps: Deps,
  searched: BalanceDifference,
  outcome: {
    readonly reason: string;
    readonly beforeUnits?: bigint | undefined;
    readonly report?: ChainReport | undefined;
  },
): Promise<bigint> {
  return await deps.orm.em.fork().transactional(async (em) => {
    const { network, addressKey, currency } = searched;
    // A pass may have compared it again meanwhile: then that
    // comparison counts, and it still has its own search before it.
    const kept = await em.findOne(
      BalanceDifference,
      { network, addressKey, currency },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    if (!kept) return 0n;
    const { foundNumber } = kept;
    const found = await expectedUnits(em, deps, {
      network,
      addressKeys: [addressKey],
      blockNumber: foundNumber,
    });
    const { boundUnits, replacedUnits } = found.get(assetKey(addressKey, currency)) ?? NOTHING_EXPECTED;
    const left = kept.chainUnits - boundUnits;
    if (left === 0n && replacedUnits === 0n) {
      await forget(em, deps, kept);
      return left;
    }
    const beforeUnits = outcome.beforeUnits ?? kept.beforeUnits;
    const unexplained = left - beforeUnits;
    let reason = left < 0n || (left === 0n && replacedUnits > 0n) ? LESS : outcome.reason;
    if (unexplained === 0n && left !== 0n) reason = 'it lay on the address before the address was ours';
    const isSearched = kept.searched || foundNumber === searched.foundNumber;
    await em.nativeUpdate(
      BalanceDifference,
      { network, addressKey, currency },
      {
        differenceUnits: left,
        replacedUnits,
        beforeUnits,
        searched: isSearched,
        reason: fitted(reason, MAX_REASON),
        notedAt: deps.now(),
      },
    );
    await showUnrecognised(em, deps, kept, unexplained);
    if (unexplained !== 0n) tell(deps, kept, { unexplained, reason, report: outcome.report });
    return left;
  });
}

type Told = {
  readonly unexplained: bigint;
  readonly reason: string;
  readonly report: ChainReport | undefined;
};

function tell(deps: Deps, kept: BalanceDifference, { unexplained, reason, report }: Told): void {
  const { network, currency, address } = kept;
  const amount = `${formatUnits(unexplained < 0n ? -unexplained : unexplained, assetOf(network, currency).decimals)} ${currency}`;
  const blocks = `${kept.sinceNumber + 1} to ${kept.foundNumber}`;
  deps.log.error(
    { network, address, currency, amount, blocks, reason },
    unexplained < 0n
      ? 'an address holds less than the ledger says; compare it with an explorer'
      : 'money arrived that no transaction explains; find it with an explorer and run "deposit claim --tx HASH"',
  );
  report?.difference?.({ network, currency, units: unexplained });
}

/**
 * The row that `deposit list --unrecognised` shows for money without
 * a transaction: one for each address and asset, without a hash.
 */
async function showUnrecognised(em: Em, deps: Deps, kept: BalanceDifference, units: bigint): Promise<void> {
  const { network, addressKey, currency } = kept;
  const contract = currency === NATIVE_CURRENCY[network] ? '' : deps.settings.contracts[network];
  await run(
    em,
    sql`delete from unrecognised_transfers
     where network = ${network} and transaction_hash = '' and address_key = ${addressKey}
       and contract_address = ${contract}`,
  );
  if (units <= 0n) return;
  const reason = `arrived between block ${kept.sinceNumber + 1} and ${kept.foundNumber}, in no transaction that could be found`;
  await run(
    em,
    sql`insert into unrecognised_transfers (id, network, transaction_hash, address, address_key,
     contract_address, amount_units, block_number, reason, created_at)
     values (${deps.newId()}, ${network}, '', ${kept.address}, ${addressKey}, ${contract}, ${units},
       ${kept.foundNumber}, ${reason}, ${deps.now()})`,
  );
}
