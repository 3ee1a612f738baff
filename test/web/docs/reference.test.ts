import { expect } from 'chai';
import { LANGUAGES, type Language, runSnippet } from '../../../dev/newcomer/snippets.ts';
import { tempDir } from '../../../dev/support/parts.ts';
import { signTestEvent } from '../../../packages/sdk/src/index.ts';
import { call, startTestApi, type TestApi } from '../../support/gateway.ts';
import { newUser, signIn } from '../../support/sign-in.ts';

type Document = {
  paths: Record<string, Record<string, { operationId?: string }>>;
  webhooks: Record<string, unknown>;
};

const METHODS = ['get', 'post', 'put', 'delete'];
const PLAIN: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&#96;': '`',
};
const textOf = (markup = '') =>
  markup.replaceAll(/<[^>]*>/g, '').replaceAll(/&[a-z0-9#]+;/g, (entity) => PLAIN[entity] ?? entity);

/** Says the status on a line of its own, whatever the call itself prints. */
const TOLD: Readonly<Record<Language, (text: string) => string>> = {
  sh: (text) => `${text} \\\n  -o /dev/null -w '%{http_code}'`,
  js: (text) => text,
  python: (text) => text,
  php: (text) => `${text}\nfwrite(STDERR, "\\n" . $http_response_header[0]);`,
};

describe('the reference page', function () {
  this.timeout(120_000);
  let api: TestApi;
  let document: Document;
  let page = '';
  before(async () => {
    api = await startTestApi();
    document = (await call(`${api.origin}/openapi.json`)).body as Document;
    page = (await call(`${api.origin}/docs`)).text;
  });
  after(() => api?.stop());

  const routes = () =>
    Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item)
        .filter((method) => METHODS.includes(method))
        .map((method) => `${method} ${path}`),
    );
  const cards = () => page.split(/(?=<[a-z]+ [^>]*data-route=")/).slice(1);
  /** Each route with its call in each language. */
  const calls = () =>
    cards().map((card) => ({
      route: /data-route="([^"]*)"/.exec(card)?.[1] ?? '',
      texts: Object.fromEntries(
        LANGUAGES.map((language) => {
          const block = new RegExp(`<pre[^>]*data-lang="${language}"[^>]*>([\\s\\S]*?)</pre>`);
          return [language, textOf(block.exec(card)?.[1])];
        }),
      ) as Record<Language, string>,
    }));

  it('shows every route with a call in each language, and every event', () => {
    const valuesOf = (name: string) =>
      [...page.matchAll(new RegExp(` ${name}="([^"]*)"`, 'g'))].map(([, value]) => value);
    expect(valuesOf('data-route')).to.have.members(routes());
    expect(valuesOf('data-event')).to.have.members(Object.keys(document.webhooks));
    for (const { route, texts } of calls())
      for (const language of LANGUAGES) expect(texts[language], `${route} ${language}`).to.match(/http|API/);
  });

  it('has calls that run as they stand: every route, and every kind of call in each language', async () => {
    const folder = await tempDir('calls');
    const inLanguage = async (language: Language, place: number) => {
      const merchant = await api.newMerchant();
      const cookie = await signIn(api, await newUser(api, merchant.id));
      const env = { KEY: merchant.keys.test, SESSION: cookie.slice(cookie.indexOf('=') + 1) };
      const kinds = new Set<string>();
      for (const [index, { route, texts }] of calls().entries()) {
        const kind = [
          route.split(' ')[0],
          /\?/.test(texts.sh),
          /-d |--data/.test(texts.sh),
          /SESSION/.test(texts.sh),
        ];
        const isKnown = kinds.has(kind.join());
        kinds.add(kind.join());
        if (isKnown && index % LANGUAGES.length !== place) continue;
        const outcome = await runSnippet(language, TOLD[language](texts[language]), { folder, env });
        expectRightStatus(route, statusOf(outcome), `${texts[language]}\n${outcome.out}${outcome.err}`);
      }
      const made = await call(`${api.url}/customers?external_id=user-42`, { key: merchant.keys.test });
      expect(made.body['data'], language).to.have.length(1);
    };
    await Promise.all(LANGUAGES.map(inLanguage));
  });

  it('shows a verification that takes a genuine webhook and nothing else', async () => {
    const snippet = textOf(/data-part="verify"[\s\S]*?<pre[^>]*>([\s\S]*?)<\/pre>/.exec(page)?.[1]);
    const { isGenuine } = await import(`data:text/javascript,${encodeURIComponent(snippet)}`);
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const sign = (shiftMs: number) => {
      const event = { secret, event: 'deposit.completed', data: { id: 'x' } } as const;
      return signTestEvent({ ...event, now: () => Date.now() + shiftMs });
    };
    const [{ rawBody, headers }, old] = [sign(0), sign(-301_000)];
    expect([
      isGenuine(secret, headers, rawBody),
      isGenuine(secret, headers, `${rawBody} `),
      isGenuine(`${secret}x`, headers, rawBody),
      isGenuine(secret, {}, rawBody),
      isGenuine(secret, old.headers, old.rawBody),
    ]).to.deep.equal([true, false, false, false, false]);
  });
});

// Whose examples name somebody who is not here: everything but the id is right.
const ABSENT = [
  '/customers/{id}',
  '/deposits/{id}',
  '/events/{id}',
  '/payments/{token}',
  '/payment-links/{id}',
  '/webhook-endpoints/{id}',
  '/webhook-deliveries/',
  '/test/',
];

function expectRightStatus(route: string, status: number, told: string): void {
  const [, path = ''] = route.split(' ');
  if (route === 'post /login') expect(status, told).to.equal(401);
  else if (ABSENT.some((start) => path.startsWith(start))) expect(status, told).to.equal(404);
  else expect(status, told).to.be.oneOf([200, 201]);
}

function statusOf({ out, err }: { out: string; err: string }): number {
  return Number(/^(\d{3})\b/.exec(out)?.[1] ?? /HTTP(?:\/1\.1| Error) (\d{3})/.exec(err)?.[1]);
}
