import type { Condition } from '../../../services/operations/conditions/condition.ts';
import { ageOf, plain, wrapped } from '../../print.ts';

/** Everything that does not go on by itself, with the reason and the next action. */
export async function stuck() {
  const { groups, unread, whose, page } = await readStuck();
  const listed = Object.values(groups).flat();
  const lines = [...unread, ...listed].flatMap((one) => linesOf(one, whose));
  return {
    json: {
      ...Object.fromEntries(
        Object.entries(groups).map(([group, found]) => [group, found.map(({ row }) => row)]),
      ),
      ...(unread.length === 0 ? {} : { unread: unread.map(({ reason, action }) => ({ reason, action })) }),
      temporal_url: page,
    },
    text:
      lines.length === 0 ? 'Nothing is stuck. Whether every part is well says "doctor".' : lines.join('\n'),
    ...(lines.length === 0 || page === null ? {} : { copy: ['', page] }),
    ...(listed.some((one) => depositOf(one)) ? { next: 'All about one: "deposit show ID".' } : {}),
  };
}

/** The conditions of each list. A list of which something could not be read is missing, and is not empty. */
async function readStuck() {
  const [{ withGateway }, { readKinds }, { needsOperatorPage }, { ownersOf }] = await Promise.all([
    import('../../process.ts'),
    import('../../../services/operations/conditions/conditions.ts'),
    import('../../links.ts'),
    import('./deposit-owners.ts'),
  ]);
  return await withGateway({}, async ({ deps, config }) => {
    const read = await readKinds(deps, ({ group }) => group !== undefined);
    const groups: Record<string, Condition[]> = {};
    for (const [group = '', kinds] of Map.groupBy(read, ({ kind }) => kind.group))
      if (!kinds.some(({ unread }) => unread))
        groups[group] = kinds.flatMap(({ found }) => found.filter(({ row }) => row !== undefined));
    const ids = Object.values(groups).flatMap((found) => found.flatMap((one) => depositOf(one) ?? []));
    return {
      groups,
      unread: read.flatMap(({ unread }) => unread ?? []),
      whose: await ownersOf(deps, ids),
      page: needsOperatorPage(config),
    };
  });
}

function depositOf({ row }: Condition): string | undefined {
  const id = row?.['deposit_id'];
  return typeof id === 'string' ? id : undefined;
}

function linesOf(condition: Condition, whose: ReadonlyMap<string, readonly string[]>): string[] {
  const { subject, since, reason, action, row = {} } = condition;
  const { deposits, transaction_hash: hash } = row;
  const lasts = since === undefined ? [] : [`since ${since}, for ${ageOf(since)}`];
  const id = depositOf(condition);
  const facts = [
    ...(id === undefined ? [] : [...(whose.get(id) ?? []), `transaction ${hash}`]),
    ...(typeof deposits === 'number' && deposits > 1 ? [`with ${deposits - 1} more deposits`] : []),
  ];
  const told = subject === undefined ? [reason, ...lasts] : [[subject, ...lasts].join(' '), ...facts, reason];
  return [
    ...told.flatMap((line, n) => wrapped(plain(line), n === 0 ? '' : '  ')),
    ...wrapped(plain(action), '  → '),
  ];
}
