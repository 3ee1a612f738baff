import { randomInt } from 'node:crypto';
import type { Mode } from '../../domain/assets.ts';
import { SLOTS_PER_ENDPOINT } from './lease.ts';

/** At most this many open sockets to all endpoints of one merchant in one process. */
export const SLOTS_PER_MERCHANT = 60;
/** At most this many of one merchant in test mode, which takes none of the live ones. */
export const TEST_SLOTS_PER_MERCHANT = 20;
/**
 * At most this many of all merchants together in test mode: most of what a
 * process may have open is for live webhooks, whatever test receivers do.
 */
export const TEST_SLOTS = 60;

/** A slot that is held longer than this on average belongs to an unresponsive receiver. */
const SLOW_MS = 2_000;
/**
 * A receiver that answers frees its slots soon: waiting
 * here costs less than sending a delivery back to Temporal.
 */
const WAIT_HERE_MS = 2_000;
const WAITERS_PER_ENDPOINT = 40;
/**
 * How long a delivery to an unresponsive receiver stays away, at least and at
 * most. The most limits how long it goes unnoticed that a receiver works again;
 * each delivery that waits costs the Temporal server one task in this time.
 */
const UNRESPONSIVE_MIN_MS = 1_000;
const UNRESPONSIVE_MAX_MS = 120_000;
/** How long this process believes that other processes hold the rest of an endpoint's slots. */
const LOOK_AGAIN_MS = 1_000;
/** The weight of the newest measurement in the average. */
const NEWEST_SHARE = 0.2;

export type Slot = {
  /** Gives the slot back; more than once does nothing. */
  readonly free: () => void;
  /** Whether the caller was kept waiting, so that what it read before is old. */
  readonly waited: boolean;
  /** The slot of the whole installation to ask for first; it differs for each delivery of this process. */
  readonly number: number;
  /**
   * Called when the other processes hold all the rest of the slots, for `heldMs`
   * so far; returns how long to stay away. `free` is called afterwards as always.
   */
  usedElsewhere(heldMs: number): number;
};

export type SlotOwner = { readonly endpointId: string; readonly merchantId: string; readonly mode: Mode };

/**
 * Limits how many deliveries of one process run at once, so that an unresponsive receiver holds
 * up nobody but itself. Before anything is sent a slot of the whole installation is needed too;
 * this one only spares asking for it when this process knows already that none is free.
 */
export type DeliverySlots = {
  /** Takes a slot, at once or within two seconds; else returns how long to stay away. */
  take(owner: SlotOwner): Promise<Slot | { readonly waitMs: number }>;
};

export type SlotOptions = {
  readonly perEndpoint?: number;
  readonly perMerchant?: number;
  readonly perMerchantInTest?: number;
  readonly inTest?: number;
  readonly waitHereMs?: number;
  readonly nowMs?: () => number;
  /**
   * The slot of the whole installation at which this process begins
   * to look. Unset means a random one, so that processes seldom meet.
   */
  readonly firstNumber?: number;
};

type Use = { readonly sinceMs: number; readonly place: number };

type Lane = {
  /** The slots of this endpoint that are in use in this process. */
  readonly taken: Set<Use>;
  /** Deliveries that wait here, first come first served; each takes the slot it is called for. */
  readonly waiters: (() => void)[];
  /** How long slots are held: a moving average. */
  heldMs: number;
  /** The time up to which turns were given to deliveries that were sent away. */
  tailMs: number;
  /**
   * How many slots other processes have left to this one, until
   * when that is believed, and how long they had held theirs.
   */
  elsewhere: { readonly left: number; readonly untilMs: number; readonly heldMs: number } | undefined;
};

/**
 * Slots in this process's memory. While a receiver answers, deliveries queue here for
 * the next free slot. While it is unresponsive they are sent away, one turn after the
 * other at the pace at which slots come free, so that a long queue to it costs little.
 * Nothing is kept free for them: a delivery that comes when a slot is free gets it.
 */
