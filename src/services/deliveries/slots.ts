/** At most this many open sockets to one endpoint in one process. */
export const SLOTS_PER_ENDPOINT = 10;
const MIN_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 5_000;

/** Concurrency of deliveries by endpoint, so that a receiver that hangs holds up nobody but itself. */
export type DeliverySlots = {
  /** A function that frees the slot, or how long to stay away when every slot is taken. */
  take(endpointId: string): { readonly free: () => void } | { readonly waitMs: number };
};

/** Slots in this process's memory. Deliveries that find none are spread over the next seconds, so that they do not come back all at once. */
export function createDeliverySlots(limit: number = SLOTS_PER_ENDPOINT): DeliverySlots {
  const used = new Map<string, number>();
  const refused = new Map<string, number>();
  return {
    take: (endpointId) => {
      const taken = used.get(endpointId) ?? 0;
      if (taken >= limit) {
        const turn = (refused.get(endpointId) ?? 0) + 1;
        refused.set(endpointId, turn);
        return { waitMs: MIN_PAUSE_MS + ((turn * 397) % (MAX_PAUSE_MS - MIN_PAUSE_MS)) };
      }
      used.set(endpointId, taken + 1);
      let freed = false;
      return {
        free: () => {
          if (freed) return;
          freed = true;
          const now = (used.get(endpointId) ?? 1) - 1;
          if (now > 0) used.set(endpointId, now);
          else {
            used.delete(endpointId);
            refused.delete(endpointId);
          }
        },
      };
    },
  };
}
