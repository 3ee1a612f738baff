import { siteOf } from '../api/access/client-address.ts';
import { createOriginRule } from '../api/access/csrf.ts';
import { readFields, shownRefusal } from '../api/requests/form.ts';
import type { Guards } from '../api/requests/rate-limits.ts';
import { createPlaces, type StreamLimits } from '../web/live/places.ts';
import { createPayerTurns } from '../web/live/turns.ts';
import type { DoorOptions } from '../web/payer-door.ts';

/**
 * What the pages for payers take from the API: who asks, how often they may, what a form says, and
 * whether our own page sent it; and what they share. `signal` is aborted when the process shuts down,
 * `limits` are other ones than the product's own.
 */
export function payOptions(guards: Guards, { publicUrl, signal, limits }: Around): DoorOptions {
  return {
    count: guards.countPublic,
    siteOf: (ctx) => siteOf(guards.addressOf(ctx.req)),
    isOwnOrigin: createOriginRule(publicUrl),
    readForm: readFields,
    countSimulation: guards.countSimulation,
    refusalOf: shownRefusal,
    places: createPlaces(limits),
    turns: createPayerTurns(),
    signal,
  };
}

type Around = {
  readonly publicUrl: string | undefined;
  readonly signal: AbortSignal;
  readonly limits?: Partial<StreamLimits> | undefined;
};
