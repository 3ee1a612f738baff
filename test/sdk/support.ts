import Ajv2020 from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { GatewayError } from '../../packages/sdk/src/client.ts';
import { describeApi } from '../../src/api/openapi/document.ts';
import { ROUTES } from '../../src/api/routes/index.ts';

/** The error that a call of the client ends with; throws where it succeeds, or ends with another one. */
export async function failure(work: Promise<unknown>): Promise<GatewayError> {
  const error = await work.then(
    () => new Error('it succeeded'),
    (reason: unknown) => reason,
  );
  if (error instanceof GatewayError) return error;
  throw error;
}

/** A fetch that compares each answer with the description, and notes which route it was of. */
export function checkedFetch(baseUrl: string, called: Set<string>): typeof fetch {
  const document = describeApi({ routes: ROUTES, serverUrl: '/api/v1' });
  const ajv = new Ajv2020.default({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'api', ...document });
  return async (input, init) => {
    const response = await fetch(input, init);
    const method = (init?.method ?? 'GET').toLowerCase();
    const path = new URL(String(input)).pathname.slice(new URL(baseUrl).pathname.length);
    const route = ROUTES.find(
      (one) => one.method === method && new RegExp(`^${one.path.replace(/:[a-z_]+/g, '[^/]+')}$`).test(path),
    );
    if (!route) throw new Error(`no route ${method} ${path}`);
    called.add(`${method} ${route.path}`);
    const described = route.path.replace(/:([a-z_]+)/g, '{$1}');
    const parts = ['paths', described, method, 'responses', `${response.status}`];
    const pointer = [...parts, 'content', 'application/json', 'schema']
      .map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
      .join('/');
    const validate = ajv.getSchema(`api#/${pointer}`);
    const body: unknown = await response.clone().json();
    expect(
      validate?.(body),
      `${method} ${path} ${response.status}: ${JSON.stringify(validate?.errors)}`,
    ).to.equal(true);
    return response;
  };
}
