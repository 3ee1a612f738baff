import type { Json } from '../api.ts';
import type { ReceiverName } from '../plan/plan.ts';
import { type Hook, isSuccess } from '../receivers.ts';

/** One event as one receiver saw it, over all its attempts. */
export type Seen = {
  readonly receiver: ReceiverName;
  readonly eventId: string;
  readonly event: string;
  readonly data: Json;
  /** When it happened, as the body says. */
  readonly timestamp: string;
  /** How many different bodies came under this id; must be 1. */
  readonly bodies: number;
  readonly allVerified: boolean;
  /** The numbers of the attempts, in the order of their arrival. */
  readonly attempts: readonly number[];
  /** Whether the receiver answered at least one of them with success. */
  readonly taken: boolean;
};

/** The record of one receiver, by event id. */
export function recordsOf(hook: Hook): Map<string, Seen> {
  const groups = new Map<string, (typeof hook.received)[number][]>();
  for (const entry of hook.received) {
    const id = String(entry.request.headers['x-webhook-id']);
    groups.set(id, [...(groups.get(id) ?? []), entry]);
  }
  return new Map(
    [...groups].map(([eventId, entries]) => {
      const body = JSON.parse(entries[0]?.request.body.toString() ?? '{}') as {
        event: string;
        data: Json;
        timestamp: string;
      };
      return [
        eventId,
        {
          receiver: hook.name,
          eventId,
          event: body.event,
          data: body.data,
          timestamp: body.timestamp,
          bodies: new Set(entries.map(({ request }) => request.body.toString('hex'))).size,
          allVerified: entries.every(({ request }) => request.verified === true),
          attempts: entries.map(({ request }) => Number(request.headers['x-webhook-attempt'])),
          taken: entries.some(({ answered }) => isSuccess(answered)),
        },
      ];
    }),
  );
}
