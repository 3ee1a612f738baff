import { addressKeyOf, deriveAddresses, normaliseAddress } from '../../chains/addresses.ts';
import type { CustomerView } from '../../contract/customer.ts';
import { Customer, DepositAddress } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { firstRow, rows, sql } from '../../db/sql.ts';
import { type Mode, NETWORKS, type Network } from '../../domain/assets.ts';
import { eventWorkflowId, isUuid } from '../../domain/ids.ts';
import { recordAction } from '../audit/record.ts';
import type { Deps, TxDeps } from '../deps.ts';
import { type CreatedBetween, createdBetween, listPage, type PageOf } from '../lists/page.ts';
import { type Condition, matching, type PageRequest } from '../lists/query.ts';
import { CUSTOMER_TEXTS, searchIn } from '../lists/texts.ts';
import { notFound, Refusal } from '../refusal.ts';
import type { Scope } from '../scope.ts';
import type { Tx } from '../transact.ts';
import { recordEvent } from '../webhooks/events.ts';
import { roomForTests } from './open-tests.ts';
import { type AddressRow, presentCustomer } from './present.ts';
import { refuseOverQuota, takeFromQuotas } from './quotas.ts';

export type NewCustomer = Scope & {
  readonly externalId: string | null;
  readonly email: string | null;
  readonly name: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
};

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

/** What a new customer takes of its merchant's quotas. */
export const NEW_CUSTOMER = { customers: 1, events_per_day: 1 } as const;

type Names = Scope & { readonly externalId: string | null; readonly email: string | null };

/**
 * Makes a customer with permanent addresses on every network and its `customer.created`
 * event, without a node or Temporal. Of parallel calls with one external_id or email exactly
 * one wins; the others throw a CUSTOMER_EXISTS {@link Refusal} that names the field.
 */
export async function createCustomer(tx: Tx, deps: TxDeps, input: NewCustomer): Promise<CustomerView> {
  // Most repeats end here: no address, no wallet index is spent on them.
  await refuseTaken(tx.em, input);
  await roomForTests(tx.em, input);
  await refuseOverQuota(tx.em, deps, input, ['customers', 'events_per_day']);
  const customer = await insertCustomer(tx.em, deps, input);
  const addresses = await insertAddresses(tx.em, deps, customer);
  const view = presentCustomer(customer, {
    addresses,
    contracts: deps.settings.contracts,
    depositCount: 0,
    totalDepositedCents: 0n,
  });
  await announce(tx, deps, input, view, customer.createdAt);
  const { merchantId, mode } = input;
  await recordAction(tx.em, deps, { action: 'customer.create', merchantId, mode, subject: customer.id });
  await takeFromQuotas(tx.em, deps, input, NEW_CUSTOMER);
  return view;
}

/**
 * The customer with exactly this email, made in the caller's transaction
 * where there is none, with its addresses and event. Of parallel calls with
 * one new email one makes it and the others wait for that and find it.
 */
export async function findOrCreateByEmail(
  tx: Tx,
  deps: TxDeps,
  input: Scope & { readonly email: string },
): Promise<{ readonly id: string; readonly isNew: boolean }> {
  const known = await idByEmail(tx.em, input);
  if (known !== undefined) return { id: known, isNew: false };
  try {
    const customer = await insertCustomer(tx.em, deps, {
      ...input,
      externalId: null,
      name: null,
      metadata: {},
    });
    const addresses = await insertAddresses(tx.em, deps, customer);
    const view = presentCustomer(customer, {
      addresses,
      contracts: deps.settings.contracts,
      depositCount: 0,
      totalDepositedCents: 0n,
    });
    await announce(tx, deps, input, view, customer.createdAt);
    return { id: customer.id, isNew: true };
  } catch (error) {
    const made = error instanceof Refusal ? await idByEmail(tx.em, input) : undefined;
    if (made === undefined) throw error;
    return { id: made, isNew: false };
  }
}

async function idByEmail(em: Em, input: Scope & { readonly email: string }): Promise<string | undefined> {
  const { merchantId, mode, email } = input;
  return (await em.findOne(Customer, { merchantId, mode, email }, { fields: ['id'] }))?.id;
}

