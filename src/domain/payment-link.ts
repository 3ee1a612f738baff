import { formatUnits } from './money.ts';

/**
 * The life of a payment link. This table is the only definition of which status may follow
 * which; the database holds the same table in a trigger, and a test compares the two.
 */
export const LINK_STATUSES = [
  'pending',
  'processing',
  'partially_paid',
  'completed',
  'expired',
  'cancelled',
] as const;
export type LinkStatus = (typeof LINK_STATUSES)[number];

/** Whether a text is the name of a status. */
export function isLinkStatus(text: string): text is LinkStatus {
  return (LINK_STATUSES as readonly string[]).includes(text);
}

/** The only coin that pays links: its amount is fixed when a link is made, 1 for 1 USD. */
export const LINK_CURRENCY = 'USDT';
export type LinkCurrency = typeof LINK_CURRENCY;

/** Bounds of what a merchant may ask for; the smallest amount is the operator's to set. */
export const LINK_LIMITS = {
  maxUsd: 1_000_000,
  minExpiresInSeconds: 300,
  maxExpiresInSeconds: 604_800,
  defaultExpiresInSeconds: 3_600,
} as const;

/**
 * How the money that counts compares with the amount; `late` means that what was
 * missing came after the link had closed.
 */
export const AMOUNT_STATUSES = ['none', 'underpaid', 'exact', 'overpaid', 'late'] as const;
export type AmountStatus = (typeof AMOUNT_STATUSES)[number];

export const OPEN_STATUSES: readonly LinkStatus[] = ['pending', 'processing', 'partially_paid'];

/**
 * An open link may take any other status (a failed deposit leads back to
 * `pending`); the status of a closed link is final.
 */
export const LINK_TRANSITIONS: Readonly<Record<LinkStatus, readonly LinkStatus[]>> = {
  pending: ['processing', 'partially_paid', 'completed', 'expired', 'cancelled'],
  processing: ['pending', 'partially_paid', 'completed', 'expired'],
  partially_paid: ['pending', 'processing', 'completed', 'expired', 'cancelled'],
  completed: [],
  expired: [],
  cancelled: [],
};

/** True while the link can still be paid or cancelled. */
export function isOpenLink(status: LinkStatus): boolean {
  return OPEN_STATUSES.includes(status);
}

/**
 * USDT has 18 decimals on BNB Chain and 6 on Tron. Links count in the finer one, so that
 * payments on both add up exactly. Every `…Units` of this file has this many decimals.
 */
export const LINK_DECIMALS = 18;

/**
 * Base units of a deposit, whose coin has `decimals` decimals, as
 * units of a link. Exact: no coin that pays links has more decimals.
 */
export function toLinkUnits(units: bigint, decimals: number): bigint {
  if (decimals > LINK_DECIMALS) throw new RangeError(`a coin with ${decimals} decimals cannot pay a link`);
  return units * 10n ** BigInt(LINK_DECIMALS - decimals);
}

/**
 * Units of a link as base units of a coin, rounded up: what
 * a payer is asked for is never less than what is missing.
 */
export function fromLinkUnits(units: bigint, decimals: number): bigint {
  const unit = 10n ** BigInt(LINK_DECIMALS - decimals);
  return (units + unit - 1n) / unit;
}

/**
 * What a link of this many cents asks for: 1 USDT for 1 USD. `leastUnits` is the least that counts as
 * paid: the amount less the tolerance, which is given in 1/100 percent.
 */
export function linkAmounts(
  amountCents: bigint,
  toleranceBasisPoints: bigint,
): { amountUnits: bigint; leastUnits: bigint } {
  const amountUnits = amountCents * 10n ** BigInt(LINK_DECIMALS - 2);
  return { amountUnits, leastUnits: amountUnits - (amountUnits * toleranceBasisPoints) / 10_000n };
}

/** Units of a link as whole cents, rounded half up. */
export function linkCents(units: bigint): bigint {
  const cent = 10n ** BigInt(LINK_DECIMALS - 2);
  return (units * 2n + cent) / (cent * 2n);
}

