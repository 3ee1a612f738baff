import type { Em } from '../../db/orm.ts';
import { firstRow, sql } from '../../db/sql.ts';
import type { Deps } from '../deps.ts';
import type { DueDelivery } from './load.ts';

/** At most this many connections to one endpoint at a time, from all processes together. */
export const SLOTS_PER_ENDPOINT = 10;

/**
 * Longer than an attempt can hold its socket after its row was
 * written, with room for a process that was stopped for some seconds.
 */
const LEASE_SECONDS = 20;
/** How often another free slot is tried when another process took the one that was seen free. */
const TRIES = 10;

/**
 * A slot that this attempt holds. `token` makes sure that
 * only this hold of the slot is given back, and no later one.
 */
export type Lease = { readonly slot: number; readonly token: string };
/**
 * Takes one of the endpoint's slots and writes the row of the attempt, before anything is
 * looked up or sent. Without a free slot (`full`) nothing is written, nor when the delivery has ended,
 * or is being sent again, since it was loaded (`over`). `preferred` is the slot that is tried first:
 * processes that begin at different ones seldom meet. Throws when the number of the
 * attempt is used already: its key makes sure that no number is used twice.
 */
export async function beginAttempt(
  em: Em,
  deps: Deps,
  delivery: DueDelivery,
  attempt: { readonly number: number; readonly preferred: number },
): Promise<Lease | 'full' | 'over'> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const row = await firstRow(
      em,
      begin(delivery, attempt.number, (attempt.preferred + tries) % SLOTS_PER_ENDPOINT, deps.now()),
    );
    if (row && row.slot !== null && row.token !== null) return { slot: row.slot, token: row.token };
    if (row && !row.open) return 'over';
    if (!row?.seenFree) break;
  }
  return 'full';
}

/**
 * Takes the slot and writes the attempt's row in one statement: there is no attempt without a
 * slot, and no slot outlives a crash by more than its lease. The clock is the database's, the
 * same for every process. The primary key makes sure that when two see a slot free, one gets it.
 * The delivery's row is locked, so that its end comes either before this attempt or after it: one
 * that begins behind the end would be an attempt that nobody waits for and nobody ends.
 */
function begin({ id, round, endpoint }: DueDelivery, number: number, preferred: number, now: Date) {
  return sql<{
    slot: number | null;
    token: string | null;
    open: boolean;
    seenFree: boolean;
  }>`with delivery as materialized (
    select id, round from webhook_deliveries
    where id = ${id} and round = ${round}::int and status = 'pending' for share
  ), free as (
    select n from generate_series(0, ${SLOTS_PER_ENDPOINT}::int - 1) n
    where not exists (select 1 from webhook_slots s where s.owner_id = ${endpoint.slotOwner} and s.slot = n
      and s.held_until > clock_timestamp())
    order by (n - ${preferred} + ${SLOTS_PER_ENDPOINT}) % ${SLOTS_PER_ENDPOINT} limit 1
  ), held as (
    insert into webhook_slots as s (owner_id, slot, held_until)
    select ${endpoint.slotOwner}::uuid, n, clock_timestamp() + ${`${LEASE_SECONDS} seconds`}::interval
    from delivery, free
    on conflict (owner_id, slot) do update set held_until = excluded.held_until
      where s.held_until <= clock_timestamp()
    returning s.slot, s.held_until
  ), attempt as (
    insert into webhook_attempts (delivery_id, round, number, started_at)
    select delivery.id, delivery.round, ${number}::int, ${now}::timestamptz from delivery, held
  )
  select (select slot from held) as slot, (select held_until::text from held) as token,
    exists (select 1 from delivery) as open, exists (select 1 from free) as seen_free`;
}
