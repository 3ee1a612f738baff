import { LockMode } from '@mikro-orm/core';
import { explorerLink } from '../../chains/index.ts';
import type { Price } from '../../chains/reader.ts';
import { ChainCursor, Deposit, Merchant } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { run, sql } from '../../db/sql.ts';
import {
  type AdvanceDecision,
  type AdvanceFacts,
  type DepositState,
  decideAdvance,
  MIN_WAIT_MS,
  STILL_WAIT_MS,
  waitDelayMs,
} from '../../domain/deposit.ts';
import { formatUnits } from '../../domain/money.ts';
import { LINK_CURRENCY } from '../../domain/payment-link.ts';
import { unlessBusy } from '../busy.ts';
import type { Deps } from '../deps.ts';
import { lockPayers } from '../payment-links/money.ts';
import { isPayoutForeseen } from '../payouts/wakes.ts';
import { type Tx, transact } from '../transact.ts';
import { openDeliveriesOf } from '../webhooks/open-deliveries.ts';
import { ACTIONS } from './actions.ts';
import { takeMonthlyLimit } from './monthly-limit.ts';
import { currentPrice, freezePrice } from './price.ts';
import { applyTransition } from './transition.ts';

export type AdvanceResult =
  | {
      readonly kind: 'at';
      readonly state: DepositState;
      readonly sequence: number;
      readonly generation: number;
      readonly since: Date;
      readonly deliveries: string[];
      readonly note: string;
      /** The deposit is completed, and a payout of it is to be expected: its end will be told. */
      readonly foreseen: boolean;
      /** Where the transaction is looked up; null where nobody knows, or it is simulated. */
      readonly explorer: string | null;
    }
  | {
      readonly kind: 'wait';
      readonly reason: string;
      /** What an operator can do about it; unset where a moment's patience is all that it takes. */
      readonly action?: string;
      readonly delayMs: number;
      readonly stuck: boolean;
      /** Where the transaction is looked up; null where nobody knows. */
      readonly explorer?: string | null;
    };

/**
 * After this many block intervals without a new block a chain
 * counts as standing still, but never before the minute below.
 */
const STILL_AFTER_BLOCKS = 40;
const STILL_AFTER_MS = 60_000;

/** Where its actor believes the deposit to be. */
export type Known = { readonly generation: number; readonly sequence: number };
export type StepInput = { readonly depositId: string; readonly alarmed: boolean; readonly known?: Known };

/**
 * One step of a deposit: makes every transition that the chain permits now, each with its own
 * row, event and sequence, in one SQL transaction, or says why there is none and when to look
 * again. Reads only what the watcher wrote. When the row is not where `known` has it, a result
 * was lost on its way or somebody else moved the deposit: then the row as it is is returned at
 * once, with every delivery that is not finished. Otherwise `deliveries` are those of the
 * transitions made here, in their order. Without `known` a repeated call goes on from the row.
 */
export async function advanceDeposit(deps: Deps, input: StepInput): Promise<AdvanceResult> {
  const { depositId: id } = input;
  return await unlessBusy(deps, { name: `a row of deposit ${id} or of its customer`, id }, () =>
    look(deps, input),
  );
}

async function look(deps: Deps, input: StepInput): Promise<AdvanceResult> {
  const em = deps.orm.em.fork();
  const deposit = await em.findOneOrFail(Deposit, input.depositId);
  if (isElsewhere(deposit, input.known)) return await currentStep(deps, em, deposit);
  const cursor = await em.findOne(ChainCursor, deposit.network);
  const first = decideAdvance(factsOf(deps, deposit, cursor));
  if (first.kind === 'wait' && first.waitsFor !== 'price')
    return await waiting(deps, em, { deposit, cursor, decision: first, alarmed: input.alarmed });
  if (first.kind === 'rest') return await currentStep(deps, em, deposit);
  const price = deposit.rateUnits == null ? await currentPrice(deps, deposit.currency) : undefined;
  return await transact(deps, (tx) => move(tx, deps, { ...input, deposit, price }));
}

type Step = StepInput & { readonly deposit: Deposit; readonly price: Price | undefined };

