import { isSubscribed } from '../../../src/domain/events.ts';
import type { Difference } from './compare.ts';
import type { Seen } from './records.ts';

/**
 * Who listens to what: `everything` is the healthy receiver
 * of the same merchant and mode that is sent every event.
 */
export type Listener = {
  readonly name: string;
  readonly everything: string;
  readonly events: readonly string[];
};

/**
 * Every event that the healthy receiver heard of was sent to each
 * other receiver that subscribes to it, and nothing else was.
 */
export function compareSubscriptions(
  listeners: readonly Listener[],
  seen: ReadonlyMap<string, ReadonlyMap<string, Seen>>,
): Difference[] {
  const found: Difference[] = [];
  for (const { name, everything, events } of listeners) {
    const wanted = (event: string) => isSubscribed(events, event);
    const own = seen.get(name) ?? new Map<string, Seen>();
    for (const { eventId, event } of seen.get(everything)?.values() ?? [])
      if (wanted(event) && !own.has(eventId))
        found.push({
          rule: 'every subscriber is sent every event',
          subject: `${name} ${event} ${eventId}`,
          detail: 'never arrived',
        });
    for (const { eventId, event } of own.values())
      if (!wanted(event))
        found.push({
          rule: 'nobody is sent what was not asked for',
          subject: `${name} ${eventId}`,
          detail: event,
        });
  }
  return found;
}
