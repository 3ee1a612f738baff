import { Customer, Deposit, Merchant } from '../../../db/entities/index.ts';
import { assetOf } from '../../../domain/assets.ts';
import { formatUnits } from '../../../domain/money.ts';
import type { Deps } from '../../../services/deps.ts';

/** Of each deposit amount, merchant and customer, as lines for a person; strangers wrote the names. */
export async function ownersOf(
  deps: Deps,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const em = deps.orm.em.fork();
  const deposits = await em.find(Deposit, { id: { $in: [...ids] } });
  const of = <T>(pick: (deposit: Deposit) => T): T[] => [...new Set(deposits.map(pick))];
  const merchants = new Map(
    (await em.find(Merchant, { id: { $in: of(({ merchantId }) => merchantId) } })).map((row) => [
      row.id,
      row.name,
    ]),
  );
  const customers = new Map(
    (await em.find(Customer, { id: { $in: of(({ customerId }) => customerId) } })).map((row) => [
      row.id,
      row.email ?? row.externalId ?? 'without a name',
    ]),
  );
  return new Map(
    deposits.map(({ id, network, currency, amountUnits, merchantId, customerId, mode }) => [
      id,
      [
        `${formatUnits(amountUnits, assetOf(network, currency).decimals)} ${currency}${mode === 'test' ? ' (test mode)' : ''} of merchant ${merchants.get(merchantId)} (${merchantId})`,
        `customer ${customers.get(customerId)} (${customerId})`,
      ],
    ]),
  );
}
