import type { EntityClass } from '@mikro-orm/core';
import { OperatorError, UsageError } from '../../../base/errors.ts';
import { Customer, Event, PaymentLink, WebhookEndpoint } from '../../../db/entities/index.ts';
import type { Em } from '../../../db/orm.ts';
import { rows, type Statement, sql } from '../../../db/sql.ts';
import { MODES, type Mode } from '../../../domain/assets.ts';
import type { AnyEventType } from '../../../domain/events.ts';
import { isUuid } from '../../../domain/ids.ts';
import type { LinkStatus } from '../../../domain/payment-link.ts';
import { listUsers } from '../../../services/access/users.ts';
import type { Deps } from '../../../services/deps.ts';
import { readGiven } from '../../../services/find/given.ts';
import { inOrder } from '../../../services/lists/page.ts';
import { customerViews } from '../../../services/merchants/customer-reads.ts';
import { requireKnownMerchant } from '../../../services/merchants/known.ts';
import { listQuotas } from '../../../services/merchants/quotas.ts';
import { paymentViews } from '../../../services/payment-links/present.ts';
import { presentEndpoint } from '../../../services/webhooks/present.ts';
import { listEvents, presentEventRow } from '../../../services/webhooks/shown/event-reads.ts';
import { flagOf } from '../../arguments.ts';
import { COLUMNS } from '../../columns.ts';
import { listed, type View, viewOf } from '../../print.ts';
import { withGateway } from '../../process.ts';
import type { CommandCall } from '../../run.ts';

/** What is asked of lists. An unknown merchant or customer is refused: nothing would be a lie. */
type Filters = {
  readonly merchant?: string;
  readonly mode?: Mode;
  readonly limit: number;
  readonly customer?: string;
  readonly status?: LinkStatus;
  readonly disabled?: true;
  readonly about?: string;
  readonly type?: AnyEventType;
};

type ListedKind = {
  readonly read: (deps: Deps, filters: Filters) => Promise<readonly View[]>;
  /** The filters that it has, beside those of every list. */
  readonly by: readonly (keyof Filters)[];
  /** Whose columns its rows have; unset: their fields. */
  readonly as?: string;
  readonly next: string;
};

/** What can be listed, by the name of its array: rows of every merchant as the API shows them. */
const LISTS: Readonly<Record<string, ListedKind>> = {
  customers: {
    read: customers,
    by: ['mode'],
    as: 'customer',
    next: 'All about one: "find ID". A payment that is missing: "find HASH".',
  },
  payments: {
    read: payments,
    by: ['customer', 'status'],
    as: 'payment_link',
    next: 'All about one: "find ID".',
  },
  endpoints: {
    read: endpoints,
    by: ['mode', 'disabled'],
    as: 'endpoint',
    next: 'How one does: "find ID". What was sent: "webhook list --endpoint ID".',
  },
  events: {
    read: events,
    by: ['about', 'type'],
    as: 'event',
    next: 'What was sent, and who answered what: "find ID --payload".',
  },
  users: {
    read: async (deps, { merchant: merchantId }) => (await listUsers(deps, { merchantId })).map(viewOf),
    by: [],
    next: 'Who cannot sign in any more: "user reset-password --email EMAIL".',
  },
  quotas: {
    read: async (deps, { merchant: merchantId }) => (await listQuotas(deps, { merchantId })).map(viewOf),
    by: [],
    next: 'Change one with "merchant set MERCHANT --quota MODE.NAME=NUMBER"; "none" takes it away.',
  },
};

/** Every merchant's rows of a kind. Throws a UsageError for a filter that the kind does not have. */
export async function list({ args: [what = ''], options }: CommandCall<Filters>) {
  const { read, by, as = '', next } = LISTS[what] as ListedKind;
  const { json: _, merchant: __, limit, ...filters } = options;
  const alien = Object.keys(filters).find((name) => !by.some((own) => own === name));
  if (alien !== undefined) throw new UsageError(`${flagOf(alien)} has no meaning for ${what}`);
  const views = await withGateway({}, ({ deps }) => read(deps, options));
  const none = `No ${what}: leave filters out, or see with "merchant list" whose they would be.`;
  return { json: { [what]: views }, ...listed(views, { columns: COLUMNS[as], none, next, limit }) };
}

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

async function customers(deps: Deps, filters: Filters) {
  return await newestOf(deps.orm.em.fork(), filters, {
    entity: Customer,
    table: 'customers',
    named: [],
    present: async (found) =>
      await customerViews(
        deps,
        found.map(({ id }) => id),
      ),
  });
}

async function payments(deps: Deps, { customer, status, ...filters }: Filters) {
  const em = deps.orm.em.fork();
  if (customer !== undefined) await requireCustomer(em, customer);
  const views = await newestOf(em, filters, {
    entity: PaymentLink,
    table: 'payment_links',
    only: given(status, (one) => sql`t.status = ${one}`),
    named: given(customer, (one) => sql`t.customer_id = ${one}::uuid`),
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
