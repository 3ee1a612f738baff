import type { CustomerView } from '../../contract/customer.ts';
import { Customer } from '../../db/entities/index.ts';
import { sql } from '../../db/sql.ts';
import type { Mode, Network } from '../../domain/assets.ts';
import { isUuid } from '../../domain/ids.ts';
import type { Deps } from '../deps.ts';
import { addressAsked } from '../lists/address.ts';
import { type CreatedBetween, createdBetween, listPage, type PageOf } from '../lists/page.ts';
import { type Condition, matching, type PageRequest } from '../lists/query.ts';
import { CUSTOMER_TEXTS, searchIn } from '../lists/texts.ts';
import { notFound } from '../refusal.ts';
import type { Scope } from '../scope.ts';
import { presentCustomer } from './present.ts';

export type CustomerFilters = CreatedBetween & {
  readonly externalId?: string | undefined;
  readonly email?: string | undefined;
  /** An address on either network, in any spelling of it. */
  readonly address?: string | undefined;
  readonly search?: string | undefined;
};

export type CustomerSummary = {
  readonly id: string;
  readonly external_id: string | null;
  readonly email: string | null;
};

/** The customer of this merchant and mode with all addresses. Throws a NOT_FOUND {@link Refusal}. */
export async function getCustomer(deps: Deps, input: Scope & { readonly id: string }): Promise<CustomerView> {
  const em = deps.orm.em.fork();
  const { id, merchantId, mode } = input;
  const known = isUuid(id) && (await em.count(Customer, { id, merchantId, mode })) === 1;
  const [view] = known ? await customerViews(deps, [id]) : [];
  if (!view) throw notFound('customer');
  return view;
}

/**
 * One page of the customers of this merchant and mode. Throws a
 * {@link Refusal} for a foreign cursor or a text that is no address.
 */
export async function listCustomers(
  deps: Deps,
  input: Scope & CustomerFilters & { readonly page: PageRequest },
): Promise<PageOf<CustomerView>> {
  const em = deps.orm.em.fork();
  const search = input.search === undefined ? undefined : searchIn(CUSTOMER_TEXTS, input.search);
  const page = await listPage(em, {
    table: 'customers',
    scope: input,
    filters: customerConditions(input),
    search,
    page: input.page,
  });
  return { ...page, rows: await customerViews(deps, page.rows) };
}

const EXISTS = {
  external_id: {
    name: 'customer-by-external-id',
    text: 'select id, external_id, email from customers where merchant_id = $1 and mode = $2 and external_id = $3',
  },
  email: {
    name: 'customer-by-email',
    text: 'select id, external_id, email from customers where merchant_id = $1 and mode = $2 and email = $3',
  },
} as const;

/**
 * The customer with exactly this external_id or email, or undefined.
 * The hot path of the API: one prepared query, no entity.
 */
export async function findCustomerBy(
  deps: Deps,
  input: Scope & { readonly match: keyof typeof EXISTS; readonly value: string },
): Promise<CustomerSummary | undefined> {
  const pool = await deps.orm.em.getConnection().getNativeClient();
  const values = [input.merchantId, input.mode, input.value];
  const found = await pool.query<CustomerSummary>({ ...EXISTS[input.match], values });
  return found.rows[0];
}

function customerConditions(filters: CustomerFilters): Condition[] {
  const { externalId, email, address } = filters;
  return [
    ...createdBetween(filters),
    ...matching({ external_id: externalId, email }),
    ...(address === undefined ? [] : [addressCondition(address)]),
  ];
}

function addressCondition(text: string): Condition {
  const { network, key } = addressAsked(text);
  return sql`id in (select customer_id from deposit_addresses
    where network = ${network} and address_key = ${key})`;
}

type DetailedRow = {
  readonly id: string;
  readonly mode: Mode;
  readonly external_id: string | null;
  readonly email: string | null;
  readonly name: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly created_at: string;
  readonly updated_at: string;
  readonly deposits: number;
  readonly cents: string;
  readonly addresses:
    | readonly { readonly network: Network; readonly address: string; readonly at: string }[]
    | null;
};

const VIEWS = {
  name: 'customers-in-full',
  text: `
    select c.id, c.mode, c.external_id, c.email, c.name, c.metadata, c.created_at, c.updated_at, s.deposits,
      s.cents, a.addresses
    from unnest($1::uuid[]) with ordinality as page (id, place) join customers c on c.id = page.id
    cross join lateral (
      select count(*)::int as deposits,
        coalesce(sum(amount_usd_cents) filter (where status in ('completed', 'settled')), 0)::text as cents
      from deposits where customer_id = c.id
    ) as s cross join lateral (
      select json_agg(json_build_object('network', network, 'address', address, 'at', created_at))
        as addresses
      from deposit_addresses where customer_id = c.id
    ) as a order by page.place`,
} as const;

/**
 * The views of customers, in the order of their ids: everything for a whole
 * page in one prepared query, without an entity for each of its rows. For
 * reads only: it sees nothing of a transaction around the use case.
 */
export async function customerViews(deps: Deps, ids: readonly string[]): Promise<CustomerView[]> {
  if (ids.length === 0) return [];
  const pool = await deps.orm.em.getConnection().getNativeClient();
  const found: { rows: DetailedRow[] } = await pool.query({ ...VIEWS, values: [ids] });
  return found.rows.map((row) =>
    presentCustomer(
      {
        id: row.id,
        mode: row.mode,
        externalId: row.external_id,
        email: row.email,
        name: row.name,
        metadata: row.metadata,
        createdAt: new Date(row.created_at),
        updatedAt: new Date(row.updated_at),
      },
      {
        addresses: (row.addresses ?? []).map(({ network, address, at }) => ({
          network,
          address,
          createdAt: new Date(at),
        })),
        contracts: deps.settings.contracts,
        depositCount: row.deposits,
        totalDepositedCents: BigInt(row.cents),
      },
    ),
  );
}