export function createDeliverySlots(options: SlotOptions = {}): DeliverySlots {
  const {
    perEndpoint = SLOTS_PER_ENDPOINT,
    perMerchant = SLOTS_PER_MERCHANT,
    waitHereMs = WAIT_HERE_MS,
  } = options;
  const { perMerchantInTest = TEST_SLOTS_PER_MERCHANT, inTest = TEST_SLOTS } = options;
  const nowMs = options.nowMs ?? (() => performance.now());
  const firstNumber = options.firstNumber ?? randomInt(SLOTS_PER_ENDPOINT);
  const lanes = new Map<string, Lane>();
  const merchants = createShares({ perMerchant, perMerchantInTest, inTest });

  const mayHold = (lane: Lane, owner: SlotOwner): boolean =>
    lane.taken.size < Math.min(perEndpoint, elsewhere(lane, nowMs())?.left ?? perEndpoint) &&
    merchants.hasRoom(owner);
  const occupy = (owner: SlotOwner, lane: Lane, waited: boolean): Slot => {
    const use: Use = { sinceMs: nowMs(), place: freePlace(lane) };
    lane.taken.add(use);
    let refused = false;
    merchants.add(owner, 1);
    const free = (): void => {
      if (!lane.taken.delete(use)) return;
      if (!refused) lane.heldMs += (nowMs() - use.sinceMs - lane.heldMs) * NEWEST_SHARE;
      merchants.add(owner, -1);
      // Handed over in the same instant, so that no other delivery can come between.
      while (lane.waiters.length > 0 && mayHold(lane, owner)) lane.waiters.shift()?.();
      const idle =
        lane.taken.size + lane.waiters.length === 0 && lane.tailMs <= nowMs() && !elsewhere(lane, nowMs());
      if (idle) lanes.delete(owner.endpointId);
    };
    const usedElsewhere = (heldMs: number): number => {
      refused = true;
      lane.elsewhere = { left: lane.taken.size - 1, untilMs: nowMs() + LOOK_AGAIN_MS, heldMs };
      return awayMs(lane, perEndpoint, nowMs());
    };
    return { free, waited, number: (firstNumber + use.place) % SLOTS_PER_ENDPOINT, usedElsewhere };
  };

  return {
    take: async (owner) => {
      const { endpointId } = owner;
      const lane = lanes.get(endpointId) ?? {
        taken: new Set(),
        waiters: [],
        heldMs: 0,
        tailMs: 0,
        elsewhere: undefined,
      };
      lanes.set(endpointId, lane);
      if (lane.waiters.length === 0 && mayHold(lane, owner)) return occupy(owner, lane, false);
      if (
        !isUnresponsive(lane, nowMs()) &&
        lane.taken.size > 0 &&
        lane.waiters.length < WAITERS_PER_ENDPOINT
      ) {
        const slot = await queue(lane, waitHereMs, () => occupy(owner, lane, true));
        if (slot) return slot;
      }
      return { waitMs: awayMs(lane, perEndpoint, nowMs()) };
    },
  };
}

/** How many slots each merchant holds in each mode, and all of them together in test mode. */
function createShares(most: { perMerchant: number; perMerchantInTest: number; inTest: number }) {
  const held = new Map<string, number>();
  let heldInTest = 0;
  return {
    hasRoom: ({ merchantId, mode }: SlotOwner): boolean => {
      const own = held.get(`${mode}:${merchantId}`) ?? 0;
      return mode === 'live'
        ? own < most.perMerchant
        : own < most.perMerchantInTest && heldInTest < most.inTest;
    },
    add: ({ merchantId, mode }: SlotOwner, slots: 1 | -1): void => {
      const key = `${mode}:${merchantId}`;
      const now = (held.get(key) ?? 0) + slots;
      if (now > 0) held.set(key, now);
      else held.delete(key);
      if (mode === 'test') heldInTest += slots;
    },
  };
}

/** What is still believed of the other processes; undefined when that time is over. */
function elsewhere(lane: Lane, now: number): Lane['elsewhere'] {
  return lane.elsewhere && lane.elsewhere.untilMs > now ? lane.elsewhere : undefined;
}

function freePlace(lane: Lane): number {
  const used = new Set([...lane.taken].map(({ place }) => place));
  let place = 0;
  while (used.has(place)) place += 1;
  return place;
}

/** Whether the slots of this endpoint come back slowly, by what was measured or by what is under way now. */
function isUnresponsive(lane: Lane, now: number): boolean {
  if ((elsewhere(lane, now)?.heldMs ?? 0) >= SLOW_MS) return true;
  if (lane.taken.size === 0) return false;
  let youngestMs = Number.POSITIVE_INFINITY;
  for (const { sinceMs } of lane.taken) youngestMs = Math.min(youngestMs, now - sinceMs);
  return youngestMs >= SLOW_MS || lane.heldMs >= SLOW_MS;
}

/** Waits in line; undefined when no slot came in time. */
function queue(lane: Lane, limitMs: number, take: () => Slot): Promise<Slot | undefined> {
  return new Promise((resolve) => {
    const waiter = (): void => {
      clearTimeout(timer);
      resolve(take());
    };
    const timer = setTimeout(() => {
      const place = lane.waiters.indexOf(waiter);
      if (place >= 0) lane.waiters.splice(place, 1);
      resolve(undefined);
    }, limitMs);
    lane.waiters.push(waiter);
  });
}

/**
 * How long until the next turn: as far behind the turn before as slots take to come free, within the limits.
 */
function awayMs(lane: Lane, perEndpoint: number, now: number): number {
  const eachMs =
    Math.max(lane.heldMs, elsewhere(lane, now)?.heldMs ?? 0, isUnresponsive(lane, now) ? SLOW_MS : 0) /
    perEndpoint;
  lane.tailMs = Math.min(
    now + UNRESPONSIVE_MAX_MS,
    Math.max(lane.tailMs, now + UNRESPONSIVE_MIN_MS) + eachMs,
  );
  return Math.round(Math.max(UNRESPONSIVE_MIN_MS, lane.tailMs - now));
}
