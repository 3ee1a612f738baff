import type { Em } from '../../db/orm.ts';
import { firstRow, literals, rows, type Statement, sql } from '../../db/sql.ts';
import { WAITING_STATES } from '../../domain/deposit.ts';
import { isoSeconds } from '../../domain/events.ts';
import { OPEN_STATUSES } from '../../domain/payment-link.ts';
import { WAIT_CODES, type WaitCode } from '../../domain/payouts/waits.ts';
import { type Bounded, bounded, countUpTo } from '../lists/bounded.ts';
import { COUNTED_ROWS } from '../lists/query.ts';
import { type WaitsFor, waitWords } from '../payouts/words.ts';
import type { Scope } from '../scope.ts';

/** Deposits that stand in a state, and since when the one that came first does so. */
export type Standing = Bounded & { readonly oldest: string | null };

/** Why deposits of some addresses are not paid out, as their merchant is told. */
export type WaitingPayouts = {
  readonly code: WaitCode;
  readonly words: string;
  readonly who: WaitsFor;
  readonly addresses: Bounded;
  readonly since: string;
};

/** What waits, and for whom. */
export type Waiting = {
  /** Seen on the chain, and not credited yet. */
  readonly unconfirmed: Standing;
  /** Credited, and not paid out yet. */
  readonly unpaid: Standing;
  readonly why: readonly WaitingPayouts[];
  readonly failed: Bounded;
  /** Of the failed ones those that were over the month's limit. */
  readonly over_limit: Bounded;
  readonly open_links: Bounded;
};

/** What waits of a merchant and mode; nothing is counted further than lists are. */
export async function readWaiting(em: Em, scope: Scope): Promise<Waiting> {
  const { merchantId, mode } = scope;
  const own = sql`merchant_id = ${merchantId} and mode = ${mode}`;
  const links = countUpTo(sql`from payment_links where ${own} and status in ${literals(OPEN_STATUSES)}`);
  // The reason is in no index: the newest failed ones are read, and no more than are counted.
  const counts = await firstRow(
    em,
    sql<{ failed: number; limited: number; links: number }>`
      select count(*)::int as failed, ${links} as links,
        (count(*) filter (where failure_code = 'MONTHLY_LIMIT'))::int as limited
      from (select failure_code from deposits where ${own} and status = 'failed'
        order by created_at desc limit ${COUNTED_ROWS + 1}) as failed`,
  );
  const failed = bounded(counts?.failed ?? 0);
  return {
    unconfirmed: await standing(em, scope, WAITING_STATES, sql`detected_at`),
    unpaid: await standing(em, scope, ['completed'], sql`completed_at`),
    why: mode === 'live' ? await waitsOf(em, merchantId) : [],
    failed,
    over_limit: { ...bounded(counts?.limited ?? 0), at_least: failed.at_least },
    open_links: bounded(counts?.links ?? 0),
  };
}

/** `since`: the column that says when a deposit came there, which may be long after it was seen. */
async function standing(
  em: Em,
  { merchantId, mode }: Scope,
  states: readonly string[],
  since: Statement<unknown>,
): Promise<Standing> {
  // One state after the other, because an index has each of them in order of time.
  const found = await rows(
    em,
    sql<{ counted: number; oldest: string | null }>`
      select ${countUpTo(sql`from deposits d
          where d.merchant_id = ${merchantId} and d.mode = ${mode} and d.status = s.status
          order by d.created_at`)} as counted,
        (select d.${since} from deposits d
          where d.merchant_id = ${merchantId} and d.mode = ${mode} and d.status = s.status
          order by d.created_at limit 1) as oldest
      from unnest(${[...states]}::text[]) as s (status)`,
  );
  const times = found.flatMap(({ oldest }) => (oldest === null ? [] : isoSeconds(new Date(oldest))));
  const counted = found.reduce((sum, row) => sum + row.counted, 0);
  return { ...bounded(counted), oldest: times.toSorted()[0] ?? null };
}

/** Only money of live mode waits for a payout: what is simulated is paid out at once. */
async function waitsOf(em: Em, merchantId: string): Promise<WaitingPayouts[]> {
  const counted = countUpTo(
    sql`from settlement_waits w where w.merchant_id = ${merchantId} and w.code = c.code order by w.since`,
  );
  const found = await rows(
    em,
    sql<{ code: WaitCode; counted: number; since: string | null }>`
      select c.code, ${counted} as counted,
        (select min(since) from settlement_waits w
          where w.merchant_id = ${merchantId} and w.code = c.code) as since
      from unnest(${[...WAIT_CODES]}::text[]) as c (code)`,
  );
  return found
    .flatMap(({ code, counted, since }) =>
      since === null ? [] : { ...waitWords(code, since), addresses: bounded(counted) },
    )
    .toSorted((one, other) => (one.since < other.since ? -1 : 1));
}
