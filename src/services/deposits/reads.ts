import type { DepositView } from '../../contract/deposit.ts';
import { ChainCursor, Customer, Deposit, PaymentLink, Payout } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { plainRows } from '../../db/plain-rows.ts';
import { sql } from '../../db/sql.ts';
import { ASSETS, type Currency, type Network } from '../../domain/assets.ts';
import type { DepositState } from '../../domain/deposit.ts';
import { isUuid } from '../../domain/ids.ts';
import type { Deps } from '../deps.ts';
import { addressAsked } from '../lists/address.ts';
import { type CreatedBetween, createdBetween, inOrder, listPage, type PageOf } from '../lists/page.ts';
import { type Condition, matching, type PageRequest } from '../lists/query.ts';
import { notFound } from '../refusal.ts';
import type { Scope } from '../scope.ts';
import { DEPOSIT_FIELDS, type DepositRow, PAYOUT_FIELDS, presentDeposit } from './present.ts';

export type DepositFilters = CreatedBetween & {
  readonly status?: DepositState | undefined;
  readonly network?: Network | undefined;
  readonly currency?: Currency | undefined;
  readonly customerId?: string | undefined;
  readonly paymentLinkId?: string | undefined;
  readonly transactionHash?: string | undefined;
  /** Of the customer, each exactly. */
  readonly externalId?: string | undefined;
  readonly email?: string | undefined;
  /** An address of the merchant's, in any spelling of its network. */
  readonly address?: string | undefined;
};

/**
 * One page of the deposits of this merchant and mode. Throws a
 * {@link Refusal} for a foreign cursor or a text that is no address.
 */
export async function listDeposits(
  deps: Deps,
  input: Scope & DepositFilters & { readonly page: PageRequest },
): Promise<PageOf<DepositView>> {
  const em = deps.orm.em.fork();
  const page = await listPage(em, {
    table: 'deposits',
    scope: input,
    filters: depositConditions(input),
    page: input.page,
  });
  const rows = await plainRows(em, Deposit, { id: { $in: [...page.rows] } }, DEPOSIT_FIELDS);
  return { ...page, rows: await presentDeposits(em, inOrder(page.rows, rows)) };
}

/** The deposit's view. Throws a NOT_FOUND {@link Refusal}. */
export async function getDeposit(deps: Deps, input: Scope & { readonly id: string }): Promise<DepositView> {
  return await readDeposit(deps.orm.em.fork(), input);
}

/** As {@link getDeposit}, within the caller's transaction: the row as the database has it. */
export async function readDeposit(
  em: Em,
  { id, merchantId, mode }: Scope & { readonly id: string },
): Promise<DepositView> {
  const [row] = isUuid(id) ? await plainRows(em, Deposit, { id, merchantId, mode }, DEPOSIT_FIELDS) : [];
  const [view] = row ? await presentDeposits(em, [row]) : [];
  if (!view) throw notFound('deposit');
  return view;
}

/**
 * Views of deposits with their customers' names and the confirmations
 * of this moment, in a few queries for any number of them.
 */
export async function presentDeposits(em: Em, rows: readonly DepositRow[]): Promise<DepositView[]> {
  if (rows.length === 0) return [];
  const customerIds = [...new Set(rows.map((row) => row.customerId))];
  const customers = byId(
    await plainRows(em, Customer, { id: { $in: customerIds } }, ['id', 'externalId', 'email']),
  );
  const heads = await headNumbers(em);
  const linkIds = [...new Set(rows.flatMap((row) => row.paymentLinkId ?? []))];
  const links = byId(
    linkIds.length > 0 ? await plainRows(em, PaymentLink, { id: { $in: linkIds } }, ['id', 'token']) : [],
  );
  const payoutIds = [...new Set(rows.flatMap((row) => row.payoutId ?? []))];
  const payouts = byId(
    payoutIds.length > 0 ? await plainRows(em, Payout, { id: { $in: payoutIds } }, PAYOUT_FIELDS) : [],
  );
  return rows.map((row) => {
    const customer = customers.get(row.customerId);
    const names = { externalId: customer?.externalId ?? null, email: customer?.email ?? null };
    const paymentToken = links.get(row.paymentLinkId ?? '')?.token ?? null;
    const headNumber = heads.get(row.network) ?? null;
    return presentDeposit(row, {
      ...names,
      headNumber,
      paymentToken,
      payout: payouts.get(row.payoutId ?? ''),
    });
  });
}

/** The head of each network as last seen; a network that was never seen is missing. */
export async function headNumbers(em: Em): Promise<Map<Network, number | null>> {
  const cursors = await plainRows(em, ChainCursor, {}, ['network', 'headNumber']);
  return new Map(cursors.map(({ network, headNumber }) => [network, headNumber ?? null]));
}

const byId = <Row extends { readonly id: string }>(rows: readonly Row[]): Map<string, Row> =>
  new Map(rows.map((row) => [row.id, row]));

function depositConditions(filters: Scope & DepositFilters): Condition[] {
  const { status, currency, customerId, paymentLinkId, transactionHash, externalId, email, address } =
    filters;
  const network = filters.network ?? networkOf(currency);
  return [
    ...createdBetween(filters),
    ...matching({
      status,
      network,
      currency,
      customer_id: customerId,
      payment_link_id: paymentLinkId,
      transaction_hash: transactionHash,
    }),
    ...(externalId === undefined ? [] : [ofCustomer(filters, sql`external_id = ${externalId}`)]),
    ...(email === undefined ? [] : [ofCustomer(filters, sql`email = ${email}`)]),
    ...(address === undefined ? [] : [toAddress(filters, address)]),
  ];
}

/**
 * Of the only customer who is called so. The customer is found first, so that the deposits are
 * read in their order from an index, however many there are, or none is where there is no such customer.
 */
function ofCustomer({ merchantId, mode }: Scope, named: Condition): Condition {
  return sql`customer_id = (select id from customers
    where merchant_id = ${merchantId} and mode = ${mode} and ${named})`;
}

/** To an address of this merchant and mode; another's is none, so that its deposits are not even read. */
function toAddress({ merchantId, mode }: Scope, text: string): Condition {
  const { network, key } = addressAsked(text);
  return sql`network = ${network} and address_key = (select address_key from deposit_addresses
    where network = ${network} and address_key = ${key} and merchant_id = ${merchantId} and mode = ${mode})`;
}

/** The network of a coin that only one network has: the index of coins begins with the network. */
function networkOf(currency: Currency | undefined): Network | undefined {
  const networks = ASSETS.filter((asset) => asset.currency === currency).map(({ network }) => network);
  return networks.length === 1 ? networks[0] : undefined;
}
