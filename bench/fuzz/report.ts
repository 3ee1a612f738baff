import type { Failure, Result } from './run.ts';

const COUNTED = ['statuses', 'phases', 'excused', 'failureCounts'] as const;
const SHOWN = 25;

/** The sum of all runs. */
export function merge(results: readonly Result[]): Result {
  const counts = Object.fromEntries(
    COUNTED.map((name) => [name, add(results.map((result) => result[name]))]),
  );
  const failures: Record<string, Failure> = Object.assign({}, ...results.map((result) => result.failures));
  return {
    ...(counts as Pick<Result, (typeof COUNTED)[number]>),
    requests: results.reduce((sum, { requests }) => sum + requests, 0),
    failures,
  };
}

function add(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const counts of all)
    for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

/** The figures, and the first failures with the requests that show them. */
export function renderReport(result: Result): string {
  const failed = Object.values(result.failureCounts).reduce((sum, count) => sum + count, 0);
  const server = Object.entries(result.statuses).reduce(
    (sum, [status, count]) => sum + (status.startsWith('5') ? count : 0),
    0,
  );
  const lines = [`${result.requests} requests, ${server} answers of 5xx, ${failed} failures`];
  for (const [title, name] of [
    ['Answers', 'statuses'],
    ['Phases', 'phases'],
    ['Refused as the contract says', 'excused'],
    ['Failures', 'failureCounts'],
  ] as const) {
    const rows = Object.entries(result[name]).toSorted(([, a], [, b]) => b - a);
    if (rows.length === 0) continue;
    lines.push(`${title}:`, ...rows.map(([what, count]) => `  ${String(count).padStart(7)}  ${what}`));
  }
  for (const [name, failure] of Object.entries(result.failures).slice(0, SHOWN))
    lines.push(
      '',
      `${name} (${failure.phase})`,
      `  ${failure.message.replaceAll('\n', '\n  ')}`,
      `  ${failure.request}`,
      `  ${failure.answer}`,
    );
  return lines.join('\n');
}
