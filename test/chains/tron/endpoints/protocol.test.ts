import { expect } from 'chai';
import { EndpointFailure } from '../../../../src/chains/rpc/errors.ts';
import { createBudget } from '../../../../src/chains/tron/budget.ts';
import { createGenesis } from '../../../../src/chains/tron/genesis.ts';
import { createTronPool, type TronPool, type TronPoolOptions } from '../../../../src/chains/tron/protocol.ts';
import { type Answer, GENESIS, HEAD, madeUpClock, startNode, type TestNode } from './node.ts';

const { signal } = new AbortController();
const KEY = 'e0b7-the-key-of-the-operator';
const PRIVATE_CONTRACT = 'TGQ1Rb3iQbuBUNcBV3Qo4AakT9PtQJDDmJ';
const TIMEOUT_MS = 250;
const MAX_BYTES = 2 * 1_048_576;

type Flags = Partial<Pick<EndpointFailure, 'throttled' | 'notOffered' | 'retryAfterMs'>>;

const error = (text: string, status = 200, headers = {}): Answer => ({
  status,
  headers,
  json: { Error: text },
});
const page = (status: number): Answer => ({ status, text: '<html><body>Error</body></html>' });
const BANNED = 'The key exceeds the frequency limit(15), and the query server is suspended for';
const CLOSED = 'this API is closed because this node is a lite fullnode';

