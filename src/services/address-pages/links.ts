import type { AddressPageLink } from '../../contract/customer.ts';
import type { Em } from '../../db/orm.ts';
import { firstRow, sql } from '../../db/sql.ts';
import { isUuid } from '../../domain/ids.ts';
import { recordAction } from '../audit/record.ts';
import type { Deps, TxDeps } from '../deps.ts';
import { notFound, Refusal } from '../refusal.ts';
import type { Scope } from '../scope.ts';
import type { Tx } from '../transact.ts';
import { newPageToken } from './view.ts';

/** A customer, and where people reach this service, without a slash at the end. */
export type PageOwner = Scope & { readonly id: string; readonly publicUrl: string };

/** Where the page of a customer is. Throws a NOT_FOUND {@link Refusal}, for a customer who is erased too. */
export async function getAddressPageLink(deps: Deps, owner: PageOwner): Promise<AddressPageLink> {
  return await readLink(deps.orm.em.fork(), owner);
}

async function readLink(em: Em, owner: PageOwner): Promise<AddressPageLink> {
  const { id, merchantId, mode } = owner;
  const found = isUuid(id)
    ? await firstRow(
        em,
        sql<{ token: string | null }>`select page_token as token from customers
          where id = ${id} and merchant_id = ${merchantId} and mode = ${mode}`,
      )
    : undefined;
  if (!found) throw notFound('customer');
  if (found.token === null)
    throw new Refusal('NOT_FOUND', 'This customer was erased: the page of its addresses is gone.');
  return linkOf(owner, found.token);
}

/**
 * Gives the page of a customer another address; under the one before there is nothing from then on. Throws as
 * {@link getAddressPageLink}.
 */
export async function moveAddressPage(tx: Tx, deps: TxDeps, owner: PageOwner): Promise<AddressPageLink> {
  const { id, merchantId, mode } = owner;
  const moved = isUuid(id)
    ? await firstRow(
        tx.em,
        sql<{ token: string }>`update customers set page_token = ${newPageToken()}
          where id = ${id} and merchant_id = ${merchantId} and mode = ${mode} and page_token is not null
          returning page_token as token`,
      )
    : undefined;
  if (!moved) return await readLink(tx.em, owner);
  await recordAction(tx.em, deps, { action: 'customer.new-page', merchantId, mode, subject: id });
  return linkOf(owner, moved.token);
}

function linkOf({ id, publicUrl }: PageOwner, token: string): AddressPageLink {
  return { customer_id: id, token, url: `${publicUrl}/address/${token}` };
}
