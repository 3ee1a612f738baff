import type { Em } from '../../db/orm.ts';
import { firstRow, literals, rows, run, sql } from '../../db/sql.ts';
import type { Mode } from '../../domain/assets.ts';
import { isUuid } from '../../domain/ids.ts';
import { OPEN_STATUSES } from '../../domain/payment-link.ts';
import { recordAction } from '../audit/record.ts';
import type { Deps, TxDeps } from '../deps.ts';
import { keptCount } from '../lists/page.ts';
import { Refusal } from '../refusal.ts';
import type { Scope } from '../scope.ts';
import { noMerchant, requireKnownMerchant } from './known.ts';

/**
 * What an operator may limit for a merchant in a mode. A quota that the operator does not set limits nothing.
 */
export const QUOTAS = ['customers', 'endpoints', 'events_per_day', 'open_links'] as const;
export type Quota = (typeof QUOTAS)[number];
/** The most that each may be; open links are counted one by one to their limit. */
export const MAX_QUOTA: Readonly<Record<Quota, number>> = {
  customers: 1_000_000_000,
  endpoints: 50,
  events_per_day: 1_000_000_000,
  open_links: 100_000,
};

export type QuotaView = {
  readonly merchantId: string;
  readonly mode: Mode;
  readonly quota: Quota;
  readonly most: number;
};

/** More than the merchant may have in this mode. The message says how much that is. */
export class QuotaReached extends Refusal {
  readonly quota: Quota;
  readonly mode: Mode;

  constructor(quota: Quota, mode: Mode, most: number) {
    super(quota === 'events_per_day' ? 'DAILY_QUOTA_REACHED' : 'QUOTA_REACHED', SENTENCES[quota](most, mode));
    this.quota = quota;
    this.mode = mode;
  }
}

const SENTENCES: Readonly<Record<Quota, (most: number, mode: Mode) => string>> = {
  customers: (most, mode) =>
    `This merchant may have ${most} customers in ${mode} mode, and has them. Ask whoever runs this service for more.`,
  endpoints: (most, mode) =>
    `This merchant may have ${most} webhook endpoints in ${mode} mode, and has them. Delete one first.`,
  events_per_day: (most, mode) =>
    `This merchant may ask for ${most} events a day in ${mode} mode, and did. The next day begins at midnight, UTC. Deposits go on.`,
  open_links: (most, mode) =>
    `This merchant may have ${most} open payment links in ${mode} mode, and has them. Cancel one, or wait until one ends.`,
};

type Row = { quota: Quota; most: string; used: string; today: boolean };

/**
 * Throws {@link QuotaReached} when nothing more of these kinds
 * may be made: a check before the work, which locks nothing.
 */
export async function refuseOverQuota(
  em: Em,
  deps: TxDeps,
  scope: Scope,
  kinds: readonly Quota[],
): Promise<void> {
  for (const row of await readQuotas(em, deps, scope, kinds, false)) {
    const most = mostOf(row);
    if ((await usedOf(em, scope, row, most)) >= most) throw new QuotaReached(row.quota, scope.mode, most);
  }
}

/**
 * Takes what the caller's transaction has made from the quotas of its merchant, as its last
 * step; throws {@link QuotaReached} when that is more than was left. The rows are the lock, and
 * held for moments: of two calls at a limit one passes, and a merchant without a quota waits
 * for nobody. Only what calls ask for is counted or refused; money that arrives is neither.
 */
export async function takeFromQuotas(
  em: Em,
  deps: TxDeps,
  scope: Scope,
  made: Partial<Readonly<Record<Quota, number>>>,
): Promise<void> {
  const names = QUOTAS.filter((quota) => (made[quota] ?? 0) > 0);
  for (const row of await readQuotas(em, deps, scope, names, true))
    await takeFrom(em, deps, scope, row, made[row.quota] ?? 0);
}

/**
 * Reads the quotas. They are locked in one order, so that two calls cannot lock
 * crosswise. A use that is dated tomorrow was noted by a clock that ran ahead: it counts
 * for today, because otherwise putting the clock right would open the quota again.
 */
async function readQuotas(
  em: Em,
  deps: TxDeps,
  scope: Scope,
  names: readonly Quota[],
  locked: boolean,
): Promise<Row[]> {
  if (names.length === 0) return [];
  return await rows(
    em,
    sql<Row>`select quota, most::text as most, used::text as used,
        isfinite(used_on) and used_on in (today, today + 1) as today
      from quotas, (select (${deps.now()}::timestamptz at time zone 'UTC')::date) as clock (today)
      where merchant_id = ${scope.merchantId} and mode = ${scope.mode} and quota = any(${names})
      order by quota ${locked ? sql`for update of quotas` : sql``}`,
  );
}

