import type { Command } from 'commander';
import { isoSeconds } from '../../domain/events.ts';
import type { ActionView } from '../../services/audit/list.ts';
import { text, time, wholeNumber } from '../arguments.ts';
import { answering, group, leaf } from '../run.ts';
import { cutOff, plain } from '../table.ts';
import { wrapped } from '../width.ts';

const MAX_LISTED = 1_000;
const INDENT = '    ';

/** `audit`. */
export function addAuditCommands(program: Command): void {
  const audit = group(program, 'audit', 'what operators and signed-in users changed');
  leaf(audit, 'list', 'lists changes, newest first: when, who, from where, what, and what it was before')
    .option('--merchant <id>', 'only of this merchant', text())
    .option('--since <time>', 'only from then on', time)
    .option('--limit <n>', 'how many', wholeNumber(1, MAX_LISTED), 50)
    .action(answering(list));
}

type Filters = { readonly merchant?: string; readonly since?: Date; readonly limit: number };

async function list({ options }: { options: Filters }) {
  const [{ withGateway }, { listActions }] = await Promise.all([
    import('../process.ts'),
    import('../../services/audit/list.ts'),
  ]);
  const { merchant: merchantId, since, limit } = options;
  const actions = await withGateway({}, ({ deps }) => listActions(deps, { merchantId, since, limit }));
  const next = `${cutOff(actions.length, { given: limit, most: MAX_LISTED })}Those of one merchant: "audit list --merchant ID".`;
  return {
    json: { actions: actions.map(present) },
    text: listed(actions),
    next: actions.length === 0 ? undefined : next,
  };
}

/**
 * Two columns that are as wide as their content, and below each change its
 * details, all within a terminal's width.
 */
function listed(actions: readonly ActionView[]): string {
  if (actions.length === 0)
    return 'Nobody changed anything that these filters let through. Leave --merchant or --since out to see more.';
  const width = Math.max(...actions.map(({ action }) => action.length));
  return actions
    .flatMap((one) => {
      const { at, action, by, from, subject, merchantId, mode, reason } = one;
      const owner = merchantId === null || merchantId === subject ? [] : [`merchant ${merchantId}`];
      const facts = [
        ...owner,
        ...(mode === null ? [] : [mode]),
        ...changesOf(one),
        ...(reason === null ? [] : [`reason: ${plain(reason)}`]),
      ];
      const head = `${isoSeconds(at)}  ${action.padEnd(width)}  ${plain(subject)}`;
      return [
        ...wrapped(head),
        ...wrapped(`by ${plain(by)}, from ${plain(from)}`, INDENT),
        ...facts.flatMap((fact) => wrapped(fact, INDENT)),
      ];
    })
    .join('\n');
}

/** `name: before → after` for each member; a member with only one side has no arrow. */
function changesOf({ before, after }: ActionView): string[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return names.map((name) => {
    const [was, is] = [before, after].map((side) => (side && name in side ? shown(side[name]) : undefined));
    if (was === undefined || is === undefined)
      return `${plain(name)}: ${was === undefined ? is : `${was} → gone`}`;
    return `${plain(name)}: ${was} → ${is}`;
  });
}

function shown(value: unknown): string {
  return Array.isArray(value) ? `[${value.map(plain).join(', ')}]` : plain(value);
}

function present(view: ActionView) {
  return {
    id: view.id,
    at: isoSeconds(view.at),
    action: view.action,
    by: view.by,
    user_id: view.userId,
    key_id: view.keyId,
    from: view.from,
    merchant_id: view.merchantId,
    mode: view.mode,
    subject: view.subject,
    before: view.before,
    after: view.after,
    reason: view.reason,
  };
}