/** What a node answers, what is said of it, and what the pool is told. */
const FAULTS: readonly [name: string, answer: Answer, said: RegExp, flags: Flags][] = [
  ['an error with 200', error('class java.lang.NullPointerException : null'), /^an error: class java/, {}],
  ['an error in another spelling', { json: { error: 'no such thing' } }, /^an error: no such thing$/, {}],
  ['an error as an object', { json: { error: { message: 'why' } } }, /^an error: why$/, {}],
  ['an error without words', { json: { Error: null } }, /^an error$/, {}],
  [
    'a lack of computing resources with 200',
    error('class java.lang.IllegalAccessException : lack of computing resources'),
    /lack of computing resources/,
    { throttled: true },
  ],
  [
    'a ban with 403',
    error(`${BANNED} 12s`, 403),
    /^http 403: The key/,
    { throttled: true, retryAfterMs: 12_000 },
  ],
  [
    'a ban without a time',
    { status: 403, text: '' },
    /^http 403$/,
    { throttled: true, retryAfterMs: 30_000 },
  ],
  ['a ban with 429', error(`${BANNED} 30 s`, 429), /^http 429/, { throttled: true, retryAfterMs: 30_000 }],
  [
    'a ban with 503 that outlasts its header',
    error(`${BANNED} 9 s`, 503, { 'retry-after': '2' }),
    /^http 503: The key/,
    { throttled: true, retryAfterMs: 9_000 },
  ],
  ['429', { status: 429, text: '' }, /^http 429$/, { throttled: true }],
  [
    '429 with Retry-After',
    { status: 429, headers: { 'retry-after': '7' }, text: 'slow down' },
    /^http 429$/,
    { throttled: true, retryAfterMs: 7_000 },
  ],
  ['503', page(503), /^http 503$/, {}],
  [
    '503 with Retry-After',
    { status: 503, headers: { 'retry-after': '3' }, text: '' },
    /^http 503$/,
    { retryAfterMs: 3_000 },
  ],
  ['413', page(413), /^http 413 \(more was asked for than it takes at once\)$/, {}],
  ['401', error('ApiKey not exists', 401), /^http 401: ApiKey not exists \(correct TRON_API_KEY\)$/, {}],
  [
    '404 of a wrong path',
    page(404),
    /^http 404 \(wallet\/getblock is not served here: correct TRON_API_URLS/,
    { notOffered: true },
  ],
  [
    '405 of a wrong path',
    page(405),
    /^http 405 \(wallet\/getblock is not served here: correct TRON_API_URLS/,
    { notOffered: true },
  ],
  [
    'a redirect',
    { status: 302, headers: { location: '/elsewhere' }, text: '' },
    /^http 302 \(redirects are not followed: name/,
    {},
  ],
  [
    'a node without history',
    { text: CLOSED },
    /^an error: this API is closed.*\(name a full node/,
    { notOffered: true },
  ],
  ['a page with 200', page(200), /^an HTML page instead of JSON$/, {}],
  ['nothing', { text: '' }, /^not JSON or cut short$/, {}],
  ['half of the JSON', { text: '{"blockID":"00' }, /^not JSON or cut short$/, {}],
  ['null', { json: null }, /^neither an object nor a list$/, {}],
  ['a text', { json: 'blockID' }, /^neither an object nor a list$/, {}],
  ['a connection closed half way', 'cut', /^connection failed \(ECONNRESET\)$/, {}],
  ['a reset', 'reset', /^connection failed \(ECONNRESET\)$/, {}],
  ['a hung connection', 'hang', /^no answer within 0\.25 s$/, {}],
  ['an answer drop by drop', 'drip', /^no answer within 0\.25 s$/, {}],
  ['too large an answer', { text: `"${'x'.repeat(MAX_BYTES)}"` }, /^answer larger than 2 MiB$/, {}],
];

describe('the protocol of Tron', () => {
  let node: TestNode;
  let second: TestNode;
  const reports: string[] = [];

  before(async () => {
    node = await startNode();
    second = await startNode();
  });
  after(() => {
    node?.stop();
    second?.stop();
  });
  beforeEach(() => {
    for (const each of [node, second])
      Object.assign(each, { fault: undefined, genesis: GENESIS, head: HEAD });
    node.asked.length = 0;
    second.asked.length = 0;
    reports.length = 0;
  });

  const poolOf = (options: Partial<TronPoolOptions> = {}): TronPool =>
    createTronPool({
      name: 'tron',
      urls: [node.url],
      apiKey: KEY,
      budget: createBudget({ perDay: 100_000, perSecond: 1_000 }),
      genesis: createGenesis({ usdtContract: PRIVATE_CONTRACT }),
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: MAX_BYTES,
      report: (message) => reports.push(message),
      ...options,
    });
  const getBlock = (pool: TronPool) =>
    pool.run((session) => session.call('wallet/getblock', { detail: true }), signal);
  const failureOf = (work: Promise<unknown>): Promise<Error> =>
    work.then(
      () => new Error('it succeeded'),
      (failure: unknown) => failure as Error,
    );
  const isGetBlock = ({ url }: { url: string }): boolean =>
    url.includes('getblock') && !url.includes('bynum');
  const shown = (pool: TronPool, ...errors: unknown[]): string =>
    [
      ...errors.flatMap((each) => [String(each), (each as Error)?.stack]),
      ...reports,
      JSON.stringify(pool.status()),
    ].join('\n');

  for (const [name, answer, said, flags] of FAULTS) {
    it(`takes ${name} for a failure of the endpoint`, async () => {
      const pool = poolOf({ urls: [node.url, second.url] });
      node.fault = (asked) => (isGetBlock(asked) ? answer : undefined);
      second.fault = (asked) => (isGetBlock(asked) ? { json: { from: 'second' } } : undefined);
      const failure = await pool.aside((session) => failureOf(session.call('wallet/getblock', {})), signal);
      expect(failure).to.be.instanceOf(EndpointFailure);
      expect(failure.message).to.match(said);
      const { throttled, notOffered, retryAfterMs } = failure as EndpointFailure;
      expect({ throttled, notOffered, retryAfterMs }).to.deep.equal({
        throttled: false,
        notOffered: false,
        retryAfterMs: undefined,
        ...flags,
      });
      expect(await getBlock(pool), 'read elsewhere').to.deep.equal({ from: 'second' });
      expect(reports.at(-1)).to.equal(`tron: ${node.host}: ${failure.message}`);
    });
  }

  it('hands {} and [] over as they are: what they mean is the caller’s to say', async () => {
    for (const json of [{}, []]) {
      node.fault = (asked) => (isGetBlock(asked) ? { json } : undefined);
      expect(await getBlock(poolOf())).to.deep.equal(json);
    }
  });

  it('hands the text to the parse function that it was given', async () => {
    const text = '{"balance":9223372036854775807}';
    node.fault = (asked) => (isGetBlock(asked) ? { text } : undefined);
    const parse = (json: string): unknown =>
      JSON.parse(json, (_, value, context?: { source: string }) =>
        typeof value === 'number' && !Number.isSafeInteger(value) ? BigInt(context?.source ?? '') : value,
      );
    expect(await getBlock(poolOf({ parse }))).to.deep.equal({ balance: 9_223_372_036_854_775_807n });
  });

  it('asks below the base’s own path, with its query, its credentials and the key', async () => {
    const pool = poolOf({ urls: [`http://user:p%40ssw0rd@${node.host}/v3/PATHKEY//?tier=QUERYKEY`] });
    await getBlock(pool);
    const asked = node.asked.at(-1);
    expect(asked?.url).to.equal('/v3/PATHKEY/wallet/getblock?tier=QUERYKEY');
    expect(asked?.body).to.equal('{"detail":true}');
    expect(asked?.headers['tron-pro-api-key']).to.equal(KEY);
    expect(asked?.headers['content-type']).to.equal('application/json');
    expect(asked?.headers.authorization).to.equal(`Basic ${Buffer.from('user:p@ssw0rd').toString('base64')}`);
  });

  it('sends no header for a key that is not configured', async () => {
    await getBlock(poolOf({ apiKey: undefined }));
    expect(node.asked.at(-1)?.headers).not.to.have.property('tron-pro-api-key');
  });

  it('shows the key and the secrets of any URL in no error, report or status', async () => {
    const urls = [`http://user:p%40ssw0rd@${node.host}/PATHKEY`, `http://${second.host}/OTHERKEY`];
    const solidityUrls = [`http://${node.host}/SOLIDKEY`, `http://${second.host}/OTHERKEY`];
    const basic = Buffer.from('user:p@ssw0rd').toString('base64');
    const echo = `${KEY} PATHKEY OTHERKEY SOLIDKEY p@ssw0rd ${basic} of http://${node.host}/PATHKEY?key=${KEY}`;
    for (const answer of [
      error(echo),
      error(echo, 403),
      error(echo, 429),
      error(echo, 503),
      { json: { error: { message: echo } } },
      { text: echo },
      { text: `${CLOSED} ${echo}` },
      { status: 302, headers: { location: `http://host/${KEY}` }, text: echo },
      { text: `<html>${echo}` },
      { status: 404, text: echo },
    ]) {
      node.fault = () => answer;
      second.fault = () => answer;
      const pool = poolOf({ urls, solidityUrls });
      const each = await pool.each((session) => session.call('wallet/getblock', {}), signal);
      const ends = [
        await failureOf(getBlock(pool)),
        await failureOf(pool.checkChain(signal)),
        JSON.stringify(each),
      ];
      expect(shown(pool, ...ends)).not.to.match(/e0b7|PATHKEY|OTHERKEY|SOLIDKEY|ssw0rd/);
      expect(shown(pool, ...ends)).not.to.include(basic);
    }
    expect(() => poolOf({ urls: [`nothing ${KEY}`] })).to.throw(/^an RPC endpoint is not a URL/);
    expect(() => poolOf({ urls, solidityUrls: ['PATHKEY'] })).to.throw(/must name one address for each/);
    expect(() => poolOf({ urls, solidityUrls: ['PATHKEY', KEY] })).to.throw(
      /^an RPC endpoint is not a URL: write it as https:\/\/host\/path$/,
    );
  });

  it('leaves an endpoint that bans alone for as long as it says, and reads elsewhere', async () => {
    const clock = madeUpClock();
    const pool = poolOf({ urls: [node.url, second.url], ...clock, probeEveryMs: 1_000_000 });
    await getBlock(pool);
    node.fault = (asked) => (isGetBlock(asked) ? error(`${BANNED} 30 s`, 403) : undefined);
    await getBlock(pool);
    const before = node.asked.length;
    await clock.pause(29_000);
    await getBlock(pool);
    expect(node.asked.length, 'asked during the ban').to.equal(before);
    await clock.pause(1_001);
    second.fault = () => 'reset';
    node.fault = undefined;
    expect(await getBlock(pool)).to.deep.equal({});
    expect(node.asked.length, 'asked after it').to.be.above(before);
  });

  it('answers from the second endpoint while the first one hangs', async () => {
    node.fault = () => 'hang';
    second.fault = (asked) => (isGetBlock(asked) ? { json: { from: 'second' } } : undefined);
    const pool = poolOf({ urls: [node.url, second.url] });
    const began = performance.now();
    expect(await getBlock(pool)).to.deep.equal({ from: 'second' });
    expect(performance.now() - began).to.be.within(TIMEOUT_MS - 5, 10 * TIMEOUT_MS);
    expect(reports).to.deep.equal([`tron: ${node.host}: no answer within 0.25 s`]);
  });
});
