import { PaymentLink } from '../../db/entities/index.ts';
import { plainRows } from '../../db/plain-rows.ts';
import { isUuid } from '../../domain/ids.ts';
import type { LinkStatus } from '../../domain/payment-link.ts';
import type { Deps } from '../deps.ts';
import { type CreatedBetween, createdBetween, inOrder, listPage, type PageOf } from '../lists/page.ts';
import type { Condition, PageRequest, Search } from '../lists/query.ts';
import { CUSTOMER_TEXTS, holdsIn, holdsPart, LINK_TEXTS, partsOf, readForPart } from '../lists/texts.ts';
import { notFound } from '../refusal.ts';
import type { Scope } from '../scope.ts';
import { LINK_FIELDS, type PaymentLinkView, paymentViews } from './present.ts';

export type PaymentLinkFilters = CreatedBetween & {
  readonly status?: LinkStatus | undefined;
  readonly customerId?: string | undefined;
  /** A part of the description, the external_id, the token or the customer's email, in any case. */
  readonly search?: string | undefined;
};

/** One page of the links of this merchant and mode, newest first. Throws a {@link Refusal} for a foreign cursor. */
export async function listPaymentLinks(
  deps: Deps,
  input: Scope & PaymentLinkFilters & { readonly page: PageRequest },
): Promise<PageOf<PaymentLinkView>> {
  const em = deps.orm.em.fork();
  const search = input.search === undefined ? undefined : searchOf(input, input.search);
  const page = await listPage(em, { table: 'payment_links', scope: input, filters: conditionsOf(input), search, page: input.page });
  const rows = await plainRows(em, PaymentLink, { id: { $in: [...page.rows] } }, LINK_FIELDS);
  return { ...page, rows: await paymentViews(em, inOrder(page.rows, rows)) };
}

/** The link's view. Throws a NOT_FOUND {@link Refusal}. */
export async function getPaymentLink(deps: Deps, input: Scope & { readonly id: string }): Promise<PaymentLinkView> {
  const em = deps.orm.em.fork();
  const { id, merchantId, mode } = input;
  const row = isUuid(id) ? await em.findOne(PaymentLink, { id, merchantId, mode }) : null;
  const [view] = row ? await paymentViews(em, [row]) : [];
  if (!view) throw notFound('payment link');
  return view;
}

function conditionsOf(filters: PaymentLinkFilters): Condition[] {
  const conditions = createdBetween(filters);
  if (filters.status !== undefined) conditions.push({ sql: 'status = ?', values: [filters.status] });
  if (filters.customerId !== undefined) conditions.push({ sql: 'customer_id = ?', values: [filters.customerId] });
  return conditions;
}

const PAYER_TEXTS = { ...CUSTOMER_TEXTS, columns: ['email'] };

/** The texts of the link itself, or the email of whoever pays it. */
function searchOf({ merchantId, mode }: Scope, text: string): Search {
  const own = holdsIn(LINK_TEXTS, text);
  const isPayer = 'exists (select from customers where customers.id = customer_id and strpos(lower(customers.email), lower(?)) > 0)';
  const test = { sql: `${own.sql} or ${isPayer}`, values: [...own.values, text] };
  const ways = partsOf(text).map((part) => {
    const [links, payers] = [holdsPart(LINK_TEXTS, part), holdsPart(PAYER_TEXTS, part)];
    // Each by its own index; with "or" between them PostgreSQL would use none.
    const sql = `id in (
      select id from payment_links where ${links.sql} and merchant_id = ? and mode = ?
      union select l.id from payment_links l where l.customer_id in (
        select id from customers where ${payers.sql} and merchant_id = ? and mode = ?))`;
    const indexed = { sql, values: [...links.values, merchantId, mode, ...payers.values, merchantId, mode] };
    const asked = [LINK_TEXTS, PAYER_TEXTS].map((texts) => ({ table: texts.table, read: readForPart(texts, part) }));
    return { indexed, asked };
  });
  return { test, ways };
}
