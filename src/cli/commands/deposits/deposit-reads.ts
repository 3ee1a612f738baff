import { OperatorError } from '../../../base/errors.ts';
import {
  Deposit,
  DepositTransition,
  LedgerEntry,
  LedgerTransaction,
  UnrecognisedTransfer,
} from '../../../db/entities/index.ts';
import type { Em } from '../../../db/orm.ts';
import { literals, sql } from '../../../db/sql.ts';
import { assetOf, NETWORKS } from '../../../domain/assets.ts';
import { isoSeconds } from '../../../domain/events.ts';
import { isUuid } from '../../../domain/ids.ts';
import { formatUnits } from '../../../domain/money.ts';
import { workflowIdOf } from '../../../services/deposits/actor-message.ts';
import { presentDeposits } from '../../../services/deposits/reads.ts';
import type { Deps } from '../../../services/deps.ts';
import type { Pages } from '../../../services/find/found.ts';
import { readGiven } from '../../../services/find/given.ts';
import { presentTransfer } from '../../../services/find/money.ts';
import { listLeftOut } from '../../../services/uncredited/strangers.ts';
import { eventsOfSubject } from '../../../services/webhooks/shown/subject-events.ts';
import { addressKeyIn, given, newestOf, requireCustomer } from '../lookup/reads.ts';
import { requireOne } from '../lookup/shows.ts';

const MAX_ROWS = 1_000;

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
  const { status, network, tx, address, customer } = filters;
  if (customer !== undefined) await requireCustomer(em, customer);
  return await newestOf(em, filters, {
    entity: Deposit,
    table: 'deposits',
    only: [
      ...given(status, (one) => sql`t.status = ${one}`),
      ...given(network, (one) => sql`t.network = ${one}`),
    ],
    named: [
      ...given(tx, (one) => sql`t.transaction_hash = any(${hashesIn(one)})`),
      ...given(customer, (one) => sql`t.customer_id = ${one}::uuid`),
      ...given(
        address,
        (one) => sql`t.network in ${literals(NETWORKS)} and t.address_key = ${addressKeyIn(one)}`,
      ),
    ],
    present: async (found) => await presentDeposits(em, found),
  });
}

/** A hash as each network spells it. Throws an OperatorError for what is none. */
function hashesIn(text: string): string[] {
  const { hashes } = readGiven(text);
  if (hashes.length === 0)
    throw new OperatorError(`${text.slice(0, 100)} is no transaction hash`, 'Copy it again, whole');
  return hashes.map(({ hash }) => hash);
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
  const found = rows.map(presentTransfer);
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

/** All that is known about one deposit, by its id or its transaction; first why it is where it is. */
export async function readDeposit(deps: Deps, pages: Pages, text: string) {
  const em = deps.orm.em.fork();
  const { id, why, action, view, links } = await requireOne({ em, deps, pages }, 'deposit', text);
  const row = await em.findOneOrFail(Deposit, id);
  const transitions = await em.find(
    DepositTransition,
    { depositId: id },
    { orderBy: { sequence: 'asc' }, limit: MAX_ROWS },
  );
  const { events, isCut } = await eventsOfSubject(em, row, { subjectId: id, since: row.createdAt });
  return {
    why,
    action,
    deposit: view,
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
    events,
    events_cut: isCut,
    workflow_id: workflowIdOf(row),
    workflow_url: links['temporal'] ?? null,
    dashboard_url: links['dashboard'] ?? null,
    explorer_url: links['explorer'] ?? null,
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
