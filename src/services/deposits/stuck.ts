import { ChainCursor, Deposit } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { firstRow, literals, rows, sql } from '../../db/sql.ts';
import { assetOf, type Network } from '../../domain/assets.ts';
import { CREDITED_STATES, decideAdvance, WAITING_STATES } from '../../domain/deposit.ts';
import { isoSeconds } from '../../domain/events.ts';
import { formatUnits } from '../../domain/money.ts';
import type { Deps } from '../deps.ts';
import { ACTIONS } from './actions.ts';
import { factsOf, waitReason } from './advance.ts';

/**
 * A deposit that does not go on by itself, as `deposit
 * stuck` prints it. `action` says what the operator can do.
 */
export type StuckDeposit = {
  readonly deposit_id: string;
  readonly network: Network;
  readonly transaction_hash: string;
  readonly address: string;
  readonly state: string;
  readonly reason: string;
  readonly since: string;
  readonly action: string;
  readonly needs: null | { readonly currency: string; readonly amount: string; readonly address: string };
};

const LISTED = 1_000;
const COUNTED = 10_000;
/**
 * An actor takes a step that the chain permits within a minute,
 * also after an outage; for this long nobody needs to be told.
 */
const UNMOVED_AFTER_MS = 5 * 60_000;

/** Each of these conditions implies the condition of an index. */
const WAITING = sql`status in ${literals(WAITING_STATES)} and not simulated`;
const BLOCKLESS = sql`status in ${literals(CREDITED_STATES)} and block_hash is null and not simulated`;

/**
 * How many deposits do not go on by themselves, from their rows and what the watcher wrote:
 * neither their actors nor a worker have to be alive for it. Counts at most 10,000 that
 * wait too long, as many whose block was replaced, and 1,000 whose actor does not move.
 */
export async function countStuck(deps: Deps): Promise<number> {
  const em = deps.orm.em.fork();
  const row = await firstRow(
    em,
    sql<{ waiting: number; blockless: number }>`
      select (select count(*) from (select 1 from deposits
        where ${WAITING} and state_since <= ${stuckBefore(deps)} limit ${COUNTED}) w)::int as waiting,
        (select count(*) from (select 1 from deposits where ${BLOCKLESS} limit ${COUNTED}) b)::int
          as blockless`,
  );
  const cursors = await cursorsOf(em);
  const unmoved = (await findUnmoved(em, deps, cursors)).filter(
    (deposit) => deposit.stateSince > stuckBefore(deps),
  );
  return (row?.waiting ?? 0) + (row?.blockless ?? 0) + unmoved.length;
}

/** With `what` it is about: "5 USDT for merchant ID". */
export type ListedDeposit = StuckDeposit & { readonly what: string };

/**
 * Deposits that wait longer than `STUCK_AFTER`, credited ones whose block was replaced, and those whose
 * actor has not taken a step for five minutes that the chain permits. Oldest first, at most 1,000.
 */
export async function listStuck(deps: Deps): Promise<ListedDeposit[]> {
  const em = deps.orm.em.fork();
  const cursors = await cursorsOf(em);
  const ids = await rows(
    em,
    sql<{ id: string }>`
      (select id from deposits where ${WAITING} and state_since <= ${stuckBefore(deps)}
        order by state_since, id limit ${LISTED})
      union all (select id from deposits where ${BLOCKLESS} order by state_since, id limit ${LISTED})`,
  );
  const long = await em.find(Deposit, { id: { $in: ids.map(({ id }) => id) } });
  const all = new Map(
    [...long, ...(await findUnmoved(em, deps, cursors))].map((deposit) => [deposit.id, deposit]),
  );
  return [...all.values()]
    .sort(
      (one, other) => one.stateSince.getTime() - other.stateSince.getTime() || (one.id < other.id ? -1 : 1),
    )
    .slice(0, LISTED)
    .map((deposit) => ({
      ...describeStuck(deps, deposit, cursors.get(deposit.network) ?? null),
      what: whatOf(deposit),
    }));
}

function whatOf({ network, currency, amountUnits, merchantId }: Deposit): string {
  return `${formatUnits(amountUnits, assetOf(network, currency).decimals)} ${currency} for merchant ${merchantId}`;
}

/**
 * Which of these deposits have not taken a step that the chain has permitted
 * for five minutes: their actors are missing, paused, or fail. Those that
 * lack a price are among them, because only their actors ask for one.
 */
export async function unmovedAmong(deps: Deps, deposits: readonly Deposit[]): Promise<Deposit[]> {
  const cursors = await cursorsOf(deps.orm.em.fork());
  return deposits.filter((deposit) => leftAlone(deps, deposit, cursors) !== undefined);
}

/** Whether `deposit stuck` lists this one: it waits too long, lost its block, or its actor does not move. */
export function isStuck(deps: Deps, deposit: Deposit, cursor: ChainCursor | null): boolean {
  if (deposit.simulated) return false;
  if (CREDITED_STATES.includes(deposit.status)) return deposit.blockHash == null;
  if (!WAITING_STATES.includes(deposit.status)) return false;
  const cursors = new Map(cursor ? [[deposit.network, cursor]] : []);
  return deposit.stateSince <= stuckBefore(deps) || leftAlone(deps, deposit, cursors) === 'step';
}

