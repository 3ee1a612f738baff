import { Deposit, PaymentLink } from '../db/entities/index.ts';
import type { ActorMessage } from '../domain/actor-message.ts';
import { paymentWorkflowId } from '../domain/ids.ts';
import { depositWake, workflowIdOf } from './deposits/actor-message.ts';
import { listUnmoved } from './deposits/stuck.ts';
import type { Deps } from './deps.ts';
import { performOutbox } from './outbox.ts';
import { paymentWake } from './payments/actor-message.ts';
import { eachPage, startMissing, startOrRestart } from './repair-actors.ts';
import { repairDeliveries } from './repair-deliveries.ts';

export type Repaired = { readonly deposits: number; readonly payments: number; readonly deliveries: number; readonly outbox: number };

/** A part of a repair that failed, or several; what the others did is done. */
export class RepairFailed extends Error {
  override readonly name = 'RepairFailed';
}

/** A link's actor ends it within moments of its time, also when a chain has to be waited for. */
const LINK_OVERDUE_MS = 5 * 60_000;
const OVERDUE_LINKS = 100;

/**
 * Starts an actor for every row that is not at its end and has no running one: deposits that wait for the chain, payment links that are
 * open, and events with unfinished deliveries; and gives those a push, or a new actor, whose row does not move although it could. Truth is
 * in the database, so this brings everything back after the loss of Temporal's whole store, and is harmless at any other time. The parts
 * do not depend on each other: throws {@link RepairFailed} after all of them where one failed, as while Temporal is away.
 */
export async function repairActors(deps: Deps, progress: (done: number) => void = () => undefined): Promise<Repaired> {
  if (!deps.actors) throw new Error('Temporal is not connected; start the gateway, or set TEMPORAL_ADDRESS, and try again');
  const started = new Set<string>();
  const count = (): void => progress(started.size);
  const outbox = await attempted('outbox', async () => (await performOutbox(deps, { quarantined: 'all' })).performed);
  const parts = [
    await attempted('deposits', () => repairDeposits(deps, { started, count })),
    await attempted('payment links', () => repairPayments(deps, { started, count })),
    await attempted('deliveries', () => repairDeliveries(deps, { started, count })),
  ];
  const failed = [outbox, ...parts].flatMap(({ problem }) => (problem === undefined ? [] : [problem]));
  if (failed.length > 0) throw new RepairFailed(failed.join('; '));
  const ofKind = (kind: RegExp): number => [...started].filter((id) => kind.test(id)).length;
  return {
    ...{ deposits: ofKind(/^deposit:/), payments: ofKind(/^payment:/), deliveries: ofKind(/^(event|resend):/) },
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

/** What a repair has started so far, so that none is started twice in one. */
export type RepairRun = { readonly started: Set<string>; readonly count: () => void };

const newRun = (): RepairRun => ({ started: new Set(), count: () => undefined });

/** Actors of deposits that wait for the chain, and of those that do not take a step which the chain permits. */
export async function repairDeposits(deps: Deps, run: RepairRun = newRun()): Promise<void> {
  await eachPage(deps, WAITING_DEPOSITS, async (ids) => {
    const deposits = await deps.orm.em.fork().find(Deposit, { id: { $in: ids } });
    await startMissing(
      deps,
      run,
      deposits.map((deposit) => [workflowIdOf(deposit), depositWake(deposit)]),
    );
  });
  const unmoved = await listUnmoved(deps);
  if (unmoved.length > 0)
    deps.log.warn({ deposits: unmoved.length }, 'deposits do not take a step that the chain permits; their actors are told');
  for (const deposit of unmoved) await startOrRestart(deps, run, workflowIdOf(deposit), depositWake(deposit));
}

/** Actors of open payment links, and of those that should have ended. */
export async function repairPayments(deps: Deps, run: RepairRun = newRun()): Promise<void> {
  const wakes = async (ids: readonly string[]): Promise<[string, ActorMessage][]> => {
    const links = await deps.orm.em.fork().find(PaymentLink, { id: { $in: [...ids] } });
    return links.map((link) => [paymentWorkflowId(link.id), paymentWake(link)]);
  };
  await eachPage(deps, OPEN_LINKS, async (ids) => await startMissing(deps, run, await wakes(ids)));
  const overdue = await deps.orm.em
    .fork()
    .execute<{ id: string }[]>(
      `select id from payment_links where ${OPEN_LINK} and expires_at <= ? order by expires_at, id limit ${OVERDUE_LINKS}`,
      [new Date(deps.now().getTime() - LINK_OVERDUE_MS)],
    );
  for (const [id, message] of await wakes(overdue.map((row) => row.id))) await startOrRestart(deps, run, id, message);
}

const WAITING_DEPOSITS = {
  from: 'deposits',
  where: `status in ('detected', 'confirming') and not simulated`,
  by: 'state_since',
} as const;
const OPEN_LINK = `status in ('pending', 'processing', 'partially_paid')`;
const OPEN_LINKS = { from: 'payment_links', where: OPEN_LINK, by: 'expires_at' } as const;
