import { UsageError } from '../../base/errors.ts';
import { isoSeconds } from '../../domain/events.ts';
import { cancelByOperator } from '../../services/merchants/withdraw-changes.ts';
import {
  listPendingWithdrawChanges,
  type WithdrawChangeView,
} from '../../services/merchants/withdraw-notices.ts';
import { listed, plain, type ViewColumn, viewOf } from '../print.ts';
import { withGateway } from '../process.ts';
import type { CommandCall, Explained } from '../run.ts';

type Options = Explained & { readonly merchant?: string; readonly cancel?: string };

/** Withdraw addresses that users changed and that wait: lists them, or takes one back. */
export async function changes({ options }: CommandCall<Options>) {
  const { merchant: merchantId, cancel, by, reason } = options;
  if (cancel !== undefined) return await takeBack(cancel, options);
  if (by !== undefined || reason !== undefined) throw new UsageError('--by and --reason need --cancel');
  const found = await withGateway({}, ({ deps }) => listPendingWithdrawChanges(deps, { merchantId }));
  const changes = found.map(presentChange);
  const none = 'No changed withdraw address waits. What counts says "merchant list".';
  const next = 'Take one back with "merchant changes --cancel ID"; ask the merchant over another way first.';
  return { json: { withdraw_changes: changes }, ...listed(changes, { columns: COLUMNS, none, next }) };
}

const COLUMNS: readonly ViewColumn[] = [
  'id',
  'counts_at',
  'network',
  ['NEW', ({ address }) => address ?? 'none'],
  ['PRESENT', ({ present }) => present ?? 'none'],
  'asked_by',
  ['FROM', 'asked_from'],
  'merchant_id',
];

async function takeBack(id: string, { by, reason }: Explained) {
  const view = await withGateway({ by }, ({ deps }) => cancelByOperator(deps, { id, reason }));
  const still = view.present === null ? 'Payouts still go nowhere' : `Payouts still go to ${view.present}`;
  return {
    json: presentChange(view),
    text: `The change is cancelled. ${still} on ${view.network}.`,
    next: 'Whoever asked for it can ask again: "list users" and "audit list" show who they are.',
  };
}

/** A change as commands print it. */
export function presentChange(view: WithdrawChangeView) {
  const { id, network, address, askedBy, askedAt, countsAt } = view;
  const times = { asked_at: isoSeconds(askedAt), counts_at: isoSeconds(countsAt) };
  return { ...viewOf(view), id, network, address, ...times, asked_by: askedBy.email ?? askedBy.userId };
}

/** One line about a change that waits, at this time. */
export function changeLine(change: ReturnType<typeof presentChange>, now: Date): string {
  const { id, network, address, counts_at: at, asked_at: asked, asked_by: by } = change;
  const when =
    at <= isoSeconds(now) ? `due since ${at} and does not count yet: once it does,` : `from ${at} on`;
  return plain(
    `${network}: ${when} payouts go to ${address ?? 'none'}, as ${by} asked at ${asked} (change ${id})`,
  );
}
