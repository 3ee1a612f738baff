import type { Em } from '../../db/orm.ts';
import { firstRow, literals, rows, type Statement, sql } from '../../db/sql.ts';
import { type Currency, NETWORKS, type Network } from '../../domain/assets.ts';
import { isoSeconds } from '../../domain/events.ts';
import { alarms, codesThat, WAITS, type WaitCode } from '../../domain/payouts/waits.ts';
import { LIVING_PAYOUTS } from '../../domain/settlement.ts';
import type { StuckDeposit } from '../deposits/stuck.ts';
import type { Deps } from '../deps.ts';
import { waitView } from './views.ts';

/**
 * Deposits of one address whose payout does not go on by itself, or what one was lent and does not come back,
 * as `deposit stuck` prints them.
 */
export type StuckPayout = Omit<StuckDeposit, 'deposit_id' | 'transaction_hash'> & {
  /** The oldest of them; null where none is left, or the payout is over. */
  readonly deposit_id: string | null;
  readonly transaction_hash: string | null;
  /** Null where nothing is planned yet. */
  readonly payout_id: string | null;
  /** How many there are. */
  readonly deposits: number;
};

const LISTED = 1_000;
const COUNTED = 10_000;
/** Longer than any pause between two looks at an address whose payout is under way. */
const LEFT_ALONE_MS = 15 * 60_000;

/**
 * Addresses whose deposits are not paid out before a person does something, and payouts under way that nobody
 * looks after, those that wait longest first; at most 1,000.
 */
export async function listStuckPayouts(deps: Deps): Promise<StuckPayout[]> {
  const found = await rows(
    deps.orm.em.fork(),
    sql<Row>`
      with stuck as (
        select network, address_key, payout_id, address, currency, code, reason, needs_units::text,
          needs_address, since, exists (select 1 from payouts p where p.id = w.payout_id
            and not p.state = any(${[...LIVING_PAYOUTS]})) as is_over from settlement_waits w
        where code = any(${[...AT_ONCE]}) or ${isLate(deps)}
        union all
        select p.network, p.address_key, p.id, p.address, p.currency, ${ALONE}, null, null, null,
          p.state_since, false from payouts p where p.state = any(${[...LIVING_PAYOUTS]}) and not p.simulated
          and p.state_since <= ${leftAloneBefore(deps)} and not exists (select 1 from settlement_waits w
            where w.network = p.network and w.address_key = p.address_key
              and w.updated_at > ${leftAloneBefore(deps)})
        order by since limit ${LISTED}
      )
      select s.*, d.id as deposit_id, d.transaction_hash, coalesce(d.deposits, 0)::int as deposits
      from stuck s
      left join lateral (select id, transaction_hash, count(*) over () as deposits from (
          select id, transaction_hash, created_at from deposits where payout_id = s.payout_id
            and not s.is_over
          union all
          select id, transaction_hash, created_at from deposits where s.payout_id is null
            and payout_id is null and network = s.network and address_key = s.address_key
            and currency = s.currency and status = 'completed' and mode = 'live' and not simulated
        ) theirs order by created_at, id limit 1) d on true
      order by s.since`,
  );
  return found.map(describe);
}

const AT_ONCE = codesThat(({ atOnce }) => atOnce === true);

/** Of a row of `settlement_waits`: it has lasted for so long that it alarms. */
function isLate({ now, settings }: Pick<Deps, 'now' | 'settings'>): Statement<boolean> {
  const codes = codesThat(({ alarmMs }) => alarmMs !== undefined);
  const lasted = codes.map((code) => Math.max(WAITS[code].alarmMs ?? 0, settings.stuckAfterMs));
  const before = lasted.map((ms) => new Date(now().getTime() - ms).toISOString());
  return sql`exists (select 1 from unnest(${[...codes]}::text[], ${before}::timestamptz[]) r (late, before)
    where r.late = code and since <= r.before)`;
}

/** The state of a payout under way that nobody looks after. */
const ALONE = 'left_alone';

type Row = {
  readonly network: Network;
  readonly payoutId: string | null;
  readonly address: string;
  readonly currency: Currency;
  readonly code: WaitCode | typeof ALONE;
  readonly reason: string | null;
  readonly needsUnits: string | null;
  readonly needsAddress: string | null;
  readonly since: string;
  /** Nothing but what it was lent is left of its payout. */
  readonly isOver: boolean;
  readonly depositId: string | null;
  readonly transactionHash: string | null;
  readonly deposits: number;
};

function describe(row: Row): StuckPayout {
  const { network, address, code, since, depositId, transactionHash, deposits } = row;
  return {
    deposit_id: depositId,
    network,
    transaction_hash: transactionHash,
    address,
    state: code,
    ...whatHolds(row),
    since: isoSeconds(new Date(since)),
    payout_id: row.payoutId,
    deposits,
  };
}

