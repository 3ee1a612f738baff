import { z } from 'zod';
import { COMMON_EVENTS, EVENT_TYPES, NAMED_EVENTS } from '../domain/events.ts';
import { boundedText, id, isLive, text, time, WEB_URL } from './common.ts';
import { ID } from './story.ts';

const MAX_URL = 2048;
const MAX_DESCRIPTION = 500;
const MAX_NAMES = 50;
const MAX_NAME = 100;

const url = text(MAX_URL).meta({
  override: { pattern: WEB_URL },
  description: 'https, and a public host.',
  example: 'https://shop.example/webhooks',
});

const NAME = { type: 'string' as const, enum: [...EVENT_TYPES, '*'] };

// The service says which names are valid, in one sentence for every way to get them wrong.
const names = z
  .union(
    [z.array(boundedText(MAX_NAME)).max(MAX_NAMES), boundedText(MAX_NAME)],
    'must be a list of event names, or "*"',
  )
  .transform((value) => (typeof value === 'string' ? [value] : value))
  .meta({
    override: { anyOf: [{ type: 'array', minItems: 1, maxItems: MAX_NAMES, items: NAME }, NAME] },
    description: `Names of events. "*" stands for ${COMMON_EVENTS.join(', ')}; these have to be named, also beside "*": ${NAMED_EVENTS.join(', ')}.`,
  });

const members = {
  events: names.optional(),
  enabled_events: names.optional().meta({ description: 'An alias of events.' }),
  description: boundedText(MAX_DESCRIPTION).nullish().meta({ description: 'For your own eyes.' }),
};

type Lists = { readonly events?: string[] | undefined; readonly enabled_events?: string[] | undefined };

const asSet = (names: readonly string[]): string => JSON.stringify([...new Set(names)].sort());

/** Where two lists differ, one of them would be silently ignored. */
const oneList = [
  ({ events, enabled_events: alias }: Lists) => !events || !alias || asSet(events) === asSet(alias),
  { path: ['enabled_events'] as PropertyKey[], error: 'must be the same as events' },
] as const;

export const newEndpoint = z
  .object({ url, ...members })
  .refine((body) => (body.events ?? body.enabled_events) !== undefined, {
    path: ['events'],
    error: 'is required',
    // Reported together with what else is missing, not only once the rest is right.
    when: ({ value }) => typeof value === 'object' && value !== null,
  })
  .refine(...oneList)
  .meta({
    id: 'NewWebhookEndpoint',
    override: { anyOf: [{ required: ['events'] }, { required: ['enabled_events'] }] },
  });

export const endpointChange = z
  .object({
    url: url.optional(),
    ...members,
    enabled: z
      .boolean()
      .optional()
      .meta({ description: 'True clears the reason and the counters that disabled it.' }),
    rotate_secret: z
      .boolean()
      .optional()
      .meta({ description: 'True: a new secret in the answer; the old one signs beside it for 24 hours.' }),
  })
  .refine(...oneList)
  .meta({ id: 'WebhookEndpointChange' });

export const endpoint = z
  .strictObject({
    id: id.meta({ description: 'The id of the endpoint.' }),
    url: z.string().meta({ description: 'Where events are sent.' }),
    description: z.string().nullable().meta({ description: 'As you gave it.' }),
    events: z
      .array(z.string())
      .meta({ description: 'What is sent to it: names, and * for those that it stands for.' }),
    enabled: z
      .boolean()
      .meta({ description: 'False: nothing is sent, and what happens is kept as failed deliveries.' }),
    is_live: isLive,
    secret_hint: z.string().meta({ description: 'The last four characters of the secret.' }),
    last_delivery_at: time.nullable().meta({ description: 'When something was last sent to it.' }),
    last_status_code: z
      .int()
      .nullable()
      .meta({ description: 'What it answered then; null where no answer came.' }),
    consecutive_failures: z.int().meta({ description: 'Attempts in a row that failed.' }),
    disabled_reason: z
      .string()
      .nullable()
      .meta({ description: 'Why it was disabled by itself; null otherwise.' }),
    created_at: time.meta({ description: 'When it was made.' }),
    updated_at: time.meta({ description: 'When it last changed.' }),
  })
  .meta({ id: 'WebhookEndpoint' });
export type EndpointView = z.output<typeof endpoint>;

const secret = z
  .string()
  .regex(/^whsec_/)
  .meta({ description: 'The signing secret. It is shown only here.', example: 'whsec_…' });

export const endpointWithSecret = endpoint.extend({ secret }).meta({ id: 'WebhookEndpointWithSecret' });
export const endpointMaybeSecret = endpoint
  .extend({ secret: secret.optional() })
  .meta({ id: 'WebhookEndpointMaybeSecret' });
export const endpointDeleted = z.strictObject({ id, deleted: z.literal(true) });

/** As the documents show it. */
export const endpointExample: EndpointView = {
  id: ID.endpoint,
  url: 'https://shop.example/webhooks',
  description: 'Orders',
  events: ['deposit.completed', 'payment.completed'],
  enabled: true,
  is_live: false,
  secret_hint: 'lIE=',
  last_delivery_at: null,
  last_status_code: null,
  consecutive_failures: 0,
  disabled_reason: null,
  created_at: '2026-11-20T09:00:00Z',
  updated_at: '2026-11-20T09:00:00Z',
};
