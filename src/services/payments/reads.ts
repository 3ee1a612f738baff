import { PaymentLink } from '../../db/entities/index.ts';
import { isUuid } from '../../domain/ids.ts';
import type { LinkStatus } from '../../domain/payment-link.ts';
import type { Deps } from '../deps.ts';
import {
  type Condition,
  type CreatedBetween,
  containsPattern,
  createdBetween,
  inOrder,
  listPage,
  type PageOf,
  type PageRequest,
} from '../list-page.ts';
import { notFound } from '../refusal.ts';
import type { Scope } from '../scope.ts';
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
  const page = await listPage(em, { table: 'payment_links', scope: input, filters: conditionsOf(input), page: input.page });
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

function conditionsOf(filters: Scope & PaymentLinkFilters): Condition[] {
  const conditions = createdBetween(filters);
  if (filters.status !== undefined) conditions.push({ sql: 'status = ?', values: [filters.status] });
  if (filters.customerId !== undefined) conditions.push({ sql: 'customer_id = ?', values: [filters.customerId] });
  if (filters.search !== undefined) {
    const pattern = containsPattern(filters.search);
    conditions.push({
      sql: `description ilike ? or external_id ilike ? or token ilike ?
        or customer_id in (select id from customers where merchant_id = ? and mode = ? and email ilike ?)`,
      values: [pattern, pattern, pattern, filters.merchantId, filters.mode, pattern],
    });
  }
  return conditions;
}
