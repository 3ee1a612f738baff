import { addressKeyOf, deriveAddresses } from '../../chains/addresses.ts';
import type { CustomerView } from '../../contract/customer.ts';
import { Customer, DepositAddress } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { firstRow, rows, sql } from '../../db/sql.ts';
import { NETWORKS } from '../../domain/assets.ts';
import { eventWorkflowId } from '../../domain/ids.ts';
import { sealDirection } from '../../domain/payouts/direction.ts';
import { newPage } from '../address-pages/token.ts';
import { recordAction } from '../audit/record.ts';
import type { TxDeps } from '../deps.ts';
import { Refusal } from '../refusal.ts';
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

/** How much a new customer takes from its merchant's quotas. */
export const NEW_CUSTOMER = { customers: 1, events_per_day: 1 } as const;

type Names = Scope & { readonly externalId: string | null; readonly email: string | null };

/**
 * Makes a customer with permanent addresses on every network and its `customer.created`
 * event, without a node or Temporal. Of parallel calls with one external_id or email exactly
 * one wins; the others throw a CUSTOMER_EXISTS {@link Refusal} that names the field.
 */
export async function createCustomer(tx: Tx, deps: TxDeps, input: NewCustomer): Promise<CustomerView> {
  // Most repeats end here: no address and no wallet index is spent on them.
  await refuseTaken(tx.em, input);
  await roomForTests(tx.em, input);
  await refuseOverQuota(tx.em, deps, input, ['customers', 'events_per_day']);
  const view = await makeCustomer(tx, deps, input);
  const { merchantId, mode } = input;
  await recordAction(tx.em, deps, { action: 'customer.create', merchantId, mode, subject: view.id });
  await takeFromQuotas(tx.em, deps, input, NEW_CUSTOMER);
  return view;
}

/**
 * The customer with exactly this email. If there is none, it is made in the
 * caller's transaction, with its addresses and event. Of parallel calls
 * with one new email one makes it and the others wait for that and find it.
 */
export async function findOrCreateByEmail(
  tx: Tx,
  deps: TxDeps,
  input: Scope & { readonly email: string },
): Promise<{ readonly id: string; readonly isNew: boolean }> {
  const known = await idByEmail(tx.em, input);
  if (known !== undefined) return { id: known, isNew: false };
  try {
    const { id } = await makeCustomer(tx, deps, { ...input, externalId: null, name: null, metadata: {} });
    return { id, isNew: true };
  } catch (error) {
    const made = error instanceof Refusal ? await idByEmail(tx.em, input) : undefined;
    if (made === undefined) throw error;
    return { id: made, isNew: false };
  }
}

/** The row, its addresses and its event. */
async function makeCustomer(tx: Tx, deps: TxDeps, input: NewCustomer): Promise<CustomerView> {
  const customer = await insertCustomer(tx.em, deps, input);
  const addresses = await insertAddresses(tx.em, deps, customer);
  const view = presentCustomer(customer, {
    addresses,
    contracts: deps.settings.contracts,
    depositCount: 0,
    totalDepositedCents: 0n,
  });
  await announce(tx, deps, input, view, customer.createdAt);
  return view;
}

async function idByEmail(em: Em, input: Scope & { readonly email: string }): Promise<string | undefined> {
  const { merchantId, mode, email } = input;
  return (await em.findOne(Customer, { merchantId, mode, email }, { fields: ['id'] }))?.id;
}

async function refuseTaken(em: Em, names: Names): Promise<void> {
  const taken = await rows(
    em,
    sql<{ externalId: string | null }>`
      select external_id from customers
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
  const page = newPage(deps, customer.id);
  // A parallel create of the same name waits here for the first one's commit, before any address is derived.
  const row = await firstRow(
    em,
    sql<{ walletIndex: number }>`
      insert into customers (id, merchant_id, mode, external_id, email, name, metadata, wallet_index,
        page_token_hash, page_token_sealed, created_at, updated_at)
      values (${customer.id}, ${input.merchantId}, ${input.mode}, ${input.externalId}, ${input.email},
        ${input.name}, ${JSON.stringify(input.metadata)}::jsonb, nextval('wallet_index_seq'),
        ${page.hash}, ${page.sealed}, ${now}, ${now})
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
    const addressKey = addressKeyOf(network, address);
    const owner = { network, addressKey, merchantId, customerId: customer.id, mode } as const;
    const { walletIndex } = customer;
    const seal = sealDirection(deps.secretBox, { kind: 'address', ...owner, walletIndex }, createdAt);
    em.create(DepositAddress, { id: deps.newId(), ...owner, createdAt, address, seal });
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