/**
 * Addresses that are not paid out by themselves, as far as rows say. What was lent for a payout that is over
 * is none of these: nobody's money waits for it, a repair starts its actor within ten minutes, and the row
 * that this writes while it waits counts as every other one.
 */
export type OverduePayouts = {
  /** Addresses that wait for a person, whom nobody has told of anything better since. */
  readonly alarmed: number;
  /** Payouts under way that nobody has looked at for a quarter of an hour, or `STUCK_AFTER`. */
  readonly leftAlone: number;
  /** What the first of those that wait says. */
  readonly first: string | null;
};

/** Counts at most 10,000 of each; neither an actor nor a worker has to be alive for it. */
export async function readOverduePayouts(deps: Deps): Promise<OverduePayouts> {
  const before = leftAloneBefore(deps);
  const row = await firstRow(
    deps.orm.em.fork(),
    sql<OverduePayouts>`select
      (select count(*) from (select 1 from settlement_waits where alarmed_at is not null
        limit ${COUNTED}) w)::int as alarmed,
      (select address || ' on ' || network || ': ' || reason from settlement_waits
        where alarmed_at is not null order by alarmed_at limit 1) as first,
      (select count(*) from (select 1 from payouts p
        where p.state in ${literals(LIVING_PAYOUTS)} and not p.simulated and p.state_since <= ${before}
          and not exists (select 1 from settlement_waits s where s.network = p.network
            and s.address_key = p.address_key and s.updated_at > ${before})
        limit ${COUNTED}) p)::int as left_alone`,
  );
  return row ?? { alarmed: 0, leftAlone: 0, first: null };
}

/** A payout under way that nobody has looked at since this time is left alone. */
function leftAloneBefore({ now, settings }: Pick<Deps, 'now' | 'settings'>): Date {
  return new Date(now().getTime() - Math.max(LEFT_ALONE_MS, settings.stuckAfterMs));
}

type Held = Pick<Row, 'network' | 'payoutId' | 'address' | 'code' | 'reason' | 'needsUnits' | 'needsAddress'>;

function whatHolds(
  row: Held & { readonly isOver: boolean },
): Pick<StuckPayout, 'reason' | 'action' | 'needs'> {
  const { code, payoutId, address } = row;
  const why = row.reason ?? 'nobody looks after this payout, which is under way';
  const reason = row.isOver ? `the payout is over: ${why}` : why;
  const { needs } = waitView({ ...row, reason });
  const action = needs
    ? `send at least ${needs.amount} ${needs.currency} to ${needs.address}; it goes on by itself then`
    : actionOf(code, payoutId ?? address);
  return { reason, action, needs };
}

// Each half uses an index of its own; with "or" between them PostgreSQL would read the table.
const HELD = sql`network, address_key, payout_id, address, code, reason, needs_units::text,
  needs_address, since`;

/** Why what lies on addresses is not paid out, or a payout does not go on, and since when. */
export type HeldPayout = {
  readonly code: string;
  readonly reason: string;
  readonly since: Date;
  /** Null where it goes on by itself. */
  readonly action: string | null;
};

/**
 * Why payouts wait, by the payout's id and, where nothing is planned yet, by `network:address key`: in the
 * words of {@link listStuckPayouts}, and also for what goes on by itself.
 */
export async function readHolds(
  em: Em,
  deps: Deps,
  {
    payoutIds,
    addressKeys,
  }: { readonly payoutIds: readonly string[]; readonly addressKeys: readonly string[] },
): Promise<ReadonlyMap<string, HeldPayout>> {
  const found = await rows(
    em,
    sql<Held & { addressKey: string; since: string }>`
      select ${HELD} from settlement_waits where payout_id = any(${[...payoutIds]}::uuid[])
      union all
      select ${HELD} from settlement_waits where payout_id is null and network in ${literals(NETWORKS)}
        and address_key = any(${[...addressKeys]})`,
  );
  return new Map(
    found.map((row) => {
      const { reason, action } = whatHolds({ ...row, isOver: false });
      const since = new Date(row.since);
      const held = { code: row.code, reason, since, action: calls(deps, row.code, since) ? action : null };
      return [row.payoutId ?? `${row.network}:${row.addressKey}`, held];
    }),
  );
}

/** Whether somebody has to act by now, or nothing goes on. */
function calls({ now, settings }: Deps, code: Row['code'], since: Date): boolean {
  if (code === ALONE) return true;
  const { by, atOnce = false, rests = false } = WAITS[code];
  const lastedMs = now().getTime() - since.getTime();
  return atOnce || (rests && by !== 'itself') || alarms(code, lastedMs, settings.stuckAfterMs);
}

/** What to do about a payout that nobody looks after. */
export const SEE_TO_IT =
  'see that a worker runs that has RPC endpoints for the chain ("doctor"), then run "repair"';

const actionOf = (code: Row['code'], id: string): string =>
  code === ALONE ? SEE_TO_IT : WAITS[code].ends.replaceAll('ID', id);
