import { z } from 'zod';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import { ERROR_STATUS, type ErrorCode } from '../errors.ts';
import { takesKey } from '../idempotency.ts';
import type { Route } from '../route.ts';
import { headersOf } from './headers.ts';

/** The body of every answer that is no success. */
export const errorBody = z
  .strictObject({
    error: z
      .string()
      .meta({ description: 'A sentence for people. Its wording may change at any time: decide by `code`.' }),
    code: z
      .enum(Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]])
      .meta({ description: 'For programs; it stays.' }),
    details: z
      .array(z.strictObject({ path: z.string(), message: z.string() }))
      .optional()
      .meta({
        description:
          'What is wrong with which member, the first 20. The path is empty where it is about the whole.',
      }),
    field: z.string().optional().meta({ description: 'With CUSTOMER_EXISTS: the field that is taken.' }),
    minimum: z
      .number()
      .optional()
      .meta({ description: 'With AMOUNT_TOO_SMALL: the smallest amount in USD.' }),
  })
  .meta({ id: 'Error' });

export type Told = { readonly summary: string; readonly example: z.input<typeof errorBody> };

/** What each code means, and an answer that has it. */
const ERRORS: Readonly<Record<ErrorCode, Told>> = {
  VALIDATION_ERROR: {
    summary: 'A member of the body, the query or a header is wrong; every one is listed',
    example: {
      error: 'limit must be a whole number from 1 to 100.',
      code: 'VALIDATION_ERROR',
      details: [{ path: 'limit', message: 'must be a whole number from 1 to 100' }],
    },
  },
  AMOUNT_TOO_SMALL: {
    summary: 'The amount is below the smallest one that this installation takes',
    example: {
      error: 'The smallest amount of a payment link is 5 USD.',
      code: 'AMOUNT_TOO_SMALL',
      minimum: 5,
    },
  },
  INVALID_JSON: {
    summary: 'The body is not JSON in UTF-8',
    example: { error: 'The request body is not valid JSON.', code: 'INVALID_JSON' },
  },
  UNAUTHORIZED: {
    summary: 'No credential, one that is unknown, revoked or expired, two that differ, or a key in the URL',
    example: {
      error: 'The API key is mistyped or cut off: its checksum is wrong. Copy it again.',
      code: 'UNAUTHORIZED',
    },
  },
  SUBSCRIPTION_REQUIRED: {
    summary: 'The merchant has no active subscription',
    example: { error: 'An active subscription is required.', code: 'SUBSCRIPTION_REQUIRED' },
  },
  IP_NOT_ALLOWED: {
    summary: 'A live key from an address that the merchant’s list does not hold',
    example: {
      error: 'Live keys of this merchant may not be used from this address.',
      code: 'IP_NOT_ALLOWED',
    },
  },
  TEST_MODE_ONLY: {
    summary: 'Live credentials on a route of the test mode',
    example: {
      error: 'This works in test mode only: use a key that starts with sk_test_.',
      code: 'TEST_MODE_ONLY',
    },
  },
  SESSION_REQUIRED: {
    summary: 'An API key on a route for signed-in users',
    example: {
      error: 'This is for people who are signed in; an API key does not open it.',
      code: 'SESSION_REQUIRED',
    },
  },
  STEP_UP_REQUIRED: {
    summary: 'With a session: the password, and the code, have to be shown again first',
    example: {
      error:
        'This needs your password again, and your code if you have one. Confirm who you are, then repeat it.',
      code: 'STEP_UP_REQUIRED',
    },
  },
  SCOPE_REQUIRED: {
    summary: 'An API key without the scope that the route needs',
    example: {
      error: 'This needs a key with the scope "payments"; this key has read.',
      code: 'SCOPE_REQUIRED',
    },
  },
  CSRF: {
    summary: 'With a session: the request came from somebody else’s page',
    example: { error: 'This request did not come from a page of this service.', code: 'CSRF' },
  },
  NOT_FOUND: {
    summary: 'No such resource for this merchant and mode',
    example: { error: 'There is no such resource.', code: 'NOT_FOUND' },
  },
  METHOD_NOT_ALLOWED: {
    summary: 'The path exists, and not with this method',
    example: { error: 'This path takes GET, HEAD, OPTIONS.', code: 'METHOD_NOT_ALLOWED' },
  },
  CUSTOMER_EXISTS: {
    summary: 'Another customer of this mode has the email or the external_id',
    example: {
      error: 'A customer with this external_id exists already.',
      code: 'CUSTOMER_EXISTS',
      field: 'external_id',
    },
  },
  PAYMENT_LINK_CLOSED: {
    summary: 'The payment link is paid or cancelled, and stays so',
    example: {
      error: 'This payment link is completed already: only one that is open can expire.',
      code: 'PAYMENT_LINK_CLOSED',
    },
  },
  IDEMPOTENCY_CONFLICT: {
    summary:
      'The key stands for another request, or (then with Retry-After) for one that is still being worked on',
    example: {
      error:
        'This Idempotency-Key was used with another request, or by another API key for a secret. Use a new key for a new request.',
      code: 'IDEMPOTENCY_CONFLICT',
    },
  },
  PAYLOAD_TOO_LARGE: {
    summary: 'The body is larger than 1 MiB',
    example: { error: 'The request body must not be larger than 1048576 bytes.', code: 'PAYLOAD_TOO_LARGE' },
  },
  UNSUPPORTED_MEDIA_TYPE: {
    summary: 'The body is not sent as JSON, or compressed',
    example: {
      error: 'The request body must be sent as "Content-Type: application/json" in UTF-8, not compressed.',
      code: 'UNSUPPORTED_MEDIA_TYPE',
    },
  },
  RATE_LIMITED: {
    summary: 'Too many requests; Retry-After says for how long to wait',
    example: { error: 'Too many requests. Try again in a second.', code: 'RATE_LIMITED' },
  },
  QUOTA_REACHED: {
    summary: 'The operator of this service lets the merchant have no more of these',
    example: {
      error:
        'This merchant may have 10000 customers in test mode, and has them. Ask whoever runs this service for more.',
      code: 'QUOTA_REACHED',
    },
  },
  DAILY_QUOTA_REACHED: {
    summary:
      'The operator of this service lets the merchant ask for no more events today; Retry-After says when to ask again',
    example: {
      error:
        'This merchant may ask for 5000 events a day in test mode, and did. The next day begins at midnight, UTC. Deposits go on.',
      code: 'DAILY_QUOTA_REACHED',
    },
  },
  INTERNAL: {
    summary: 'Our fault; the X-Request-Id helps to find it',
    example: {
      error: 'Something went wrong on our side. Nothing is wrong with the request.',
      code: 'INTERNAL',
    },
  },
  UNAVAILABLE: {
    summary: 'A part that we need is out of reach; Retry-After says when to try again',
    example: {
      error: 'The service is not available at the moment. Try again in a few seconds.',
      code: 'UNAVAILABLE',
    },
  },
};

