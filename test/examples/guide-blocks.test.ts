import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Block, blocksOf, filled } from '../../dev/newcomer/blocks.ts';
import { LANGUAGES, type Language, type Outcome, runSnippet } from '../../dev/newcomer/snippets.ts';
import { FIRST_INTEGRATION } from '../../dev/newcomer/walk.ts';
import { tempDir } from '../../dev/support/parts.ts';
import { signTestEvent } from '../../packages/sdk/src/index.ts';
import { call, startTestApi, type TestApi } from '../support/gateway.ts';
import { ROOT } from '../support/repository/files.ts';

const GUIDES = readdirSync(join(ROOT, 'docs/guides')).map((file) => `docs/guides/${file}`);
/** Shown, not run: an illustration, data, and a drawing, which has a test of its own. */
const SHOWN = ['text', 'json', 'mermaid'];

/** Blocks that are no step of the first integration, and what runs them. */
const ELSEWHERE = {
  'Two commands': 'test/dev/demo (the demo), and this very run',
  Production: 'test/deploy (each service of the file is started by its own command)',
};

const isRun = ({ language }: Block): boolean => (LANGUAGES as readonly string[]).includes(language);
/** Goes on until Ctrl-C, which it says first. */
const isFollowing = ({ text }: Block): boolean => text.includes('--forward-to');
const FOLLOWS = 'Ctrl-C ends it.';
const placeOf = ({ document, line }: Block): string => `${document}:${line}`;
const parsed = (text: string): Record<string, unknown> | undefined => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

describe('the examples in the guides', function () {
  this.timeout(60_000);
  let api: TestApi;
  let values: Record<string, string>;
  let folder: string;
  before(async () => {
    api = await startTestApi();
    folder = await tempDir('guides');
  });
  after(() => api?.stop());
  beforeEach(async () => {
    // Each guide is read by somebody new, with a customer of theirs.
    const { keys } = await api.newMerchant();
    const made = await call(`${api.url}/customers`, { key: keys.test, body: { external_id: 'reader' } });
    values = {
      'http://127.0.0.1:8080/api/v1': api.url,
      'sk_test_…': keys.test,
      CUSTOMER_ID: String(made.body['id']),
    };
  });

  const run = async (block: Block): Promise<Outcome> => {
    const env = { API: api.url, KEY: values['sk_test_…'] };
    const until = isFollowing(block) ? FOLLOWS : undefined;
    return await runSnippet(block.language as Language, filled(block.text, values), { folder, env, until });
  };

  it('have no block in the README that nobody runs', () => {
    const headings = blocksOf(ROOT, 'README.md')
      .filter(({ language }) => language !== 'text')
      .map(({ heading }) => heading);
    expect([...new Set(headings)]).to.have.members([FIRST_INTEGRATION, ...Object.keys(ELSEWHERE)]);
  });

  it('are each in a language that is run, or shown as text or data', () => {
    const blocks = [...GUIDES, 'README.md'].flatMap((document) => blocksOf(ROOT, document));
    const others = blocks.filter((block) => !isRun(block) && !SHOWN.includes(block.language));
    expect(others.map((block) => `${placeOf(block)}: ${block.language}`)).to.deep.equal([]);
    expect(blocks.filter(isRun).length).to.be.greaterThan(30);
  });

  for (const guide of GUIDES) {
    const blocks = blocksOf(ROOT, guide);
    if (blocks.some(isRun))
      it(`run as they stand: ${guide}`, async () => {
        for (const [index, block] of blocks.entries()) {
          if (!isRun(block)) continue;
          const { code, out, err } = await run(block);
          const told = `${placeOf(block)} (${block.language})\n${out}${err}`;
          // The shell that a person types into lives on; this one ends by the Ctrl-C as well.
          if (isFollowing(block)) expect(out, told).to.include(FOLLOWS);
          else expect(code, told).to.equal(0);
          expect(err, told).to.equal('');
          const next = blocks[index + 1];
          const refusal = parsed(out)?.['code'];
          if (next?.language === 'json' && refusal !== undefined)
            expect(parsed(out), told).to.deep.equal(parsed(next.text));
          else expect(refusal, told).to.equal(undefined);
        }
      });
  }

  describe('verify a webhook by hand', () => {
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const sign = (now = Date.now()) =>
      signTestEvent({ secret, event: 'deposit.completed', data: { note: 'Größe' }, now: () => now });
    /** What the reader's server does with the function of the guide. */
    const USES: Readonly<Record<string, string>> = {
      js: `const { secret, headers, body } = JSON.parse(process.env.CASE);
console.log(isGenuine(secret, headers, Buffer.from(body)));`,
      python: `case = json.loads(os.environ["CASE"])
class Headers(dict):
    get = lambda self, name, default=None: dict.get(self, name.lower(), default)
given = (case["secret"], Headers(case["headers"]), case["body"].encode())
verdicts = {is_genuine(*given), is_genuine_standard(*given)}
print(*["true" if verdict else "false" for verdict in verdicts])`,
      php: `['secret' => $secret, 'headers' => $headers, 'body' => $body] = json_decode(getenv('CASE'), true);
// getallheaders() has them as they came, the environment of other servers in lower case.
$capitals = array_combine(array_map(fn ($name) => ucwords($name, '-'), array_keys($headers)), $headers);
$verdicts = [is_genuine($secret, $headers, $body), is_genuine($secret, $capitals, $body)];
echo implode(' ', array_map(fn ($verdict) => $verdict ? 'true' : 'false', array_unique($verdicts)));`,
    };
    const hostile = { 'webhook-signature': 'Größe v1,ü', 'webhook-timestamp': '²' };
    /** Signed when they are asked for: a signature is good for five minutes. */
    const casesNow = () => {
      const genuine = sign();
      return {
        true: [{ secret, ...genuine }],
        false: [
          { secret, ...genuine, rawBody: `${genuine.rawBody} ` },
          { secret: `whsec_${Buffer.alloc(32, 9).toString('base64')}`, ...genuine },
          { secret, ...sign(Date.now() - 301_000) },
          { secret, ...genuine, headers: {} },
          { secret, ...genuine, headers: { ...genuine.headers, 'x-webhook-signature': 'Größe', ...hostile } },
        ],
      };
    };
    for (const language of ['js', 'python', 'php'] as const)
      it(`and take a genuine one, and nothing else: ${language}`, async () => {
        const block = blocksOf(ROOT, 'docs/guides/webhooks.md').find((one) => one.language === language);
        const text = `${language === 'python' ? 'import json, os\n' : ''}${block?.text}\n${USES[language]}`;
        for (const [verdict, cases] of Object.entries(casesNow()))
          for (const { secret: key, headers, rawBody } of cases) {
            const env = { CASE: JSON.stringify({ secret: key, headers, body: rawBody }) };
            const { out, err } = await runSnippet(language, text, { folder, env });
            expect(`${out.trim()}${err}`).to.equal(verdict);
          }
      });
  });
});
