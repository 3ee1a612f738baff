import type { Done } from './actions.ts';
import type { Verdict } from './oracle/judge.ts';
import type { Lag } from './perform.ts';
import type { Stage } from './stage.ts';

/** Of each rule, so that one broken rule does not hide another. */
const MAX_OF_A_RULE = 8;

type Line = readonly [string, string | number];

function table(title: string, lines: readonly Line[]): string {
  const width = Math.max(...lines.map(([name]) => name.length));
  return [title, ...lines.map(([name, value]) => `  ${name.padEnd(width)}  ${String(value).padStart(8)}`)].join('\n');
}

function tally(list: readonly string[]): Line[] {
  const counts = new Map<string, number>();
  for (const item of list) counts.set(item, (counts.get(item) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => a.localeCompare(b));
}

/** What was done and what was found, for people. */
export function renderReport(stage: Stage, { done, lag, verdict }: { done: Done; lag: Lag; verdict: Verdict }): string {
  const { truth, deposits, simulations, seen, differences } = verdict;
  const credits = [...truth.credits.values()];
  const did: Line[] = [...done.counts].sort(([a], [b]) => a.localeCompare(b));
  const answers: Line[] = [...stage.api.counts]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, value]) => [`API answers ${name}`, value]);
  const restarts: Line[] = stage.roles.map((role) => [`${role.name} ended by itself`, role.ended().length]);
  const found: Line[] = [
    ['blocks', truth.head],
    ['blocks behind the head, at worst', lag.blocks],
    ['seconds without a new block, at worst', Math.round(lag.standstillMs / 1_000)],
    ['transactions', truth.transactions.size],
    ['transfers to credit', credits.filter((credit) => !credit.dust).length],
    ['transfers below the minimum', credits.filter((credit) => credit.dust).length],
    ...tally(deposits.map((deposit) => `deposits ${String(deposit['status'])} ${String(deposit['failure_code'] ?? '')}`.trim())),
    ['deposits of a second generation', deposits.filter((deposit) => Number(deposit['sequence']) > 3).length],
    ...tally(simulations.map((deposit) => `simulated ${String(deposit['status'])}`)),
  ];
  const receivers: Line[] = [...seen].map(([name, records]) => {
    const list = [...records.values()];
    const requests = list.reduce((sum, record) => sum + record.attempts.length, 0);
    return [`${name}: events / requests / taken`, `${list.length} / ${requests} / ${list.filter((record) => record.taken).length}`];
  });
  const parts = [table('Done', [...did, ...answers, ...restarts]), table('Found', found), table('Receivers', receivers)];
  if (differences.length === 0) return [...parts, 'No difference.'].join('\n\n');
  const rules = table(`${differences.length} DIFFERENCES`, tally(differences.map((difference) => difference.rule)));
  const byRule = Map.groupBy(differences, (difference) => difference.rule);
  const shown = [...byRule].flatMap(([rule, list]) => [
    ...list.slice(0, MAX_OF_A_RULE).map(({ subject, detail }) => `  ✗ ${rule}: ${subject}: ${detail}`),
    ...(list.length > MAX_OF_A_RULE ? [`    … and ${list.length - MAX_OF_A_RULE} more of this rule`] : []),
  ]);
  return [...parts, rules, shown.join('\n')].join('\n\n');
}