/** Every code that a route can answer with, by its declaration. */
export function errorCodesOf(route: Route): ErrorCode[] {
  const codes = new Set<ErrorCode>([
    'VALIDATION_ERROR',
    'RATE_LIMITED',
    'INTERNAL',
    'UNAVAILABLE',
    ...(route.errors ?? []),
  ]);
  const add = (...more: ErrorCode[]): void => {
    for (const code of more) codes.add(code);
  };
  if (route.auth === 'merchant') add('UNAUTHORIZED', 'SUBSCRIPTION_REQUIRED', 'IP_NOT_ALLOWED');
  if (route.auth === 'merchant' && route.method !== 'get') add('CSRF');
  if (route.only === 'test') add('TEST_MODE_ONLY');
  if (route.only === 'session') add('SESSION_REQUIRED');
  else if (route.auth === 'merchant') add('SCOPE_REQUIRED');
  if (route.guarded) add('STEP_UP_REQUIRED');
  if (route.params) add('NOT_FOUND');
  if (route.body || takesKey(route)) add('INVALID_JSON', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE');
  if (takesKey(route)) add('IDEMPOTENCY_CONFLICT');
  return (Object.keys(ERROR_STATUS) as ErrorCode[]).filter((code) => codes.has(code));
}

/**
 * The error answers for these codes by status, each with its codes and
 * an example of every one. `own` says some of them in other words.
 */
export function errorResponses(
  codes: readonly ErrorCode[],
  own: Partial<Record<ErrorCode, Told>> = {},
): Record<string, ZodOpenApiResponseObject> {
  const told = { ...ERRORS, ...own };
  const statuses = [...new Set(codes.map((code) => ERROR_STATUS[code]))].sort((a, b) => a - b);
  const codesOf = (status: number) => codes.filter((code) => ERROR_STATUS[code] === status);
  return Object.fromEntries(
    statuses.map((status) => [`${status}`, errorResponse(status, codesOf(status), told)]),
  );
}

function errorResponse(
  status: number,
  codes: readonly ErrorCode[],
  told: Readonly<Record<ErrorCode, Told>>,
): ZodOpenApiResponseObject {
  return {
    description: codes.map((code) => `\`${code}\`: ${told[code].summary}.`).join('\n\n'),
    headers: headersOf(status),
    content: {
      'application/json': {
        schema: {
          allOf: [{ $ref: '#/components/schemas/Error' }, { properties: { code: { enum: [...codes] } } }],
        },
        examples: Object.fromEntries(
          codes.map((code) => [code, { summary: told[code].summary, value: told[code].example }]),
        ),
      },
    },
  };
}
