import { z } from 'zod';
import { EVENT_TYPES, TEST_EVENT } from '../../domain/events.ts';
import { boundedText, id, isLive, listQuery, text, time, timeFilter, WEB_URL } from './common.ts';

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

// Which names are valid is the service's to say, in one sentence for every way to get them wrong.
const names = z
  .union([z.array(boundedText(MAX_NAME)).max(MAX_NAMES), boundedText(MAX_NAME)], 'must be a list of event names, or "*"')
  .transform((value) => (typeof value === 'string' ? [value] : value))
  .meta({
    override: { anyOf: [{ type: 'array', minItems: 1, maxItems: MAX_NAMES, items: NAME }, NAME] },
    description: `Names of events, or "*" for all of them: ${EVENT_TYPES.join(', ')}.`,
  });

const members = {
  events: names.optional(),
  enabled_events: names.optional().meta({ description: 'An alias of events.' }),
  description: boundedText(MAX_DESCRIPTION).nullish().meta({ description: 'For your own eyes.' }),
};

type Lists = { readonly events?: string[] | undefined; readonly enabled_events?: string[] | undefined };

const asSet = (names: readonly string[]): string => JSON.stringify([...new Set(names)].sort());

/** Of two lists that differ, one would be passed over in silence. */
const oneList = [
  ({ events, enabled_events: alias }: Lists) => !events || !alias || asSet(events) === asSet(alias),
  { path: ['enabled_events'] as PropertyKey[], error: 'must be the same as events' },
] as const;

export const newEndpoint = z
  .object({ url, ...members })
  .refine((body) => (body.events ?? body.enabled_events) !== undefined, {
    path: ['events'],
    error: 'is required',
    // Together with what else is missing, not only once the rest is right.
    when: ({ value }) => typeof value === 'object' && value !== null,
  })
  .refine(...oneList)
  .meta({ id: 'NewWebhookEndpoint', override: { anyOf: [{ required: ['events'] }, { required: ['enabled_events'] }] } });

export const endpointChange = z
  .object({
    url: url.optional(),
    ...members,
    enabled: z.boolean().optional().meta({ description: 'True clears the reason and the counters that disabled it.' }),
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
    events: z.array(z.string()).meta({ description: 'What is sent to it: names, or * for all.' }),
    enabled: z.boolean().meta({ description: 'False: nothing is sent, and what happens is kept as failed deliveries.' }),
    is_live: isLive,
    secret_hint: z.string().meta({ description: 'The last four characters of the secret.' }),
    last_delivery_at: time.nullable().meta({ description: 'When something was last sent to it.' }),
    last_status_code: z.int().nullable().meta({ description: 'What it answered then; null where no answer came.' }),
    consecutive_failures: z.int().meta({ description: 'Attempts in a row that failed.' }),
    disabled_reason: z.string().nullable().meta({ description: 'Why it was disabled by itself; null otherwise.' }),
    created_at: time.meta({ description: 'When it was made.' }),
    updated_at: time.meta({ description: 'When it last changed.' }),
  })
  .meta({ id: 'WebhookEndpoint' });

const secret = z
  .string()
  .regex(/^whsec_/)
  .meta({ description: 'The signing secret. It is shown only here.', example: 'whsec_…' });

export const endpointWithSecret = endpoint.extend({ secret }).meta({ id: 'WebhookEndpointWithSecret' });
export const endpointMaybeSecret = endpoint.extend({ secret: secret.optional() }).meta({ id: 'WebhookEndpointMaybeSecret' });
export const endpointDeleted = z.strictObject({ id, deleted: z.literal(true) });

const deliveryStatus = z.enum(['pending', 'succeeded', 'failed']);

export const delivery = z
  .strictObject({
    id: id.meta({ description: 'The id of the delivery.' }),
    event_id: id.meta({ description: 'What is delivered.' }),
    endpoint_id: id.meta({ description: 'To whom.' }),
    event: z.string().meta({ description: 'The name of the event.' }),
    status: deliveryStatus.meta({ description: 'pending: more attempts will come. failed: no more will, until you resend it.' }),
    attempts: z
      .array(
        z.strictObject({
          round: z.int().meta({ description: '1, and one more with each resend.' }),
          number: z.int().meta({ description: 'From 1 in each round.' }),
          started_at: time.meta({ description: 'When the attempt began.' }),
          status_code: z.int().nullable().meta({ description: 'What was answered; null where nothing was.' }),
          error: z.string().nullable().meta({ description: 'Why there was no answer.' }),
          duration_ms: z.int().nullable().meta({ description: 'How long it took; null while it lasts.' }),
        }),
      )
      .meta({ description: 'Its latest 20 attempts, the oldest first.' }),
    next_attempt_at: time.nullable().meta({ description: 'When the next attempt is due; null when none is.' }),
    created_at: time.meta({ description: 'When the delivery was made.' }),
  })
  .meta({ id: 'WebhookDelivery' });

export const deliveryQuery = listQuery({
  status: deliveryStatus.optional().meta({ description: 'Only deliveries in this state.' }),
  event: z
    .enum([...EVENT_TYPES, TEST_EVENT])
    .optional()
    .meta({ description: 'Only deliveries of this event.' }),
});

export const event = z
  .strictObject({
    id: id.meta({ description: 'The id of the event; the X-Webhook-Id of its deliveries.' }),
    event: z.string().meta({ description: 'The name of the event.' }),
    data: z.record(z.string(), z.unknown()).meta({ description: 'Exactly what is delivered.' }),
    timestamp: time.meta({ description: 'When it happened.' }),
    deliveries: z.array(delivery).meta({ description: 'To whom it is sent.' }),
  })
  .meta({ id: 'Event' });

export const resendFailedBody = z
  .object({
    since: timeFilter
      .pipe(z.date())
      .meta({ description: 'Deliveries that failed at or after this time.', example: '2026-11-20T09:30:00Z' }),
  })
  .meta({ id: 'ResendFailed' });

export const resentFailed = z.strictObject({
  resent: z.int().meta({ description: 'Deliveries that are on their way again.' }),
  has_more: z.boolean().meta({ description: 'True: there are more. Call again.' }),
});
