import { OperatorError } from '../../../base/errors.ts';
import { Customer } from '../../../db/entities/index.ts';
import { rows, sql } from '../../../db/sql.ts';
import { type Mode, NETWORKS } from '../../../domain/assets.ts';
import { isoSeconds } from '../../../domain/events.ts';
import { isUuid } from '../../../domain/ids.ts';
import type { Deps } from '../../../services/deps.ts';
import { readGiven } from '../../../services/find/given.ts';
import { requireKnownMerchant } from '../../../services/merchants/known.ts';
import { inOrderOf, newestIds } from './newest.ts';

type Filters = {
  readonly merchant?: string;
  readonly mode?: Mode;
  readonly email?: string;
  readonly externalId?: string;
  readonly address?: string;
  readonly limit: number;
};

/**
 * Customers of every merchant, newest first. Throws a `Refusal` for an unknown merchant, an OperatorError for
 * an address that is none.
 */
export async function listAllCustomers(deps: Deps, filters: Filters): Promise<Customer[]> {
  const em = deps.orm.em.fork();
  const { merchant, mode, email, externalId, address, limit } = filters;
  await requireKnownMerchant(em, merchant);
  const named = email !== undefined || externalId !== undefined || address !== undefined;
  if (!named) {
    const ids = await newestIds(em, { table: 'customers', merchant, mode, only: sql`true`, limit });
    return inOrderOf(ids, await em.find(Customer, { id: { $in: ids } }));
  }
  const key = address === undefined ? undefined : addressKeyIn(address);
  const found = await rows(
    em,
    sql<{ id: string }>`select id from customers c where
      (${merchant ?? null}::uuid is null or merchant_id = ${merchant ?? null}::uuid)
      and (${mode ?? null}::text is null or mode = ${mode ?? null})
      and ${email === undefined ? sql`true` : sql`lower(email) = ${email.normalize('NFC').toLowerCase()}`}
      and ${externalId === undefined ? sql`true` : sql`external_id = ${externalId}`}
      and ${
        key === undefined
          ? sql`true`
          : sql`id in (select customer_id from deposit_addresses
        where network = any(${[...NETWORKS]}) and address_key = ${key})`
      }
      order by created_at desc, id desc limit ${limit}`,
  );
  const ids = found.map(({ id }) => id);
  return inOrderOf(ids, await em.find(Customer, { id: { $in: ids } }));
}

/** The 20 bytes of an address in any spelling. Throws an OperatorError. */
export function addressKeyIn(text: string): string {
  const { addressKey } = readGiven(text);
  if (addressKey === undefined)
    throw new OperatorError(
      `${text.slice(0, 100)} is no address of one of the networks`,
      'Copy it again, whole',
    );
  return addressKey;
}

/** The customer's row. Throws an OperatorError that says how to find the right id. */
export async function requireCustomer(deps: Deps, id: string): Promise<Customer> {
  const customer = isUuid(id) ? await deps.orm.em.fork().findOne(Customer, id) : null;
  if (!customer)
    throw new OperatorError(
      `There is no customer ${id.slice(0, 100)}`,
      'Find one by email, external id or address with "gateway find"',
    );
  return customer;
}

/** A customer as a list of every merchant's shows it. */
export function customerView(row: Customer) {
  return {
    id: row.id,
    merchant_id: row.merchantId,
    is_live: row.mode === 'live',
    email: row.email ?? null,
    external_id: row.externalId ?? null,
    name: row.name ?? null,
    created_at: isoSeconds(row.createdAt),
  };
}
