import type { Em } from '../../db/orm.ts';
import { firstRow, sql } from '../../db/sql.ts';
import { isUuid } from '../../domain/ids.ts';
import { Refusal } from '../refusal.ts';

/**
 * For a list of one merchant: an empty answer for a mistyped id would say that there is nothing. Throws
 * a {@link Refusal} with the next action for an id that nobody has; undefined names nobody and passes.
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
    `There is no merchant ${merchantId}. List the merchants with "merchant list".`,
  );
}
