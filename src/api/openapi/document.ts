import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
} from 'zod-openapi';
import type { Route } from '../route.ts';
import { ROUTES } from '../routes/index.ts';
import { errorBody } from './errors.ts';
import { ROUTE_EXAMPLES } from './examples.ts';
import { RESPONSE_HEADERS } from './headers.ts';
import { loginPaths } from './login.ts';
import { operationOf } from './operations.ts';
import { describeWebhooks } from './webhooks.ts';

export type DescribeInput = {
  readonly routes: readonly Route[];
  /** Ends in the base path; absolute where the name under which clients reach us is known. */
  readonly serverUrl: string;
};

const INFO = {
  title: 'Crypto Deposit Gateway API',
  version: '1',
  contact: { name: 'Whoever runs this installation' },
  license: { name: 'MIT', identifier: 'MIT' },
  description: [
    'Customers with permanent deposit addresses on BNB Chain and Tron, their deposits, payment links, and signed webhooks.',
    'Live and test data are apart: a key that starts with `sk_live_` sees the one, `sk_test_` the other, and nothing crosses over. Deposits of the test mode are made by `POST /test/simulate-deposit`.',
    'Coin amounts are decimal strings. Members that end in `_usd` are numbers with at most two decimals. Times are UTC in whole seconds. Members that a request has and we do not know are ignored; new ones may be added to answers at any time.',
    'Every answer is a JSON object. What is no success has `error`, a sentence, and `code`, which programs decide by. A resource of another merchant or of the other mode does not exist: 404.',
    'Every `POST` takes an `Idempotency-Key`. Every answer has an `X-Request-Id`. Lists are newest first: walk them with `starting_after` while `has_more` is true.',
  ].join('\n\n'),
};

const TAGS: Readonly<Record<string, string>> = {
  Customers: 'A customer is somebody who pays the merchant. Each has one address on every network, for ever.',
  Deposits:
    'Money that arrived at a customer’s address. The same transfer is one deposit, however often it is seen.',
  'Payment links': 'A page on which a customer pays a fixed amount in USDT, once.',
  Balances: 'What the merchant’s deposits come to, from the ledger.',
  'Webhook endpoints': 'Where events are sent.',
  Events: 'What happened, and to whom it was told.',
  'Test mode': 'Rehearsals: deposits without a chain.',
  Sessions: 'For people in a browser. Programs use keys.',
  Webhooks: 'What is sent to the endpoints: signed, at least once, and possibly out of order.',
};

/** The OpenAPI 3.1 document of the routes and of the webhooks, made from the very schemas that validate. */
export function describeApi({ routes, serverUrl }: DescribeInput): object {
  const document: ZodOpenApiObject = {
    openapi: '3.1.0',
    info: INFO,
    servers: [{ url: serverUrl }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    // Alternatives. The session is declared only where it alone opens a route: generated clients
    // send what they are given under every scheme that is named, and a key is no session.
    security: [{ bearer: [] }, { apiKey: [] }],
    paths: { ...pathsOf(routes), ...loginPaths(serverUrl.replace(/\/api\/v1$/, '') || '/') },
    webhooks: describeWebhooks(),
    components: {
      schemas: { Error: errorBody },
      headers: RESPONSE_HEADERS,
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key: `Authorization: Bearer sk_live_…` or `sk_test_…`.',
        },
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'x-api-key',
          description:
            'The same key in a header of its own. Both headers together are fine while they hold the same key.',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'ch_session',
          description:
            'The session of a signed-in user, for tools in a browser. It opens every route that a key opens as well, though only those that take no key name it here. Live data, unless `X-Mode: test` comes along. A request that changes something is taken from our own pages alone.',
        },
      },
    },
  };
  return withExamples(createDocument(document), routes);
}

/**
 * Puts the values of each route's example call beside its parameters; the schemas do not
 * hold them, because several routes share one.
 */
function withExamples(document: ReturnType<typeof createDocument>, routes: readonly Route[]): object {
  for (const route of routes) {
    const { params, query } = ROUTE_EXAMPLES[`${route.method} ${route.path}`] ?? {};
    const values = new Map(Object.entries({ ...params, ...query }));
    for (const parameter of document.paths?.[openApiPath(route)]?.[route.method]?.parameters ?? []) {
      if (!('name' in parameter) || parameter.in === 'header') continue;
      const value = values.get(parameter.name);
      if (value === undefined) delete parameter.example;
      else parameter.example = value;
    }
  }
  return document;
}

function openApiPath({ path }: Route): string {
  return path.replace(/:([a-z_]+)/g, '{$1}');
}

/** The text of `docs/openapi.json`: every route of the product, wherever it is installed. */
export function renderApiDocument(): string {
  return `${JSON.stringify(describeApi({ routes: ROUTES, serverUrl: '/api/v1' }), null, 2)}\n`;
}

function pathsOf(routes: readonly Route[]): ZodOpenApiPathsObject {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const route of routes) {
    const path = openApiPath(route);
    paths[path] = { ...paths[path], [route.method]: operationOf(route) };
  }
  return paths as ZodOpenApiPathsObject;
}
