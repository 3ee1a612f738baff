import type { Command } from 'commander';
import { NETWORKS } from '../../../domain/assets.ts';
import { DECISION_LIMITS } from '../../../domain/decision.ts';
import { confirmationsText, DEPOSIT_STATES } from '../../../domain/deposit.ts';
import { oneOf, text, wholeNumber } from '../../arguments.ts';
import { answering, group, leaf } from '../../run.ts';
import { ageOf, facts, listing, plain, table } from '../../table.ts';
import { wrapped } from '../../width.ts';
import { addClaimCommand } from './claim.ts';
import type { DepositFilters } from './deposit-reads.ts';
import { addStuckCommand } from './stuck.ts';

const MAX_LISTED = 1_000;

/** `deposit`. */
export function addDepositCommands(program: Command): void {
  const deposit = group(program, 'deposit', 'money that arrived');
  leaf(deposit, 'list', 'lists deposits, newest first')
    .option('--status <state>', 'only in this state', oneOf(...DEPOSIT_STATES))
    .option('--network <network>', 'only on this network', oneOf(...NETWORKS))
    .option('--merchant <id>', 'only of this merchant', text())
    .option('--customer <id>', 'only of this customer', text())
    .option('--tx <hash>', 'only of this transaction, with or without 0x', text())
    .option('--address <address>', 'only to this address, in any spelling', text())
    .option('--unrecognised', 'instead: what reached our addresses and cannot be credited')
    .option('--limit <n>', 'how many', wholeNumber(1, MAX_LISTED), 50)
    .action(answering(list));
  leaf(deposit, 'show', 'one deposit: why it is where it is, what to do, and all that happened to it')
    .argument('<id>', 'id of a deposit, or the hash of its transaction', text())
    .action(answering(show));
  addStuckCommand(deposit);
  decision(
    leaf(deposit, 'fail <id>', 'gives up an open deposit, or withdraws one whose block was replaced'),
  ).action(answering(fail));
  decision(leaf(deposit, 'release <id>', 'credits a failed deposit whose money did arrive')).action(
    answering(release),
  );
  addClaimCommand(deposit);
}

function decision(command: Command): Command {
  return command
    .requiredOption('--by <name>', 'who decided', text(DECISION_LIMITS.name))
    .requiredOption('--reason <text>', 'why', text(DECISION_LIMITS.reason));
}

type Filters = DepositFilters & { readonly unrecognised?: true };

async function list({ options }: { options: Filters }) {
  const [{ withGateway }, reads] = await Promise.all([
    import('../../process.ts'),
    import('./deposit-reads.ts'),
  ]);
  const limit = { given: options.limit, most: MAX_LISTED };
  if (options.unrecognised) {
    const { found, leftOut } = await withGateway({}, ({ deps }) => reads.listUnrecognised(deps, options));
    const rows = found.map((row) => [
      row.network,
      row.transaction_hash,
      row.created_at,
      row.reason,
      row.amount_raw,
      row.address,
      row.contract_address,
    ]);
    const header = ['NETWORK', 'TRANSACTION', 'SEEN', 'REASON', 'RAW AMOUNT', 'ADDRESS', 'CONTRACT'];
    const more = leftOut.map(
      (day) =>
        `${day.day}: about ${day.left_out} more of ${day.contract_address} on ${day.network}, not kept`,
    );
    const none = 'Nothing that reached our addresses is without a deposit. What has one: "deposit list".';
    const next = 'What is yours all the same is recorded with "deposit claim --tx HASH --network NETWORK".';
    const shown = listing({ header, rows, none, next, limit });
    return {
      json: { unrecognised: found, left_out: leftOut },
      ...shown,
      text: [shown.text, ...more].join('\n'),
    };
  }
  const deposits = await withGateway({}, ({ deps }) => reads.listAllDeposits(deps, options));
  const rows = deposits.map((row) => [
    row.id,
    row.status,
    `${row.amount} ${row.currency}`,
    row.network,
    row.is_live ? 'live' : 'test',
    confirmationsText(row.confirmations, row.required_confirmations),
    ageOf(row.detected_at),
    row.transaction_hash,
    row.merchant_id,
    row.customer_id,
    row.address,
    row.detected_at,
  ]);
  const header = [
    'ID',
    'STATUS',
    'AMOUNT',
    'NETWORK',
    'MODE',
    'CONF',
    'AGE',
    'TRANSACTION',
    'MERCHANT',
    'CUSTOMER',
    'ADDRESS',
    'DETECTED',
  ];
  const none = 'No deposit: leave filters out, or see with "doctor" that the chain is read.';
  const next = 'All about one: "deposit show ID". What does not go on by itself: "deposit stuck".';
  return { json: { deposits }, ...listing({ header, rows, none, next, limit }) };
}

