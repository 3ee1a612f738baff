import type { AddressPageLink } from '../../contract/customer.ts';
import type { Em } from '../../db/orm.ts';
import { firstRow, run, sql } from '../../db/sql.ts';
import { isUuid } from '../../domain/ids.ts';
import { recordAction } from '../audit/record.ts';
import type { Deps, TxDeps } from '../deps.ts';
import { notFound, Refusal } from '../refusal.ts';
import type { Scope } from '../scope.ts';
import { openedIfKnown } from '../secrets/sealed.ts';
import type { Tx } from '../transact.ts';
import { newPage } from './token.ts';

/** A customer, and where people reach this service, without a slash at the end. */
export type PageOwner = Scope & { readonly id: string; readonly publicUrl: string };

/** There is no page yet, or no known key opens its address; a new page ends both. */
export type Untold = 'no page' | 'not opened';

/**
 * Where the page of a customer is. Throws a NOT_FOUND {@link Refusal}, for a customer who is erased too, and
 * where the address cannot be told.
 */
export async function getAddressPageLink(deps: Deps, owner: PageOwner): Promise<AddressPageLink> {
  const page = await findAddressPage(deps, owner);
  if (typeof page !== 'string') return page;
  const next = `POST /customers/${owner.id}/address-page`;
  throw new Refusal(
    'NOT_FOUND',
    page === 'no page'
      ? `This customer has no page yet: ${next} makes one.`
      : `The address of this customer’s page can be told no more: ${next} gives it a new one.`,
  );
}

/** The same, or why it cannot be told. Throws a NOT_FOUND {@link Refusal} without such a customer. */
export async function findAddressPage(deps: Deps, owner: PageOwner): Promise<AddressPageLink | Untold> {
  const sealed = await readSealed(deps.orm.em.fork(), owner);
  if (!sealed) return 'no page';
  const token = openedIfKnown(deps.secretBox, sealed, owner.id);
  return token === undefined ? 'not opened' : linkOf(owner, token);
}

/**
 * Gives the page of a customer another address, and a page to one who has none; under the address before
 * there is nothing from then on. Throws a NOT_FOUND {@link Refusal}, for a customer who is erased too.
 */
export async function moveAddressPage(tx: Tx, deps: TxDeps, owner: PageOwner): Promise<AddressPageLink> {
  await readSealed(tx.em, owner, sql`for update`);
  const { id, merchantId, mode } = owner;
  const { token, hash, sealed } = newPage(deps, id);
  await run(
    tx.em,
    sql`update customers set page_token_hash = ${hash}, page_token_sealed = ${sealed} where id = ${id}`,
  );
  await recordAction(tx.em, deps, { action: 'customer.new-page', merchantId, mode, subject: id });
  return linkOf(owner, token);
}

async function readSealed(em: Em, { id, merchantId, mode }: PageOwner, lock = sql``): Promise<Buffer | null> {
  const found = isUuid(id)
    ? await firstRow(
        em,
        sql<{ sealed: Buffer | null; isErased: boolean | null }>`
          select page_token_sealed as sealed, external_id = 'erased-' || id as is_erased from customers
          where id = ${id} and merchant_id = ${merchantId} and mode = ${mode} ${lock}`,
      )
    : undefined;
  if (!found) throw notFound('customer');
  if (found.isErased)
    throw new Refusal('NOT_FOUND', 'This customer was erased: the page of its addresses is gone.');
  return found.sealed;
}

function linkOf({ id, publicUrl }: PageOwner, token: string): AddressPageLink {
  return { customer_id: id, token, url: `${publicUrl}/address/${token}` };
}
