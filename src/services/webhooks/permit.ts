import { COMMON_EVENTS, EVENT_TYPES, NAMED_EVENTS } from '../../domain/events.ts';
import { WEBHOOK_LIMITS } from '../../domain/webhook.ts';
import type { Deps } from '../deps.ts';
import { Refusal, Refusals } from '../refusal.ts';
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
 * Throws a {@link Refusal} that names each field which is wrong: an unknown event name, or a URL that the
 * target rule forbids.
 */
export async function permitEndpoint(deps: EndpointDeps, input: NewEndpoint): Promise<PermittedEndpoint> {
  const [events, url] = await both(() => checkEvents(input.events), checkUrl(deps, input.url));
  return { ...input, events, url };
}

/**
 * What `updateEndpoint` needs to know first, like {@link permitEndpoint}:
 * wrong fields are reported before an unknown id.
 */
export async function permitChange(deps: EndpointDeps, input: EndpointChange): Promise<PermittedChange> {
  const [events, url] = await both(
    () => input.events && checkEvents(input.events),
    input.url === undefined ? undefined : checkUrl(deps, input.url),
  );
  return { ...input, events, url };
}

/** What two checks found. Where both refuse, the caller is told of both. */
async function both<A, B>(check: () => A, other: B | Promise<B>): Promise<[A, B]> {
  const [one, two] = await Promise.allSettled([(async () => check())(), other]);
  if (one.status === 'fulfilled' && two.status === 'fulfilled') return [one.value, two.value];
  const reasons = [one, two].flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
  const defect = reasons.find((reason) => !(reason instanceof Refusal));
  if (defect !== undefined) throw defect;
  const [first, second] = reasons as Refusal[];
  throw first && second ? new Refusals([first, second]) : first;
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

const NAMES_TOLD = 3;
const NAME_LENGTH = 40;

function checkEvents(events: readonly string[]): string[] {
  const known: readonly string[] = [...EVENT_TYPES, '*'];
  const unique = [...new Set(events)];
  const unknown = unique.filter((name) => !known.includes(name));
  if (unique.length > 0 && unknown.length === 0) return unique;
  const told = unknown.slice(0, NAMES_TOLD).map(quoted).join(', ');
  const more = unknown.length > NAMES_TOLD ? ` and ${unknown.length - NAMES_TOLD} more` : '';
  const wrong = unknown.length === 0 ? '' : `There is no event ${told}${more}. `;
  throw new Refusal(
    'INVALID',
    `${wrong}events must name at least one of ${COMMON_EVENTS.join(', ')}, or be "*" for all of these; ${NAMED_EVENTS.join(', ')} are sent only where they are named.`,
    'events',
  );
}

/** A name as it was given, without what could be taken for something else on a screen. */
function quoted(name: string): string {
  const plain = name.slice(0, NAME_LENGTH).replace(/[^\x21-\x7e]/gu, '?');
  return `"${plain.replaceAll('"', '?')}${name.length > NAME_LENGTH ? '…' : ''}"`;
}
