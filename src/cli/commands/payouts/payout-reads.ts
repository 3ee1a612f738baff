import type { Command } from 'commander';
import { NETWORKS, type Network } from '../../../domain/assets.ts';
import { describePause, type Pause } from '../../../domain/payouts/pause.ts';
import { PAYOUT_STATES, type PayoutState } from '../../../domain/settlement.ts';
import type { WaitingView } from '../../../services/payouts/views.ts';
import { oneOf, text, wholeNumber } from '../../arguments.ts';
import { COLUMNS, LISTS_IN } from '../../columns.ts';
import { answering, leaf } from '../../run.ts';
import { cutOff, plain } from '../../table.ts';
import { listed, MAX_LISTED, paragraphs, viewText } from '../../views.ts';
import { wrapped } from '../../width.ts';

const MAX_ID = 100;

/** `payout list` and `payout show`. */
export function addPayoutReads(payout: Command): void {
  leaf(payout, 'list', 'lists payouts, newest first, and what waits to become one')
    .option('--merchant <id>', 'only of this merchant', text())
    .option('--state <state>', 'only payouts in this state', oneOf(...PAYOUT_STATES))
    .option('--network <network>', 'only on this network', oneOf(...NETWORKS))
    .option('--limit <n>', 'how many', wholeNumber(1, MAX_LISTED), 50)
    .action(answering(list));
  leaf(payout, 'show', 'one payout with its deposits and transactions')
    .argument('<id>', 'id of a payout', text(MAX_ID))
    .action(answering(show));
}

type Filters = {
  readonly merchant?: string;
  readonly state?: PayoutState;
  readonly network?: Network;
  readonly limit: number;
};

async function list({ options }: { options: Filters }) {
  const [{ withGateway }, { listPayouts }, { readPauses }] = await Promise.all([
    import('../../process.ts'),
    import('../../../services/payouts/views.ts'),
    import('../../../services/payouts/pauses.ts'),
  ]);
  const merchant = options.merchant?.toLowerCase();
  const { payouts, waiting, pauses } = await withGateway({}, async ({ deps }) => ({
    ...(await listPayouts(deps, { ...options, merchant })),
    pauses: (await readPauses(deps.orm.em.fork())).filter(
      ({ merchantId }) => merchantId === null || merchant === undefined || merchantId === merchant,
    ),
  }));
  const limit = { given: options.limit, most: MAX_LISTED };
  const none = 'No payout: what was completed waits in "deposit list --status completed".';
  const next = 'All about one: "payout show ID". Look again now: "payout retry ID".';
  const shown = listed(payouts, { columns: COLUMNS.payout, none, next, limit: options.limit });
  const parts = [
    ...pauses.map((pause) => wrapped(plain(describePause(pause))).join('\n')),
    ...(payouts.length === 0 && waiting.length > 0 ? [] : [shown.text]),
    waitingText(waiting, limit),
  ];
  return {
    json: { payouts, waiting, pauses: pauses.map(pauseView) },
    text: paragraphs(...parts),
    ...(payouts.length + waiting.length === 0 ? {} : { next: shown.next ?? next }),
  };
}

/** Each address with why nothing is planned for what lies there, and what it needs. */
function waitingText(waiting: readonly WaitingView[], limit: { given: number; most: number }): string {
  if (waiting.length === 0) return '';
  const lines = waiting.flatMap((row) => [
    ...wrapped(
      plain(`${row.address}  ${row.network}  ${row.currency}  ${row.code} since ${row.since}`),
      '  ',
    ),
    ...wrapped(plain(row.reason), '    '),
  ]);
  return [
    'Nothing is planned yet (look again with "payout retry ADDRESS"):',
    ...lines,
    ...(cutOff(waiting.length, limit) === '' ? [] : [cutOff(waiting.length, limit).trim()]),
  ].join('\n');
}

const pauseView = ({ merchantId, byName, reason, at }: Pause) => ({
  merchant_id: merchantId,
  by: byName,
  reason,
  since: `${at.toISOString().slice(0, 19)}Z`,
});

async function show({ args }: { args: readonly string[] }) {
  const [{ withGateway }, { readPayout }] = await Promise.all([
    import('../../process.ts'),
    import('../../../services/payouts/views.ts'),
  ]);
  const found = await withGateway({}, ({ deps }) => readPayout(deps, args[0]?.trim().toLowerCase() ?? ''));
  const { wait } = found;
  const text = viewText(
    {
      ...found,
      wait: wait && `${wait.code}: ${wait.reason}`,
      needs: wait?.needs && `${wait.needs.amount} ${wait.needs.currency} to ${wait.needs.address}`,
    },
    LISTS_IN['payout'],
  );
  const next = 'Not going on? "payout retry ID" looks again now. All about a deposit: "deposit show ID".';
  return { json: found, text, next };
}
