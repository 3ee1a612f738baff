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
import { formatUnits } from '../../../domain/money.ts';
import { workflowIdOf } from '../../../services/deposits/actor-message.ts';
import { releaseDeposit } from '../../../services/deposits/operator.ts';
import { presentDeposits } from '../../../services/deposits/reads.ts';
import type { Deps } from '../../../services/deps.ts';
import type { Pages } from '../../../services/find/found.ts';
import { readGiven } from '../../../services/find/given.ts';
import { presentTransfer } from '../../../services/find/money.ts';
import { listLeftOut } from '../../../services/uncredited/strangers.ts';
import { eventsOfSubject } from '../../../services/webhooks/shown/subject-events.ts';
import { COLUMNS, LISTS_IN } from '../../columns.ts';
import { pagesOf } from '../../links.ts';
import { listed, paragraphs, standingText, viewText } from '../../print.ts';
import { withGateway } from '../../process.ts';
import type { CommandCall, DecidedBy } from '../../run.ts';
import { requireOne } from '../lookup/find.ts';
import { addressKeyIn, given, newestOf, requireCustomer } from '../lookup/list.ts';
import { failByOperator, requireDeposit } from './deposit-fail.ts';

/** Money that arrived. */
export const DEPOSITS = { list, show, fail, release };

const MAX_ROWS = 1_000;

type Filters = {
  readonly status?: Deposit['status'];
  readonly network?: Deposit['network'];
  readonly merchant?: string;
  readonly tx?: string;
  readonly address?: string;
  readonly customer?: string;
  readonly limit: number;
};

async function list({ options }: CommandCall<Filters & { readonly unrecognised?: true }>) {
  if (options.unrecognised) return await uncredited(options);
  const deposits = await withGateway({}, ({ deps }) => listAllDeposits(deps, options));
  const none = 'No deposit: leave filters out, or see with "doctor" that the chain is read.';
  const next = 'All about one: "deposit show ID". What does not go on by itself: "deposit stuck".';
  const { limit } = options;
  return {
    json: { deposits },
    ...listed(deposits, { columns: COLUMNS['deposit'], none, next, limit }),
  };
}

/**
 * Deposits of every merchant and mode, newest first, as the API shows them and with their merchant. Throws a
 * `Refusal` for an unknown merchant or customer, and for a hash or an address that is none.
 */