/** The customer of this merchant and mode with all addresses. Throws a NOT_FOUND {@link Refusal}. */
export async function getCustomer(deps: Deps, input: Scope & { readonly id: string }): Promise<CustomerView> {
  const em = deps.orm.em.fork();
  const { id, merchantId, mode } = input;
  const known = isUuid(id) && (await em.count(Customer, { id, merchantId, mode })) === 1;
  const [view] = known ? await viewsOf(deps, [id]) : [];
  if (!view) throw notFound('customer');
  return view;
}

/**
 * One page of the customers of this merchant and mode. Throws a
 * {@link Refusal} for a foreign cursor or an address that is none.
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
  return { ...page, rows: await viewsOf(deps, page.rows) };
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

async function refuseTaken(em: Em, names: Names): Promise<void> {
  const taken = await rows(
    em,
    sql<{ externalId: string | null }>`select external_id from customers
      where merchant_id = ${names.merchantId} and mode = ${names.mode}
        and (external_id = ${names.externalId} or email = ${names.email})`,
  );
  if (taken.length === 0) return;
  const field =
    names.externalId !== null && taken.some((row) => row.externalId === names.externalId)
      ? 'external_id'
      : 'email';
  throw new Refusal('CUSTOMER_EXISTS', `A customer with this ${field} exists already.`, field);
}

async function insertCustomer(em: Em, deps: TxDeps, input: NewCustomer) {
  const now = deps.now();
  const customer = { id: deps.newId(), ...input, createdAt: now, updatedAt: now };
  // A parallel create of the same name waits here for the first one's commit, before any address is derived.
  const row = await firstRow(
    em,
    sql<{ walletIndex: number }>`
      insert into customers (id, merchant_id, mode, external_id, email, name, metadata, wallet_index,
        created_at, updated_at)
      values (${customer.id}, ${input.merchantId}, ${input.mode}, ${input.externalId}, ${input.email},
        ${input.name},
        ${JSON.stringify(input.metadata)}::jsonb, nextval('wallet_index_seq'), ${now}, ${now})
      on conflict do nothing returning wallet_index`,
  );
  if (row) return { ...customer, walletIndex: row.walletIndex };
  await refuseTaken(em, input);
  throw new Error('a customer could not be inserted, and no customer has its names');
}

async function insertAddresses(
  em: Em,
  deps: TxDeps,
  customer: Scope & { id: string; walletIndex: number; createdAt: Date },
): Promise<AddressRow[]> {
  const derived = deriveAddresses(deps.xpubs[customer.mode], customer.walletIndex);
  const { merchantId, mode, createdAt } = customer;
  return NETWORKS.map((network) => {
    const address = derived[network];
    em.create(DepositAddress, {
      id: deps.newId(),
      customerId: customer.id,
      merchantId,
      mode,
      createdAt,
      network,
      address,
      addressKey: addressKeyOf(network, address),
    });
    return { network, address, createdAt };
  });
}

async function announce(
  tx: Tx,
  deps: TxDeps,
  scope: Scope,
  view: CustomerView,
  occurredAt: Date,
): Promise<void> {
  const { merchantId, mode } = scope;
  const { eventId, deliveryIds } = await recordEvent(tx.em, deps, {
    merchantId,
    mode,
    type: 'customer.created',
    subjectId: view.id,
    sequence: 1,
    data: view,
    occurredAt,
  });
  if (deliveryIds.length === 0) return;
  await tx.enqueue(eventWorkflowId(eventId), {
    workflowType: 'notify',
    args: [{ deliveries: deliveryIds }],
    attributes: { MerchantId: merchantId },
    summary: `customer.created for ${view.id}`,
    owner: { merchantId, mode },
  });
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
  const network = NETWORKS.find((candidate) => normaliseAddress(candidate, text) !== undefined);
  if (!network)
    throw new Refusal('INVALID', 'address must be a complete address of one of the networks.', 'address');
  return sql`id in (select customer_id from deposit_addresses
    where network = ${network} and address_key = ${addressKeyOf(network, text)})`;
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
 * The views of customers, in the order of their ids: everything of a whole page in one prepared query,
 * without an entity for each row of it. For reads only: it sees nothing of a transaction around the use case.
 */
async function viewsOf(deps: Deps, ids: readonly string[]): Promise<CustomerView[]> {
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
