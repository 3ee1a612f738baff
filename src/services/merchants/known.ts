import type { Em } from '../../db/orm.ts';
import { firstRow, sql } from '../../db/sql.ts';
import { isUuid } from '../../domain/ids.ts';
import { Refusal } from '../refusal.ts';

/**
 * Throws a {@link Refusal} with the next action for an id that no merchant has; undefined names no merchant
 * and passes. For lists of one merchant: an empty result for a mistyped id would say that there is nothing.
 */
export async function requireKnownMerchant(em: Em, merchantId: string | undefined): Promise<void> {
  if (merchantId === undefined) return;
  const known =
    isUuid(merchantId) && (await firstRow(em, sql`select 1 from merchants where id = ${merchantId}`));
  if (!known) throw noMerchant(merchantId);
}

/** The refusal of an id that no merchant has. */
export function noMerchant(merchantId: string): Refusal {
  return new Refusal(
    'NOT_FOUND',
    `There is no merchant ${merchantId.slice(0, 100)}. List the merchants with "merchant list".`,
  );
}