/** Decides once more under the locks, and makes what the chain permits. */
async function move(
  tx: Tx,
  deps: Deps,
  { deposit: seen, price, alarmed, known }: Step,
): Promise<AdvanceResult> {
  const { em } = tx;
  // A payment link may be brought up to date with it: the customer's lock comes first.
  if (seen.currency === LINK_CURRENCY) await lockPayers(em, [seen.customerId], { nowait: true });
  const deposit = await em.findOneOrFail(Deposit, seen.id, { lockMode: LockMode.PESSIMISTIC_WRITE_OR_FAIL });
  if (isElsewhere(deposit, known)) return await currentStep(deps, em, deposit);
  const cursor = await em.findOne(ChainCursor, deposit.network);
  freezePrice(deposit, price);
  const deliveries: string[] = [];
  const began = deposit.sequence;
  for (;;) {
    const decision = decideAdvance(factsOf(deps, deposit, cursor));
    if (decision.kind === 'move')
      deliveries.push(...(await step(tx, deps, deposit, decision, cursor?.headNumber ?? null)));
    else if (deposit.sequence !== began) return await at(deps, em, deposit, deliveries);
    else if (decision.kind === 'rest') return await currentStep(deps, em, deposit);
    else return await waiting(deps, em, { deposit, cursor, decision, alarmed });
  }
}

/** Whether the row is elsewhere than `known` says. A simulated deposit never is: nothing moves it. */
function isElsewhere(deposit: Deposit, known: Known | undefined): boolean {
  if (deposit.simulated) return true;
  return (
    known !== undefined && (deposit.generation !== known.generation || deposit.sequence !== known.sequence)
  );
}

async function step(
  tx: Tx,
  deps: Deps,
  deposit: Deposit,
  decision: AdvanceDecision & { kind: 'move' },
  headNumber: number | null,
): Promise<string[]> {
  if (decision.to === 'completed' && !(await takeMonthlyLimit(tx.em, deposit))) {
    const merchant = await tx.em.findOneOrFail(Merchant, deposit.merchantId);
    const reason = `this deposit would cross the monthly limit of ${formatUnits(merchant.monthlyLimitCents ?? 0n, 2)} USD`;
    return await applyTransition(tx, deps, deposit, {
      to: 'failed',
      failureCode: 'MONTHLY_LIMIT',
      reason,
      headNumber,
    });
  }
  const { to, failureCode, reason } = decision;
  return await applyTransition(tx, deps, deposit, { to, failureCode, reason, headNumber });
}

/** What the decision is based on, from the row and from the chain as the watcher last saw it. */
export function factsOf(deps: Deps, deposit: Deposit, cursor: ChainCursor | null): AdvanceFacts {
  const minimum = deps.settings.minDepositUnits.get(`${deposit.currency}.${deposit.network}`);
  return {
    state: deposit.status,
    blockNumber: deposit.blockNumber,
    blockHash: deposit.blockHash ?? null,
    verified: deposit.verifiedAt != null,
    requiredConfirmations: deposit.requiredConfirmations,
    headNumber: cursor?.headNumber ?? deposit.blockNumber,
    finalizedNumber: cursor?.finalizedNumber ?? -1,
    verifiedNumber: cursor?.verifiedNumber ?? -1,
    belowMinimum: minimum !== undefined && deposit.amountUnits < minimum,
    priced: deposit.rateUnits != null,
    currency: deposit.currency,
  };
}

async function currentStep(deps: Deps, em: Em, deposit: Deposit): Promise<AdvanceResult> {
  return await at(deps, em, deposit, await openDeliveriesOf(em, deposit.id));
}

async function at(deps: Deps, em: Em, deposit: Deposit, deliveries: string[]): Promise<AdvanceResult> {
  const { status: state, sequence, generation, stateSince: since } = deposit;
  const note = deposit.failureReason ?? '';
  const foreseen = await isPayoutForeseen(deps, em, deposit);
  const explorer = explorerOf(deps, deposit);
  return { kind: 'at', state, sequence, generation, since, deliveries, note, foreseen, explorer };
}

type Waiting = {
  deposit: Deposit;
  cursor: ChainCursor | null;
  decision: AdvanceDecision & { kind: 'wait' };
  alarmed: boolean;
};

async function waiting(
  deps: Deps,
  em: Em,
  { deposit, cursor, decision, alarmed }: Waiting,
): Promise<AdvanceResult> {
  const now = deps.now();
  const reason = waitReason(deps, deposit, cursor, decision);
  const stuck = !alarmed && now.getTime() - deposit.stateSince.getTime() >= deps.settings.stuckAfterMs;
  if (stuck && deposit.alarmedAt == null) {
    await run(
      em,
      sql`update deposits set alarmed_at = ${now}, updated_at = ${now}
        where id = ${deposit.id} and sequence = ${deposit.sequence}`,
    );
  }
  const delayMs = delayOf(deps, deposit, cursor, decision);
  const sleeps = delayMs > waitDelayMs(Number.POSITIVE_INFINITY);
  if (sleeps || deposit.wakeAt != null) {
    // The watcher wakes exactly these when the chain moves again.
    const wakeAt = sleeps ? new Date(now.getTime() + delayMs) : null;
    await run(em, sql`update deposits set wake_at = ${wakeAt} where id = ${deposit.id}`);
  }
  const action = ACTIONS[decision.waitsFor];
  return { kind: 'wait', reason, action, delayMs, stuck, explorer: explorerOf(deps, deposit) };
}

