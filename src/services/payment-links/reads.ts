import type { PaymentLinkView } from '../../contract/payment-link.ts';
import { PaymentLink } from '../../db/entities/index.ts';
import { plainRows } from '../../db/plain-rows.ts';
import { sql } from '../../db/sql.ts';
import { isUuid } from '../../domain/ids.ts';
import type { LinkStatus } from '../../domain/payment-link.ts';
import type { Deps } from '../deps.ts';
import { type CreatedBetween, createdBetween, inOrder, listPage, type PageOf } from '../lists/page.ts';
import { type Condition, matching, type PageRequest, type Search } from '../lists/query.ts';
import { CUSTOMER_TEXTS, holdsIn, holdsPart, LINK_TEXTS, partsOf, readForPart } from '../lists/texts.ts';
import { notFound } from '../refusal.ts';
import type { Scope } from '../scope.ts';
import { LINK_FIELDS, paymentViews } from './present.ts';

export type PaymentLinkFilters = CreatedBetween & {
  readonly status?: LinkStatus | undefined;
  readonly customerId?: string | undefined;
  /** The merchant's own reference, exactly. */
  readonly externalId?: string | undefined;
  /** A part of the description, the external_id, the token or the customer's email, in any case. */
  readonly search?: string | undefined;
};

/**
 * One page of the links of this merchant and mode, newest
 * first. Throws a {@link Refusal} for a foreign cursor.
 */
export async function listPaymentLinks(
  deps: Deps,
  input: Scope & PaymentLinkFilters & { readonly page: PageRequest },
): Promise<PageOf<PaymentLinkView>> {
  const em = deps.orm.em.fork();
  const search = input.search === undefined ? undefined : searchOf(input, input.search);
  const page = await listPage(em, {
    table: 'payment_links',
    scope: input,
    filters: conditionsOf(input),
    search,
    page: input.page,
  });
  const rows = await plainRows(em, PaymentLink, { id: { $in: [...page.rows] } }, LINK_FIELDS);
  return { ...page, rows: await paymentViews(em, inOrder(page.rows, rows)) };
}

/** The link's view. Throws a NOT_FOUND {@link Refusal}. */
export async function getPaymentLink(
  deps: Deps,
  input: Scope & { readonly id: string },
): Promise<PaymentLinkView> {
  const em = deps.orm.em.fork();
  const { id, merchantId, mode } = input;
  const row = isUuid(id) ? await em.findOne(PaymentLink, { id, merchantId, mode }) : null;
  const [view] = row ? await paymentViews(em, [row]) : [];
  if (!view) throw notFound('payment link');
  return view;
}

function conditionsOf(filters: PaymentLinkFilters): Condition[] {
  return [
    ...createdBetween(filters),
    ...matching({ status: filters.status, customer_id: filters.customerId, external_id: filters.externalId }),
  ];
}

const PAYER_TEXTS = { ...CUSTOMER_TEXTS, columns: ['email'] };

/** A search in the texts of the link itself, or in the email of the customer who pays it. */
function searchOf({ merchantId, mode }: Scope, text: string): Search {
  const isPayer = sql`exists (select from customers
    where customers.id = customer_id and strpos(lower(customers.email), lower(${text})) > 0)`;
  const test = sql`${holdsIn(LINK_TEXTS, text)} or ${isPayer}`;
  const own = sql`merchant_id = ${merchantId} and mode = ${mode}`;
  const ways = partsOf(text).map((part) => {
    // Each condition uses its own index; with "or" between them PostgreSQL would use none.
    const indexed = sql`id in (
      select id from payment_links where ${holdsPart(LINK_TEXTS, part)} and ${own}
      union select l.id from payment_links l where l.customer_id in (
        select id from customers where ${holdsPart(PAYER_TEXTS, part)} and ${own}))`;
    const asked = [LINK_TEXTS, PAYER_TEXTS].map((texts) => ({
      table: texts.table,
      read: readForPart(texts, part),
    }));
    return { indexed, asked };
  });
  return { test, ways };
}
