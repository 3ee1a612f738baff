import { expect } from 'chai';
import fc from 'fast-check';
import { ROUTES } from '../../../src/api/routes/index.ts';
import { apiOf, call } from '../../support/gateway.ts';
import { membersOf } from '../../support/http/hostile-texts.ts';
import { exchange, type RawAnswer } from '../../support/http/raw-http.ts';
import { newUser, signIn } from '../../support/sign-in.ts';

const RUNS = 600;
/** Every member that some route takes, and a few that none does. */
const MEMBERS = [
  ...new Set(ROUTES.flatMap(({ body, query }) => [...membersOf(body), ...membersOf(query)])),
  ...'X a[] __proto__ constructor'.split(' '),
];
const WORDS =
  `0 -1 1e309 NaN null 10 * USDT TRX tron bsc completed ' % \\ ? $1 a@b.co \u{10ffff} \ufffe 2026-11-20T09:30:00Z
    +275760-09-13T00:00:00Z http://[::1]:1/`.split(/\s+/);
const words = fc.constantFrom(...WORDS, '', ' ', "' or 1=1 --", '9'.repeat(90), `0x${'a'.repeat(64)}`);

describe('generated requests', function () {
  this.timeout(90_000);
  const api = apiOf();
  let cookie: string;
  let realIds: string[];
  before(async () => {
    cookie = await signIn(api, await newUser(api));
    const made = async (path: string, body: object) =>
      (await call(`${api.url}${path}`, { key: api.keys.test, body })).body['id'];
    realIds = [
      await made('/customers', { external_id: 'real' }),
      await made('/webhook-endpoints', { url: 'http://127.0.0.1:9/', events: '*' }),
    ];
  });
  after(() => expect(api.lines.filter(({ level }) => level === 'error')).to.deep.equal([]));

  it('of any shape on any route end in an answer below 500 that is JSON', async () => {
    const text = fc
      .string({ unit: 'binary', maxLength: 30 })
      .map((value) => Buffer.from(value.toWellFormed(), 'utf8').toString('latin1'));
    const segment = fc.oneof(
      fc.constantFrom('customers', 'exists', 'payments', '..', '.', '', '%2e', '%00', 'a;b'),
      ...realIds.map((id) => fc.constant(id)),
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
    const query = fc.array(fc.tuple(fc.oneof(fc.constantFrom(...MEMBERS), text), fc.oneof(words, text)), {
      maxLength: 4,
    });
    const header = fc.tuple(
      fc.constantFrom(
        ...`X-Mode X-Request-Id Idempotency-Key Accept Origin Sec-Fetch-Site If-None-Match X-Forwarded-For
          Content-Encoding Cookie Expect`.split(/\s+/),
      ),
      fc.oneof(
        fc.constantFrom(...'test * gzip null same-origin 100-continue ch_session= __proto__'.split(' ')),
        text.map((value) => value.replace(/[^\x21-\x7e\x80-\xff]/g, '')),
      ),
    );
    const value = fc.oneof(words, fc.jsonValue({ maxDepth: 4 }), text);
    const body = fc.oneof(
      {
        weight: 3,
        arbitrary: fc
          .dictionary(fc.constantFrom(...MEMBERS), value, { maxKeys: 5 })
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
      { numRuns: RUNS, seed: 20_261_120 },
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
    const answers = await exchange(api.origin, `${head}\r\n\r\n${rest}`, { limitMs: 45_000 });
    const answer = answers.find(({ status }) => status !== 100);
    if (!answer) throw new Error(`no answer to ${JSON.stringify(given)}`);
    return answer;
  };
});