export type LinkMoney = {
  readonly amountUnits: bigint;
  /** From this amount on the link counts as paid. */
  readonly leastUnits: bigint;
  /** Sum of the assigned deposits that are completed. */
  readonly paidUnits: bigint;
  /** Assigned deposits that wait for their confirmations. */
  readonly openCount: number;
};

/**
 * The status that the assigned deposits give an open link, without regard to expiry
 * and cancellation; a closed link keeps its own.
 */
export function statusOf(current: LinkStatus, money: LinkMoney): LinkStatus {
  if (!isOpenLink(current)) return current;
  if (money.paidUnits >= money.leastUnits) return 'completed';
  if (money.openCount > 0) return 'processing';
  return money.paidUnits > 0n ? 'partially_paid' : 'pending';
}

/** No link takes less than its amount by more than this. */
export const MAX_TOLERANCE_PERCENT = 10n;

/** Whether this much completes no link of this amount, whatever its tolerance: some of it was taken back. */
export function neverCompletes(paid: bigint, amount: bigint): boolean {
  return paid * 100n < amount * (100n - MAX_TOLERANCE_PERCENT);
}

/**
 * Compares exactly, so a completed link that was short by less than the tolerance says
 * `underpaid`. `late` never hides a completion.
 */
export function amountStatusOf(input: {
  readonly status: LinkStatus;
  readonly amountUnits: bigint;
  readonly paidUnits: bigint;
  readonly late: boolean;
}): AmountStatus {
  if (input.late && input.status !== 'completed') return 'late';
  if (input.paidUnits === 0n) return 'none';
  if (input.paidUnits < input.amountUnits) return 'underpaid';
  return input.paidUnits === input.amountUnits ? 'exact' : 'overpaid';
}

/**
 * What the choice of a link depends on. `assignedUnits` is the sum of all
 * assigned deposits, completed or on their way.
 */
export type LinkCandidate = {
  readonly id: string;
  readonly status: LinkStatus;
  readonly amountUnits: bigint;
  readonly leastUnits: bigint;
  readonly assignedUnits: bigint;
  /** The only network it takes, or null for all. */
  readonly network: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
};

/** A USDT deposit. `minedAt` is the time of its block. */
export type IncomingMoney = {
  readonly amountUnits: bigint;
  readonly decimals: number;
  readonly network: string;
  readonly minedAt: Date;
};

export type Match = { readonly kind: 'pays' | 'late'; readonly linkId: string } | undefined;

/**
 * A block's clock may be this much behind ours; money from
 * before that was not sent for a link that did not exist yet.
 */
export const BLOCK_CLOCK_SKEW_MS = 60_000;

/**
 * This many of the links whose amount late money comes close to are considered; with one
 * tolerance for all links the first one decides.
 */
export const LATE_LOOKED_AT = 50;

/**
 * Which of a customer's links, given oldest first, a deposit pays: the one with the id `former` if that still
 * wants money, else an open one of whose open amount it would leave nothing, else the oldest open one that
 * still wants money, else the oldest open one. Left out are links that do not take its network, that were
 * made after it or whose time was over when it was mined. Without such a link it is `late` for the closed or
 * overdue link that it would have paid: the `former` one, else the newest one of which it would leave
 * nothing, else, within the tolerance, the one that misses most, and of several the newest. Otherwise it is a
 * plain deposit.
 */
export function matchLink(
  money: IncomingMoney,
  links: readonly LinkCandidate[],
  former?: string | undefined,
): Match {
  const fitting = links
    .filter((link) => link.network === null || link.network === money.network)
    .filter((link) => existedBefore(link, money));
  const payable = fitting.filter((link) => isOpenLink(link.status) && isInTime(link, money));
  const own = payable.find((link) => link.id === former && openUnitsOf(link) > 0n);
  const exact = payable.find((link) => isExact(link, money));
  const chosen = own ?? exact ?? payable.find((link) => openUnitsOf(link) > 0n) ?? payable[0];
  if (chosen) return { kind: 'pays', linkId: chosen.id };
  const unpaid = fitting.filter((link) => link.status !== 'completed' && wouldCover(link, money));
  const missed = unpaid.find((link) => link.id === former) ?? latestOf(unpaid, money);
  return missed && { kind: 'late', linkId: missed.id };
}

