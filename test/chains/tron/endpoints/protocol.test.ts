import { expect } from 'chai';
import { eventually } from '../../../../dev/support/eventually.ts';
import { EndpointFailure } from '../../../../src/chains/rpc/errors.ts';
import type { TronPool, TronPoolOptions } from '../../../../src/chains/tron/protocol.ts';
import { failureOf } from '../../conformance/scene.ts';
import { type Answer, blockOf, HEAD, madeUpClock, poolOf, type TestNode, testNodes } from './node.ts';

const { signal } = new AbortController();
const KEY = 'e0b7-the-key-of-the-operator';
const MAX_BYTES = 2 * 1_048_576;

type Flags = Partial<Pick<EndpointFailure, 'throttled' | 'notOffered' | 'retryAfterMs'>>;
type Said = readonly [said: RegExp, answer: Answer, flags?: Flags];

const error = (text: string, status = 200, headers = {}): Answer => ({
  status,
  headers,
  json: { Error: text },
});
const page = (status: number): Answer => ({ status, text: '<html><body>Error</body></html>' });
const late = (status: number, seconds: string): Answer => ({
  status,
  headers: { 'retry-after': seconds },
  text: 'slow down',
});
const BANNED = 'The key exceeds the frequency limit(15), and the query server is suspended for';
const LACK = 'class java.lang.IllegalAccessException : lack of computing resources';
const CLOSED = 'this API is closed because this node is a lite fullnode';
const throttled = (retryAfterMs?: number): Flags => ({ throttled: true, retryAfterMs });
const notOffered = { notOffered: true };
const NOT_SERVED = 'wallet\\/getblock is not served here: correct TRON_API_URLS';

