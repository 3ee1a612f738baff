import { z } from 'zod';
import { type AnyEventType, EVENT_TYPES, TEST_EVENT } from '../domain/events.ts';
import { id, idText, listOf, listQuery, time, timeFilter } from './common.ts';
import { customerExample } from './customer.ts';
import { depositExample } from './deposit.ts';
import { linkExample, paidLinkExample, partialLinkExample } from './payment-link.ts';
import { HASH, ID } from './story.ts';

/** The states of a delivery. */
export const DELIVERY_STATUSES = ['pending', 'succeeded', 'failed'] as const;
const TYPES = [...EVENT_TYPES, TEST_EVENT] as const;
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
  event: z.enum(TYPES).optional().meta({ description: 'Only deliveries of this event.' }),
});

/** What a list of events can be asked for. */
export const eventQuery = listQuery({
  type: z.enum(TYPES).optional().meta({ description: 'Only events of this name.' }),
  subject_id: idText.optional().meta({
    description: 'Only events about this deposit, customer, payment link or endpoint.',
  }),
  created_from: timeFilter.optional().meta({ description: 'Recorded at or after this time.' }),
  created_to: timeFilter.optional().meta({ description: 'Recorded at or before this time.' }),
});

const eventMembers = {
  id: id.meta({ description: 'The id of the event; the X-Webhook-Id of its deliveries.' }),
  event: z.string().meta({ description: 'The name of the event.' }),
  subject_id: id.meta({ description: 'What it is about: a deposit, customer, payment link or endpoint.' }),
  sequence: z.int().meta({ description: 'Rises with each event of a deposit or payment link.' }),
  data: z.record(z.string(), z.unknown()).meta({ description: 'What is delivered.' }),
  payload: z.string().meta({
    description: 'The body of its webhooks, byte by byte: in UTF-8 it is what was signed.',
  }),
  timestamp: time.meta({ description: 'When it happened.' }),
  created_at: time.meta({ description: 'When it was recorded, by which events are listed.' }),
};

export const listedEvent = z.strictObject(eventMembers).meta({ id: 'ListedEvent' });
export type ListedEventView = z.output<typeof listedEvent>;

/** One page of events, and how far back it is final. */
export const eventList = listOf(listedEvent).extend({
  complete_before: time.meta({
    description:
      'No event with a created_at before this time can appear any more. Who follows events reads again from here, and leaves out the ids that it has.',
  }),
});

export const event = z
  .strictObject({
    ...eventMembers,
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

/** As the documents show it in a list. */
export const listedEventExample: ListedEventView = listed(
  'deposit.completed',
  { subject_id: ID.deposit, sequence: 3 },
  { timestamp: '2026-11-20T09:30:00Z', data: depositExample },
);

/** As the documents show it. */
export const eventExample: EventView = { ...listedEventExample, deliveries: [deliveryExample] };

/** The event of a test. */
export const testEventExample: EventView = {
  ...listed(
    'webhook.test',
    { subject_id: ID.endpoint, sequence: 1 },
    {
      timestamp: '2026-11-20T09:05:00Z',
      data: { endpoint_id: ID.endpoint, message: 'This is a test.', is_live: false },
    },
  ),
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
  'payment.partially_paid': eventOf('payment.partially_paid', '2026-11-20T10:12:00Z', partialLinkExample),
  'payment.late': eventOf('payment.late', '2026-11-20T11:09:00Z', {
    ...linkExample,
    status: 'expired',
    amount_status: 'late',
    sequence: 2,
    late_payment: { deposit_id: ID.deposit, transaction_hash: HASH, network: 'bsc', amount: '25.5' },
  }),
  'payment.expired': eventOf('payment.expired', '2026-11-20T11:00:09Z', {
    ...linkExample,
    status: 'expired',
    sequence: 1,
  }),
  'payment.cancelled': eventOf('payment.cancelled', '2026-11-20T10:05:00Z', {
    ...linkExample,
    status: 'cancelled',
    sequence: 1,
  }),
  'webhook.test': eventOf('webhook.test', '2026-11-20T09:05:00Z', testEventExample.data),
};

function listed(
  name: AnyEventType,
  about: { subject_id: string; sequence: number },
  { timestamp, data }: { timestamp: string; data: Record<string, unknown> },
): ListedEventView {
  const payload = JSON.stringify({ event: name, data, timestamp });
  return { id: ID.event, event: name, ...about, data, payload, timestamp, created_at: timestamp };
}

function eventOf(event: AnyEventType, timestamp: string, data: object) {
  return { event, data, timestamp };
}

function notYet(status: string, confirmations: number, sequence: number) {
  return { status, confirmations, sequence, completed_at: null };
}
