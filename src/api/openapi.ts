import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import { type AnyEventType, EVENT_TYPES, TEST_EVENT } from '../domain/events.ts';
import { USER_AGENT, WEBHOOK_HEADERS } from '../domain/webhook.ts';
import { ERROR_STATUS, type ErrorCode } from './errors.ts';
import { IDEMPOTENCY_KEY, REPLAYED_HEADER, takesKey } from './idempotency.ts';
import type { Route } from './route.ts';
import { id, time } from './schemas/common.ts';
import { customer } from './schemas/customer.ts';
import { deposit } from './schemas/deposit.ts';
import { paymentLink } from './schemas/payment.ts';

const JSON_TYPE = 'application/json';

const errorBody = z
  .strictObject({
    error: z.string().meta({ description: 'A sentence for people.' }),
    code: z.enum(Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]]),
    details: z.array(z.strictObject({ path: z.string(), message: z.string() })).optional(),
    field: z.string().optional().meta({ description: 'The field that exists already.' }),
    minimum: z.number().optional().meta({ description: 'With AMOUNT_TOO_SMALL: the smallest amount in USD.' }),
  })
  .meta({ id: 'Error' });

const idempotencyHeader = z.object({
  'Idempotency-Key': z.string().regex(IDEMPOTENCY_KEY).optional().meta({
    description:
      'Makes it safe to send the request again: for 24 hours the same key with the same request gets the first answer, marked with `Idempotency-Replayed: true`.',
    example: '7f9c1c1e-order-4711',
  }),
});

const replayedHeader = z.object({
  [REPLAYED_HEADER]: z.literal('true').optional().meta({ description: 'This very answer was given before to the same Idempotency-Key.' }),
});

const DESCRIPTION: Readonly<Record<number, string>> = {
  200: 'Done.',
  201: 'Made.',
  400: 'A field, the query or the JSON is wrong.',
  401: 'No valid API key or session, two that differ, or a key in the query string.',
  403: "No active subscription, an address that is not allowed, the wrong mode, a key where a session is needed, or a request from somebody else's page.",
  404: 'No such resource for this merchant and mode.',
  409: 'It exists already, or the Idempotency-Key stands for another request or for one that is still being worked on.',
  413: 'The body is larger than 1 MiB.',
  415: 'The body is not JSON.',
  429: 'Too many requests of this caller, or too many bad credentials from this address. `Retry-After` says when to come back.',
  500: 'A fault of ours.',
  503: 'A part of the service is away; try again.',
};

/** The OpenAPI 3.1 document of the routes and of the webhooks, made from the very schemas that validate. */
export function describeApi(input: { readonly routes: readonly Route[]; readonly serverUrl: string }): object {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const route of input.routes) {
    const path = route.path.replace(/:([a-z_]+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method]: operationOf(route) };
  }
  return createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Crypto Deposit Gateway API',
      version: '1',
      description:
        'Customers with permanent deposit addresses, their deposits, and signed webhooks. Live and test data are apart; the key decides.',
    },
    servers: [{ url: input.serverUrl }],
    security: [{ bearer: [] }, { apiKey: [] }, { session: [] }],
    paths: paths as ZodOpenApiPathsObject,
    webhooks: Object.fromEntries(([...EVENT_TYPES, TEST_EVENT] as const).map((type) => [type, { post: webhookOf(type) }])),
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'A key that starts with sk_live_ or sk_test_.' },
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'The same key in another header.' },
        session: {
          ...{ type: 'apiKey', in: 'cookie', name: 'ch_session' },
          description:
            'A session of POST /login, for tools in a browser. Live data, unless the header "X-Mode: test" comes along. What changes something is taken from our own pages only.',
        },
      },
    },
  });
}

