import type { EntityClass } from '@mikro-orm/core';
import { OperatorError } from '../../../base/errors.ts';
import { Customer, Event, PaymentLink, WebhookEndpoint } from '../../../db/entities/index.ts';
import type { Em } from '../../../db/orm.ts';
import { rows, type Statement, sql } from '../../../db/sql.ts';
import { MODES, type Mode, NETWORKS } from '../../../domain/assets.ts';
import type { AnyEventType } from '../../../domain/events.ts';
import { isUuid } from '../../../domain/ids.ts';
import type { LinkStatus } from '../../../domain/payment-link.ts';
import type { Deps } from '../../../services/deps.ts';
import { readGiven } from '../../../services/find/given.ts';
import { inOrder } from '../../../services/lists/page.ts';
import { customerViews } from '../../../services/merchants/customer-reads.ts';
import { requireKnownMerchant } from '../../../services/merchants/known.ts';
import { paymentViews } from '../../../services/payment-links/present.ts';
import { presentEndpoint } from '../../../services/webhooks/present.ts';
import { listEvents, presentEventRow } from '../../../services/webhooks/shown/event-reads.ts';

/** What is asked of every list. An unknown merchant or customer is refused: nothing would be a lie. */
export type Filters = {
  readonly merchant?: string;
  readonly mode?: Mode;
  readonly limit: number;
  readonly email?: string;
  readonly externalId?: string;
  readonly address?: string;
  readonly customer?: string;
  readonly status?: LinkStatus;
  readonly disabled?: true;
  readonly about?: string;
  readonly type?: AnyEventType;
};

/** Lists of every merchant's rows as the API shows them, newest first, by the name of their array. */
export const LISTS = { customers, payments, endpoints, events };

type Own = { readonly id: string; readonly merchantId: string };
type Newest<Row extends Own, View> = {
  readonly entity: EntityClass<Row>;
  readonly table: 'customers' | 'deposits' | 'payment_links' | 'webhook_endpoints';
  /** Conditions on `t`; what is `named` is found by an index of its own. */
  readonly only?: readonly Statement<unknown>[];
  readonly named: readonly Statement<unknown>[];
  readonly present: (found: readonly Row[]) => Promise<readonly View[]>;
};

/**
 * The newest rows of a merchant, or of every merchant, with whose they are. Where none is named, the newest
 * of each are taken from the index that lists have, so that no table is read through however many merchants
 * and rows there are.
 */
export async function newestOf<Row extends Own, View extends object>(
  em: Em,
  { merchant = null, mode, limit }: { merchant?: string | null; mode?: Mode; limit: number },
  { entity, table, only = [], named, present }: Newest<Row, View>,
): Promise<(View & { readonly merchant_id: string | null })[]> {
  await requireKnownMerchant(em, merchant ?? undefined);
  const modes = mode ? [mode] : [...MODES];
  const where = sql.join([sql`true`, ...only, ...named], sql` and `);
  const part = sql`select t.id, t.created_at from ${sql.table(table)} t`;
  const newest = sql`${where} order by t.created_at desc, t.id desc limit ${limit}`;
  const found =
    named.length > 0
      ? sql<{ id: string }>`${part} where t.mode = any(${modes}) and
          (${merchant}::uuid is null or t.merchant_id = ${merchant}::uuid) and ${newest}`
      : sql<{ id: string }>`
          select r.id from merchants m cross join unnest(${modes}::text[]) as which(mode)
          cross join lateral (${part} where t.merchant_id = m.id and t.mode = which.mode and ${newest}) r
          where ${merchant}::uuid is null or m.id = ${merchant}::uuid
          order by r.created_at desc, r.id desc limit ${limit}`;
  const ids = (await rows(em, found)).map(({ id }) => id);
  const sorted = inOrder(ids, await em.find(entity, { id: { $in: ids } } as never));
  const views = await present(sorted);
  return views.map((view, index) => ({ ...view, merchant_id: sorted[index]?.merchantId ?? null }));
}

/** A condition for what is given; none for what is not. */
export function given<T>(value: T | undefined, condition: (value: T) => Statement<unknown>) {
  return value === undefined ? [] : [condition(value)];
}

