import { type ActionView, listActions } from '../../services/audit/list.ts';
import { listed, plain, type View, type ViewColumn, viewOf } from '../print.ts';
import { withGateway } from '../process.ts';
import type { CommandCall } from '../run.ts';

type Filters = { readonly merchant?: string; readonly since?: Date; readonly limit: number };

/** What operators and users changed, each with what was before. */
export async function list({ options }: CommandCall<Filters>) {
  const { merchant: merchantId, since, limit } = options;
  const found = await withGateway({}, ({ deps }) => listActions(deps, { merchantId, since, limit }));
  const actions = found.map(viewOf);
  const none =
    'Nobody changed anything that these filters let through. Leave --merchant or --since out to see more.';
  const next = 'Those of one merchant: "audit list --merchant ID".';
  return { json: { actions }, ...listed(actions, { columns: COLUMNS, none, next, limit }) };
}

const COLUMNS: readonly ViewColumn[] = [
  'at',
  'action',
  'subject',
  'by',
  'from',
  ['MERCHANT', ({ merchant_id: id, subject }) => (id === subject ? null : id)],
  'mode',
  ['CHANGED', changesOf],
  'reason',
];

/** `name: before → after` for each member; a member with only one side has no arrow. */
function changesOf(view: View): string | null {
  const { before, after } = view as Pick<ActionView, 'before' | 'after'>;
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const changes = names.map((name) => {
    const [was, is] = [before, after].map((side) => (side && name in side ? shown(side[name]) : undefined));
    return `${name}: ${was === undefined ? is : `${was} → ${is ?? 'gone'}`}`;
  });
  return changes.length === 0 ? null : changes.join(', ');
}

function shown(value: unknown): string {
  return Array.isArray(value) ? `[${value.map(plain).join(', ')}]` : plain(value);
}
