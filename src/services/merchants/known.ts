import { LockMode } from '@mikro-orm/core';
import { Merchant } from '../../db/entities/index.ts';
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

/**
 * The merchant, held until the caller's transaction ends: whoever changes it takes turns. The lock waits for
 * every completion that read the limit before it, and every completion after it reads the new one. Throws a
 * {@link Refusal} for an unknown one.
 */
export async function lockMerchant(em: Em, merchantId: string): Promise<Merchant> {
  const merchant = isUuid(merchantId)
    ? await em.findOne(Merchant, merchantId, { lockMode: LockMode.PESSIMISTIC_WRITE })
    : null;
  if (!merchant) throw noMerchant(merchantId);
  return merchant;
}

/** The refusal of an id that no merchant has. */
export function noMerchant(merchantId: string): Refusal {
  return new Refusal(
    'NOT_FOUND',
    `There is no merchant ${merchantId.slice(0, 100)}. List the merchants with "merchant list".`,
  );
}