async function customers(deps: Deps, { email, externalId, address, ...filters }: Filters) {
  return await newestOf(deps.orm.em.fork(), filters, {
    entity: Customer,
    table: 'customers',
    named: [
      ...given(email, (one) => sql`lower(t.email) = ${one.normalize('NFC').toLowerCase()}`),
      ...given(externalId, (one) => sql`t.external_id = ${one}`),
      ...given(
        address,
        (one) => sql`t.id in (select customer_id from deposit_addresses
          where network = any(${[...NETWORKS]}) and address_key = ${addressKeyIn(one)})`,
      ),
    ],
    present: async (found) =>
      await customerViews(
        deps,
        found.map(({ id }) => id),
      ),
  });
}

async function payments(deps: Deps, { customer, externalId, status, ...filters }: Filters) {
  const em = deps.orm.em.fork();
  if (customer !== undefined) await requireCustomer(em, customer);
  const views = await newestOf(em, filters, {
    entity: PaymentLink,
    table: 'payment_links',
    only: given(status, (one) => sql`t.status = ${one}`),
    named: [
      ...given(customer, (one) => sql`t.customer_id = ${one}::uuid`),
      ...given(externalId, (one) => sql`t.external_id = ${one}`),
    ],
    present: async (found) => await paymentViews(em, found),
  });
  // Whoever has a token can open the page: a list of all of them is no place for it.
  return views.map(({ token: _, url: __, ...view }) => view);
}

async function endpoints(deps: Deps, { disabled, ...filters }: Filters) {
  const own = sql`t.payment_link_id is null and t.deleted_at is null`;
  return await newestOf(deps.orm.em.fork(), filters, {
    entity: WebhookEndpoint,
    table: 'webhook_endpoints',
    only: [own, ...given(disabled, () => sql`not t.enabled`)],
    named: [],
    present: async (found) => found.map(presentEndpoint),
  });
}

/** Without a merchant they are read by their ids, which begin with their time: the newest months alone. */
async function events(deps: Deps, { merchant, about, type, limit }: Filters) {
  const em = deps.orm.em.fork();
  await requireKnownMerchant(em, merchant);
  requireSubject(about);
  if (about === undefined && merchant !== undefined) {
    const ofBoth = MODES.map(async (mode) => {
      const page = await listEvents(deps, { merchantId: merchant, mode, type, page: { limit } });
      return page.rows.map((row) => ({ ...row, is_live: mode === 'live', merchant_id: merchant }));
    });
    const all = (await Promise.all(ofBoth)).flat();
    return all.toSorted((one, other) => (one.id < other.id ? 1 : -1)).slice(0, limit);
  }
  const where = {
    ...(about === undefined ? {} : { subjectId: about }),
    ...(merchant === undefined ? {} : { merchantId: merchant }),
    ...(type === undefined ? {} : { type }),
  };
  return (await em.find(Event, where, { limit, orderBy: { id: 'desc' } })).map((row) => ({
    ...presentEventRow(row),
    is_live: row.mode === 'live',
    merchant_id: row.merchantId,
  }));
}

/** Refuses the id of a subject that is none. */
export function requireSubject(about: string | undefined): void {
  if (about !== undefined && !isUuid(about))
    throw new OperatorError(
      `${about.slice(0, 100)} is no id`,
      'Give the id of a deposit, a customer, a payment link or an endpoint',
    );
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

/** Refuses the id of a customer that there is not, and says how to find the right one. */
export async function requireCustomer(em: Em, id: string): Promise<void> {
  if (!isUuid(id) || (await em.count(Customer, id)) === 0)
    throw new OperatorError(
      `There is no customer ${id.slice(0, 100)}`,
      'Find one by email, external id or address with "gateway find"',
    );
}

/** The endpoint's row. Throws an OperatorError that says where to find the right id. */
export async function requireEndpoint(em: Em, id: string): Promise<WebhookEndpoint> {
  const row = isUuid(id) ? await em.findOne(WebhookEndpoint, id) : null;
  if (!row)
    throw new OperatorError(
      `There is no webhook endpoint ${id.slice(0, 100)}`,
      'List them with "gateway endpoint list"',
    );
  return row;
}
