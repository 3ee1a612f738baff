import { Deposit, PaymentLink } from '../../db/entities/index.ts';
import type { ActorMessage } from '../../domain/actor-message.ts';
import type { Mode } from '../../domain/assets.ts';
import { TEST_EVENT } from '../../domain/events.ts';
import { eventWorkflowId, paymentWorkflowId, resendWorkflowId } from '../../domain/ids.ts';
import { depositWake, workflowIdOf } from '../deposits/actor-message.ts';
import type { Deps } from '../deps.ts';
import { paymentWake } from '../payment-links/actor-message.ts';
import { eachPage, lookAgain, type RepairRun, startMissing, throwFailed, type Wake, wholeRun } from './actors.ts';

/** Longer than an actor leaves a due delivery alone, whatever the receiver does. */
const OVERDUE_MS = 15 * 60_000;
const PENDING = { from: 'webhook_deliveries', where: `status = 'pending'` } as const;

type Pending = {
  readonly id: string;
  readonly round: number;
  readonly event_id: string;
  readonly event_type: string;
  readonly subject_id: string;
  readonly merchant_id: string;
  readonly mode: Mode;
};

/** Actors of unfinished deliveries: of a deposit or a payment link where it is its own event, else one of the event or the resend alone. */
export async function repairDeliveries(deps: Deps, run: RepairRun = wholeRun()): Promise<void> {
  const wakes = async (ids: readonly string[]): Promise<Wake[]> => await actorsOf(deps, await readPending(deps, ids));
  await eachPage(deps, { ...PENDING, by: 'created_at' }, async (ids) => await startMissing(deps, run, await wakes(ids)));
  const before = new Date(deps.now().getTime() - OVERDUE_MS);
  await lookAgain(deps, run, { ...PENDING, by: 'next_attempt_at', kind: 'deliveries', before }, wakes);
  throwFailed(run);
}

async function readPending(deps: Deps, ids: readonly string[]): Promise<Pending[]> {
  if (ids.length === 0) return [];
  return await deps.orm.em.fork().execute<Pending[]>(
    `select d.id, d.round, d.event_id, d.event_type, e.subject_id, e.merchant_id, e.mode
     from webhook_deliveries d join events e on e.id = d.event_id
     where d.id in (${ids.map(() => '?').join(', ')}) and d.status = 'pending' order by d.created_at, d.id`,
    [...ids],
  );
}

async function actorsOf(deps: Deps, rows: readonly Pending[]): Promise<Wake[]> {
  const em = deps.orm.em.fork();
  const ofDeposit = rows.filter((row) => row.round === 1 && row.event_type.startsWith('deposit.'));
  const ofLink = rows.filter((row) => row.round === 1 && row.event_type === 'payment.completed');
  const deposits = await em.find(Deposit, { id: { $in: [...new Set(ofDeposit.map((row) => row.subject_id))] } });
  const links = await em.find(PaymentLink, { id: { $in: [...new Set(ofLink.map((row) => row.subject_id))] } });
  return [
    ...deposits.map((deposit): Wake => [workflowIdOf(deposit), depositWake(deposit)]),
    ...links.map((link): Wake => [paymentWorkflowId(link.id), paymentWake(link)]),
    ...ofOthers(rows.filter((row) => !ofDeposit.includes(row) && !ofLink.includes(row))),
  ];
}

/** Deliveries that belong to no other actor: events of customers and tests, and resends. */
function ofOthers(rows: readonly Pending[]): Wake[] {
  const grouped = new Map<string, Pending[]>();
  for (const row of rows) {
    const id = row.round > 1 ? resendWorkflowId(row.id, row.round) : eventWorkflowId(row.event_id);
    grouped.set(id, [...(grouped.get(id) ?? []), row]);
  }
  return [...grouped].map(([id, group]): Wake => {
    const { merchant_id: merchantId = '', mode = 'live', event_type: summary = '' } = group[0] ?? {};
    const deliveries = group.map((row) => row.id);
    return [id, notifyStart({ deliveries, merchantId, summary, mode: summary === TEST_EVENT ? 'test' : mode })];
  });
}

/** The start of an actor that delivers an event which no other actor carries. */
function notifyStart(input: { deliveries: readonly string[]; merchantId: string; mode: Mode; summary: string }): ActorMessage {
  return {
    workflowType: 'notify',
    args: [{ deliveries: input.deliveries }],
    attributes: { MerchantId: input.merchantId },
    summary: input.summary,
    owner: { merchantId: input.merchantId, mode: input.mode },
  };
}
