import { readFileSync } from 'node:fs';
import Ajv2020 from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { ERROR_STATUS } from '../../src/api/errors.ts';
import { describeApi, renderApiDocument } from '../../src/api/openapi/document.ts';
import { errorCodesOf } from '../../src/api/openapi/errors.ts';
import type { Route } from '../../src/api/route.ts';
import { ROUTES } from '../../src/api/routes/index.ts';
import { EVENT_TYPES, TEST_EVENT } from '../../src/domain/events.ts';

type Media = { schema: object; examples?: Record<string, { value: unknown }> };
type Answer = {
  description: string;
  headers?: Record<string, { $ref: string }>;
  content?: Record<string, Media>;
};
type Parameter = { name: string; in: string; description?: string; schema: object; example?: unknown };
type Operation = {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  security?: object[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, Answer>;
};
type Document = {
  security: object[];
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Operation }>;
  components: {
    schemas: Record<string, object>;
    headers: Record<string, { description: string; schema: object; example: unknown }>;
  };
};

const METHODS = ['get', 'post', 'put', 'delete'];
const document = describeApi({ routes: ROUTES, serverUrl: '/api/v1' }) as Document;
const ajv = new Ajv2020.default({ strict: false, validateFormats: false, allErrors: true });
ajv.addSchema({ $id: 'api', ...document });

/** References in a schema lead into the document. */
function fits(schema: object, value: unknown, what: string): void {
  const text = JSON.stringify(schema).replaceAll('"#/', '"api#/');
  const validate = ajv.compile(JSON.parse(text));
  expect(validate(value), `${what}: ${JSON.stringify(validate.errors)}\n${JSON.stringify(value)}`).to.equal(
    true,
  );
}

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item)
    .filter(([method]) => METHODS.includes(method))
    .map(([method, operation]) => ({ name: `${method} ${path}`, operation: operation as Operation })),
);
const sent = Object.entries(document.webhooks).map(([name, { post }]) => ({ name, operation: post }));

function operationFor({ path, method }: Route): Operation {
  const operation = document.paths[path.replace(/:([a-z_]+)/g, '{$1}')]?.[method];
  if (!operation) throw new Error(`${method} ${path} is not described`);
  return operation;
}

describe('the description of the API', () => {
  it('has every route and the two of a session, each under a name of its own', () => {
    const declared = ROUTES.map(({ method, path }) => `${method} ${path.replace(/:([a-z_]+)/g, '{$1}')}`);
    expect(operations.map(({ name }) => name)).to.have.members([...declared, 'post /login', 'post /logout']);
    expect(new Set(operations.map(({ operation }) => operation.operationId)).size).to.equal(
      operations.length,
    );
  });

  it('never names a session beside a key: a generated client would send the key as both', () => {
    expect(document.security).to.deep.equal([{ bearer: [] }, { apiKey: [] }]);
    for (const { name, operation } of operations)
      for (const one of operation.security ?? []) {
        expect(Object.keys(one).length, name).to.be.at.most(1);
        if ('session' in one) expect(JSON.stringify(operation.security), name).to.not.match(/bearer|apiKey/);
      }
  });

  it('shows an example of every request and of every answer, and each fits its schema', () => {
    for (const { name, operation } of [...operations, ...sent]) {
      const answers = Object.entries(operation.responses).map(
        ([status, answer]) => [status, answer.content] as const,
      );
      for (const [what, content] of [['body', operation.requestBody?.content] as const, ...answers]) {
        for (const { schema, examples } of Object.values(content ?? {})) {
          expect(Object.keys(examples ?? {}), `${name} ${what}`).not.to.have.length(0);
          for (const { value } of Object.values(examples ?? {})) fits(schema, value, `${name} ${what}`);
        }
      }
    }
  });

  it('lists for every route each status that it can have, with its codes and an example of each', () => {
    for (const route of ROUTES) {
      const { responses } = operationFor(route);
      const codes = errorCodesOf(route);
      const statuses = [...route.statuses, ...codes.map((code) => ERROR_STATUS[code])].map(String);
      expect(Object.keys(responses), route.path).to.have.members([...new Set(statuses)]);
      for (const code of codes) {
        const { description, content } = responses[ERROR_STATUS[code]] as Answer;
        expect(description).to.include(code);
        expect(content?.['application/json']?.examples?.[code]?.value, `${route.path} ${code}`).to.include({
          code,
        });
      }
      expect(codes).to.include.members(['VALIDATION_ERROR', 'RATE_LIMITED', 'INTERNAL', 'UNAVAILABLE']);
      if (route.auth === 'merchant')
        expect(codes).to.include.members(['UNAUTHORIZED', 'SUBSCRIPTION_REQUIRED', 'IP_NOT_ALLOWED']);
    }
  });

  it('offers an Idempotency-Key on every POST and X-Mode wherever a session may call', () => {
    for (const route of ROUTES) {
      const { parameters = [] } = operationFor(route);
      const names = parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name);
      const expected =
        route.auth === 'none' ? [] : route.method === 'post' ? ['Idempotency-Key', 'X-Mode'] : ['X-Mode'];
      expect(names, `${route.method} ${route.path}`).to.have.members(expected);
    }
  });

  it('describes every event with the headers that come along', () => {
    expect(Object.keys(document.webhooks)).to.have.members([...EVENT_TYPES, TEST_EVENT]);
    for (const { operation } of sent) {
      const headers = operation.parameters?.map(({ name }) => name);
      const signed = ['X-Webhook-Signature', 'X-Webhook-Timestamp', 'X-Webhook-Id', 'webhook-signature'];
      expect(headers).to.include.members([...signed, 'User-Agent']);
      expect(operation.security).to.deep.equal([]);
    }
  });

  it('is in the repository as it is served: run "npm run docs" when this fails', () => {
    const kept = readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8');
    expect(kept === renderApiDocument()).to.equal(true);
  });
});