async function show({ args }: { args: readonly string[] }) {
  const [{ withGateway }, { readDeposit }, { pagesOf }] = await Promise.all([
    import('../../process.ts'),
    import('./deposit-reads.ts'),
    import('../../links.ts'),
  ]);
  const found = await withGateway({}, ({ deps, config }) =>
    readDeposit(deps, pagesOf(config), args[0] ?? ''),
  );
  const { transitions, ledger, events } = found;
  const { deposit } = found;
  const confirmations = deposit && confirmationsText(deposit.confirmations, deposit.required_confirmations);
  const parts = [
    [...wrapped(plain(found.why)), ...wrapped(plain(found.action), '→ ')].join('\n'),
    facts({ ...deposit, confirmations, merchant_id: found.merchant_id, workflow: found.workflow_id }),
    table(
      ['STATE', 'AT', 'BY', 'REASON'],
      transitions.map((row) => [row.to, row.at, row.by, row.reason]),
    ),
    table(
      ['POSTING', 'ACCOUNT', 'AMOUNT'],
      ledger.flatMap((row) => row.entries.map((entry) => [row.kind, entry.account, entry.amount])),
    ),
    ...events.map((event) =>
      [`${event.event}  ${event.id}  ${event.timestamp}`, ...event.deliveries.map(deliveryLines)].join('\n'),
    ),
  ];
  const pages = [found.workflow_url, found.dashboard_url, found.explorer_url].filter((page) => page !== null);
  const copy = pages.length === 0 ? [] : ['', ...pages];
  const next =
    'All that does not go on: "deposit stuck". Send an event once more: "webhook resend DELIVERY-ID".';
  return { json: found, text: parts.filter((part) => part !== '').join('\n\n'), copy, next };
}

type DeliveryLine = {
  readonly id: string;
  readonly status: string;
  readonly attempts: readonly {
    number: number;
    started_at: string;
    status_code: number | null;
    error: string | null;
  }[];
};

function deliveryLines(delivery: DeliveryLine): string {
  const attempts = delivery.attempts.map((attempt) =>
    wrapped(plain(attempt.status_code ?? attempt.error), `    ${attempt.number}. ${attempt.started_at}  `),
  );
  return [`  ${delivery.id}  ${delivery.status}`, ...attempts.flat()].join('\n');
}

type Decision = { readonly by: string; readonly reason: string };

async function fail({ args, options }: { args: readonly string[]; options: Decision }) {
  const [{ withGateway }, { failByOperator }] = await Promise.all([
    import('../../process.ts'),
    import('./deposit-fail.ts'),
  ]);
  const { by, reason } = options;
  return decided(
    await withGateway({ by, temporal: 'attached' }, (gateway) =>
      failByOperator(gateway, { depositId: args[0] ?? '', by, reason }),
    ),
  );
}

async function release({ args, options }: { args: readonly string[]; options: Decision }) {
  const [{ withGateway }, { requireDeposit }, { releaseDeposit }] = await Promise.all([
    import('../../process.ts'),
    import('./deposit-reads.ts'),
    import('../../../services/deposits/operator.ts'),
  ]);
  const depositId = args[0] ?? '';
  const released = await withGateway({ by: options.by }, async ({ deps }) => {
    await requireDeposit(deps, depositId);
    return await releaseDeposit(deps, { depositId, by: options.by, reason: options.reason });
  });
  return decided({ deposit_id: released.id, status: released.status, failure_code: null });
}

function decided(json: { deposit_id: string; status: string; failure_code: string | null }) {
  return {
    json,
    text: `Deposit ${json.deposit_id} is ${json.status}${json.failure_code ? ` (${json.failure_code})` : ''}.`,
  };
}
