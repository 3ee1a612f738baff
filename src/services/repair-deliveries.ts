import { Deposit, PaymentLink } from '../db/entities/index.ts';
import type { ActorMessage } from '../domain/actor-message.ts';
import { eventWorkflowId, paymentWorkflowId, resendWorkflowId } from '../domain/ids.ts';
import { depositWake, workflowIdOf } from './deposits/actor-message.ts';
import type { Deps } from './deps.ts';
import { paymentWake } from './payments/actor-message.ts';
import type { RepairRun } from './repair.ts';
import { eachPage, startMissing, startOrRestart } from './repair-actors.ts';

/** Longer than an actor leaves a due delivery alone, whatever the receiver does; it is examined then, and no more than that. */
const OVERDUE_MS = 15 * 60_000;
const OVERDUE_AT_A_TIME = 100;
const PENDING = { from: 'webhook_deliveries', where: `status = 'pending'`, by: 'created_at' } as const;

type Pending = {
  readonly id: string;
  readonly round: number;
  readonly event_id: string;
  readonly event_type: string;
  readonly subject_id: string;
  readonly merchant_id: string;
  readonly overdue: boolean;
};

/** Actors of unfinished deliveries: of a deposit or a payment link where it is its own event, else one of the event or the resend alone. */
export async function repairDeliveries(deps: Deps, run: RepairRun = { started: new Set(), count: () => undefined }): Promise<void> {
  let examined = 0;
  await eachPage(deps, PENDING, async (ids) => {
    const rows = await readPending(deps, ids);
    const actors = await actorsOf(deps, rows);
    await startMissing(
      deps,
      run,
      actors.map(({ id, message }) => [id, message]),
    );
    for (const { id, message, overdue } of actors) {
      if (!overdue || run.started.has(id) || examined >= OVERDUE_AT_A_TIME) continue;
      examined += 1;
      await startOrRestart(deps, run, id, message);
    }
  });
}

async function readPending(deps: Deps, ids: readonly string[]): Promise<Pending[]> {
  if (ids.length === 0) return [];
  const before = new Date(deps.now().getTime() - OVERDUE_MS);
  return await deps.orm.em.fork().execute<Pending[]>(
    `select d.id, d.round, d.event_id, d.event_type, e.subject_id, e.merchant_id, coalesce(d.next_attempt_at, d.created_at) <= ? as overdue
     from webhook_deliveries d join events e on e.id = d.event_id
     where d.id in (${ids.map(() => '?').join(', ')}) and d.status = 'pending' order by d.created_at, d.id`,
    [before, ...ids],
  );
}

type Actor = { readonly id: string; readonly message: ActorMessage; readonly overdue: boolean };

async function actorsOf(deps: Deps, rows: readonly Pending[]): Promise<Actor[]> {
  const em = deps.orm.em.fork();
  const ofDeposit = rows.filter((row) => row.round === 1 && row.event_type.startsWith('deposit.'));
  const ofLink = rows.filter((row) => row.round === 1 && row.event_type === 'payment.completed');
  const overdue = new Set(rows.filter((row) => row.overdue).map((row) => row.subject_id));
  const deposits = await em.find(Deposit, { id: { $in: [...new Set(ofDeposit.map((row) => row.subject_id))] } });
  const links = await em.find(PaymentLink, { id: { $in: [...new Set(ofLink.map((row) => row.subject_id))] } });
  return [
    ...deposits.map((deposit) => ({ id: workflowIdOf(deposit), message: depositWake(deposit), overdue: overdue.has(deposit.id) })),
    ...links.map((link) => ({ id: paymentWorkflowId(link.id), message: paymentWake(link), overdue: overdue.has(link.id) })),
    ...ofOthers(rows.filter((row) => !ofDeposit.includes(row) && !ofLink.includes(row))),
  ];
}

/** Deliveries that belong to no other actor: events of customers and tests, and resends. */
function ofOthers(rows: readonly Pending[]): Actor[] {
  const grouped = new Map<string, Pending[]>();
  for (const row of rows) {
    const id = row.round > 1 ? resendWorkflowId(row.id, row.round) : eventWorkflowId(row.event_id);
    grouped.set(id, [...(grouped.get(id) ?? []), row]);
  }
  return [...grouped].map(([id, group]) => {
    const { merchant_id: merchantId = '', event_type: summary = '' } = group[0] ?? {};
    const message = notifyStart({ deliveries: group.map((row) => row.id), merchantId, summary });
    return { id, message, overdue: group.some((row) => row.overdue) };
  });
}

/** The start of an actor that delivers an event which no other actor carries. */
function notifyStart(input: { deliveries: readonly string[]; merchantId: string; summary: string }): ActorMessage {
  return {
    workflowType: 'notify',
    args: [{ deliveries: input.deliveries }],
    attributes: { MerchantId: input.merchantId },
    summary: input.summary,
    fairnessKey: input.merchantId,
  };
}
