import { PaymentLink } from '../../db/entities/index.ts';
import { isUuid } from '../../domain/ids.ts';
import type { LinkStatus } from '../../domain/payment-link.ts';
import type { Deps } from '../deps.ts';
import {
  type Condition,
  type CreatedBetween,
  createdBetween,
  inOrder,
  listPage,
  type PageOf,
  type PageRequest,
  type Search,
} from '../list-page.ts';
import { notFound } from '../refusal.ts';
import type { Scope } from '../scope.ts';
import { CUSTOMER_TEXTS, containsPattern, LINK_TEXTS, searchIn } from '../search.ts';
import { type PaymentLinkView, paymentViews } from './present.ts';

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
  const rows = await em.find(PaymentLink, { id: { $in: [...page.rows] } });
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

/** The texts of the link itself, or the email of whoever pays it. */
function searchOf({ merchantId, mode }: Scope, text: string): Search {
  const own = searchIn(LINK_TEXTS, text);
  const payers = searchIn({ ...CUSTOMER_TEXTS, columns: ['email'] }, text);
  const isPayer = `exists (select 1 from customers where customers.id = customer_id and customers.email ilike ?)`;
  const test = { sql: `${own.test.sql} or ${isPayer}`, values: [...own.test.values, containsPattern(text)] };
  if (!own.indexed || !payers.indexed) return { test, indexed: undefined };
  // Each part by its own index; with "or" between them PostgreSQL would use none.
  const sql = `id in (
      select id from payment_links where ${own.indexed.sql} and merchant_id = ? and mode = ?
      union select l.id from payment_links l where l.customer_id in (
        select id from customers where ${payers.indexed.sql} and (${payers.test.sql}) and merchant_id = ? and mode = ?))`;
  const scope = [merchantId, mode];
  return { test, indexed: { sql, values: [...own.indexed.values, ...scope, ...payers.indexed.values, ...payers.test.values, ...scope] } };
}
