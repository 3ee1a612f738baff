import { z } from 'zod';
import { type AnyEventType, EVENT_TYPES, TEST_EVENT } from '../domain/events.ts';
import { id, listQuery, time, timeFilter } from './common.ts';
import { customerExample } from './customer.ts';
import { depositExample } from './deposit.ts';
import { paidLinkExample } from './payment-link.ts';
import { ID } from './story.ts';

/** The states of a delivery. */
export const DELIVERY_STATUSES = ['pending', 'succeeded', 'failed'] as const;
const deliveryStatus = z.enum(DELIVERY_STATUSES);

export const delivery = z
  .strictObject({
    id: id.meta({ description: 'The id of the delivery.' }),
    event_id: id.meta({ description: 'What is delivered.' }),
    endpoint_id: id.meta({ description: 'To whom.' }),
    event: z.string().meta({ description: 'The name of the event.' }),
    status: deliveryStatus.meta({
      description: 'pending: more attempts will come. failed: no more will, until you resend it.',
    }),
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
    next_attempt_at: time
      .nullable()
      .meta({ description: 'When the next attempt is due; null when none is.' }),
    created_at: time.meta({ description: 'When the delivery was made.' }),
  })
  .meta({ id: 'WebhookDelivery' });
export type DeliveryView = z.output<typeof delivery>;

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
export type EventView = z.output<typeof event>;

export const resendFailedBody = z
  .object({
    since: timeFilter.pipe(z.date()).meta({
      description: 'Deliveries that failed at or after this time.',
      example: '2026-11-20T09:30:00Z',
    }),
  })
  .meta({ id: 'ResendFailed' });

export const resentFailed = z.strictObject({
  resent: z.int().meta({ description: 'Deliveries that are on their way again.' }),
  has_more: z.boolean().meta({ description: 'True: there are more. Call again.' }),
});

/** As the documents show it. */
export const deliveryExample: DeliveryView = {
  id: ID.delivery,
  event_id: ID.event,
  endpoint_id: ID.endpoint,
  event: 'deposit.completed',
  status: 'succeeded',
  attempts: [
    {
      round: 1,
      number: 1,
      started_at: '2026-11-20T09:30:00Z',
      status_code: 200,
      error: null,
      duration_ms: 84,
    },
  ],
  next_attempt_at: null,
  created_at: '2026-11-20T09:30:00Z',
};

/** As the documents show it. */
export const eventExample: EventView = {
  id: ID.event,
  event: 'deposit.completed',
  data: depositExample,
  timestamp: '2026-11-20T09:30:00Z',
  deliveries: [deliveryExample],
};

/** The event of a test. */
export const testEventExample: EventView = {
  id: ID.event,
  event: 'webhook.test',
  timestamp: '2026-11-20T09:05:00Z',
  data: { endpoint_id: ID.endpoint, message: 'This is a test.', is_live: false },
  deliveries: [
    {
      ...deliveryExample,
      event: 'webhook.test',
      status: 'pending',
      attempts: [],
      next_attempt_at: null,
      created_at: '2026-11-20T09:05:00Z',
    },
  ],
};

const failedDeposit = {
  status: 'failed',
  failure_code: 'REORGED',
  failure_reason: 'its block was replaced',
  block_hash: null,
};

/** The body of each event. */
export const EXAMPLE_EVENTS: Readonly<
  Record<AnyEventType, { event: AnyEventType; data: object; timestamp: string }>
> = {
  'deposit.detected': eventOf('deposit.detected', '2026-11-20T09:29:48Z', {
    ...depositExample,
    ...notYet('detected', 0, 1),
  }),
  'deposit.confirming': eventOf('deposit.confirming', '2026-11-20T09:29:51Z', {
    ...depositExample,
    ...notYet('confirming', 1, 2),
  }),
  'deposit.completed': eventOf('deposit.completed', '2026-11-20T09:30:00Z', depositExample),
  'deposit.settled': eventOf('deposit.settled', '2026-11-20T09:40:00Z', {
    ...depositExample,
    status: 'settled',
    sequence: 4,
    settled_at: '2026-11-20T09:40:00Z',
  }),
  'deposit.failed': eventOf('deposit.failed', '2026-11-20T09:31:00Z', {
    ...depositExample,
    ...notYet('failed', 0, 3),
    ...failedDeposit,
  }),
  'customer.created': eventOf('customer.created', '2026-11-20T09:00:00Z', customerExample),
  'payment.completed': eventOf('payment.completed', '2026-11-20T10:12:00Z', paidLinkExample),
  'webhook.test': eventOf('webhook.test', '2026-11-20T09:05:00Z', testEventExample.data),
};

function eventOf(event: AnyEventType, timestamp: string, data: object) {
  return { event, data, timestamp };
}

function notYet(status: string, confirmations: number, sequence: number) {
  return { status, confirmations, sequence, completed_at: null };
}
