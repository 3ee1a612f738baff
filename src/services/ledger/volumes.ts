import type { Em } from '../../db/orm.ts';
import { rows, sql } from '../../db/sql.ts';
import { centsToJsonNumber } from '../../domain/money.ts';
import type { Scope } from '../scope.ts';

/** What was credited on one UTC day and was not withdrawn since. */
export type DayVolume = { readonly day: string; readonly deposits: number; readonly amount_usd: number };

const DAY_MS = 24 * 60 * 60_000;

/**
 * The last `days` days in UTC, oldest first, today last, those without a deposit included. A deposit counts
 * on the day on which it was completed. Reads as many rows as there are days, and what was not folded yet,
 * however many deposits there were.
 */
export async function dailyVolumes(
  em: Em,
  { merchantId, mode }: Scope,
  { now, days }: { readonly now: Date; readonly days: number },
): Promise<DayVolume[]> {
  const wanted = Array.from({ length: days }, (_, index) =>
    dayOf(now.getTime() - (days - 1 - index) * DAY_MS),
  );
  const own = sql`merchant_id = ${merchantId} and mode = ${mode} and day >= ${wanted[0]}::date`;
  const found = await rows(
    em,
    sql<{ day: string; cents: string; deposits: number }>`
      select day::text as day, sum(cents)::text as cents, sum(deposits)::int as deposits from (
        select day, cents, deposits from daily_volumes where ${own}
        union all select day, cents, deposits from daily_volume_changes where ${own}
      ) as parts group by day`,
  );
  const byDay = new Map(found.map((row) => [row.day, row]));
  return wanted.map((day) => {
    const row = byDay.get(day);
    return { day, deposits: row?.deposits ?? 0, amount_usd: centsToJsonNumber(BigInt(row?.cents ?? 0)) };
  });
}

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
