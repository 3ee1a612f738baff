import { z } from 'zod';
import type { ZodOpenApiOperationObject } from 'zod-openapi';
import { id, time } from '../../contract/common.ts';
import { customer } from '../../contract/customer.ts';
import { deposit } from '../../contract/deposit.ts';
import { EXAMPLE_EVENTS } from '../../contract/event.ts';
import { lateLink, paymentLink } from '../../contract/payment-link.ts';
import { ID } from '../../contract/story.ts';
import { type AnyEventType, EVENT_TYPES, TEST_EVENT } from '../../domain/events.ts';
import { USER_AGENT, WEBHOOK_HEADERS } from '../../domain/webhook.ts';

const WHEN: Readonly<Record<AnyEventType, string>> = {
  'deposit.detected': 'A transfer to one of your addresses is in a block.',
  'deposit.confirming': 'The deposit has one confirmation at least.',
  'deposit.completed':
    'All confirmations, final, and read twice: credit your customer now, once for each `data.id`.',
  'deposit.settled': 'The deposit was paid out to you.',
  'deposit.failed':
    'The deposit does not count; `failure_code` says why. After `deposit.completed` take the credit back.',
  'customer.created': 'A customer was made, by `POST /customers` or by a payment link with a new email.',
  'payment.completed':
    'A payment link is paid. Sent once, to the subscribed endpoints and to the link’s own `webhook_url`, there signed with the link’s `webhook_secret`.',
  'payment.partially_paid':
    'A payment link rests with less than it asks for, and nothing more is on its way. Sent once for each sum that counts, to endpoints that name it.',
  'payment.late':
    'Confirmed money came that would have paid a link which had ended; `late_payment` says which. Sent once for each such deposit, and once more where it was mined again, to endpoints that name it.',
  'payment.expired':
    'The time of a payment link is over, and nothing that was sent in time can come to light any more. Sent once, to endpoints that name it.',
  'payment.cancelled': 'You cancelled a payment link. Sent once, to endpoints that name it.',
  'webhook.test':
    'You asked for it by `POST /webhook-endpoints/:id/test`. It goes to that endpoint alone and cannot be subscribed to.',
};

/** What is sent to endpoints, by event. */
export function describeWebhooks(): Record<string, { post: ZodOpenApiOperationObject }> {
  return Object.fromEntries(
    ([...EVENT_TYPES, TEST_EVENT] as const).map((type) => [type, { post: webhookOf(type) }]),
  );
}

/** What `data` of an event holds. */
function dataOf(type: AnyEventType): z.ZodType {
  if (type === TEST_EVENT)
    return z.strictObject({ endpoint_id: id, message: z.string(), is_live: z.boolean() });
  if (type === 'customer.created') return customer;
  if (type === 'payment.late') return lateLink;
  if (type.startsWith('payment.')) return paymentLink;
  return deposit;
}

function webhookOf(type: AnyEventType): ZodOpenApiOperationObject {
  const body = z.strictObject({
    event: z.literal(type),
    data: dataOf(type),
    timestamp: time.meta({ description: 'When it happened; the same on every attempt.' }),
  });
  return {
    operationId: type.replace(/[._]([a-z])/g, (_all, letter: string) => letter.toUpperCase()),
    tags: ['Webhooks'],
    summary: type,
    description: WHEN[type],
    security: [],
    requestParams: { header: z.object(headersFor(type)) },
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: body,
          examples: { example: { summary: 'An example', value: EXAMPLE_EVENTS[type] } },
        },
      },
    },
    responses: {
      '2XX': { description: 'Takes the event, when it comes within 10 seconds. Do the work afterwards.' },
      '429': {
        description:
          'Tried again, as after every 5xx, a broken connection, and 10 seconds without an answer: five attempts at most.',
      },
      '5XX': { description: 'Tried again.' },
      default: { description: 'Final: not tried again, and a redirect is not followed.' },
    },
  };
}

function headersFor(type: AnyEventType) {
  const { timestamp } = EXAMPLE_EVENTS[type];
  const described = (description: string, example: string) => z.string().meta({ description, example });
  return {
    [WEBHOOK_HEADERS.signature]: described(
      `Hex HMAC-SHA256 over the text of ${WEBHOOK_HEADERS.timestamp}, a dot, and the raw body. The key is the whole secret, \`whsec_\` included.`,
      'f3b1c0d9a8e7f6051423324150617283940a1b2c3d4e5f60718293a4b5c6d7e8',
    ),
    [WEBHOOK_HEADERS.timestamp]: described(
      'When this attempt was sent, ISO-8601. Refuse what is more than five minutes away.',
      timestamp,
    ),
    [WEBHOOK_HEADERS.id]: described('The id of the event, the same on every attempt and resend.', ID.event),
    [WEBHOOK_HEADERS.event]: z
      .literal(type)
      .meta({ description: 'The name of the event, as in the body.', example: type }),
    [WEBHOOK_HEADERS.attempt]: described('From 1.', '1'),
    [WEBHOOK_HEADERS.standardId]: described(
      `By Standard Webhooks: the same as ${WEBHOOK_HEADERS.id}.`,
      ID.event,
    ),
    [WEBHOOK_HEADERS.standardTimestamp]: described(
      'By Standard Webhooks: the sending time in Unix seconds.',
      `${Date.parse(timestamp) / 1000}`,
    ),
    [WEBHOOK_HEADERS.standardSignature]: described(
      'By Standard Webhooks: one or more signatures. For 24 hours after a rotation the old secret signs here too.',
      'v1,2nXg0v1Qd3m0rG5bq9Qd8yP6w1c5aJ7kF3tV9zL2oXk=',
    ),
    'User-Agent': z.literal(USER_AGENT).meta({ description: 'Who sends it.', example: USER_AGENT }),
  };
}
