import { Deposit, PaymentLink } from '../../db/entities/index.ts';
import { rows, sql } from '../../db/sql.ts';
import type { ActorMessage } from '../../domain/actor-message.ts';
import type { Mode } from '../../domain/assets.ts';
import { TEST_EVENT } from '../../domain/events.ts';
import { eventWorkflowId, paymentWorkflowId, resendWorkflowId } from '../../domain/ids.ts';
import { depositWake, workflowIdOf } from '../deposits/actor-message.ts';
import type { Deps } from '../deps.ts';
import { paymentWake } from '../payment-links/actor-message.ts';
import {
  eachPage,
  lookAgain,
  type RepairRun,
  startMissing,
  throwFailed,
  type Wake,
  wholeRun,
} from './actors.ts';

/** Longer than an actor ever leaves a due delivery alone, whatever the receiver does. */
const OVERDUE_MS = 15 * 60_000;
const PENDING = { from: 'webhook_deliveries', where: sql`status = 'pending'` } as const;

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
  const wakes = async (ids: readonly string[]): Promise<Wake[]> =>
    await actorsOf(deps, await readPending(deps, ids));
  await eachPage(
    deps,
    { ...PENDING, by: 'created_at' },
    async (ids) => await startMissing(deps, run, await wakes(ids)),
  );
  const before = new Date(deps.now().getTime() - OVERDUE_MS);
  await lookAgain(deps, run, { ...PENDING, by: 'next_attempt_at', kind: 'deliveries', before }, wakes);
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
    const deliveries = group.map((row) => row.id);
    return [
      id,
      notifyStart({ deliveries, merchantId, summary, mode: summary === TEST_EVENT ? 'test' : mode }),
    ];
  });
}

/** The start of an actor that delivers an event which no other actor carries. */
function notifyStart(input: {
  deliveries: readonly string[];
  merchantId: string;
  mode: Mode;
  summary: string;
}): ActorMessage {
  return {
    workflowType: 'notify',
    args: [{ deliveries: input.deliveries }],
    attributes: { MerchantId: input.merchantId },
    summary: input.summary,
    owner: { merchantId: input.merchantId, mode: input.mode },
  };
}
