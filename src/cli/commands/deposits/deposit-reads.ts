import { OperatorError } from '../../../base/errors.ts';
import { explorerLink } from '../../../chains/index.ts';
import {
  Deposit,
  DepositTransition,
  Event,
  LedgerEntry,
  LedgerTransaction,
  UnrecognisedTransfer,
  WebhookDelivery,
} from '../../../db/entities/index.ts';
import type { Em } from '../../../db/orm.ts';
import { sql } from '../../../db/sql.ts';
import { assetOf, NETWORKS } from '../../../domain/assets.ts';
import { isoSeconds } from '../../../domain/events.ts';
import { isUuid } from '../../../domain/ids.ts';
import { formatUnits } from '../../../domain/money.ts';
import { workflowIdOf } from '../../../services/deposits/actor-message.ts';
import { presentDeposits } from '../../../services/deposits/reads.ts';
import { readStandings } from '../../../services/deposits/standing.ts';
import type { Deps } from '../../../services/deps.ts';
import type { Pages } from '../../../services/find/found.ts';
import { readGiven } from '../../../services/find/given.ts';
import { requireKnownMerchant } from '../../../services/merchants/known.ts';
import { listLeftOut } from '../../../services/uncredited/strangers.ts';
import { addressKeyIn, requireCustomer } from '../lookup/customer-rows.ts';
import { inOrderOf, newestIds } from '../lookup/newest.ts';
import { deliveryViews } from '../webhook-reads.ts';

const MAX_ROWS = 1_000;
const USD_DECIMALS = 2;

export type DepositFilters = {
  readonly status?: Deposit['status'];
  readonly network?: Deposit['network'];
  readonly merchant?: string;
  readonly tx?: string;
  readonly address?: string;
  readonly customer?: string;
  readonly limit: number;
};

/**
 * Deposits of every merchant and mode, newest first, as the API shows them and with their merchant. Throws a
 * `Refusal` for an unknown merchant or customer, and for a hash or an address that is none.
 */
export async function listAllDeposits(deps: Deps, filters: DepositFilters) {
  const em = deps.orm.em.fork();
  const { status, network, merchant, tx, address, customer, limit } = filters;
  await requireKnownMerchant(em, merchant);
  if (customer !== undefined) await requireCustomer(deps, customer);
  const named = {
    ...(tx === undefined ? {} : { transactionHash: { $in: hashesIn(tx) } }),
    ...(customer === undefined ? {} : { customerId: customer }),
    ...(address === undefined
      ? {}
      : { network: { $in: [...NETWORKS] }, addressKey: addressKeyIn(address) as Deposit['addressKey'] }),
  };
  const where = {
    ...named,
    ...(status ? { status } : {}),
    ...(network ? { network } : {}),
    ...(merchant ? { merchantId: merchant } : {}),
  };
  const rows =
    Object.keys(named).length > 0
      ? await em.find(Deposit, where, { orderBy: { createdAt: 'desc', id: 'desc' }, limit })
      : await newestOf(em, filters);
  const views = await depositViews(em, rows);
  return views.map((view, index) => ({ ...view, merchant_id: rows[index]?.merchantId ?? null }));
}

async function newestOf(em: Em, { status, network, merchant, limit }: DepositFilters): Promise<Deposit[]> {
  const only = sql`(${status ?? null}::text is null or t.status = ${status ?? null})
    and (${network ?? null}::text is null or t.network = ${network ?? null})`;
  const ids = await newestIds(em, { table: 'deposits', merchant, mode: undefined, only, limit });
  return inOrderOf(ids, await em.find(Deposit, { id: { $in: ids } }));
}

/** A hash as each network spells it. Throws an OperatorError for what is none. */
function hashesIn(text: string): string[] {
  const { hashes } = readGiven(text);
  if (hashes.length === 0)
    throw new OperatorError(`${text.slice(0, 100)} is no transaction hash`, 'Copy it again, whole');
  return hashes.map(({ hash }) => hash);
}

/**
 * Deposits as the API shows them, except that dollars are a decimal string here like all
 * money, because a number has no more than 15 digits.
 */
export async function depositViews(em: Em, rows: readonly Deposit[]) {
  const views = await presentDeposits(em, rows);
  return views.map((view, index) => {
    const cents = rows[index]?.amountUsdCents;
    return { ...view, amount_usd: typeof cents === 'bigint' ? formatUnits(cents, USD_DECIMALS) : null };
  });
}

/**
 * Uncredited money on our addresses, newest first, and how much of it was not even kept.
 * Amounts are raw: the token need not be one of ours.
 */
export async function listUnrecognised(deps: Deps, { network, limit }: DepositFilters) {
  const where = network ? { network } : {};
  const rows = await deps.orm.em
    .fork()
    .find(UnrecognisedTransfer, where, { orderBy: { createdAt: 'desc', id: 'desc' }, limit });
  const found = rows.map((row) => ({
    id: row.id,
    network: row.network,
    transaction_hash: row.transactionHash,
    address: row.address,
    contract_address: row.contractAddress || null,
    amount_raw: row.amountUnits?.toString() ?? null,
    block_number: row.blockNumber,
    reason: row.reason,
    created_at: isoSeconds(row.createdAt),
  }));
  return { found, leftOut: await listLeftOut(deps, { limit, ...where }) };
}

