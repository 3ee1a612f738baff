import { z } from 'zod';
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from 'zod-openapi';
import { id } from '../../contract/common.ts';
import type { ErrorCode } from '../errors.ts';
import { errorResponses, type Told } from './errors.ts';
import { headersOf } from './headers.ts';

const TAG = 'Sessions';

const credentials = z
  .object({
    email: z.string().min(1).max(320).meta({ description: 'The user’s email.' }),
    password: z.string().min(1).max(1_024).meta({ description: 'The user’s password.' }),
    totp: z
      .string()
      .max(20)
      .nullish()
      .meta({ description: 'The six digits of the authenticator app, where the user has set one up.' }),
  })
  .meta({ id: 'Credentials' });

const signedIn = z.strictObject({
  user_id: id.meta({ description: 'Who signed in.' }),
  merchant_id: id.meta({ description: 'For whom the session may act.' }),
});

const answers = {
  login: {
    user_id: 'b7f0c1d2-6e3a-4f95-8b1c-0d2e4f6a8c90',
    merchant_id: 'd4c3b2a1-0f9e-4d8c-b7a6-5f4e3d2c1b0a',
  },
  credentials: { email: 'owner@shop.example', password: 'correct horse battery staple', totp: '492039' },
};

/** `/login` and `/logout`, which lie at the server's root. */
export function loginPaths(rootUrl: string): ZodOpenApiPathsObject {
  const servers = [{ url: rootUrl, description: 'The server’s root, outside the base path' }];
  return { '/login': { servers, post: login() }, '/logout': { servers, post: logout() } };
}

function login(): ZodOpenApiOperationObject {
  const example = { example: { summary: 'An example', value: answers.credentials } };
  return {
    operationId: 'login',
    tags: [TAG],
    summary: 'Sign in',
    security: [],
    description:
      'Begins a session and sets its cookie, `ch_session`. A session ends after 30 minutes without a request and after 12 hours in any case (both are the operator’s to set). A session that came along ends. A form in a browser (`Accept: text/html`) is answered with pages and redirects instead.',
    requestBody: {
      required: true,
      content: {
        'application/json': { schema: credentials, examples: example },
        'application/x-www-form-urlencoded': { schema: credentials, examples: example },
      },
    },
    responses: {
      '200': {
        description: 'Signed in.',
        headers: uncounted(headersOf(200, 'Set-Cookie')),
        content: {
          'application/json': {
            schema: signedIn.meta({ id: 'SignedIn' }),
            examples: { example: { summary: 'An example', value: answers.login } },
          },
        },
      },
      ...errorsOf([
        'VALIDATION_ERROR',
        'INVALID_JSON',
        'UNAUTHORIZED',
        'CSRF',
        'PAYLOAD_TOO_LARGE',
        'UNSUPPORTED_MEDIA_TYPE',
        'RATE_LIMITED',
      ]),
    },
  };
}

function logout(): ZodOpenApiOperationObject {
  return {
    operationId: 'logout',
    tags: [TAG],
    summary: 'Sign out',
    security: [{ session: [] }, {}],
    description: 'Ends the session that comes along and clears its cookie. Without one it answers the same.',
    responses: {
      '200': {
        description: 'Signed out.',
        headers: uncounted(headersOf(200, 'Set-Cookie')),
        content: {
          'application/json': {
            schema: z
              .strictObject({
                signed_out: z.literal(true).meta({ description: 'There is no session any more.' }),
              })
              .meta({ id: 'SignedOut' }),
            examples: { example: { summary: 'An example', value: { signed_out: true } } },
          },
        },
      },
      ...errorsOf(['CSRF']),
    },
  };
}

function errorsOf(codes: readonly ErrorCode[]) {
  const responses = errorResponses([...codes, 'INTERNAL', 'UNAVAILABLE'], ERRORS);
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [
      status,
      { ...response, headers: uncounted(response.headers) },
    ]),
  );
}

/** The errors that a login describes in its own words. */
const ERRORS: Partial<Record<ErrorCode, Told>> = {
  VALIDATION_ERROR: {
    summary: 'A member of the body is missing or wrong',
    example: {
      error: 'password is required.',
      code: 'VALIDATION_ERROR',
      details: [{ path: 'password', message: 'is required' }],
    },
  },
  UNAUTHORIZED: {
    summary: 'The email, the password or the code is wrong; which of them is not told',
    example: { error: 'The email, the password or the code is not right.', code: 'UNAUTHORIZED' },
  },
  RATE_LIMITED: {
    summary:
      'Too many failed logins for the account or from the address; Retry-After says for how long to wait',
    example: { error: 'Too many failed logins. Try again in 5 minutes.', code: 'RATE_LIMITED' },
  },
};

/**
 * Removes the headers that a login does not send: only its failures are counted, no header tells of them, and
 * it looks at no query.
 */
function uncounted(headers: object | undefined) {
  return Object.fromEntries(
    Object.entries(headers ?? {}).filter(([name]) => !/^(RateLimit-|WWW-|X-Ignored-)/.test(name)),
  );
}
