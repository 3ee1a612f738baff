import type { Deposit } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { type DepositState, type FailureCode, mayTransition, startsGeneration } from '../../domain/deposit.ts';
import type { EventType } from '../../domain/events.ts';
import { postingsOf } from '../../domain/ledger.ts';
import type { TxDeps } from '../deps.ts';
import { nextPosting, postLedger } from '../ledger/post.ts';
import { assignDeposit, noteLate } from '../payment-links/match.ts';
import { recountLink } from '../payment-links/recount.ts';
import type { Tx } from '../transact.ts';
import { recordEvents } from '../webhooks/events.ts';
import { type DepositContext, presentDeposit } from './present.ts';
import { recordTransitions } from './trail.ts';

export type Transition = {
  readonly to: DepositState;
  readonly failureCode?: FailureCode | null;
  readonly reason?: string | null;
  /** The operator, where a person decided. */
  readonly by?: string | null;
  /** The head of the chain as the event's confirmations shall show it. */
  readonly headNumber: number | null;
  /** A simulation with `events: final` sends only its last state's event. */
  readonly silent?: boolean;
};

/** A transition that the table does not know: a defect, or two writers at once. Nothing was changed. */
export class IllegalTransition extends Error {
  override readonly name = 'IllegalTransition';
}

/**
 * Moves a deposit that the caller's transaction holds locked: state, audit row, ledger posting, event and deliveries together.
 * A failed deposit loses its payment link, one that comes back is matched anew, and the link is brought up to date; whoever moves a deposit
 * that has a link, or may get one, holds the customer's lock from before the deposit's own.
 * Returns the ids of the new deliveries. Throws {@link IllegalTransition} when the table does not allow the step.
 */
export async function applyTransition(tx: Tx, deps: TxDeps, deposit: Deposit, step: Transition): Promise<string[]> {
  const { em } = tx;
  const from = deposit.status;
  const linkId = deposit.paymentLinkId ?? null;
  const failureCode = step.to === 'failed' ? (step.failureCode ?? null) : (deposit.failureCode ?? null);
  if (!mayTransition({ from, to: step.to, failureCode })) {
    throw new IllegalTransition(`deposit ${deposit.id} cannot go from ${from} to ${step.to}`);
  }
  const at = deps.now();
  deposit.status = step.to;
  deposit.sequence += 1;
  if (startsGeneration(from)) deposit.generation += 1;
  deposit.failureCode = step.to === 'failed' ? failureCode : null;
  if (step.to === 'failed') deposit.paymentLinkId = null;
  deposit.failureReason = step.to === 'failed' ? (step.reason ?? null) : null;
  deposit.stateSince = at;
  deposit.alarmedAt = null;
  deposit.wakeAt = null;
  deposit.updatedAt = at;
  if (step.to === 'completed') deposit.completedAt = at;
  if (step.to === 'settled') deposit.settledAt = at;
  if (step.to === 'detected') deposit.detectedAt = at;
  const number = nextPosting(deposit);
  await em.flush();
  await recordTransitions(em, [{ deposit, facts: { from, reason: step.reason ?? null, by: step.by ?? null, failureCode } }]);
  const postings = postingsOf({
    from,
    to: step.to,
    failureCode: step.to === 'failed' ? failureCode : null,
    amountUnits: deposit.amountUnits,
    onChain: deposit.blockHash != null,
  });
  await postLedger(em, deps, { deposit, kind: `deposit.${step.to}`, number, postings });
  if (startsGeneration(from)) await assignDeposit(tx, deps, deposit);
  else if (linkId !== null) await recountLink(tx, deps, linkId);
  if (step.to === 'completed' && deposit.paymentLinkId == null) await noteLate(tx, deps, deposit);
  return step.silent ? [] : await recordDepositEvent(em, deps, deposit, step.headNumber);
}

/** Writes the event of the deposit's present state with its deliveries. The sequence makes it unique. */
async function recordDepositEvent(em: Em, deps: TxDeps, deposit: Deposit, headNumber: number | null): Promise<string[]> {
  return [...((await recordDepositEvents(em, deps, [{ deposit, headNumber }])).get(deposit.id) ?? [])];
}

/**
 * Writes the events of the deposits' present states with their deliveries, in two statements for any number of them. A deposit's sequence
 * makes its event unique. Returns the ids of the new deliveries by deposit.
 */
export async function recordDepositEvents(
  em: Em,
  deps: TxDeps,
  items: readonly { readonly deposit: Deposit; readonly headNumber: number | null }[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (items.length === 0) return new Map();
  const names = await namesOf(
    em,
    items.map(({ deposit }) => deposit),
  );
  const recorded = await recordEvents(
    em,
    deps,
    items.map(({ deposit, headNumber }) => ({
      ...{ merchantId: deposit.merchantId, mode: deposit.mode, type: `deposit.${deposit.status}` satisfies EventType },
      ...{ subjectId: deposit.id, sequence: deposit.sequence, occurredAt: deposit.stateSince },
      data: presentDeposit(deposit, { ...(names.get(deposit.id) ?? NOBODY), headNumber }),
    })),
  );
  return new Map(items.map(({ deposit }, index) => [deposit.id, recorded[index]?.deliveryIds ?? []]));
}

const NOBODY = { externalId: null, email: null, paymentToken: null };

async function namesOf(em: Em, deposits: readonly Deposit[]): Promise<ReadonlyMap<string, Omit<DepositContext, 'headNumber'>>> {
  const wanted = deposits.map(({ id, customerId, paymentLinkId }) => ({ id, customer_id: customerId, link_id: paymentLinkId ?? null }));
  const rows = await em.execute<{ id: string; external_id: string | null; email: string | null; token: string | null }[]>(
    `select w.id, c.external_id, c.email, l.token from json_to_recordset(?::json) as w (id uuid, customer_id uuid, link_id uuid)
     join customers c on c.id = w.customer_id left join payment_links l on l.id = w.link_id`,
    [JSON.stringify(wanted)],
  );
  return new Map(rows.map((row) => [row.id, { externalId: row.external_id, email: row.email, paymentToken: row.token }]));
}
