import type { Network } from '../../../domain/assets.ts';
import { describePause, type Pause } from '../../../domain/payouts/pause.ts';
import type { PayoutState } from '../../../domain/settlement.ts';
import { readPauses } from '../../../services/payouts/pauses.ts';
import { listPayouts, readPayout, type WaitingView } from '../../../services/payouts/views.ts';
import { COLUMNS, LISTS_IN } from '../../columns.ts';
import { cutOff, listed, paragraphs, plain, viewText, wrapped } from '../../print.ts';
import { withGateway } from '../../process.ts';
import type { CommandCall } from '../../run.ts';

/** Payouts, and what waits to become one. */
export const PAYOUT_READS = { list, show };

type Filters = {
  readonly merchant?: string;
  readonly state?: PayoutState;
  readonly network?: Network;
  readonly limit: number;
};

async function list({ options }: CommandCall<Filters>) {
  const merchant = options.merchant?.toLowerCase();
  const { payouts, waiting, pauses } = await withGateway({}, async ({ deps }) => ({
    ...(await listPayouts(deps, { ...options, merchant })),
    pauses: (await readPauses(deps.orm.em.fork())).filter(
      ({ merchantId }) => merchantId === null || merchant === undefined || merchantId === merchant,
    ),
  }));
  const { limit } = options;
  const none = 'No payout: what was completed waits in "deposit list --status completed".';
  const next = 'All about one: "payout show ID". Look again now: "payout retry ID".';
  const shown = listed(payouts, { columns: COLUMNS['payout'], none, next, limit });
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
function waitingText(waiting: readonly WaitingView[], limit: number): string {
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

async function show({ args: [id = ''] }: CommandCall) {
  const found = await withGateway({}, ({ deps }) => readPayout(deps, id.trim().toLowerCase()));
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
