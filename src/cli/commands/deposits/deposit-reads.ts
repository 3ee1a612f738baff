import { readRun } from '../../../base/data-dir.ts';
import { OperatorError } from '../../../base/errors.ts';
import type { Config } from '../../../config/index.ts';
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
import { assetOf } from '../../../domain/assets.ts';
import { isoSeconds } from '../../../domain/events.ts';
import { isUuid } from '../../../domain/ids.ts';
import { formatUnits } from '../../../domain/money.ts';
import { workflowIdOf } from '../../../services/deposits/actor-message.ts';
import { presentDeposits } from '../../../services/deposits/reads.ts';
import type { Deps } from '../../../services/deps.ts';
import { requireKnownMerchant } from '../../../services/merchants/known.ts';
import { listLeftOut } from '../../../services/uncredited/strangers.ts';
import { deliveryViews } from '../webhook-reads.ts';

const MAX_ROWS = 1_000;
const USD_DECIMALS = 2;

type Filters = {
  readonly status?: Deposit['status'];
  readonly network?: Deposit['network'];
  readonly merchant?: string;
  readonly limit: number;
};

/**
 * Deposits of every merchant and mode, newest first, as the API shows them
 * and with their merchant. Throws a `Refusal` for an unknown merchant.
 */
export async function listAllDeposits(deps: Deps, { status, network, merchant, limit }: Filters) {
  const em = deps.orm.em.fork();
  await requireKnownMerchant(em, merchant);
  const where = {
    ...(status ? { status } : {}),
    ...(network ? { network } : {}),
    ...(merchant ? { merchantId: merchant } : {}),
  };
  const rows = await em.find(Deposit, where, { orderBy: { createdAt: 'desc', id: 'desc' }, limit });
  const views = await depositViews(em, rows);
  return views.map((view, index) => ({ ...view, merchant_id: rows[index]?.merchantId ?? null }));
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
export async function listUnrecognised(deps: Deps, { network, limit }: Filters) {
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

/** Everything that is known about one deposit. */
export async function readDeposit(deps: Deps, config: Config, id: string) {
  const row = await requireDeposit(deps, id);
  const em = deps.orm.em.fork();
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
  return {
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
    workflow_url: webLink(config, workflowId),
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

/**
 * Where Temporal's web interface shows the actor; known only for the gateway that runs over this data folder.
 */
function webLink(config: Config, workflowId: string): string | null {
  const ui = config.temporal.kind === 'embedded' ? readRun(config.dataDir)?.temporalUi : undefined;
  return ui
    ? `${ui}/namespaces/${config.temporal.namespace}/workflows/${encodeURIComponent(workflowId)}`
    : null;
}
