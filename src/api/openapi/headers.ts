import { z } from 'zod';
import { IDEMPOTENCY_KEY, REPLAYED_HEADER, takesKey } from '../idempotency.ts';
import { IGNORED_HEADER } from '../requests/ignored.ts';
import type { Route } from '../route.ts';

const wholeNumber = { type: 'integer', minimum: 0 } as const;

/** Every header of an answer that a client may read. */
export const RESPONSE_HEADERS = {
  'X-Request-Id': {
    description:
      'Names the request in our logs: the caller’s own `X-Request-Id` where it is 1 to 64 of `A-Z a-z 0-9 . _ -`, else a new one.',
    required: true,
    schema: { type: 'string' },
    example: '6f1f4e0b-9a43-4d8e-8f0e-2a63c2d5b7a1',
  },
  'RateLimit-Limit': {
    description:
      'How many requests may come at once. For an API key, a signed-in user, or a public route’s client address.',
    schema: wholeNumber,
    example: 200,
  },
  'RateLimit-Remaining': { description: 'How many of them are left now.', schema: wholeNumber, example: 199 },
  'RateLimit-Reset': {
    description: 'Seconds until all of them are there again.',
    schema: wholeNumber,
    example: 1,
  },
  'Retry-After': {
    description: 'Seconds to wait before the request is sent again.',
    schema: wholeNumber,
    example: 1,
  },
  'WWW-Authenticate': {
    description: 'How to send a credential.',
    schema: { type: 'string' },
    example: 'Bearer',
  },
  [REPLAYED_HEADER]: {
    description: 'This very answer was given before to the same Idempotency-Key.',
    schema: { type: 'string', const: 'true' },
    example: 'true',
  },
  [IGNORED_HEADER]: {
    description:
      'The query parameters that this route does not know, which were ignored: names with commas between them, each with the known name that may have been meant. At most ten, then how many more there are. A name is cut after 64 characters (`...`), and percent-encoded but for letters, digits and `. _ -`. Absent where every parameter is known.',
    schema: { type: 'string', maxLength: 2_048, pattern: '^[\\x20-\\x7E]+$' },
    example: 'adress (did you mean address?), foo',
  },
  'Set-Cookie': {
    description: 'The session, or its end.',
    schema: { type: 'string' },
    example: 'ch_session=…; Path=/; HttpOnly; Secure; SameSite=Lax',
  },
} as const;
type HeaderName = keyof typeof RESPONSE_HEADERS;

const COUNTED = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'] as const;
const OF_STATUS: Readonly<Record<number, readonly HeaderName[]>> = {
  200: [IGNORED_HEADER],
  201: [IGNORED_HEADER],
  400: [IGNORED_HEADER],
  401: ['WWW-Authenticate'],
  404: [IGNORED_HEADER],
  409: ['Retry-After', IGNORED_HEADER],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/** The headers of an answer with this status, as references to the document's own list. */
export function headersOf(status: number, ...more: HeaderName[]): Record<string, { $ref: string }> {
  const names: HeaderName[] = ['X-Request-Id', ...COUNTED, ...(OF_STATUS[status] ?? []), ...more];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** The headers of requests to a route, beside the credential. */
export function requestHeaders(route: Route): z.ZodObject | undefined {
  if (route.auth === 'none') return undefined;
  return takesKey(route) ? z.object({ ...idempotency, ...modeChoice }) : z.object(modeChoice);
}

const idempotency = {
  'Idempotency-Key': z
    .string()
    .regex(IDEMPOTENCY_KEY)
    .optional()
    .meta({
      description: `Makes it safe to send the request again: for 24 hours the same key with the same request gets the first answer, marked with \`${REPLAYED_HEADER}: true\`.`,
      example: 'order-1001',
    }),
};

const modeChoice = {
  'X-Mode': z.string().optional().meta({
    description:
      'With a session: `test` shows test data, anything else and nothing live data. An API key has its own mode, and the header means nothing.',
    example: 'test',
  }),
};
