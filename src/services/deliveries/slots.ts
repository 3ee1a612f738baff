/** At most this many open sockets to one endpoint in one process. */
export const SLOTS_PER_ENDPOINT = 10;

export const SLOT_LIMITS = {
  /** A slot that is expected within this time is waited for here: sending a delivery back to Temporal costs more. */
  hereMs: 500,
  /** The one whose turn it is waits a little longer. With an attempt and its record it must fit into the activity's time. */
  turnMs: 1_000,
  /** The least and the most that a delivery is told to stay away. The most bounds how long a receiver that works again goes unnoticed. */
  awayMinMs: 1_000,
  awayMaxMs: 120_000,
  /** A reserved time that its owner did not come for is given to others after this long. */
  graceMs: 5_000,
  /** Reservations of one endpoint. Later ones are told the longest pause and ask again. */
  reservations: 10_000,
} as const;

/** How long a slot is held, before anything was measured. */
const FIRST_GUESS_MS = 100;
/** The share of the newest measurement in the average. */
const NEWEST_SHARE = 0.2;
/** Endpoints that nothing is sent to any more are forgotten this often. */
const SWEEP_EVERY_MS = 60_000;

export type Slot = {
  /** Gives the slot back; more than once does nothing. */
  readonly free: () => void;
  /** Whether the caller was kept waiting, so that what it read before is old. */
  readonly waited: boolean;
};

/** Concurrency of deliveries by endpoint, so that a receiver that hangs holds up nobody but itself. */
export type DeliverySlots = {
  /** A slot, at once or within half a second; otherwise how long to stay away, until a slot is reserved for this delivery. */
  take(endpointId: string, deliveryId: string): Promise<Slot | { readonly waitMs: number }>;
};

/** `nowMs` is any steady clock; the others are for tests. */
export type SlotOptions = { readonly limit?: number; readonly hereMs?: number; readonly turnMs?: number; readonly nowMs?: () => number };

/** Called with the slot, or without one when none came in time. */
type Waiter = (slot: Slot | undefined) => void;

type Lane = {
  /** The slots in use, the oldest first. */
  readonly taken: Set<{ readonly sinceMs: number }>;
  /** Deliveries that wait here, first come first served. */
  readonly waiters: Waiter[];
  /** When each delivery that was sent away may expect a slot, in the order of these times. */
  readonly reserved: Map<string, { readonly atMs: number; keptUntilMs: number }>;
  /** The last reserved time. */
  tailMs: number;
  /** How long slots are held: a moving average. */
  heldMs: number;
};

/**
 * Slots in this process's memory. How long slots are held is measured; from that, a delivery that finds none either waits here for a
 * moment or gets a time of its own, one after the other, and stays away until then. So the retries of a long queue to a receiver that
 * hangs are as rare as its slots, while a receiver that answers is kept busy. */
export function createDeliverySlots(options: SlotOptions = {}): DeliverySlots {
  const { limit = SLOTS_PER_ENDPOINT, hereMs = SLOT_LIMITS.hereMs, turnMs = SLOT_LIMITS.turnMs, nowMs = () => performance.now() } = options;
  const lanes = new Map<string, Lane>();
  let sweptMs = nowMs();

  const laneOf = (endpointId: string): Lane => {
    const lane = lanes.get(endpointId) ?? { taken: new Set(), waiters: [], reserved: new Map(), tailMs: 0, heldMs: FIRST_GUESS_MS };
    lanes.set(endpointId, lane);
    return lane;
  };
  const occupy = (lane: Lane, waited: boolean): Slot => {
    const use = { sinceMs: nowMs() };
    lane.taken.add(use);
    const free = (): void => {
      if (!lane.taken.delete(use)) return;
      lane.heldMs += (nowMs() - use.sinceMs - lane.heldMs) * NEWEST_SHARE;
      // Handed over in the same instant, so that nobody can come between.
      const next = lane.waiters.shift();
      if (next) next(occupy(lane, true));
    };
    return { free, waited };
  };
  const sweep = (now: number): void => {
    if (now - sweptMs < SWEEP_EVERY_MS) return;
    sweptMs = now;
    for (const [endpointId, lane] of lanes) {
      forgetMissed(lane, now);
      if (lane.taken.size + lane.waiters.length + lane.reserved.size === 0) lanes.delete(endpointId);
    }
  };

  return {
    take: async (endpointId, deliveryId) => {
      sweep(nowMs());
      const lane = laneOf(endpointId);
      forgetMissed(lane, nowMs());
      const before = dueBefore(lane, deliveryId, nowMs());
      const isFree = lane.waiters.length === 0 && lane.taken.size + before < limit;
      const isSoon = (lane.waiters.length + before + 1) * spacingMs(lane, limit, nowMs()) <= hereMs;
      const isNext = before === 0 && (lane.reserved.get(deliveryId)?.atMs ?? Number.POSITIVE_INFINITY) <= nowMs();
      const patienceMs = isNext ? turnMs : isSoon ? hereMs : 0;
      const slot = isFree ? occupy(lane, false) : patienceMs > 0 ? await waitHere(lane, patienceMs) : undefined;
      if (!slot) return { waitMs: reserve(laneOf(endpointId), deliveryId, limit, nowMs()) };
      lane.reserved.delete(deliveryId);
      return slot;
    },
  };
}