/** What a node answers, what is said of it, and what the pool is told. */
const FAULTS: Readonly<Record<string, Said>> = {
  'an error with 200': [/^an error: class java/, error('class java.lang.NullPointerException : null')],
  'a lack of computing resources with 200': [/lack of computing resources/, error(LACK), throttled()],
  'a ban with 403': [/^http 403: The key/, error(`${BANNED} 12s`, 403), throttled(12_000)],
  'a ban without a time': [/^http 403$/, { status: 403, text: '' }, throttled(30_000)],
  'a ban with 503 that outlasts its header': [
    /^http 503: The key/,
    error(`${BANNED} 9 s`, 503, { 'retry-after': '2' }),
    throttled(9_000),
  ],
  '429 with Retry-After': [/^http 429$/, late(429, '7'), throttled(7_000)],
  '503': [/^http 503$/, page(503)],
  '503 with Retry-After': [/^http 503$/, late(503, '3'), { retryAfterMs: 3_000 }],
  '401': [/^http 401: ApiKey not exists \(correct TRON_API_KEY\)$/, error('ApiKey not exists', 401)],
  '413': [/^http 413 \(more was asked for than it takes at once\)$/, page(413)],
  '405 of a wrong path': [new RegExp(`^http 405 \\(${NOT_SERVED}`), page(405), notOffered],
  '404 of a wrong path': [new RegExp(`^http 404 \\(${NOT_SERVED}`), page(404), notOffered],
  'a redirect': [
    /^http 302 \(redirects are not followed: name/,
    { status: 302, headers: { location: '/elsewhere' }, text: '' },
  ],
  'a node without history': [
    /^an error: this API is closed.*\(name a full node/,
    { text: CLOSED },
    notOffered,
  ],
  'a page with 200': [/^an HTML page instead of JSON$/, page(200)],
  'half of the JSON': [/^not JSON or cut short$/, { text: '{"blockID":"00' }],
  'a connection closed half way': [/^connection failed \(ECONNRESET\)$/, 'cut'],
  'a hung connection': [/^no answer within 1 s$/, 'hang'],
  'an answer drop by drop': [/^no answer within 1 s$/, 'drip'],
  'too large an answer': [/^answer larger than 2 MiB$/, { text: `"${'x'.repeat(MAX_BYTES)}"` }],
};

describe('the protocol of Tron', () => {
  const nodes = testNodes(2);
  const reports: string[] = [];
  let node: TestNode;
  let second: TestNode;
  beforeEach(() => {
    [node, second] = nodes as [TestNode, TestNode];
    reports.length = 0;
  });

  const report = (message: string): void => void reports.push(message);
  const over = (some: readonly { readonly url: string }[], options: Partial<TronPoolOptions> = {}) =>
    poolOf(some, { apiKey: KEY, maxResponseBytes: MAX_BYTES, report, ...options });
  const getBlock = (pool: TronPool) =>
    pool.run((session) => session.call('wallet/getblock', { detail: true }), signal);
  /** The answer to that question alone. */
  const answers =
    (answer: Answer) =>
    ({ url }: { url: string }) =>
      url.includes('getblock') && !url.includes('bynum') ? answer : undefined;
  const FROM_SECOND = { from: 'second' };

  for (const [name, [said, answer, flags]] of Object.entries(FAULTS))
    it(`takes ${name} for a failure of the endpoint, and reads elsewhere`, async () => {
      const isLate = answer === 'hang' || answer === 'drip';
      const pool = over(nodes, { timeoutMs: isLate ? 1_000 : 20_000 });
      node.fault = answers(answer);
      second.fault = answers({ json: FROM_SECOND });
      const failure = await pool.aside((session) => failureOf(session.call('wallet/getblock', {})), signal);
      expect(failure).to.be.instanceOf(EndpointFailure);
      const { message, throttled, notOffered, retryAfterMs } = failure as EndpointFailure;
      expect(message).to.match(said);
      const none = { throttled: false, notOffered: false, retryAfterMs: undefined };
      expect({ throttled, notOffered, retryAfterMs }).to.deep.equal({ ...none, ...flags });
      expect(await getBlock(pool)).to.deep.equal(FROM_SECOND);
      expect(reports.at(-1)).to.equal(`tron: ${node.host}: ${message}`);
    });

  it('asks below the base’s own path, with its query, its credentials and the key where one is configured', async () => {
    const url = `http://user:p%40ssw0rd@${node.host}/v3/PATHKEY//?tier=QUERYKEY`;
    await getBlock(over([{ url }]));
    const { headers, ...asked } = node.asked.at(-1) ?? { headers: {} };
    const path = '/v3/PATHKEY/wallet/getblock?tier=QUERYKEY';
    expect(asked).to.deep.equal({ url: path, body: '{"detail":true}' });
    expect(headers).to.include({
      'tron-pro-api-key': KEY,
      'content-type': 'application/json',
      authorization: `Basic ${Buffer.from('user:p@ssw0rd').toString('base64')}`,
    });
    await getBlock(over([node], { apiKey: undefined }));
    expect(node.asked.at(-1)?.headers).not.to.have.property('tron-pro-api-key');
  });

  it('takes a head only where the id of the block begins with its height, and tells who lags behind', async () => {
    const clock = madeUpClock();
    const pool = over(nodes, { ...clock, probeEveryMs: 0 });
    const block_header = { raw_data: { number: 9_999 } };
    const saidOfSecond = async (json: unknown) => {
      second.fault = ({ url }) => (url.includes('getnowblock') && json ? { json } : undefined);
      await pool.checkChain(signal);
      await clock.pause(1_000);
      await pool.run(async (session) => {
        session.sawHead(HEAD + 40);
        return true;
      }, signal);
      await eventually('a word of the second one', () => pool.status()[1]?.toldMsAgo === 0);
      return [pool.status()[1]?.headNumber, pool.status()[1]?.problem];
    };
    const behind = [HEAD, '40 blocks behind the best endpoint'];
    expect(await saidOfSecond(undefined)).to.deep.equal(behind);
    for (const blockID of [`${'0'.repeat(15)}1${'e'.repeat(48)}`, undefined])
      expect(await saidOfSecond({ blockID, block_header })).to.deep.equal(behind);
    for (const json of [{}, []]) expect(await saidOfSecond(json)).to.deep.equal(behind);
    expect(await saidOfSecond(blockOf(HEAD + 39))).to.deep.equal([HEAD + 39, null]);
  });
});
