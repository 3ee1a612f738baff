import type { Reconciled } from './gather.ts';
import { type Difference, type Records, settledOf } from './judge/records.ts';
import type { Performed } from './perform.ts';
import { MERCHANTS, nameOf, type Plan, planHash } from './plan/plan.ts';
import type { Stage } from './stage.ts';

/** Of each rule, so that one broken rule does not hide another. */
const MAX_OF_A_RULE = 8;

type Line = readonly [string, string | number];

function table(title: string, lines: readonly Line[]): string {
  const width = Math.max(...lines.map(([name]) => name.length));
  const rows = lines.map(([name, value]) => `  ${name.padEnd(width)}  ${String(value).padStart(8)}`);
  return [title, ...rows].join('\n');
}

const sorted = (lines: Iterable<Line>): Line[] => [...lines].sort(([a], [b]) => a.localeCompare(b));

function tally(list: readonly string[]): Line[] {
  const groups = Map.groupBy(list, (item) => item);
  return sorted([...groups].map(([name, items]) => [name, items.length]));
}

/**
 * A plan in short: its hash, which is the same for the
 * same seed and length, and how many actions of each kind.
 */
export function renderPlan(plan: Plan): string {
  return table(`Plan ${planHash(plan)}: ${plan.actions.length} actions`, tally(plan.actions.map(nameOf)));
}

/** What one chain holds, and what the gateway made of it. */
function foundOn({ network, blocks, standstillMs }: Performed['lags'][number], records: Records): Line[] {
  const { truth, deposits } = records;
  const credits = [...truth.credits.values()].filter((credit) => credit.network === network);
  const sent = truth.sent.filter((one) => one.network === network);
  const own = MERCHANTS.flatMap((merchant) => deposits[merchant]).filter((row) => row['network'] === network);
  const ends = own.map((row) => `deposits ${row['status']} ${row['failure_code'] ?? ''}`.trim());
  const lines: Line[] = [
    ['blocks', truth.heads.get(network) ?? 0],
    ['blocks behind the head, at worst', blocks],
    ['seconds without a new block, at worst', Math.round(standstillMs / 1_000)],
    ['transfers to credit', credits.filter((credit) => !credit.belowMinimum).length],
    ['transfers below the minimum', credits.filter((credit) => credit.belowMinimum).length],
    ...tally(ends),
    // Four is the most that one life takes.
    ['deposits of a second generation', own.filter((row) => Number(row['sequence']) > 4).length],
    ['payouts that settled', new Set(own.flatMap((row) => settledOf(row)?.hash ?? [])).size],
    ['transactions of our wallets', sent.length],
    ['of these failed', sent.filter(({ ok }) => !ok).length],
  ];
  return lines.map(([name, value]) => [`${network} ${name}`, value]);
}

type Ran = Omit<Performed, 'stopMining'> & {
  readonly reconciled: Reconciled;
  readonly records: Records;
  readonly differences: readonly Difference[];
};

/** What was done and what was found, for people. */
export function renderReport({ api, roles }: Stage, ran: Ran): string {
  const { done, peaks, waits, reconciled, records, differences } = ran;
  const answers = [...api.counts].map(([name, value]): Line => [`API answers ${name}`, value]);
  const restarts = roles.map((role): Line => [`${role.name} ended by itself`, role.ended().length]);
  const found: Line[] = [
    ...ran.lags.flatMap((lag) => foundOn(lag, records)),
    ['deposits found by balance alone', reconciled.found],
    ['deposits claimed by the operator', reconciled.claimed],
    ...tally(records.simulations.map((row) => `simulated ${row['status']}`)),
  ];
  const receivers = [...records.seen].map(([name, events]): Line => {
    const list = [...events.values()];
    const requests = list.reduce((sum, one) => sum + one.attempts.length, 0);
    const taken = list.filter((one) => one.taken).length;
    return [`${name}: events / requests / taken`, `${list.length} / ${requests} / ${taken}`];
  });
  const parts = [
    table('Done', [...sorted(done.counts), ...sorted(answers), ...restarts]),
    table('Found', found),
    table('Receivers', receivers),
  ];
  if (waits.size > 0) parts.push(table('Addresses whose payouts waited at once, at most', sorted(waits)));
  if (peaks.size > 0) parts.push(table('Peak memory, MiB', [...peaks]));
  if (differences.length === 0) return [...parts, 'No difference.'].join('\n\n');
  const byRule = Map.groupBy(differences, (difference) => difference.rule);
  const shown = [...byRule].flatMap(([rule, list]) => [
    ...list.slice(0, MAX_OF_A_RULE).map(({ subject, detail }) => `  ✗ ${rule}: ${subject}: ${detail}`),
    ...(list.length > MAX_OF_A_RULE ? [`    … and ${list.length - MAX_OF_A_RULE} more of this rule`] : []),
  ]);
  const rules = tally(differences.map((difference) => difference.rule));
  return [...parts, table(`${differences.length} DIFFERENCES`, rules), shown.join('\n')].join('\n\n');
}
