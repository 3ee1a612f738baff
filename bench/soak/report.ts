import type { Verdict } from './oracle/judge.ts';
import type { Reconciled } from './oracle/reconciled.ts';
import { settledOf } from './oracle/settlements.ts';
import type { Performed } from './perform.ts';
import { type Plan, planHash } from './plan/plan.ts';
import type { Stage } from './stage.ts';

/** Of each rule, so that one broken rule does not hide another. */
const MAX_OF_A_RULE = 8;

type Line = readonly [string, string | number];

function table(title: string, lines: readonly Line[]): string {
  const width = Math.max(...lines.map(([name]) => name.length));
  return [
    title,
    ...lines.map(([name, value]) => `  ${name.padEnd(width)}  ${String(value).padStart(8)}`),
  ].join('\n');
}

function tally(list: readonly string[]): Line[] {
  const counts = new Map<string, number>();
  for (const item of list) counts.set(item, (counts.get(item) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => a.localeCompare(b));
}

type Ran = Omit<Performed, 'stopMining'> & {
  readonly reconciled: Reconciled;
  readonly verdict: Verdict;
};

/**
 * A plan in short: its hash, which is the same for the
 * same seed and length, and how many actions of each kind.
 */
export function renderPlan(plan: Plan): string {
  const kinds = plan.actions.map((action) => {
    const kind = action.kind === 'pay' ? `pay ${action.shape}` : action.kind;
    return 'network' in action ? `${action.network} ${kind}` : kind;
  });
  return table(`Plan ${planHash(plan)}: ${plan.actions.length} actions`, tally(kinds));
}

/** What one chain holds, and what the gateway made of it. */
function foundOn(
  { network, blocks, standstillMs }: Performed['lags'][number],
  { truths, deposits }: Verdict,
): Line[] {
  const truth = truths.get(network);
  const credits = [...(truth?.credits.values() ?? [])];
  const own = deposits.filter((deposit) => deposit['network'] === network);
  const lines: Line[] = [
    ['blocks', truth?.head ?? 0],
    ['blocks behind the head, at worst', blocks],
    ['seconds without a new block, at worst', Math.round(standstillMs / 1_000)],
    ['transactions', truth?.transactions.size ?? 0],
    ['transfers to credit', credits.filter((credit) => !credit.belowMinimum).length],
    ['transfers below the minimum', credits.filter((credit) => credit.belowMinimum).length],
    ...tally(
      own.map((deposit) =>
        `deposits ${String(deposit['status'])} ${String(deposit['failure_code'] ?? '')}`.trim(),
      ),
    ),
    // Four is the most that one life takes.
    ['deposits of a second generation', own.filter((deposit) => Number(deposit['sequence']) > 4).length],
    ['payouts that settled', new Set(settledOf(own).map(({ hash }) => hash)).size],
    ['transactions of our wallets', truth?.sent.length ?? 0],
    ['of these failed', truth?.sent.filter(({ ok }) => !ok).length ?? 0],
  ];
  return lines.map(([name, value]) => [`${network} ${name}`, value]);
}

/** What was done and what was found, for people. */
export function renderReport(stage: Stage, ran: Ran): string {
  const { done, peaks, reconciled, verdict } = ran;
  const { simulations, seen, differences } = verdict;
  const did: Line[] = [...done.counts].sort(([a], [b]) => a.localeCompare(b));
  const answers: Line[] = [...stage.api.counts]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, value]) => [`API answers ${name}`, value]);
  const restarts: Line[] = stage.roles.map((role) => [`${role.name} ended by itself`, role.ended().length]);
  const found: Line[] = [
    ...ran.lags.flatMap((lag) => foundOn(lag, verdict)),
    ['deposits found by balance alone', reconciled.found],
    ['deposits claimed by the operator', reconciled.claimed],
    ...tally(simulations.map((deposit) => `simulated ${String(deposit['status'])}`)),
  ];
  const receivers: Line[] = [...seen].map(([name, records]) => {
    const list = [...records.values()];
    const requests = list.reduce((sum, record) => sum + record.attempts.length, 0);
    return [
      `${name}: events / requests / taken`,
      `${list.length} / ${requests} / ${list.filter((record) => record.taken).length}`,
    ];
  });
  const waits: Line[] = [...ran.waits].sort(([a], [b]) => a.localeCompare(b));
  const memory: Line[] = [...peaks].map(([name, mib]) => [name, mib]);
  const parts = [
    table('Done', [...did, ...answers, ...restarts]),
    table('Found', found),
    table('Receivers', receivers),
  ];
  if (waits.length > 0) parts.push(table('Addresses whose payouts waited at once, at most', waits));
  if (memory.length > 0) parts.push(table('Peak memory, MiB', memory));
  if (differences.length === 0) return [...parts, 'No difference.'].join('\n\n');
  const rules = table(
    `${differences.length} DIFFERENCES`,
    tally(differences.map((difference) => difference.rule)),
  );
  const byRule = Map.groupBy(differences, (difference) => difference.rule);
  const shown = [...byRule].flatMap(([rule, list]) => [
    ...list.slice(0, MAX_OF_A_RULE).map(({ subject, detail }) => `  ✗ ${rule}: ${subject}: ${detail}`),
    ...(list.length > MAX_OF_A_RULE ? [`    … and ${list.length - MAX_OF_A_RULE} more of this rule`] : []),
  ]);
  return [...parts, rules, shown.join('\n')].join('\n\n');
}