/** The deposit's row, or a refusal that says how to find the right id. */
export async function requireDeposit(deps: Deps, id: string): Promise<Deposit> {
  const deposit = isUuid(id) ? await deps.orm.em.fork().findOne(Deposit, id) : null;
  if (!deposit)
    throw new OperatorError(
      `There is no deposit ${id.slice(0, 100)}`,
      'List them with "gateway deposit list"',
    );
  return deposit;
}

/**
 * The deposit that an id or a transaction hash stands for. Throws an OperatorError; where a transaction is
 * several deposits, it names them.
 */
export async function requireDepositOf(deps: Deps, given: string): Promise<Deposit> {
  const { hashes } = readGiven(given);
  const id = given.trim().toLowerCase();
  if (hashes.length === 0 && isUuid(id)) return await requireDeposit(deps, id);
  if (hashes.length === 0)
    throw new OperatorError(
      `${given.trim().slice(0, 100)} is no id of a deposit and no transaction`,
      'See with "gateway find" what it is, or list deposits with "gateway deposit list"',
    );
  const transactionHash = { $in: hashes.map(({ hash }) => hash) };
  const found = await deps.orm.em
    .fork()
    .find(Deposit, { transactionHash }, { orderBy: { createdAt: 'desc' }, limit: MAX_ROWS });
  const [only] = found;
  if (only && found.length === 1) return only;
  throw only
    ? new OperatorError(
        `This transaction is ${found.length} deposits: ${found.map(({ id }) => id).join(', ')}`,
        'Show one of them by its id',
      )
    : new OperatorError(
        `No deposit has the transaction ${given.slice(0, 100)}`,
        'See with "gateway find HASH" what is known of it',
      );
}

/** All that is known about one deposit, by its id or its transaction; first why it is where it is. */
export async function readDeposit(deps: Deps, pages: Pages, given: string) {
  const row = await requireDepositOf(deps, given);
  const em = deps.orm.em.fork();
  const standing = (await readStandings(em, deps, [row])).get(row.id);
  const [deposit] = await depositViews(em, [row]);
  const transitions = await em.find(
    DepositTransition,
    { depositId: row.id },
    { orderBy: { sequence: 'asc' }, limit: MAX_ROWS },
  );
  const events = await em.find(
    Event,
    { subjectId: row.id },
    { orderBy: { createdAt: 'asc', id: 'asc' }, limit: MAX_ROWS },
  );
  const eventIds = events.map((event) => event.id);
  const deliveries = await em.find(
    WebhookDelivery,
    { eventId: { $in: eventIds } },
    { orderBy: { createdAt: 'asc' }, limit: MAX_ROWS },
  );
  const views = await deliveryViews(em, deliveries);
  const workflowId = workflowIdOf(row);
  const { network, transactionHash } = row;
  return {
    why: standing?.why ?? null,
    action: standing?.action ?? null,
    deposit: deposit ?? null,
    merchant_id: row.merchantId,
    transitions: transitions.map((step) => ({
      sequence: step.sequence,
      from: step.fromState ?? null,
      to: step.toState,
      generation: step.generation,
      failure_code: step.failureCode ?? null,
      reason: step.reason ?? null,
      by: step.byName ?? null,
      at: isoSeconds(step.at),
    })),
    ledger: await readLedger(em, row),
    events: events.map((event) => ({
      id: event.id,
      event: event.type,
      timestamp: isoSeconds(event.occurredAt),
      deliveries: views.filter((view) => view.event_id === event.id),
    })),
    workflow_id: workflowId,
    workflow_url: pages.workflow(workflowId),
    dashboard_url: pages.dashboard(row.mode, `/deposits/${row.id}`),
    explorer_url: row.simulated
      ? null
      : explorerLink(pages.explorers, network, 'transaction', transactionHash),
  };
}

async function readLedger(em: Em, deposit: Deposit) {
  const { decimals } = assetOf(deposit.network, deposit.currency);
  const postings = await em.find(
    LedgerTransaction,
    { depositId: deposit.id },
    { orderBy: { createdAt: 'asc', id: 'asc' }, limit: MAX_ROWS },
  );
  const ids = postings.map((posting) => posting.id);
  const entries = await em.find(LedgerEntry, { transactionId: { $in: ids } }, { orderBy: { line: 'asc' } });
  return postings.map((posting) => ({
    id: posting.id,
    kind: posting.kind,
    created_at: isoSeconds(posting.createdAt),
    entries: entries
      .filter((entry) => entry.transactionId === posting.id)
      .map((entry) => ({
        account: entry.account,
        amount: formatUnits(entry.amountUnits, decimals),
        currency: entry.currency,
      })),
  }));
}
