import { Deposit, PaymentLink } from '../../db/entities/index.ts';
import { literals, sql } from '../../db/sql.ts';
import { WAITING_STATES } from '../../domain/deposit.ts';
import { paymentWorkflowId } from '../../domain/ids.ts';
import { OPEN_STATUSES } from '../../domain/payment-link.ts';
import { depositWake, workflowIdOf } from '../deposits/actor-message.ts';
import { unmovedAmong } from '../deposits/stuck.ts';
import type { Deps } from '../deps.ts';
import { performOutbox, performTestOutbox } from '../outbox/perform.ts';
import { paymentWake } from '../payment-links/actor-message.ts';
import { type RepairRun, repairRows, throwFailed, type Wake, wholeRun } from './actors.ts';
import { repairDeliveries } from './deliveries.ts';
import { repairSettlements } from './settlements.ts';

export type Repaired = {
  readonly deposits: number;
  readonly payments: number;
  readonly payouts: number;
  readonly deliveries: number;
  readonly outbox: number;
};

/** One or several parts of a repair failed; what the others did is done. */
export class RepairFailed extends Error {
  override readonly name = 'RepairFailed';
}

/**
 * An actor takes a step that the chain permits within a minute, also
 * after an outage; a row that has not moved for this long is looked at.
 */
const STANDS_MS = 5 * 60_000;

/**
 * Starts an actor for every unfinished row that has no running one: deposits that wait for the chain, payment
 * links that are open, addresses with something to pay out, and events with unfinished deliveries. Actors
 * whose row does not move although it could are woken or replaced by new ones. Truth is in the database, so
 * this brings everything back after the loss of Temporal's whole store, and is harmless at any other time.
 * The parts do not depend on each other: if one fails, as while Temporal does not answer,
 * {@link RepairFailed} is thrown after all of them.
 */
export async function repairActors(
  deps: Deps,
  progress: (done: number) => void = () => undefined,
): Promise<Repaired> {
  if (!deps.actors)
    throw new Error('Temporal is not connected; start the gateway, or set TEMPORAL_ADDRESS, and try again');
  const started = new Set<string>();
  const run = (): RepairRun => ({ ...wholeRun(), started, count: () => progress(started.size) });
  const outbox = await attempted('outbox', async () => {
    const live = await performOutbox(deps, { quarantined: 'all' });
    return live.performed + (await performTestOutbox(deps)).performed;
  });
  const parts = [
    await attempted('deposits', () => repairDeposits(deps, run())),
    await attempted('payment links', () => repairPayments(deps, run())),
    await attempted('payouts', () => repairSettlements(deps, run())),
    await attempted('deliveries', () => repairDeliveries(deps, run())),
  ];
  const failed = [outbox, ...parts].flatMap(({ problem }) => (problem === undefined ? [] : [problem]));
  if (failed.length > 0) throw new RepairFailed(failed.join('; '));
  const ofKind = (kind: RegExp): number => [...started].filter((id) => kind.test(id)).length;
  return {
    deposits: ofKind(/^deposit:/),
    payments: ofKind(/^payment:/),
    payouts: ofKind(/^settlement:/),
    deliveries: ofKind(/^(event|resend):/),
    outbox: outbox.value ?? 0,
  };
}

async function attempted<T>(part: string, work: () => Promise<T>): Promise<{ value?: T; problem?: string }> {
  try {
    return { value: await work() };
  } catch (error) {
    return { problem: `${part}: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/**
 * Repairs the actors of deposits that wait for the chain, and
 * of those that do not take a step which the chain permits.
 */
export async function repairDeposits(deps: Deps, run: RepairRun = wholeRun()): Promise<void> {
  const read = async (ids: readonly string[]): Promise<Deposit[]> =>
    await deps.orm.em.fork().find(Deposit, { id: { $in: [...ids] } });
  const wakes = (deposits: readonly Deposit[]): Wake[] =>
    deposits.map((deposit) => [workflowIdOf(deposit), depositWake(deposit)]);
  const told = await repairRows(deps, run, {
    kind: 'deposits',
    from: 'deposits',
    where: sql`status in ${literals(WAITING_STATES)} and not simulated`,
    by: 'state_since',
    standsMs: STANDS_MS,
    wakesOf: async (ids) => wakes(await read(ids)),
    dueOf: async (ids) => wakes(await unmovedAmong(deps, await read(ids))),
  });
  if (told > 0)
    deps.log.warn(
      { deposits: told },
      'deposits do not take a step that the chain permits; their actors were told',
    );
  throwFailed(run);
}

/** Repairs the actors of open payment links, and of those that should have ended. */
export async function repairPayments(deps: Deps, run: RepairRun = wholeRun()): Promise<void> {
  await repairRows(deps, run, {
    kind: 'payment links',
    from: 'payment_links',
    where: sql`status in ${literals(OPEN_STATUSES)}`,
    by: 'expires_at',
    // A link's actor ends it within moments of its time, even if it has to wait for a chain.
    standsMs: STANDS_MS,
    wakesOf: async (ids) => {
      const links = await deps.orm.em.fork().find(PaymentLink, { id: { $in: ids } });
      return links.map((link) => [paymentWorkflowId(link.id), paymentWake(link)]);
    },
  });
  throwFailed(run);
}
