import type { Command } from 'commander';
import { NETWORKS } from '../../../domain/assets.ts';
import { DECISION_LIMITS } from '../../../domain/decision.ts';
import { DEPOSIT_STATES } from '../../../domain/deposit.ts';
import { oneOf, text, wholeNumber } from '../../arguments.ts';
import { answering, group, leaf } from '../../run.ts';
import { facts, listing, plain, table } from '../../table.ts';
import { wrapped } from '../../width.ts';
import { addClaimCommand } from './claim.ts';

const MAX_LISTED = 1_000;

/** `deposit`. */
export function addDepositCommands(program: Command): void {
  const deposit = group(program, 'deposit', 'money that arrived');
  leaf(deposit, 'list', 'lists deposits, newest first')
    .option('--status <state>', 'only in this state', oneOf(...DEPOSIT_STATES))
    .option('--network <network>', 'only on this network', oneOf(...NETWORKS))
    .option('--merchant <id>', 'only of this merchant', text())
    .option('--unrecognised', 'instead: what reached our addresses and cannot be credited')
    .option('--limit <n>', 'how many', wholeNumber(1, MAX_LISTED), 50)
    .action(answering(list));
  leaf(deposit, 'show <id>', 'one deposit with its transitions, postings, events and deliveries').action(
    answering(show),
  );
  leaf(
    deposit,
    'stuck',
    'deposits, payouts, wallets, links and chains that do not go on by themselves, and what to do',
  ).action(answering(stuck));
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

type Filters = {
  readonly status?: (typeof DEPOSIT_STATES)[number];
  readonly network?: (typeof NETWORKS)[number];
  readonly merchant?: string;
  readonly unrecognised?: true;
  readonly limit: number;
};

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
    `${row.confirmations}/${row.required_confirmations}`,
    row.transaction_hash,
    row.detected_at,
  ]);
  const header = ['ID', 'STATUS', 'AMOUNT', 'NETWORK', 'MODE', 'CONF', 'TRANSACTION', 'DETECTED'];
  const none = 'No deposit: leave filters out, or see with "doctor" that the chain is read.';
  const next = 'All about one: "deposit show ID". What does not go on by itself: "deposit stuck".';
  return { json: { deposits }, ...listing({ header, rows, none, next, limit }) };
}

async function show({ args }: { args: readonly string[] }) {
  const [{ withGateway }, { readDeposit }] = await Promise.all([
    import('../../process.ts'),
    import('./deposit-reads.ts'),
  ]);
  const found = await withGateway({}, ({ deps, config }) => readDeposit(deps, config, args[0] ?? ''));
  const { transitions, ledger, events } = found;
  const parts = [
    facts({ ...found.deposit, merchant_id: found.merchant_id, workflow: found.workflow_id }),
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
  const copy = found.workflow_url === null ? [] : ['', found.workflow_url];
  const next =
    'Not going on? "deposit stuck" says why. Send an event once more: "webhook resend DELIVERY-ID".';
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

async function stuck() {
  const [
    { withGateway },
    { listStuck },
    { listStuckPayouts },
    { listForeign },
    { listOverdueLinks },
    { listLateChanges },
    alarms,
  ] = await Promise.all([
    import('../../process.ts'),
    import('../../../services/deposits/stuck.ts'),
    import('../../../services/payouts/stuck.ts'),
    import('../../../services/payouts/foreign.ts'),
    import('../../../services/payment-links/overdue.ts'),
    import('../../../services/merchants/withdraw-notices.ts'),
    import('../../../services/alarms/alarms.ts'),
  ]);
  const { describeStandstill, readStandstills } = alarms;
  const { chains, wallets, deposits, payouts, links, changes } = await withGateway({}, async ({ deps }) => ({
    chains: (await readStandstills(deps)).map((one) => ({ ...one, sentence: describeStandstill(one) })),
    wallets: await listForeign(deps),
    deposits: await listStuck(deps),
    payouts: await listStuckPayouts(deps),
    links: await listOverdueLinks(deps),
    changes: await listLateChanges(deps),
  }));
  const lines = [
    ...chains.flatMap((row) => [...wrapped(plain(row.sentence)), ...wrapped(plain(row.action), '  → ')]),
    ...wallets.flatMap((row) => standing(`wallet ${row.wallet}  ${row.network}  since ${row.since}`, row)),
    ...deposits.flatMap((row) =>
      standing(`${row.deposit_id}  ${row.network}  ${row.state} since ${row.since}`, row),
    ),
    ...payouts.flatMap((row) =>
      standing(`${row.address}  ${row.network}  payout, ${row.state} since ${row.since}`, row),
    ),
    ...links.flatMap((row) =>
      standing(`${row.payment_link_id}  payment link, ${row.state}, ended at ${row.since}`, row),
    ),
    ...changes.flatMap((row) =>
      standing(
        `${row.withdraw_change_id}  ${row.network}  changed withdraw address, due since ${row.since}`,
        row,
      ),
    ),
  ];
  const chainViews = chains.map(({ network, part, number, sinceMs, reason, action }) => ({
    network,
    part,
    block_number: number,
    for_seconds: Math.floor(sinceMs / 1_000),
    reason,
    action,
  }));
  return {
    json: {
      stuck: [...deposits, ...payouts],
      wallets,
      payment_links: links,
      withdraw_changes: changes,
      chains: chainViews,
    },
    text:
      lines.length === 0 ? 'Nothing is stuck. Whether every part is well says "doctor".' : lines.join('\n'),
  };
}

function standing(
  head: string,
  { reason, action }: { readonly reason: string; readonly action: string },
): string[] {
  return [...wrapped(head), ...wrapped(plain(reason), '  '), ...wrapped(plain(action), '  → ')];
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
