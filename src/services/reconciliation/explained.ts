import type { AddressKey } from '../../chains/address-key.ts';
import type { BalanceDifference } from '../../db/entities/index.ts';
import { literals, rows, sql } from '../../db/sql.ts';
import { assetOf, type Currency, NETWORKS, type Network } from '../../domain/assets.ts';
import { CREDITED_STATES, WAITING_STATES } from '../../domain/deposit.ts';
import { formatUnits } from '../../domain/money.ts';
import type { Deps } from '../deps.ts';
import { assetKey } from './expected-balances.ts';

/**
 * A credited deposit whose transaction was shown to carry
 * another amount than the one that was attributed to it.
 */
export type Misattributed = {
  readonly depositId: string;
  readonly network: Network;
  readonly address: string;
  readonly addressKey: AddressKey;
  readonly transactionHash: string;
  readonly currency: Currency;
  readonly creditedUnits: bigint;
  readonly provenUnits: bigint;
};

const MAX_LISTED = 1_000;

/**
 * Deposits that were credited with an attributed amount and were shown to
 * carry another one, at most 1,000. That alone makes no difference of the
 * address: what one deposit has too much, another was not credited with.
 */
export async function listMisattributed(deps: Deps, network?: Network): Promise<Misattributed[]> {
  const found = await rows(
    deps.orm.em.fork(),
    sql<Omit<Misattributed, 'creditedUnits' | 'provenUnits'> & { amountUnits: string; provenUnits: string }>`
      select id as deposit_id, network, address, address_key, transaction_hash, currency,
        amount_units::text as amount_units, proven_units::text as proven_units
      from deposits where network = any(${network ? [network] : NETWORKS}) and proven_units is not null
        and proven_units <> amount_units
        and status in ${literals(CREDITED_STATES)} and not simulated order by completed_at, id
          limit ${MAX_LISTED}`,
  );
  return found.map(({ amountUnits, provenUnits, ...row }) => ({
    ...row,
    creditedUnits: BigInt(amountUnits),
    provenUnits: BigInt(provenUnits),
  }));
}

/** The sentence about such a deposit, for operators. */
export function misattributionText({
  depositId,
  network,
  currency,
  creditedUnits,
  provenUnits,
}: Misattributed): string {
  const { decimals } = assetOf(network, currency);
  const [credited, proven] = [formatUnits(creditedUnits, decimals), formatUnits(provenUnits, decimals)];
  return `deposit ${depositId}: ${credited} ${currency} were credited by attribution, its transaction carried ${proven}`;
}

/** The alarms that explain differences, by {@link assetKey}: each is a sentence that names its deposit. */
export async function explanationsOf(
  deps: Deps,
  differences: readonly BalanceDifference[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>();
  const add = (key: string, sentence: string): void =>
    void found.set(key, [...(found.get(key) ?? []), sentence]);
  if (differences.length === 0) return found;
  const keys = [...new Set(differences.map((row) => row.addressKey))];
  const replaced = await rows(
    deps.orm.em.fork(),
    sql<{ id: string; addressKey: AddressKey; currency: Currency; status: string; blockNumber: string }>`
      select id, address_key, currency, status, block_number::text as block_number from deposits
      where block_hash is null and network = any(${NETWORKS}) and address_key = any(${keys}) and mode = 'live'
        and not simulated
        and status in ${literals([...WAITING_STATES, ...CREDITED_STATES])}
          order by deposits.block_number, id`,
  );
  for (const row of replaced)
    add(
      assetKey(row.addressKey, row.currency),
      `deposit ${row.id} (${row.status}): its block ${row.blockNumber} was replaced`,
    );
  for (const row of await listMisattributed(deps))
    add(assetKey(row.addressKey, row.currency), misattributionText(row));
  return found;
}