/**
 * What is left to do for a deposit when everything else has
 * been there for five minutes; undefined when it rightly waits.
 */
function leftAlone(
  deps: Deps,
  deposit: Deposit,
  cursors: ReadonlyMap<Network, ChainCursor>,
): 'step' | 'price' | undefined {
  const before = unmovedBefore(deps);
  if (deposit.stateSince > before) return undefined;
  // A completion is permitted since the amount was verified, a failure since finality has passed the block.
  if (
    deposit.status === 'confirming' &&
    deposit.blockHash != null &&
    (deposit.verifiedAt ?? deps.now()) > before
  )
    return undefined;
  const decision = decideAdvance(factsOf(deps, deposit, cursors.get(deposit.network) ?? null));
  if (decision.kind === 'move') return 'step';
  return decision.kind === 'wait' && decision.waitsFor === 'price' ? 'price' : undefined;
}

/**
 * Returns the oldest first, at most 1,000, of the 10,000 that wait longest: on a chain that
 * stands still more may wait than should be looked through again and again. Those behind
 * them are counted once they have waited for `STUCK_AFTER`, and a repair goes through all.
 */
async function findUnmoved(
  em: Em,
  deps: Deps,
  cursors: ReadonlyMap<Network, ChainCursor>,
): Promise<Deposit[]> {
  const found: Deposit[] = [];
  let after = { at: '-infinity', id: '00000000-0000-0000-0000-000000000000' };
  for (let examined = 0; examined < COUNTED && found.length < LISTED; examined += LISTED) {
    const page = await rows(em, longestWaiting(unmovedBefore(deps), after));
    const likely = page.filter((row) => row.likely).map(({ id }) => id);
    const deposits =
      likely.length === 0
        ? []
        : await em.find(Deposit, { id: { $in: likely } }, { orderBy: { stateSince: 'asc', id: 'asc' } });
    found.push(...deposits.filter((deposit) => leftAlone(deps, deposit, cursors) === 'step'));
    const last = page.at(-1);
    if (!last || page.length < LISTED) break;
    after = last;
  }
  return found.slice(0, LISTED);
}

// Those that are clearly not permitted need not be loaded; for the others the rule itself is asked.
const longestWaiting = (before: Date, after: { at: string; id: string }) => sql<{
  id: string;
  at: string;
  likely: boolean;
}>`
  select d.id, d.state_since::text as at,
    case when d.block_hash is null then c.finalized_number >= d.block_number
         when d.status = 'detected' then c.head_number > d.block_number
         else c.head_number >= d.block_number + d.required_confirmations
           and coalesce(d.verified_at <= ${before}, false) end as likely
  from deposits d join chain_cursors c on c.network = d.network
  where d.status in ${literals(WAITING_STATES)} and not d.simulated
    and (d.state_since, d.id) > (${after.at}::timestamptz, ${after.id}::uuid) and d.state_since <= ${before}
  order by d.state_since, d.id limit ${LISTED}`;

async function cursorsOf(em: Em): Promise<ReadonlyMap<Network, ChainCursor>> {
  return new Map((await em.find(ChainCursor, {})).map((cursor) => [cursor.network, cursor]));
}

function stuckBefore(deps: Deps): Date {
  return new Date(deps.now().getTime() - deps.settings.stuckAfterMs);
}

function unmovedBefore(deps: Deps): Date {
  return new Date(deps.now().getTime() - UNMOVED_AFTER_MS);
}

/** A deposit that does not go on by itself, with the reason and what the operator can do. */
export function describeStuck(deps: Deps, deposit: Deposit, cursor: ChainCursor | null): StuckDeposit {
  const facts = {
    deposit_id: deposit.id,
    network: deposit.network,
    transaction_hash: deposit.transactionHash,
    address: deposit.address,
    state: deposit.status,
    since: isoSeconds(deposit.stateSince),
    needs: null,
  };
  if (deposit.status === 'completed' || deposit.status === 'settled') {
    const action =
      deposit.status === 'completed'
        ? `compare block ${deposit.blockNumber} with an explorer; if the transaction is gone, run "deposit fail ${deposit.id} --by NAME --reason TEXT"`
        : `compare block ${deposit.blockNumber} with an explorer; the money was paid out already, so settle the difference with the merchant`;
    return {
      ...facts,
      reason: `finality broke: block ${deposit.blockNumber}, which held it, was replaced`,
      action,
    };
  }
  const decision = decideAdvance(factsOf(deps, deposit, cursor));
  if (decision.kind !== 'wait')
    return { ...facts, reason: UNMOVED, action: 'run "repair" to start its actor again' };
  return {
    ...facts,
    reason: waitReason(deps, deposit, cursor, decision),
    action: ACTIONS[decision.waitsFor],
  };
}

const UNMOVED = 'the chain permits the next step, and its actor does not take it';
