import { EVENT_TYPES } from '../../domain/events.ts';
import { WEBHOOK_LIMITS } from '../../domain/webhook.ts';
import type { Deps } from '../deps.ts';
import { Refusal } from '../refusal.ts';
import type { Scope } from '../scope.ts';
import { createLookup, type Lookup } from './http/lookup.ts';
import { checkTargetForSave, TargetRefused } from './http/target.ts';

/** `lookup`: unset means the machine's own name resolution. */
export type EndpointDeps = Deps & { readonly lookup?: Lookup | undefined };

export type NewEndpoint = Scope & {
  readonly url: string;
  readonly events: readonly string[];
  readonly description: string | null;
};

export type EndpointChange = Scope & {
  readonly id: string;
  readonly url?: string | undefined;
  readonly events?: readonly string[] | undefined;
  readonly description?: string | null | undefined;
  readonly enabled?: boolean | undefined;
  readonly rotateSecret?: boolean | undefined;
};

/** A URL that the target rule permitted, in its normalised form: only {@link checkUrl} makes one. */
export type PermittedUrl = string & { readonly [permitted]: true };
declare const permitted: unique symbol;

/** A new endpoint whose URL and events were checked. */
export type PermittedEndpoint = NewEndpoint & { readonly url: PermittedUrl };
/** A change whose URL and events were checked. */
export type PermittedChange = EndpointChange & { readonly url?: PermittedUrl | undefined };

/**
 * What `createEndpoint` needs to know first. Looks a name up, so it is never called inside a transaction.
 * Throws a {@link Refusal} for an unknown event name, or a URL that the target rule forbids.
 */
export async function permitEndpoint(deps: EndpointDeps, input: NewEndpoint): Promise<PermittedEndpoint> {
  const events = checkEvents(input.events);
  return { ...input, events, url: await checkUrl(deps, input.url) };
}

/**
 * What `updateEndpoint` needs to know first, like {@link permitEndpoint}:
 * wrong fields are reported before an unknown id.
 */
export async function permitChange(deps: EndpointDeps, input: EndpointChange): Promise<PermittedChange> {
  const events = input.events && checkEvents(input.events);
  return { ...input, events, url: input.url === undefined ? undefined : await checkUrl(deps, input.url) };
}

/**
 * The normalised form of a URL that the target rule permits, for `field` of a request. Looks
 * its name up, so it is never called inside a transaction. Throws an INVALID {@link Refusal}.
 */
export async function checkUrl(deps: EndpointDeps, text: string, field = 'url'): Promise<PermittedUrl> {
  const policy = deps.settings.webhookTarget;
  const lookup = deps.lookup ?? createLookup({ useSystem: policy.allowedCidrs.length > 0 });
  try {
    const { caPem, ...rule } = policy;
    const whole = { ...rule, ...(caPem === undefined ? {} : { caPem }) };
    const { url } = await checkTargetForSave({ lookup }, text, whole);
    // Percent-encoding makes some URLs longer than what was typed.
    if (url.href.length > WEBHOOK_LIMITS.urlCharacters)
      throw new Refusal('INVALID', 'The URL is too long.', field);
    return url.href as PermittedUrl;
  } catch (error) {
    if (error instanceof TargetRefused) throw new Refusal('INVALID', error.message, field);
    throw error;
  }
}

function checkEvents(events: readonly string[]): string[] {
  const known: readonly string[] = [...EVENT_TYPES, '*'];
  const unique = [...new Set(events)];
  if (unique.length > 0 && unique.every((name) => known.includes(name))) return unique;
  throw new Refusal(
    'INVALID',
    `events must name at least one of ${EVENT_TYPES.join(', ')}, or be "*" for all.`,
    'events',
  );
}
