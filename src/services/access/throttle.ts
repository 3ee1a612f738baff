import { hash } from 'node:crypto';
import type { Em } from '../../db/orm.ts';
import { firstRow, run, sql } from '../../db/sql.ts';
import { networksOf } from '../../domain/client-networks.ts';
import type { Deps } from '../deps.ts';

const MINUTE_MS = 60_000;

/**
 * How many failures are allowed within a time: by one site (a
 * network around it has a multiple of that), and for one account.
 */
const BUDGETS = {
  site: { limit: 10, windowMs: 5 * MINUTE_MS },
  account: { limit: 20, windowMs: 60 * MINUTE_MS },
} as const;

/**
 * Who tries: `known` says that the account has signed in from
 * this address before; `email` is null when no account is named.
 */
export type Attempt = { readonly site: string; readonly email: string | null; readonly known: boolean };

/** A try that was counted, and who made it: what {@link giveBack} takes. */
export type Counted = { readonly kind: 'counted'; readonly who: Attempt; readonly at: number };

/** A try that is counted, or how long the caller has to wait, in whole seconds. */
export type Taken =
  | { readonly ok: true; readonly at: number }
  | { readonly ok: false; readonly retryAfterSeconds: number };

class BudgetSpent extends Error {
  readonly untilMs: number;
  constructor(untilMs: number) {
    super('the budget is spent');
    this.untilMs = untilMs;
  }
}

/**
 * Counts a try before its password is looked at, so that of any number of simultaneous tries no more
 * than the budget are compared with the password. A try that succeeds is given back by
 * {@link giveBack}. The windows are sliding, exact to the millisecond; a refused try is not counted.
 */
export async function takeAttempt(deps: Deps, attempt: Attempt): Promise<Taken> {
  const at = deps.now().getTime();
  try {
    await deps.orm.em.fork().transactional(async (em) => {
      for (const budget of budgetsOf(attempt)) await take(em, budget, at);
    });
    return { ok: true, at };
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error;
    return { ok: false, retryAfterSeconds: Math.max(1, Math.ceil((error.untilMs - at) / 1_000)) };
  }
}

/** Takes a counted try back inside the caller's transaction: successful logins do not count. */
export async function giveBack(em: Em, attempt: Attempt, at: number): Promise<void> {
  for (const { key } of budgetsOf(attempt)) {
    const place = sql`array_position(attempts, ${at}::bigint)`;
    await run(
      em,
      sql`update login_budgets set attempts = attempts[:${place} - 1] || attempts[${place} + 1:]
        where key = ${key} and ${place} is not null`,
    );
  }
}

type Budget = { readonly key: string; readonly limit: number; readonly windowMs: number };

/**
 * The budgets of a try, always in this order, which is the order of the row locks: from
 * the narrow to the wide, then the account. Unknown accounts have budgets like any other:
 * the key is the email's hash. Owners at a known site do not depend on what the neighbours
 * do, and take nothing from them: from there they can only guess at their own account.
 */
function budgetsOf({ site, email, known }: Attempt): Budget[] {
  const { limit, windowMs } = BUDGETS.site;
  const [own, ...wider] = networksOf(site);
  const networks = [own, ...(known ? [] : wider)].map(({ network, factor }) => {
    return { key: hash('sha256', `site:${network}`), limit: limit * factor, windowMs };
  });
  if (email === null) return networks;
  const account = known ? `known:${site}:${email}` : `account:${email}`;
  return [...networks, { key: hash('sha256', account), ...BUDGETS.account }];
}

/**
 * The conflicting row is locked before it is counted, which makes this exact under
 * any number of processes. A try that lies more than a window ahead was noted by a
 * clock that was wrong: to count it would lock the account until that time has come.
 */
async function take(em: Em, { key, limit, windowMs }: Budget, at: number): Promise<void> {
  const counted = sql`(t > ${at - windowMs}::bigint and t <= ${at + windowMs}::bigint)`;
  const taken = await run(
    em,
    sql`insert into login_budgets as budget (key, attempts, ends_at)
      values (${key}, array[${at}::bigint], ${new Date(at + windowMs)})
      on conflict (key) do update set ends_at = greatest(budget.ends_at, excluded.ends_at),
        attempts = array(select t from unnest(budget.attempts) as t where ${counted}
          order by t) || excluded.attempts
      where (select count(*) from unnest(budget.attempts) as t where ${counted}) < ${limit}`,
  );
  if (taken > 0) return;
  const row = await firstRow(
    em,
    sql<{ oldest: string | null }>`
      select min(t)::text as oldest from login_budgets, unnest(attempts) as t
        where key = ${key} and ${counted}`,
  );
  throw new BudgetSpent(Number.parseInt(row?.oldest ?? `${at}`, 10) + windowMs);
}
