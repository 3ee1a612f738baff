import { expect } from 'chai';
import fc from 'fast-check';
import { ROUTES } from '../../../src/api/routes/index.ts';
import { addSession } from '../../../src/services/access/sessions.ts';
import { createUser } from '../../../src/services/access/users.ts';
import { startTestApi, type TestApi } from '../../support/gateway.ts';
import { exchange, type RawAnswer } from '../../support/http/raw-http.ts';

const RUNS = 400;

describe('generated requests', function () {
  this.timeout(90_000);
  let api: TestApi;
  let cookie: string;
  before(async () => {
    api = await startTestApi();
    const { userId } = await createUser(api.deps, {
      merchantId: api.merchant.id,
      email: 'a@example.com',
      password: 'correct horse battery',
    });
    cookie = `ch_session=${await api.deps.orm.em.fork().transactional((em) => addSession(em, api.deps, { userId, site: '203.0.113.9' }))}`;
  });
  after(async () => {
    expect(api.lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
    await api.stop();
  });

  it('of any shape on any route end in an answer below 500 that is JSON', async () => {
    const text = fc
      .string({ unit: 'binary', maxLength: 30 })
      .map((value) => Buffer.from(value.toWellFormed(), 'utf8').toString('latin1'));
    const segment = fc.oneof(
      fc.constantFrom('customers', 'exists', 'payments', '..', '.', '', '%2e', '%00', 'a;b'),
      fc.uuid(),
      text.map(encodeURIComponent),
    );
    const path = fc.oneof(
      {
        weight: 4,
        arbitrary: fc
          .tuple(fc.constantFrom(...ROUTES.map((route) => route.path)), segment)
          .map(([route, id]) => route.replace(/:[a-z_]+/, id)),
      },
      { weight: 1, arbitrary: fc.array(segment, { maxLength: 5 }).map((parts) => `/${parts.join('/')}`) },
    );
    const query = fc.array(
      fc.tuple(
        fc.oneof(
          fc.constantFrom('limit', 'page', 'starting_after', 'status', 'email', 'X', 'a[]', '__proto__'),
          text,
        ),
        text,
      ),
      { maxLength: 4 },
    );
    const header = fc.tuple(
      fc.constantFrom(
        'X-Mode',
        'X-Request-Id',
        'Idempotency-Key',
        'Accept',
        'Accept-Encoding',
        'Origin',
        'Sec-Fetch-Site',
        'If-None-Match',
        'Range',
        'X-Forwarded-For',
        'X-HTTP-Method-Override',
        'Content-Encoding',
        'Cookie',
        'Expect',
        'X-Other',
      ),
      fc.oneof(
        fc.constantFrom(
          'test',
          'live',
          '*',
          'gzip',
          'bytes=0-1',
          'null',
          'same-origin',
          '100-continue',
          'DELETE',
          'ch_session=',
          '__proto__',
        ),
        text.map((value) => value.replace(/[^\x21-\x7e\x80-\xff]/g, '')),
      ),
    );
    const value = fc.oneof(fc.jsonValue({ maxDepth: 4 }), text);
    const body = fc.oneof(
      {
        weight: 3,
        arbitrary: fc
          .dictionary(
            fc.constantFrom(
              'external_id',
              'email',
              'metadata',
              'url',
              'events',
              'customer_id',
              'amount',
              'amount_usd',
              'expires_in',
              'webhook_url',
              'since',
              '__proto__',
            ),
            value,
            { maxKeys: 5 },
          )
          .map((members) => JSON.stringify(members)),
      },
      { weight: 1, arbitrary: fc.constantFrom('', '{', 'null', '[]', '""', '0', '{}') },
      { weight: 1, arbitrary: text },
    );
    const request = fc.record({
      method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH', 'TRACE'),
      path,
      query,
      body,
      headers: fc.array(header, { maxLength: 3 }),
      type: fc.constantFrom('application/json', 'text/plain', '', 'application/json; charset=x'),
      credential: fc.constantFrom('test', 'live', 'session', 'none', 'wrong'),
      framing: fc.constantFrom('length', 'chunked', 'none'),
    });
    await fc.assert(
      fc.asyncProperty(request, async (given) => {
        const answer = await send(given);
        const known = answer.status < 500 || /no price/.test(answer.text);
        expect(known, `${JSON.stringify(given)} → ${answer.status} ${answer.text}`).to.equal(true);
        if (answer.status >= 400 && given.method !== 'HEAD')
          expect(answer.body['error'], answer.text).to.be.a('string');
        expect(answer.headers['x-request-id']).to.match(/^[A-Za-z0-9._-]{1,64}$/);
      }),
      { numRuns: RUNS },
    );
  });

  type Given = {
    method: string;
    path: string;
    query: [string, string][];
    headers: [string, string][];
    type: string;
    credential: string;
    framing: string;
    body: string;
  };
  const send = async (given: Given): Promise<RawAnswer> => {
    const { body, framing } = given;
    const search = given.query
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
      .join('&');
    const credentials: Record<string, string[]> = {
      test: [`x-api-key: ${api.keys.test}`],
      live: [`Authorization: Bearer ${api.keys.live}`],
      session: [`Cookie: ${cookie}`],
      none: [],
      wrong: ['x-api-key: sk_live_x'],
    };
    const head = [
      `${given.method} /api/v1${given.path}?${search} HTTP/1.1`,
      'Host: x',
      'Connection: close',
      ...(credentials[given.credential] ?? []),
      ...given.headers.map(([name, value]) => `${name}: ${value}`),
      ...(given.type === '' ? [] : [`Content-Type: ${given.type}`]),
      ...(framing === 'length' ? [`Content-Length: ${body.length}`] : []),
      ...(framing === 'chunked' ? ['Transfer-Encoding: chunked'] : []),
    ].join('\r\n');
    const chunk = body === '' ? '' : `${body.length.toString(16)}\r\n${body}\r\n`;
    const rest = framing === 'length' ? body : framing === 'chunked' ? `${chunk}0\r\n\r\n` : '';
    const answers = await exchange(api.origin, `${head}\r\n\r\n${rest}`, { limitMs: 10_000 });
    const answer = answers.find(({ status }) => status !== 100);
    if (!answer) throw new Error(`no answer to ${JSON.stringify(given)}`);
    return answer;
  };
});
