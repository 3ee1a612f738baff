import type { Currency, Network } from './assets.ts';

export type DepositIdentity = {
  readonly network: Network;
  readonly txHash: string;
  readonly address: string;
  readonly currency: Currency;
};

/**
 * `deposit:{network}:{tx}:{address}:{asset}`, with `:g2` and so on for later generations; one
 * actor for each generation. The mode is not in it: live and test addresses are never the same.
 */
export function depositWorkflowId(deposit: DepositIdentity & { readonly generation: number }): string {
  const base = `deposit:${deposit.network}:${deposit.txHash}:${deposit.address}:${deposit.currency}`;
  return deposit.generation > 1 ? `${base}:g${deposit.generation}` : base;
}

/** The actor that delivers an event which no other actor carries. */
export const eventWorkflowId = (eventId: string): string => `event:${eventId}`;

/** The actor of a payment link. */
export const paymentWorkflowId = (linkId: string): string => `payment:${linkId}`;

/** The actor that pays out what was completed on one of our addresses. */
export const settlementWorkflowId = (network: Network, addressKey: string): string =>
  `settlement:${network}:${addressKey}`;

/** The actor of a wallet of ours that has signed something which no block has. */
export const walletWorkflowId = (network: Network, addressKey: string): string =>
  `wallet:${network}:${addressKey}`;

/** The signal that tells an actor to read its row again. It carries nothing: the row does. */
export const ROW_CHANGED = 'changed';

/** The actor of one resend of one delivery. */
export const resendWorkflowId = (deliveryId: string, round: number): string =>
  `resend:${deliveryId}:${round}`;

/** The actor that watches a chain. */
export const chainWorkflowId = (network: Network): string => `chain:${network}`;

/** Stable activity ids: operators name an activity by them, and histories that are replayed hold them. */
export const deliveryActivityId = (deliveryId: string): string => `deliver:${deliveryId}`;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Whether a text has the form of one of our ids. A malformed id is answered like an unknown one. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

const ADDRESS_KEY = /^[0-9a-f]{40}$/;

/** Whether this is an address as it is kept: 40 lower-case hex digits. */
export function isAddressKey(raw: unknown): boolean {
  return typeof raw === 'string' && ADDRESS_KEY.test(raw);
}

/**
 * The activity in which a deposit waits: `advance:confirming`
 * is the way out of confirming. There is one of it at a time.
 */
export const advanceActivityId = (state: string): string => `advance:${state}`;

/**
 * The lowest id whose time is not before `date`. Ids of events, deliveries and ledger
 * transactions begin with a time in milliseconds and lie in the partition of its month, so a
 * lower bound keeps a query away from the months before. Known to the database as `lowest_id`.
 */
export function lowestId(date: Date): string {
  const hex = Math.max(0, Math.floor(date.getTime())).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** The time with which such an id begins. */
export function timeOfId(id: string): Date {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
}

/** The lowest and the highest id of the same millisecond: a delivery and its event have the same time. */
export function idsOfMoment(id: string): readonly [lowest: string, highest: string] {
  const time = id.slice(0, 13);
  return [`${time}-0000-0000-000000000000`, `${time}-ffff-ffff-ffffffffffff`];
}
