import type { OverviewView } from '../../../services/overview/overview.ts';
import { type Html, html } from '../../html.ts';
import { usd } from '../../parts/amount.ts';
import { barChart } from '../../parts/chart.ts';
import { type Column, table } from '../../parts/table.ts';

type Day = OverviewView['days'][number];

/** What was completed on each of the last days: as bars, and the same as a table. */
export function lastDays(days: readonly Day[]): Html {
  const highest = days.reduce<Day | undefined>(
    (most, day) => (most === undefined || isMore(day, most) ? day : most),
    undefined,
  );
  if (highest === undefined || highest.deposits <= 0)
    return html`<p class="muted">No deposit was completed in the last ${days.length} days.</p>`;
  const most = `Highest day: ${dollars(highest)} on ${highest.day}`;
  return html`${barChart({
    name: `US dollars of completed deposits on each of the last ${days.length} days. ${most}. The table below has them all.`,
    most,
    bars: days.map((day) => ({
      label: day.day,
      value: day.amount_usd,
      words: `${day.day}: ${dollars(day)}, ${countOf(day)}`,
    })),
  })}
<details><summary>The same as a table</summary>
${table('Completed deposits by day (UTC), the newest first', COLUMNS, days.toReversed())}
</details>`;
}

/** Deposits that are worth less than half a cent were completed none the less. */
const isMore = (one: Day, other: Day): boolean =>
  one.amount_usd > other.amount_usd || (one.amount_usd === other.amount_usd && one.deposits > other.deposits);

const COLUMNS: readonly Column<Day>[] = [
  { head: 'Day', cell: ({ day }) => html`<time datetime="${day}">${day}</time>` },
  { head: 'Deposits', end: true, cell: ({ deposits }) => deposits },
  { head: 'Amount', end: true, cell: (row) => usd(row.amount_usd) },
];

function dollars({ amount_usd: value }: Day): string {
  return `${value.toFixed(2)} USD`;
}

function countOf({ deposits }: Day): string {
  return deposits === 1 ? '1 deposit' : `${deposits} deposits`;
}
