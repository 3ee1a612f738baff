import type { Deposit } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { rows, sql } from '../../db/sql.ts';
import {
  type DepositState,
  type FailureCode,
  mayTransition,
  startsGeneration,
} from '../../domain/deposit.ts';
import type { EventType } from '../../domain/events.ts';
import { postingsOf } from '../../domain/ledger.ts';
import type { TxDeps } from '../deps.ts';
import { type LedgerPosting, postLedgerAll } from '../ledger/post.ts';
import { chooseLinks, clearLate, noteLate, settleLinks } from '../payment-links/match.ts';
import { wakeForDeposits } from '../payouts/wakes.ts';
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
  /** The head of the chain, from which the event's confirmations are shown. */
  readonly headNumber: number | null;
  /** A simulation with `events: final` sends only its last state's event. */
  readonly silent?: boolean | undefined;
  /** The only link that this money may pay; unset means matched by amount and age. */
  readonly named?: string | undefined;
};

type Step = Transition & { readonly deposit: Deposit };

/** A transition that the table does not know: a defect, or two writers at once. Nothing was changed. */
export class IllegalTransition extends Error {
  override readonly name = 'IllegalTransition';
}

/** {@link applyTransitions} for one deposit. Returns the ids of the new deliveries. */
export async function applyTransition(
  tx: Tx,
  deps: TxDeps,
  deposit: Deposit,
  transition: Transition,
): Promise<string[]> {
  const deliveries = await applyTransitions(tx, deps, [{ deposit, ...transition }]);
  return [...(deliveries.get(deposit.id) ?? [])];
}

/**
 * Moves deposits, each of them once, which the caller's transaction holds locked or has just made: state,
 * audit row, ledger posting, payment link, event and deliveries together, in a number of statements that
 * does not depend on how many deposits there are. A deposit whose sequence is 0 has no state yet: this is
 * its birth. One that is born or comes back is matched with a link; a failed one keeps its own, where it
 * counts for nothing. The links are brought up to date. A caller that moves a deposit which has a link, or
 * may get one, has taken the customer's lock before the deposit's own. What may be paid out by it is told to
 * its address's actor. Returns the ids of the new deliveries by deposit. Throws {@link IllegalTransition}
 * when the table does not allow a step; nothing was changed.
 */
export async function applyTransitions(
  tx: Tx,
  deps: TxDeps,
  steps: readonly Step[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const { em } = tx;
  const moves = steps.map(moveOf);
  for (const move of moves) enter(deps, move);
  const gained = await chooseLinks(
    em,
    deps,
    moves.filter(({ from }) => startsGeneration(from)),
  );
  await em.flush();
  await recordTransitions(em, moves);
  await postLedgerAll(em, deps, moves.map(postingOf));
  await settleLinks(tx, deps, new Set([...gained, ...moves.flatMap(({ linkId }) => linkId ?? [])]));
  const taken = moves.filter(({ from, to }) => from === 'completed' && to === 'failed');
  await clearLate(
    em,
    deps,
    taken.map(({ deposit }) => deposit.id),
  );
  for (const { deposit, named, linkId } of moves)
    if (deposit.status === 'completed' && deposit.paymentLinkId == null)
      await noteLate(tx, deps, deposit, { named, former: linkId ?? undefined });
  await wakeForDeposits(
    tx,
    deps,
    moves.map(({ deposit }) => deposit),
  );
  return await recordDepositEvents(
    em,
    deps,
    moves.filter(({ silent }) => !silent),
  );
}

type Move = ReturnType<typeof moveOf>;

function moveOf(step: Step) {
  const { deposit, to } = step;
  const from = deposit.sequence === 0 ? null : deposit.status;
  const failureCode = to === 'failed' ? (step.failureCode ?? null) : (deposit.failureCode ?? null);
  if (!mayTransition({ from, to, failureCode }))
    throw new IllegalTransition(`deposit ${deposit.id} cannot go from ${from ?? 'nothing'} to ${to}`);
  const { reason = null, by = null } = step;
  return { ...step, from, failureCode, reason, by, linkId: deposit.paymentLinkId ?? null };
}

function enter(deps: TxDeps, { deposit, from, to, failureCode, reason }: Move): void {
  const at = deps.now();
  deposit.status = to;
  deposit.sequence += 1;
  deposit.postingCount += 1;
  if (startsGeneration(from)) deposit.generation += 1;
  deposit.failureCode = to === 'failed' ? failureCode : null;
  deposit.failureReason = to === 'failed' ? reason : null;
  deposit.stateSince = at;
  deposit.alarmedAt = null;
  deposit.wakeAt = null;
  deposit.updatedAt = at;
  if (from === null) deposit.createdAt = at;
  if (to === 'completed') deposit.completedAt = at;
  if (to === 'settled') deposit.settledAt = at;
  if (to === 'detected') deposit.detectedAt = at;
}

function postingOf({ deposit, from, to }: Move): LedgerPosting {
  const { failureCode = null, amountUnits, settledUnits = null, blockHash } = deposit;
  const onChain = blockHash != null;
  const postings = postingsOf({ from, to, failureCode, amountUnits, settledUnits, onChain });
  return { deposit, kind: `deposit.${to}`, number: deposit.postingCount, postings };
}

/**
 * Writes the events of the deposits' present states with their deliveries, in two statements for any number
 * of them. A deposit's sequence makes its event unique. Returns the ids of the new deliveries by deposit.
 */
async function recordDepositEvents(
  em: Em,
  deps: TxDeps,
  items: readonly Move[],
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
      merchantId: deposit.merchantId,
      mode: deposit.mode,
      type: `deposit.${deposit.status}` satisfies EventType,
      subjectId: deposit.id,
      sequence: deposit.sequence,
      occurredAt: deposit.stateSince,
      data: presentDeposit(deposit, { ...(names.get(deposit.id) ?? NOBODY), headNumber }),
    })),
  );
  return new Map(items.map(({ deposit }, index) => [deposit.id, recorded[index]?.deliveryIds ?? []]));
}

type Names = { readonly id: string } & Readonly<
  Record<'externalId' | 'email' | 'paymentToken' | 'destination' | 'transactionHash', string | null>
>;

const NOBODY = { externalId: null, email: null, paymentToken: null, payout: null };

async function namesOf(
  em: Em,
  deposits: readonly Deposit[],
): Promise<ReadonlyMap<string, Omit<DepositContext, 'headNumber'>>> {
  const wanted = deposits.map(({ id, customerId, paymentLinkId, payoutId }) => ({
    id,
    customer_id: customerId,
    link_id: paymentLinkId ?? null,
    payout_id: payoutId ?? null,
  }));
  const found = await rows(
    em,
    sql<Names>`
      select w.id, c.external_id, c.email, l.token as payment_token, p.destination, p.transaction_hash
      from json_to_recordset(${JSON.stringify(wanted)}::json)
        as w (id uuid, customer_id uuid, link_id uuid, payout_id uuid)
      join customers c on c.id = w.customer_id left join payment_links l on l.id = w.link_id
      left join payouts p on p.id = w.payout_id`,
  );
  return new Map(
    found.map(({ id, destination, transactionHash, ...names }) => [
      id,
      { ...names, payout: destination === null ? null : { destination, transactionHash } },
    ]),
  );
}
