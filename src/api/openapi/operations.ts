import { z } from 'zod';
import type { ZodOpenApiOperationObject, ZodOpenApiResponseObject } from 'zod-openapi';
import { REPLAYED_HEADER, takesKey } from '../idempotency.ts';
import { scopesOf } from '../requests/admission.ts';
import type { Route } from '../route.ts';
import { errorCodesOf, errorResponses } from './errors.ts';
import { ROUTE_EXAMPLES, type RouteExample } from './examples.ts';
import { headersOf, requestHeaders } from './headers.ts';

const JSON_TYPE = 'application/json';
const NO_EXAMPLE: RouteExample = { answers: {} };
const SUCCESS: Readonly<Record<number, string>> = { 200: 'Done.', 201: 'Made.' };

/** The operation of a route: what it takes, and every answer that it can give, with examples. */
export function operationOf(route: Route): ZodOpenApiOperationObject {
  const example = ROUTE_EXAMPLES[`${route.method} ${route.path}`] ?? NO_EXAMPLE;
  const [path, query, header] = [asObject(route.params), asObject(route.query), requestHeaders(route)];
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    description: describe(route),
    ...securityOf(route),
    requestParams: { ...(path ? { path } : {}), ...(query ? { query } : {}), ...(header ? { header } : {}) },
    ...(route.body
      ? {
          requestBody: {
            required: !isOptional(route.body),
            content: { [JSON_TYPE]: { schema: route.body, ...exampleOf(example.body) } },
          },
        }
      : {}),
    responses: {
      ...Object.fromEntries(route.statuses.map((status) => [`${status}`, successOf(route, status, example)])),
      ...replayable(route, errorResponses(errorCodesOf(route))),
    },
  };
}

function describe(route: Route): string {
  const notes = [route.description ?? `${route.summary}.`];
  if (route.only === 'test') notes.push('Test mode only.');
  if (route.only === 'session')
    notes.push('Needs the session of a signed-in user: an API key gets `SESSION_REQUIRED`.');
  else if (route.scope !== 'none')
    notes.push(
      `A key needs the scope ${scopesOf(route)
        .map((scope) => `\`${scope}\``)
        .join(' and ')}.`,
    );
  if (route.auth === 'none') notes.push('Needs no credential.');
  return notes.join(' ');
}

function securityOf(route: Route): Pick<ZodOpenApiOperationObject, 'security'> {
  if (route.auth === 'none') return { security: [] };
  return route.only === 'session' ? { security: [{ session: [] }] } : {};
}

function successOf(route: Route, status: number, example: RouteExample): ZodOpenApiResponseObject {
  return {
    description: SUCCESS[status] ?? '',
    headers: headersOf(status, ...(takesKey(route) ? ([REPLAYED_HEADER] as const) : [])),
    content: { [JSON_TYPE]: { schema: route.response, ...exampleOf(example.answers[status]) } },
  };
}

/** A conflict is stored under an Idempotency-Key like a success. */
function replayable(route: Route, responses: Record<string, ZodOpenApiResponseObject>) {
  const conflict = responses['409'];
  return takesKey(route) && conflict
    ? { ...responses, '409': { ...conflict, headers: headersOf(409, REPLAYED_HEADER) } }
    : responses;
}

function exampleOf(value: object | undefined): {
  examples?: Record<string, { summary: string; value: object }>;
} {
  return value === undefined ? {} : { examples: { example: { summary: 'An example', value } } };
}

function asObject(schema: z.ZodType | undefined): z.ZodObject | undefined {
  return schema instanceof z.ZodObject ? schema : undefined;
}

/** A request without a body counts as one with an empty object. */
function isOptional(body: z.ZodType): boolean {
  return body.safeParse({}).success;
}