/**
 * The reason as an operator reads it in the Web UI: what
 * is missing, and since when the chain says nothing new.
 */
export function waitReason(
  deps: Deps,
  deposit: Deposit,
  cursor: ChainCursor | null,
  decision: AdvanceDecision & { kind: 'wait' },
): string {
  if (decision.waitsFor === 'price' || decision.waitsFor === 'operator') return decision.reason;
  if (!cursor)
    return `${decision.reason}; ${deposit.network} is not watched: set its RPC URLs and start a worker`;
  const stopped = stoppedWhy(cursor, deposit);
  if (stopped) return `${decision.reason}; ${stopped}`;
  if (cursor.fault) return `${decision.reason}; ${cursor.fault}`;
  const now = deps.now().getTime();
  const stillMs = now - cursor.movedAt.getTime();
  if (stillMs > STILL_AFTER_MS)
    return `${decision.reason}; ${deposit.network} stands at block ${cursor.headNumber} for ${seconds(stillMs)}`;
  const finalStillMs = now - cursor.finalizedMovedAt.getTime();
  if (finalStillMs > STILL_AFTER_MS)
    return `${decision.reason}; finality stalled at block ${cursor.finalizedNumber} for ${seconds(finalStillMs)}`;
  return decision.reason;
}

/** Why a deposit's block cannot get on, if a part of the watching has stopped before it. */
function stoppedWhy(cursor: ChainCursor, deposit: Pick<Deposit, 'blockNumber'>): string | undefined {
  const { stops, network } = cursor;
  const rollBack = stops['roll-back'];
  if (rollBack)
    return `the roll-back of ${network} stands at block ${cursor.scannedNumber}: ${rollBack.reason}`;
  const second = stops['second read'];
  if (second && deposit.blockNumber > cursor.rereadNumber) {
    return `the second read of ${network} stands at block ${cursor.rereadNumber}: ${second.reason}`;
  }
  const first = stops['first read'];
  if (first) return `the first read of ${network} stands at block ${cursor.scannedNumber}: ${first.reason}`;
  return undefined;
}

function explorerOf(deps: Deps, { network, transactionHash, simulated }: Deposit): string | null {
  return simulated ? null : explorerLink(deps.settings.explorerUrls, network, 'transaction', transactionHash);
}

const seconds = (ms: number): string => `${Math.floor(ms / 1_000)} s`;

function delayOf(
  deps: Deps,
  deposit: Deposit,
  cursor: ChainCursor | null,
  decision: AdvanceDecision & { kind: 'wait' },
): number {
  const intervalMs = deps.settings.blockIntervalMs[deposit.network];
  if (decision.waitsFor === 'price' || decision.waitsFor === 'proof') return waitDelayMs(30_000);
  if (!cursor) return waitDelayMs(Number.POSITIVE_INFINITY);
  const now = deps.now().getTime();
  // Our own watcher owes this one: the next look comes at once while
  // the watcher reads, and ever later the longer the watcher is silent.
  if (decision.waitsFor === 'read')
    return waitDelayMs(MIN_WAIT_MS + Math.max(0, now - cursor.polledAt.getTime()));
  const stillAfterMs = Math.max(STILL_AFTER_MS, STILL_AFTER_BLOCKS * intervalMs);
  const stillMs =
    now - (decision.waitsFor === 'finality' ? cursor.finalizedMovedAt : cursor.movedAt).getTime();
  if (stillMs > stillAfterMs) return STILL_WAIT_MS;
  // A chain that is late is asked about less and less often; one
  // that moves, in half the time of the blocks that are missing.
  const missing =
    deposit.blockNumber +
    (deposit.status === 'detected' ? 1 : deposit.requiredConfirmations) -
    cursor.headNumber;
  const lateMs = Math.max(0, now - cursor.movedAt.getTime() - intervalMs);
  return Math.max(MIN_WAIT_MS, waitDelayMs(Math.max(missing, 1) * intervalMs + lateMs));
}