/**
 * The link for which money that pays none was too late, of links given oldest first, as {@link matchLink}
 * says. One that is open and was in time is none: it was made after the money had been matched.
 */
export function matchLate(
  money: IncomingMoney,
  links: readonly LinkCandidate[],
  former?: string | undefined,
): string | undefined {
  const over = links.filter((link) => !(isOpenLink(link.status) && isInTime(link, money)));
  const match = matchLink(money, over, former);
  return match?.kind === 'late' ? match.linkId : undefined;
}

function latestOf(unpaid: readonly LinkCandidate[], money: IncomingMoney): LinkCandidate | undefined {
  const isNoMore = (missing: bigint): boolean => money.amountUnits <= fromLinkUnits(missing, money.decimals);
  const missed = unpaid.filter((link) => isNoMore(openUnitsOf(link)));
  const exact = missed.filter((link) => isExact(link, money)).at(-1);
  const least = (link: LinkCandidate): bigint => link.leastUnits - link.assignedUnits;
  return (
    exact ??
    missed.reduce<LinkCandidate | undefined>(
      (best, link) => (best && least(best) > least(link) ? best : link),
      undefined,
    )
  );
}

/** The amount that is neither paid nor on its way; never below 0. */
export function openUnitsOf(link: Pick<LinkCandidate, 'amountUnits' | 'assignedUnits'>): bigint {
  return link.assignedUnits < link.amountUnits ? link.amountUnits - link.assignedUnits : 0n;
}

/** How much of what a link still misses a simulated payment brings, in words. */
export const PAYMENT_SHARES = ['full', 'half', 'double'] as const;
export type PaymentShare = (typeof PAYMENT_SHARES)[number];

/**
 * This share of what the link still misses, in base units of a coin with `decimals` decimals: `full` is what
 * a payer is asked for, `half` of it is rounded down, though never to nothing, `double` is twice as much.
 */
export function shareOfOpen(
  link: Pick<LinkCandidate, 'amountUnits' | 'assignedUnits'>,
  share: PaymentShare,
  decimals: number,
): bigint {
  const units = fromLinkUnits(openUnitsOf(link), decimals);
  if (share === 'double') return units * 2n;
  return share === 'half' && units > 1n ? units / 2n : units;
}

/** True when nothing more has to be asked for: what is assigned reaches the amount, less the tolerance. */
export function isCovered(link: Pick<LinkCandidate, 'leastUnits' | 'assignedUnits'>): boolean {
  return link.assignedUnits >= link.leastUnits;
}

/** True for a block whose time is before the expiry, or exactly at it. */
export function isInTime(
  link: Pick<LinkCandidate, 'expiresAt'>,
  money: Pick<IncomingMoney, 'minedAt'>,
): boolean {
  return money.minedAt.getTime() <= link.expiresAt.getTime();
}

function existedBefore(link: LinkCandidate, money: IncomingMoney): boolean {
  return money.minedAt.getTime() >= link.createdAt.getTime() - BLOCK_CLOCK_SKEW_MS;
}

/** The open amount, as the coin of that network can express it. */
function isExact(link: LinkCandidate, money: IncomingMoney): boolean {
  const open = openUnitsOf(link);
  return open > 0n && fromLinkUnits(open, money.decimals) === money.amountUnits;
}

/** Whether something is missing, and this is enough for it. */
function wouldCover(link: LinkCandidate, money: IncomingMoney): boolean {
  const units = toLinkUnits(money.amountUnits, money.decimals);
  return openUnitsOf(link) > 0n && units + link.assignedUnits >= link.leastUnits;
}

/** One line for operators: "12.5 of 25 USDT". */
export function describeProgress(money: Pick<LinkMoney, 'amountUnits' | 'paidUnits'>): string {
  return `${formatUnits(money.paidUnits, LINK_DECIMALS)} of ${formatUnits(money.amountUnits, LINK_DECIMALS)} USDT`;
}
