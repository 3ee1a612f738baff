import { Deposit, PaymentLink } from '../db/entities/index.ts';
import type { ActorMessage } from '../domain/actor-message.ts';
import { eventWorkflowId, paymentWorkflowId, resendWorkflowId } from '../domain/ids.ts';
import { depositStart, workflowIdOf } from './deposits/actor-message.ts';
import type { ActorPort, Deps } from './deps.ts';
import { performOutbox } from './outbox.ts';
import { paymentStart } from './payments/actor-message.ts';

export type Repaired = { readonly deposits: number; readonly payments: number; readonly deliveries: number; readonly outbox: number };

const PAGE = 500;
const PARALLEL_STARTS = 8;

/**
 * Starts an actor for every row that is not at its end and has no running one: deposits that wait for the chain, payment links
 * that are open, and events with unfinished deliveries. Truth is in the database, so this brings everything back after the loss of Temporal's whole store, and is
 * harmless at any other time: an actor that runs is left alone. Throws while Temporal is away.
 */
export async function repairActors(deps: Deps, progress: (done: number) => void = () => undefined): Promise<Repaired> {
  const { actors } = deps;
  if (!actors) throw new Error('Temporal is not connected; start the gateway, or set TEMPORAL_ADDRESS, and try again');
  const outbox = (await performOutbox(deps)).performed;
  const deposits = await repairDeposits(deps, actors, progress);
  const payments = await repairPayments(deps, actors, progress);
  const deliveries = await repairDeliveries(deps, actors, progress);
  return { deposits, payments, deliveries, outbox };
}

/** Deposits that wait for the chain, and deposits whose own deliveries (not resends) are unfinished. */
async function repairDeposits(deps: Deps, actors: ActorPort, progress: (done: number) => void): Promise<number> {
  const running = await actors.running('deposit');
  let started = 0;
  for (let after = ''; ; ) {
    const em = deps.orm.em.fork();
    const rows = await em.execute<{ id: string; deliveries: string[] | null }[]>(
      `select p.id, (select array_agg(d.id order by d.created_at, d.id) from webhook_deliveries d join events e on e.id = d.event_id
                     where e.subject_id = p.id and d.status = 'pending' and d.round = 1) as deliveries
       from deposits p where p.id::text > ? and ((p.status in ('detected', 'confirming') and not p.simulated) or exists (
         select 1 from webhook_deliveries d join events e on e.id = d.event_id where e.subject_id = p.id and d.status = 'pending' and d.round = 1))
       order by p.id::text limit ${PAGE}`,
      [after],
    );
    const byId = new Map((await em.find(Deposit, { id: { $in: rows.map((row) => row.id) } })).map((deposit) => [deposit.id, deposit]));
    await inParallel(rows, async (row) => {
      const deposit = byId.get(row.id);
      if (!deposit || running.has(workflowIdOf(deposit))) return;
      await actors.start(workflowIdOf(deposit), depositStart(deposit, row.deliveries ?? []));
      started += 1;
      progress(started);
    });
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) return started;
    after = last.id;
  }
}

/** Payment links that are open, and closed ones whose own deliveries (not resends) are unfinished. */
async function repairPayments(deps: Deps, actors: ActorPort, progress: (done: number) => void): Promise<number> {
  const running = await actors.running('paymentLink');
  let started = 0;
  for (let after = ''; ; ) {
    const em = deps.orm.em.fork();
    const rows = await em.execute<{ id: string }[]>(
      `select id from (
         select id from payment_links where status in ('pending', 'processing', 'partially_paid')
         union
         select e.subject_id from webhook_deliveries d join events e on e.id = d.event_id
           where d.status = 'pending' and d.round = 1 and e.type = 'payment.completed'
       ) l where id::text > ? order by id::text limit ${PAGE}`,
      [after],
    );
    await inParallel(await em.find(PaymentLink, { id: { $in: rows.map((row) => row.id) } }), async (link) => {
      if (running.has(paymentWorkflowId(link.id))) return;
      await actors.start(paymentWorkflowId(link.id), paymentStart(link));
      started += 1;
      progress(started);
    });
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) return started;
    after = last.id;
  }
}

/** Deliveries that belong to no other actor: events of customers and tests, and resends. */
async function repairDeliveries(deps: Deps, actors: ActorPort, progress: (done: number) => void): Promise<number> {
  const running = await actors.running('notify');
  let started = 0;
  for (let after = ''; ; ) {
    const rows = await deps.orm.em
      .fork()
      .execute<{ id: string; round: number; event_id: string; event_type: string; merchant_id: string }[]>(
        `select d.id, d.round, d.event_id, d.event_type, e.merchant_id from webhook_deliveries d join events e on e.id = d.event_id
       where d.status = 'pending' and (d.round > 1 or (e.type not like 'deposit.%' and e.type <> 'payment.completed')) and d.id::text > ? order by d.id::text limit ${PAGE}`,
        [after],
      );
    const starts = new Map<string, { deliveries: string[]; merchantId: string; summary: string }>();
    for (const row of rows) {
      const workflowId = row.round > 1 ? resendWorkflowId(row.id, row.round) : eventWorkflowId(row.event_id);
      const entry = starts.get(workflowId) ?? { deliveries: [], merchantId: row.merchant_id, summary: row.event_type };
      entry.deliveries.push(row.id);
      starts.set(workflowId, entry);
    }
    await inParallel([...starts], async ([workflowId, entry]) => {
      if (running.has(workflowId)) return;
      await actors.start(workflowId, notifyStart(entry));
      started += 1;
      progress(started);
    });
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) return started;
    after = last.id;
  }
}

/** The start of an actor that delivers an event which no other actor carries. */
export function notifyStart(input: { deliveries: readonly string[]; merchantId: string; summary: string }): ActorMessage {
  return {
    workflowType: 'notify',
    args: [{ deliveries: input.deliveries }],
    attributes: { MerchantId: input.merchantId },
    summary: input.summary,
    fairnessKey: input.merchantId,
  };
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const worker = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: PARALLEL_STARTS }, worker));
}
