import { Deposit, PaymentLink } from '../../db/entities/index.ts';
import { rows, sql } from '../../db/sql.ts';
import type { ActorMessage } from '../../domain/actor-message.ts';
import type { Mode } from '../../domain/assets.ts';
import { TEST_EVENT } from '../../domain/events.ts';
import { eventWorkflowId, paymentWorkflowId, resendWorkflowId } from '../../domain/ids.ts';
import { depositWake, workflowIdOf } from '../deposits/actor-message.ts';
import type { Deps } from '../deps.ts';
import { paymentWake } from '../payment-links/actor-message.ts';
import { type RepairRun, repairRows, throwFailed, type Wake, wholeRun } from './actors.ts';

/** Longer than an actor ever leaves a due delivery alone, whatever the receiver does. */
const OVERDUE_MS = 15 * 60_000;

type Pending = {
  readonly id: string;
  readonly round: number;
  readonly eventId: string;
  readonly eventType: string;
  readonly subjectId: string;
  readonly merchantId: string;
  readonly mode: Mode;
};

/**
 * Starts the actors of unfinished deliveries: the actor of the deposit or payment
 * link for its own event, else the actor of the event or of the resend alone.
 */
export async function repairDeliveries(deps: Deps, run: RepairRun = wholeRun()): Promise<void> {
  await repairRows(deps, run, {
    kind: 'deliveries',
    from: 'webhook_deliveries',
    where: sql`status = 'pending'`,
    by: 'created_at',
    due: 'next_attempt_at',
    standsMs: OVERDUE_MS,
    wakesOf: async (ids) => await actorsOf(deps, await readPending(deps, ids)),
  });
  throwFailed(run);
}

async function readPending(deps: Deps, ids: readonly string[]): Promise<Pending[]> {
  if (ids.length === 0) return [];
  return await rows(
    deps.orm.em.fork(),
    sql<Pending>`select d.id, d.round, d.event_id, d.event_type, e.subject_id, e.merchant_id, e.mode
      from webhook_deliveries d join events e on e.id = d.event_id
      where d.id = any(${ids}) and d.status = 'pending' order by d.created_at, d.id`,
  );
}

async function actorsOf(deps: Deps, pending: readonly Pending[]): Promise<Wake[]> {
  const em = deps.orm.em.fork();
  const ofDeposit = pending.filter((row) => row.round === 1 && row.eventType.startsWith('deposit.'));
  const ofLink = pending.filter((row) => row.round === 1 && row.eventType.startsWith('payment.'));
  const deposits = await em.find(Deposit, {
    id: { $in: [...new Set(ofDeposit.map((row) => row.subjectId))] },
  });
  const links = await em.find(PaymentLink, { id: { $in: [...new Set(ofLink.map((row) => row.subjectId))] } });
  return [
    ...deposits.map((deposit): Wake => [workflowIdOf(deposit), depositWake(deposit)]),
    ...links.map((link): Wake => [paymentWorkflowId(link.id), paymentWake(link)]),
    ...ofOthers(pending.filter((row) => !ofDeposit.includes(row) && !ofLink.includes(row))),
  ];
}

/** Deliveries that belong to no other actor: events of customers and tests, and resends. */
function ofOthers(pending: readonly Pending[]): Wake[] {
  const grouped = new Map<string, Pending[]>();
  for (const row of pending) {
    const id = row.round > 1 ? resendWorkflowId(row.id, row.round) : eventWorkflowId(row.eventId);
    grouped.set(id, [...(grouped.get(id) ?? []), row]);
  }
  return [...grouped].map(([id, group]): Wake => {
    const { merchantId = '', mode = 'live', eventType: summary = '' } = group[0] ?? {};
    const message: ActorMessage = {
      workflowType: 'notify',
      args: [{ deliveries: group.map((row) => row.id) }],
      attributes: { MerchantId: merchantId },
      summary,
      owner: { merchantId, mode: summary === TEST_EVENT ? 'test' : mode },
    };
    return [id, message];
  });
}
