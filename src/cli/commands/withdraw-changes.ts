import type { Command } from 'commander';
import { DECISION_LIMITS } from '../../domain/decision.ts';
import { isoSeconds } from '../../domain/events.ts';
import type { WithdrawChangeView } from '../../services/merchants/withdraw-notices.ts';
import { text } from '../arguments.ts';
import { type Acting, acting } from '../operator.ts';
import { answering, leaf } from '../run.ts';
import { listing, plain } from '../table.ts';

/** `merchant changes` and `merchant cancel-change`: withdraw addresses that users changed and that wait. */
export function addWithdrawChangeCommands(merchant: Command): void {
  leaf(
    merchant,
    'changes',
    'lists withdraw addresses that users of merchants changed and that do not count yet',
  )
    .option('--merchant <id>', 'only of this merchant', text())
    .action(answering(list));
  acting(leaf(merchant, 'cancel-change <id>', 'takes a changed withdraw address back before it counts'))
    .option('--reason <text>', 'why', text(DECISION_LIMITS.reason))
    .action(answering(cancel));
}

async function list({ options }: { options: { readonly merchant?: string } }) {
  const [{ withGateway }, { listPendingWithdrawChanges }] = await Promise.all([
    import('../process.ts'),
    import('../../services/merchants/withdraw-notices.ts'),
  ]);
  const found = await withGateway({}, ({ deps }) =>
    listPendingWithdrawChanges(deps, { merchantId: options.merchant }),
  );
  const changes = found.map(presentChange);
  const rows = changes.map((row) => [
    row.id,
    row.counts_at,
    row.network,
    row.address ?? 'none',
    row.present ?? 'none',
    row.asked_by,
    row.asked_from,
    row.merchant_id,
  ]);
  const header = ['ID', 'COUNTS AT', 'NETWORK', 'NEW', 'PRESENT', 'ASKED BY', 'FROM', 'MERCHANT'];
  const none = 'No changed withdraw address waits. What counts says "merchant list".';
  const next = 'Take one back with "merchant cancel-change ID"; ask the merchant over another way first.';
  return { json: { withdraw_changes: changes }, ...listing({ header, rows, none, next }) };
}

async function cancel({
  args,
  options,
}: {
  args: readonly string[];
  options: Acting & { readonly reason?: string };
}) {
  const [{ withGateway }, { cancelByOperator }] = await Promise.all([
    import('../process.ts'),
    import('../../services/merchants/withdraw-changes.ts'),
  ]);
  const { by, reason } = options;
  const view = await withGateway({ by }, ({ deps }) => cancelByOperator(deps, { id: args[0] ?? '', reason }));
  const still = view.present === null ? 'Payouts still go nowhere' : `Payouts still go to ${view.present}`;
  return {
    json: presentChange(view),
    text: `The change is cancelled. ${still} on ${view.network}.`,
    next: 'Whoever asked for it can ask again: "user list" and "audit list" show who they are.',
  };
}

/** A change as commands print it. */
export function presentChange(view: WithdrawChangeView) {
  return {
    id: view.id,
    merchant_id: view.merchantId,
    network: view.network,
    address: view.address,
    present: view.present,
    asked_by: view.askedBy.email ?? view.askedBy.userId,
    asked_from: view.askedFrom,
    asked_at: isoSeconds(view.askedAt),
    counts_at: isoSeconds(view.countsAt),
    outcome: view.outcome,
  };
}

/** One line about a change that waits, at this time. */
export function changeLine(change: ReturnType<typeof presentChange>, now: Date): string {
  const to = change.address === null ? 'none' : change.address;
  const when =
    change.counts_at <= isoSeconds(now)
      ? `due since ${change.counts_at} and does not count yet: once it does,`
      : `from ${change.counts_at} on`;
  return plain(
    `${change.network}: ${when} payouts go to ${to}, as ${change.asked_by} asked at ${change.asked_at} (change ${change.id})`,
  );
}