async function takeFrom(em: Em, deps: TxDeps, scope: Scope, row: Row, made: number): Promise<void> {
  const most = mostOf(row);
  const isDaily = row.quota === 'events_per_day';
  // What was just made is among the rows already, but not yet in the day's count of events.
  const used = (await usedOf(em, scope, row, most + 1)) + (isDaily ? made : 0);
  if (used > most) throw new QuotaReached(row.quota, scope.mode, most);
  if (!isDaily) return;
  await run(
    em,
    sql`update quotas set used = ${used}, used_on = (${deps.now()}::timestamptz at time zone 'UTC')::date
      where ${isQuota(scope, row.quota)}`,
  );
}

function mostOf(row: Row): number {
  return Number.parseInt(row.most, 10);
}

/** How much of the quota is used, counted up to `limit` if rows have to be counted. */
async function usedOf(em: Em, scope: Scope, row: Row, limit: number): Promise<number> {
  if (row.quota === 'events_per_day') return row.today ? Number.parseInt(row.used, 10) : 0;
  if (row.quota === 'customers') return await keptCount(em, 'customers', scope);
  const [from, where] = row.quota === 'open_links' ? OPEN_LINKS : ENDPOINTS;
  const counted = await firstRow(
    em,
    sql<{ rows: number }>`select count(*)::int as rows from (
      select 1 from ${from} where merchant_id = ${scope.merchantId} and mode = ${scope.mode} and ${where}
        limit ${limit}) as counted`,
  );
  return counted?.rows ?? 0;
}

const OPEN_LINKS = [sql`payment_links`, sql`status in ${literals(OPEN_STATUSES)}`] as const;
const ENDPOINTS = [sql`webhook_endpoints`, sql`deleted_at is null and payment_link_id is null`] as const;

function isQuota({ merchantId, mode }: Scope, quota: Quota) {
  return sql`merchant_id = ${merchantId} and mode = ${mode} and quota = ${quota}`;
}

/**
 * Sets or takes away (null) quotas of a merchant in one mode, and leaves the others.
 * A quota below what exists already removes nothing; it only refuses more. Throws a
 * {@link Refusal} for an unknown merchant or a number that is out of range.
 */
export async function setQuotas(
  deps: Deps,
  input: Scope & { readonly quotas: Partial<Readonly<Record<Quota, number | null>>> },
): Promise<QuotaView[]> {
  const { merchantId, mode, quotas } = input;
  await deps.orm.em.fork().transactional(async (em) => {
    const known =
      isUuid(merchantId) &&
      (await firstRow(em, sql`select id from merchants where id = ${merchantId} for no key update`));
    if (!known) throw noMerchant(merchantId);
    const before: Record<string, number | null> = {};
    const after: Record<string, number | null> = {};
    for (const quota of QUOTAS) {
      const most = quotas[quota];
      if (most === undefined) continue;
      if (most !== null && !(Number.isSafeInteger(most) && most >= 0 && most <= MAX_QUOTA[quota]))
        throw new Refusal(
          'INVALID',
          `The quota of ${quota} must be a whole number from 0 to ${MAX_QUOTA[quota]}.`,
          quota,
        );
      const key = isQuota(input, quota);
      const row = await firstRow(
        em,
        sql<{ most: string }>`select most::text as most from quotas where ${key}`,
      );
      before[quota] = row ? Number.parseInt(row.most, 10) : null;
      after[quota] = most;
      if (most === null) await run(em, sql`delete from quotas where ${key}`);
      else
        await run(
          em,
          sql`insert into quotas (merchant_id, mode, quota, most, used, used_on)
            values (${merchantId}, ${mode}, ${quota}, ${most}, 0, '-infinity')
            on conflict (merchant_id, mode, quota) do update set most = excluded.most`,
        );
    }
    await recordAction(em, deps, {
      action: 'quota.set',
      merchantId,
      mode,
      subject: merchantId,
      before,
      after,
    });
  });
  return await listQuotas(deps, { merchantId });
}

/** The quotas of one merchant, or of all. Throws a {@link Refusal} for an unknown merchant. */
export async function listQuotas(
  deps: Deps,
  filter: { readonly merchantId?: string | undefined } = {},
): Promise<QuotaView[]> {
  const em = deps.orm.em.fork();
  await requireKnownMerchant(em, filter.merchantId);
  const merchantId = filter.merchantId ?? null;
  const listed = await rows(
    em,
    sql<
      Omit<QuotaView, 'most'> & { most: string }
    >`select merchant_id, mode, quota, most::text as most from quotas
      where ${merchantId}::text is null or merchant_id::text = ${merchantId} order by merchant_id, mode, quota
        limit 10000`,
  );
  return listed.map((row) => ({ ...row, most: Number.parseInt(row.most, 10) }));
}