/** The pause from one free slot to the next: the measured one, or more where the slots in use have lasted longer already. */
function spacingMs(lane: Lane, limit: number, now: number): number {
  let runningMs = 0;
  for (const { sinceMs } of lane.taken) runningMs += now - sinceMs;
  return Math.max(lane.heldMs, runningMs / Math.max(1, lane.taken.size)) / limit;
}

/** Waits for a slot that another gives back; undefined when none came in time. */
function waitHere(lane: Lane, patienceMs: number): Promise<Slot | undefined> {
  return new Promise((resolve) => {
    const waiter: Waiter = (slot) => {
      clearTimeout(timer);
      const place = lane.waiters.indexOf(waiter);
      if (place >= 0) lane.waiters.splice(place, 1);
      resolve(slot);
    };
    const timer = setTimeout(() => waiter(undefined), patienceMs);
    lane.waiters.push(waiter);
  });
}

/** How many others have a reserved time that has come, and came before this delivery's: slots are kept for them. */
function dueBefore(lane: Lane, deliveryId: string, now: number): number {
  let due = 0;
  for (const [owner, { atMs }] of lane.reserved) {
    if (atMs > now || owner === deliveryId) break;
    due += 1;
  }
  return due;
}

/** How long this delivery stays away: until its reserved time, which is made where it has none. */
function reserve(lane: Lane, deliveryId: string, limit: number, now: number): number {
  const eachMs = spacingMs(lane, limit, now);
  const known = lane.reserved.get(deliveryId);
  if (!known && lane.reserved.size >= SLOT_LIMITS.reservations) return SLOT_LIMITS.awayMaxMs;
  const [oldest] = lane.taken;
  const firstFreeMs = oldest ? Math.max(now, oldest.sinceMs + eachMs * limit) : now;
  const atMs = known?.atMs ?? Math.max(lane.tailMs, firstFreeMs) + eachMs;
  // Its time has come and no slot is there: it stays the next in turn.
  const leftMs = atMs > now ? atMs - now : (dueBefore(lane, deliveryId, now) + 1) * eachMs;
  const waitMs = Math.round(Math.min(SLOT_LIMITS.awayMaxMs, Math.max(SLOT_LIMITS.awayMinMs, leftMs)));
  const keptUntilMs = Math.max(atMs, now + waitMs) + SLOT_LIMITS.graceMs;
  if (known) known.keptUntilMs = keptUntilMs;
  else {
    lane.reserved.set(deliveryId, { atMs, keptUntilMs });
    lane.tailMs = atMs;
  }
  return waitMs;
}

/** Drops the times that nobody came for: the delivery went to another process, or was closed. */
function forgetMissed(lane: Lane, now: number): void {
  for (const [owner, { atMs, keptUntilMs }] of lane.reserved) {
    if (atMs > now) return;
    if (keptUntilMs <= now) lane.reserved.delete(owner);
  }
}
