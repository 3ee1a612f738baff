import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { ROUTES } from '../../../src/api/routes/index.ts';
import { apiOf, call } from '../../support/gateway.ts';
import { exchange } from '../../support/http/raw-http.ts';
import { openRoute } from './open-route.ts';

const TEST_ROUTES = [
  openRoute('/away', async () => {
    throw Object.assign(new Error('no connection'), { code: 'ECONNREFUSED' });
  }),
];

type Row = readonly [status: number, route: string, send: () => Promise<{ readonly status: number }>];

describe('the status in the metrics of HTTP', () => {
  const api = apiOf({ routes: [...ROUTES, ...TEST_ROUTES] });

  /** How many requests were counted, by route and status. */
  const counted = async (): Promise<Record<string, number>> => {
    const { values } = await api.metrics.httpSeconds.get();
    const counts = values.filter(({ metricName }) => metricName === 'gateway_http_request_seconds_count');
    return Object.fromEntries(
      counts.map(({ labels, value }) => [`${labels.method} ${labels.route} ${labels.status}`, value]),
    );
  };
  /**
   * What the request added to the counts once it is counted as `wanted`:
   * its answer can be here before the server knows that it has left.
   */
  const addedBy = async (wanted: string, send: () => Promise<unknown>): Promise<string[]> => {
    const before = await counted();
    await send();
    const after = await eventually(`${wanted} is counted`, async () => {
      const now = await counted();
      return now[wanted] === (before[wanted] ?? 0) + 1 && now;
    });
    return Object.keys(after).filter((name) => after[name] !== before[name]);
  };
  const raw = async (bytes: string) => (await exchange(api.origin, bytes))[0] ?? { status: 0 };

  const rows: Readonly<Record<string, Row>> = {
    'something new': [
      201,
      'POST /api/v1/customers',
      () => call(`${api.url}/customers`, { key: api.keys.test, body: { external_id: 'a' } }),
    ],
    'an unknown id': [
      404,
      'GET /api/v1/customers/:id',
      () => call(`${api.url}/customers/x`, { key: api.keys.test }),
    ],
    'no route': [404, 'GET (none)', () => call(`${api.url}/nothing`)],
    'a part that is away': [503, 'GET /api/v1/away', () => call(`${api.url}/away`)],
    'what is no HTTP': [400, '(none) (none)', () => raw('\x00\r\n\r\n')],
  };

  it('is that of the answer, whoever gave it', async () => {
    for (const [name, [status, counts, send]] of Object.entries(rows)) {
      const wanted = `${counts} ${status}`;
      const added = await addedBy(wanted, async () => expect((await send()).status, name).to.equal(status));
      expect(added, name).to.deep.equal([wanted]);
    }
  });
});