function operationOf(route: Route): ZodOpenApiOperationObject {
  const path = asObject(route.params);
  const query = asObject(route.query);
  return {
    operationId: `${route.method}${route.path.replace(/[^a-zA-Z]+(.)/g, (_all, letter: string) => letter.toUpperCase())}`,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    ...(route.auth === 'none' ? { security: [] } : {}),
    requestParams: { ...(path ? { path } : {}), ...(query ? { query } : {}), ...(takesKey(route) ? { header: idempotencyHeader } : {}) },
    ...(route.body ? { requestBody: { required: true, content: { [JSON_TYPE]: { schema: route.body } } } } : {}),
    responses: responsesOf(route),
  };
}

function responsesOf(route: Route) {
  const good = route.statuses.map((status) => [status, route.response] as const);
  const bad = errorStatuses(route).map((status) => [status, errorBody] as const);
  return Object.fromEntries(
    [...good, ...bad].map(([status, schema]) => [
      `${status}`,
      {
        ...{ description: DESCRIPTION[status] ?? '', content: { [JSON_TYPE]: { schema } } },
        ...(takesKey(route) && isReplayed(route, status) ? { headers: replayedHeader } : {}),
      },
    ]),
  );
}

/** Only what a request brought about is stored. */
function isReplayed(route: Route, status: number): boolean {
  return status === 409 || route.statuses.some((good) => good === status);
}

function errorStatuses(route: Route): number[] {
  const statuses = new Set<number>([400, 429, 500, 503]);
  if (route.auth === 'merchant') for (const status of [401, 403]) statuses.add(status);
  if (route.params) statuses.add(404);
  if (route.body || takesKey(route)) for (const status of [413, 415]) statuses.add(status);
  if (takesKey(route)) statuses.add(ERROR_STATUS.IDEMPOTENCY_CONFLICT);
  for (const code of route.errors ?? []) statuses.add(ERROR_STATUS[code]);
  return [...statuses].sort((a, b) => a - b);
}

function asObject(schema: z.ZodType | undefined): z.ZodObject | undefined {
  return schema instanceof z.ZodObject ? schema : undefined;
}

/** What `data` of an event holds. */
function dataOf(type: AnyEventType): z.ZodType {
  if (type === TEST_EVENT) return z.strictObject({ endpoint_id: id, message: z.string(), is_live: z.boolean() });
  if (type === 'customer.created') return customer;
  if (type === 'payment.completed') return paymentLink;
  return deposit;
}

function webhookOf(type: AnyEventType): ZodOpenApiOperationObject {
  const data = dataOf(type);
  const headers = z.object({
    [WEBHOOK_HEADERS.signature]: z
      .string()
      .meta({ description: `Hex HMAC-SHA256 with the secret over ${WEBHOOK_HEADERS.timestamp} + "." + raw body.` }),
    [WEBHOOK_HEADERS.timestamp]: z.string().meta({ description: 'When this attempt was sent, ISO-8601.' }),
    [WEBHOOK_HEADERS.id]: z.string().meta({ description: 'The id of the event, the same on every attempt.' }),
    [WEBHOOK_HEADERS.event]: z.literal(type),
    [WEBHOOK_HEADERS.attempt]: z.string(),
    [WEBHOOK_HEADERS.standardId]: z.string().meta({ description: `The same as ${WEBHOOK_HEADERS.id}.` }),
    [WEBHOOK_HEADERS.standardTimestamp]: z.string().meta({ description: 'The same time in Unix seconds.' }),
    [WEBHOOK_HEADERS.standardSignature]: z
      .string()
      .meta({ description: 'By Standard Webhooks; for 24 hours after a rotation the old secret signs here too.' }),
    'User-Agent': z.literal(USER_AGENT),
  });
  return {
    operationId: `webhook_${type.replace('.', '_')}`,
    summary: type,
    requestParams: { header: headers },
    requestBody: {
      required: true,
      content: { [JSON_TYPE]: { schema: z.strictObject({ event: z.literal(type), data, timestamp: time }) } },
    },
    responses: {
      '200': { description: 'Any 2xx within 10 seconds takes the event. 5xx, 429 and silence are tried again, other answers are final.' },
    },
  };
}
