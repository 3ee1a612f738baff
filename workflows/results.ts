import { isDepositState } from '../src/domain/deposit.ts';
import { isUuid } from '../src/domain/ids.ts';
import { isLinkStatus } from '../src/domain/payment-link.ts';
import { isPayoutState } from '../src/domain/settlement.ts';

// What activities return is read like anything else from outside: a person can complete an
// activity by hand with any result, and an error while a workflow uses it would fail its task for
// ever. Anything that does not have the form of a result counts as none, and the actor asks again.

/** What a step of a deposit says. */
export type DepositResult = {
  readonly state: string;
  readonly sequence: number;
  readonly generation: number;
  readonly since: string;
  readonly deliveries: readonly string[];
  readonly note: string;
  /** The deposit is completed and will be paid out, as far as is known: its actor waits for that. */
  readonly foreseen: boolean;
  /** What the deliveries are called, and where the transaction is looked up: only shown. */
  readonly names: Readonly<Record<string, string>>;
  readonly explorer: string;
};

/** What a look at a payment link says. */
export type LinkResult = {
  readonly status: string;
  readonly since: string;
  readonly deliveries: readonly string[];
  readonly note: string;
  readonly waitMs: number | null;
  readonly names: Readonly<Record<string, string>>;
};

/** What a step of a settlement says: that it was made, or that there is none to make. */
export type SettlementResult =
  | { readonly kind: 'went'; readonly state: string; readonly note: string }
  | { readonly kind: 'rest'; readonly note: string };

/** What a step of a wallet says; `late`: a person is still wanted who was called. */
export type WalletResult = { readonly kind: 'went' | 'rest'; readonly note: string; readonly late: boolean };

/** Longer than any link lives: a timer for more is a mistake. */
const MAX_WAIT_MS = 30 * 24 * 60 * 60_000;

/** The result of a deposit's step, or undefined for anything else. */
export function depositResult(raw: unknown): DepositResult | undefined {
  if (!isRecord(raw)) return undefined;
  const { state, sequence, generation, since, deliveries, note = '', foreseen = false } = raw;
  if (typeof state !== 'string' || !isDepositState(state) || !isCount(sequence) || !isCount(generation))
    return undefined;
  if (!isTime(since) || !areIds(deliveries) || typeof note !== 'string') return undefined;
  if (typeof foreseen !== 'boolean') return undefined;
  const shown = { names: namesIn(raw), explorer: textIn(raw, 'explorer') };
  return { state, sequence, generation, since, deliveries, note, foreseen, ...shown };
}

/** The result of a look at a payment link, or undefined for anything else. */
export function linkResult(raw: unknown): LinkResult | undefined {
  if (!isRecord(raw)) return undefined;
  const { status, since, deliveries, note, waitMs } = raw;
  if (typeof status !== 'string' || !isLinkStatus(status) || !isTime(since) || !areIds(deliveries))
    return undefined;
  if (typeof note !== 'string' || (waitMs !== null && !(isCount(waitMs) && waitMs <= MAX_WAIT_MS)))
    return undefined;
  return { status, since, deliveries, note, waitMs, names: namesIn(raw) };
}

/** The result of a settlement's step, or undefined for anything else. */
export function settlementResult(raw: unknown): SettlementResult | undefined {
  if (!isRecord(raw)) return undefined;
  const { kind, state, note } = raw;
  if (typeof note !== 'string') return undefined;
  if (kind === 'rest') return { kind, note };
  if (kind !== 'went' || typeof state !== 'string' || !isPayoutState(state)) return undefined;
  return { kind, state, note };
}

/** The result of a wallet's step, or undefined for anything else. */
export function walletResult(raw: unknown): WalletResult | undefined {
  if (!isRecord(raw)) return undefined;
  const { kind, note, late = false } = raw;
  if (typeof note !== 'string' || typeof late !== 'boolean') return undefined;
  return kind === 'rest' || kind === 'went' ? { kind, note, late } : undefined;
}

/** Whether an activity says that a delivery arrived. */
export function isSucceeded(raw: unknown): boolean {
  return isRecord(raw) && raw['status'] === 'succeeded';
}

/** Whether a value is a list of ids as rows have them. */
export function areIds(raw: unknown): raw is readonly string[] {
  return Array.isArray(raw) && raw.every((id) => typeof id === 'string' && isUuid(id));
}

/** Names of deliveries that are no longer than Temporal takes; what else stands there is none. */
export function namesIn(raw: unknown): Readonly<Record<string, string>> {
  const names = isRecord(raw) ? raw['names'] : undefined;
  if (!isRecord(names)) return {};
  const told = Object.entries(names).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1].length <= MAX_NAME,
  );
  return Object.fromEntries(told);
}

/** Temporal takes 400 bytes of a summary; a host has at most 253 characters. */
const MAX_NAME = 300;

/** A member that is only shown; empty where it is no text. */
export function textIn(raw: unknown, name: string): string {
  const text = isRecord(raw) ? raw[name] : undefined;
  return typeof text === 'string' ? text : '';
}

function isRecord(raw: unknown): raw is Readonly<Record<string, unknown>> {
  return typeof raw === 'object' && raw !== null;
}

function isCount(raw: unknown): raw is number {
  return typeof raw === 'number' && Number.isSafeInteger(raw) && raw > 0;
}

function isTime(raw: unknown): raw is string {
  return typeof raw === 'string' && !Number.isNaN(Date.parse(raw));
}
