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

/** A receiver that answers none of its connections for this long is unresponsive: nobody waits for a slot. */
const SLOW_MS = 2_000;
/**
 * A receiver that answers frees its slots soon: waiting
 * here costs less than sending a delivery back to Temporal.
 */
const WAIT_HERE_MS = 2_000;
const WAITERS_PER_ENDPOINT = 40;

export type Slot = {
  /** Gives the slot back; more than once does nothing. */
  readonly free: () => void;
  /** Whether the caller was kept waiting, so that what it read before is old. */
  readonly waited: boolean;
  /** The slot of the whole installation to ask for first; it differs for each delivery of this process. */
  readonly number: number;
};

export type SlotOwner = { readonly endpointId: string; readonly merchantId: string; readonly mode: Mode };

/**
 * Limits how many deliveries of one process run at once, so that an unresponsive receiver holds
 * up nobody but itself. Before anything is sent a slot of the whole installation is needed too;
 * this one only spares asking for it when this process knows already that none is free.
 */
export type DeliverySlots = {
  /** Takes a slot, at once or within two seconds; undefined where none came free. */
  take(owner: SlotOwner): Promise<Slot | undefined>;
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
};

/**
 * Slots in this process's memory. While a receiver answers, deliveries queue here for the next free slot;
 * where none came free they are sent away. Nothing is kept free for them: a delivery that comes when a slot
 * is free gets it.
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
    lane.taken.size < perEndpoint && merchants.hasRoom(owner);
  const occupy = (owner: SlotOwner, lane: Lane, waited: boolean): Slot => {
    const use: Use = { sinceMs: nowMs(), place: freePlace(lane) };
    lane.taken.add(use);
    merchants.add(owner, 1);
    const free = (): void => {
      if (!lane.taken.delete(use)) return;
      merchants.add(owner, -1);
      // Handed over in the same instant, so that no other delivery can come between.
      while (lane.waiters.length > 0 && mayHold(lane, owner)) lane.waiters.shift()?.();
      if (lane.taken.size + lane.waiters.length === 0) lanes.delete(owner.endpointId);
    };
    return { free, waited, number: (firstNumber + use.place) % SLOTS_PER_ENDPOINT };
  };

  return {
    take: async (owner) => {
      const lane = lanes.get(owner.endpointId) ?? { taken: new Set(), waiters: [] };
      if (lane.waiters.length === 0 && mayHold(lane, owner)) {
        lanes.set(owner.endpointId, lane);
        return occupy(owner, lane, false);
      }
      if (!isAnswering(lane, nowMs()) || lane.waiters.length >= WAITERS_PER_ENDPOINT) return undefined;
      return await queue(lane, waitHereMs, () => occupy(owner, lane, true));
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

function freePlace(lane: Lane): number {
  const used = new Set([...lane.taken].map(({ place }) => place));
  let place = 0;
  while (used.has(place)) place += 1;
  return place;
}

/** Whether a slot of this endpoint may soon come free here: one that is in use was taken a moment ago. */
function isAnswering(lane: Lane, now: number): boolean {
  return [...lane.taken].some(({ sinceMs }) => now - sinceMs < SLOW_MS);
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
