import type { Command } from 'commander';
import { NETWORKS } from '../../../domain/assets.ts';
import { DECISION_LIMITS } from '../../../domain/decision.ts';
import { DEPOSIT_STATES } from '../../../domain/deposit.ts';
import { oneOf, text, wholeNumber } from '../../arguments.ts';
import { COLUMNS, EVENTS } from '../../columns.ts';
import { answering, group, leaf } from '../../run.ts';
import { listed, MAX_LISTED, paragraphs, standingText, viewText } from '../../views.ts';
import { addClaimCommand } from './claim.ts';
import type { DepositFilters } from './deposit-reads.ts';
import { addStuckCommand } from './stuck.ts';

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
  const { limit } = options;
  if (options.unrecognised) {
    const { found, leftOut } = await withGateway({}, ({ deps }) => reads.listUnrecognised(deps, options));
    const more = leftOut.map(
      (day) =>
        `${day.day}: about ${day.left_out} more of ${day.contract_address} on ${day.network}, not kept`,
    );
    const none = 'Nothing that reached our addresses is without a deposit. What has one: "deposit list".';
    const next = 'What is yours all the same is recorded with "deposit claim --tx HASH --network NETWORK".';
    const shown = listed(found, { columns: UNRECOGNISED, none, next, limit });
    return {
      json: { unrecognised: found, left_out: leftOut },
      ...shown,
      text: [shown.text, ...more].join('\n'),
    };
  }
  const deposits = await withGateway({}, ({ deps }) => reads.listAllDeposits(deps, options));
  const none = 'No deposit: leave filters out, or see with "doctor" that the chain is read.';
  const next = 'All about one: "deposit show ID". What does not go on by itself: "deposit stuck".';
  return { json: { deposits }, ...listed(deposits, { columns: COLUMNS.deposit, none, next, limit }) };
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

async function show({ args }: { args: readonly string[] }) {
  const [{ withGateway }, { readDeposit }, { pagesOf }] = await Promise.all([
    import('../../process.ts'),
    import('./deposit-reads.ts'),
    import('../../links.ts'),
  ]);
  const found = await withGateway({}, ({ deps, config }) =>
    readDeposit(deps, pagesOf(config), args[0] ?? ''),
  );
  const { deposit, transitions, ledger, events, merchant_id, workflow_id: workflow } = found;
  const postings = ledger.flatMap(({ kind, entries }) => entries.map((entry) => ({ kind, ...entry })));
  const text = paragraphs(
    standingText(found),
    viewText({ ...deposit, merchant_id, workflow, transitions, postings, events }, SHOWN),
  );
  const pages = [found.workflow_url, found.dashboard_url, found.explorer_url].filter((page) => page !== null);
  const next =
    'All that does not go on: "deposit stuck". Send an event once more: "webhook resend DELIVERY-ID".';
  return { json: found, text, copy: pages, next };
}

const SHOWN = {
  transitions: [['STATE', 'to'], 'at', 'by', 'reason'],
  postings: [['POSTING', 'kind'], 'account', 'amount currency'],
  events: EVENTS,
} as const;

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
