import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { z } from 'zod';
import { eventually } from '../../../dev/support/eventually.ts';
import { ok, route } from '../../../src/api/route.ts';
import { ROUTES } from '../../../src/api/routes/index.ts';
import { setSubscription } from '../../../src/services/merchants/merchants.ts';
import { call, startTestApi, type TestApi } from '../../support/gateway.ts';
import { exchange } from '../../support/http/raw-http.ts';
import { newUser } from '../../support/sign-in.ts';

const shape = {
  method: 'get',
  auth: 'none',
  scope: 'none',
  tag: 'Test',
  statuses: [200],
  response: z.strictObject({}),
} as const;
const failing = route({
  ...shape,
  path: '/failing',
  operationId: 'failing',
  summary: 'Fails',
  read: async () => {
    throw new Error('a fault of ours');
  },
});
const away = route({
  ...shape,
  path: '/away',
  operationId: 'away',
  summary: 'Has no database',
  read: async () => {
    throw Object.assign(new Error('no connection'), { code: 'ECONNREFUSED' });
  },
});
const arrived = Promise.withResolvers<void>();
const left = Promise.withResolvers<void>();
const waiting = route({
  ...shape,
  path: '/waiting',
  operationId: 'waiting',
  summary: 'Waits for the test',
  read: async () => {
    arrived.resolve();
    await left.promise;
    return ok({});
  },
});

type Row = {
  readonly status: number;
  readonly route: string;
  readonly send: () => Promise<{ readonly status: number }>;
};