async function listAllDeposits(deps: Deps, filters: Filters) {
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

async function uncredited(options: Filters) {
  const { found, leftOut } = await withGateway({}, ({ deps }) => listUnrecognised(deps, options));
  const more = leftOut.map(
    (day) => `${day.day}: about ${day.left_out} more of ${day.contract_address} on ${day.network}, not kept`,
  );
  const none = 'Nothing that reached our addresses is without a deposit. What has one: "deposit list".';
  const next = 'What is yours all the same is recorded with "deposit claim --tx HASH --network NETWORK".';
  const { limit } = options;
  const shown = listed(found, { columns: UNRECOGNISED, none, next, limit });
  return {
    json: { unrecognised: found, left_out: leftOut },
    ...shown,
    text: [shown.text, ...more].join('\n'),
  };
}

const UNRECOGNISED = [
  'network',
  ['TRANSACTION', 'transaction_hash'],
  ['SEEN', 'created_at'],
  'reason',
  ['RAW AMOUNT', 'amount_raw'],
  'address',
  ['CONTRACT', 'contract_address'],
] as const;

/**
 * Uncredited money on our addresses, newest first, and how much of it was not even kept.
 * Amounts are raw: the token need not be one of ours.
 */
async function listUnrecognised(deps: Deps, { network, limit }: Filters) {
  const where = network ? { network } : {};
  const rows = await deps.orm.em
    .fork()
    .find(UnrecognisedTransfer, where, { orderBy: { createdAt: 'desc', id: 'desc' }, limit });
  const found = rows.map(presentTransfer);
  return { found, leftOut: await listLeftOut(deps, { limit, ...where }) };
}

async function show({ args: [id = ''] }: CommandCall) {
  const found = await withGateway({}, ({ deps, config }) => readDeposit(deps, pagesOf(config), id));
  const { deposit, transitions, ledger, events, merchant_id, workflow_id: workflow } = found;
  const postings = ledger.flatMap(({ kind, entries }) => entries.map((entry) => ({ kind, ...entry })));
  const view = { ...deposit, merchant_id, workflow, transitions, postings, events };
  return {
    json: found,
    text: paragraphs(standingText(found), viewText(view, LISTS_IN['deposit'])),
    copy: [found.workflow_url, found.dashboard_url, found.explorer_url].filter((page) => page !== null),
    next: 'All that does not go on: "deposit stuck". Send an event once more: "webhook resend DELIVERY-ID".',
  };
}

/** All that is known about one deposit, by its id or its transaction; first why it is where it is. */
async function readDeposit(deps: Deps, pages: Pages, text: string) {
  const em = deps.orm.em.fork();
  const { id, why, action, view, links } = await requireOne({ em, deps, pages }, 'deposit', text);
  const row = await em.findOneOrFail(Deposit, id);
  const { events, isCut } = await eventsOfSubject(em, row, { subjectId: id, since: row.createdAt });
  return {
    why,
    action,
    deposit: view,
    merchant_id: row.merchantId,
    transitions: await readTransitions(em, id),
    ledger: await readLedger(em, row),
    events,
    events_cut: isCut,
    workflow_id: workflowIdOf(row),
    workflow_url: links['temporal'] ?? null,
    dashboard_url: links['dashboard'] ?? null,
    explorer_url: links['explorer'] ?? null,
  };
}

async function readTransitions(em: Em, depositId: string) {
  const ofDeposit = { orderBy: { sequence: 'asc' }, limit: MAX_ROWS } as const;
  return (await em.find(DepositTransition, { depositId }, ofDeposit)).map((step) => ({
    sequence: step.sequence,
    from: step.fromState ?? null,
    to: step.toState,
    generation: step.generation,
    failure_code: step.failureCode ?? null,
    reason: step.reason ?? null,
    by: step.byName ?? null,
    at: isoSeconds(step.at),
  }));
}

async function readLedger(em: Em, { id: depositId, network, currency }: Deposit) {
  const { decimals } = assetOf(network, currency);
  const ofDeposit = { orderBy: { createdAt: 'asc', id: 'asc' }, limit: MAX_ROWS } as const;
  const postings = await em.find(LedgerTransaction, { depositId }, ofDeposit);
  const ids = postings.map(({ id }) => id);
  const entries = await em.find(LedgerEntry, { transactionId: { $in: ids } }, { orderBy: { line: 'asc' } });
  return postings.map(({ id, kind, createdAt }) => ({
    id,
    kind,
    created_at: isoSeconds(createdAt),
    entries: entries
      .filter((entry) => entry.transactionId === id)
      .map(({ account, amountUnits, currency: asset }) => ({
        account,
        amount: formatUnits(amountUnits, decimals),
        currency: asset,
      })),
  }));
}

async function fail({ args: [depositId = ''], options: { by, reason } }: CommandCall<DecidedBy>) {
  return decided(
    await withGateway({ by, temporal: 'attached' }, (gateway) =>
      failByOperator(gateway, { depositId, by, reason }),
    ),
  );
}

async function release({ args: [depositId = ''], options: { by, reason } }: CommandCall<DecidedBy>) {
  const released = await withGateway({ by }, async ({ deps }) => {
    await requireDeposit(deps, depositId);
    return await releaseDeposit(deps, { depositId, by, reason });
  });
  return decided({ deposit_id: released.id, status: released.status, failure_code: null });
}

function decided(json: { deposit_id: string; status: string; failure_code: string | null }) {
  return {
    json,
    text: `Deposit ${json.deposit_id} is ${json.status}${json.failure_code ? ` (${json.failure_code})` : ''}.`,
  };
}