describe('the status in the metrics of HTTP', () => {
  let api: TestApi;
  let limited: TestApi;
  before(async () => {
    api = await startTestApi({ routes: [...ROUTES, failing, away, waiting] });
    limited = await startTestApi({ limits: { requestsPerSecond: 0.001, requestsBurst: 1 } });
  });
  after(async () => {
    await api.stop();
    await limited.stop();
  });

  /** How many requests were counted, by route and status. */
  const counted = async ({ metrics }: TestApi): Promise<Record<string, number>> => {
    const { values } = await metrics.httpSeconds.get();
    const counts = values.filter(({ metricName }) => metricName === 'gateway_http_request_seconds_count');
    return Object.fromEntries(
      counts.map(({ labels, value }) => [`${labels.method} ${labels.route} ${labels.status}`, value]),
    );
  };
  /**
   * What the request added to the counts once it is counted as `wanted`:
   * its answer can be here before the server knows that it has left.
   */
  const addedBy = async (one: TestApi, wanted: string, send: () => Promise<unknown>): Promise<string[]> => {
    const before = await counted(one);
    await send();
    const after = await eventually(`${wanted} is counted`, async () => {
      const now = await counted(one);
      return now[wanted] === (before[wanted] ?? 0) + 1 && now;
    });
    return Object.keys(after).filter((name) => after[name] !== before[name]);
  };
  const customers = (body: unknown, headers: Record<string, string> = {}, key = api.keys.test) =>
    call(`${api.url}/customers`, { key, method: 'POST', body, headers });
  const raw = async (bytes: string) => (await exchange(api.origin, bytes))[0] ?? { status: 0 };

  const rows: Readonly<Record<string, Row>> = {
    'a read': {
      status: 200,
      route: 'GET /api/v1/customers',
      send: () => call(`${api.url}/customers`, { key: api.keys.test }),
    },
    'something new': {
      status: 201,
      route: 'POST /api/v1/customers',
      send: () => customers({ external_id: 'a' }),
    },
    'a login by form': {
      status: 303,
      route: 'POST /login',
      send: async () => {
        const { email, password } = await newUser(api);
        const body = new URLSearchParams({ email, password });
        return await fetch(`${api.origin}/login`, {
          method: 'POST',
          body,
          headers: { accept: 'text/html' },
          redirect: 'manual',
        });
      },
    },
    'a wrong field': { status: 400, route: 'POST /api/v1/customers', send: () => customers({}) },
    'no key': { status: 401, route: 'GET /api/v1/customers', send: () => call(`${api.url}/customers`) },
    'a wrong password': {
      status: 401,
      route: 'POST /login',
      send: () => call(`${api.origin}/login`, { body: { email: 'a@example.com', password: 'x' } }),
    },
    'no subscription': {
      status: 403,
      route: 'GET /api/v1/balance',
      send: async () => {
        const { id, keys } = await api.newMerchant();
        await setSubscription(api.deps, { merchantId: id, active: false });
        return await call(`${api.url}/balance`, { key: keys.live });
      },
    },
    'an unknown id': {
      status: 404,
      route: 'GET /api/v1/customers/:id',
      send: () => call(`${api.url}/customers/x`, { key: api.keys.test }),
    },
    'no route': { status: 404, route: 'GET (none)', send: () => call(`${api.url}/nothing`) },
    'a wrong method': {
      status: 405,
      route: 'DELETE (none)',
      send: () => call(`${api.url}/customers`, { method: 'DELETE' }),
    },
    'something that is there already': {
      status: 409,
      route: 'POST /api/v1/customers',
      send: async () => {
        const { keys } = await api.newMerchant();
        await call(`${api.url}/customers`, { key: keys.live, body: { external_id: 'twice' } });
        return await call(`${api.url}/customers`, { key: keys.live, body: { external_id: 'twice' } });
      },
    },
    'a body that is too large': {
      status: 413,
      route: 'POST /api/v1/customers',
      send: () => customers('x'.repeat(1_100_000), { 'Content-Type': 'application/json' }),
    },
    'another media type': {
      status: 415,
      route: 'POST /api/v1/customers',
      send: () => customers('a=b', { 'Content-Type': 'text/plain' }),
    },
    'a fault of ours': { status: 500, route: 'GET /api/v1/failing', send: () => call(`${api.url}/failing`) },
    'a part that is away': { status: 503, route: 'GET /api/v1/away', send: () => call(`${api.url}/away`) },
    'a refused version': {
      status: 505,
      route: 'GET (none)',
      send: () => raw('GET / HTTP/2.0\r\nHost: x\r\n\r\n'),
    },
    'two hosts': {
      status: 400,
      route: 'GET (none)',
      send: () => raw('GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n'),
    },
    'what is no HTTP': { status: 400, route: '(none) (none)', send: () => raw('\x00\r\n\r\n') },
    'headers that are too large': {
      status: 431,
      route: '(none) (none)',
      send: () => raw(`GET / HTTP/1.1\r\nHost: x\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`),
    },
    'a tunnel': {
      status: 405,
      route: 'CONNECT (none)',
      send: () => raw('CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n'),
    },
  };
  for (const [name, { status, route: counts, send }] of Object.entries(rows)) {
    it(`is ${status} for ${name}`, async () => {
      const added = await addedBy(api, `${counts} ${status}`, async () =>
        expect((await send()).status).to.equal(status),
      );
      // One of them has to make first what it then meets.
      expect(added).to.deep.equal(
        status === 409 ? [`${counts} 201`, `${counts} 409`] : [`${counts} ${status}`],
      );
    });
  }

  it('is 429 for too many requests', async () => {
    const ask = () => call(`${limited.url}/balance`, { key: limited.keys.test });
    expect((await ask()).status).to.equal(200);
    const wanted = 'GET /api/v1/balance 429';
    expect(
      await addedBy(limited, wanted, async () => expect((await ask()).status).to.equal(429)),
    ).to.deep.equal([wanted]);
  });

  it('is "aborted" where the caller left before the answer did', async () => {
    const socket = connect(Number(new URL(api.origin).port), '127.0.0.1');
    const wanted = 'GET /api/v1/waiting aborted';
    const added = await addedBy(api, wanted, async () => {
      socket.write('GET /api/v1/waiting HTTP/1.1\r\nHost: x\r\n\r\n');
      await arrived.promise;
      socket.destroy();
      await once(socket, 'close');
    });
    left.resolve();
    expect(added).to.deep.equal([wanted]);
  });
});
