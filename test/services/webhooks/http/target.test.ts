import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { type Canary, startCanary } from '../../../../dev/support/receiver.ts';
import { createLookup, type Lookup } from '../../../../src/services/webhooks/http/lookup.ts';
import {
  checkTargetForSave,
  parseTarget,
  resolveTarget,
  type TargetPolicy,
  TargetRefused,
} from '../../../../src/services/webhooks/http/target.ts';
import { post } from '../../../support/http/attempts.ts';
import { startNameServer } from '../../../support/http/name-server.ts';

type Corpus = {
  readonly urls: readonly { readonly why: string; readonly urls: readonly string[] }[];
  readonly answers: readonly { readonly why: string; readonly answers: readonly string[] }[];
};

const corpus: Corpus = JSON.parse(
  readFileSync(new URL('../../../vectors/hostile-urls.json', import.meta.url), 'utf8'),
);
const closed: TargetPolicy = { allowedCidrs: [], allowHttp: false };
const http: TargetPolicy = { allowedCidrs: [], allowHttp: true };
const open: TargetPolicy = { allowedCidrs: ['0.0.0.0/0', '::/0'], allowHttp: true };
const answering =
  (...answers: string[]): Lookup =>
  async () =>
    answers;
const never = new AbortController().signal;
const SHOP = 'https://shop.example/';

async function refusal(action: () => unknown, what = ''): Promise<TargetRefused> {
  try {
    await action();
  } catch (error) {
    if (error instanceof TargetRefused) return error;
    throw error;
  }
  throw new Error(`not refused: ${what}`);
}
const resolve = (url: string, policy: TargetPolicy, ...answers: string[]) =>
  resolveTarget({ lookup: answering(...answers) }, parseTarget(url, policy), policy, never);

describe('hostile URLs', () => {
  let canary: Canary;
  beforeEach(async () => {
    canary = await startCanary();
  });
  afterEach(() => canary.stop());

  const send = (policy: TargetPolicy, url: string, ...answers: string[]) =>
    post(url, { policy, lookup: answering(...answers) });

  for (const { why, urls } of corpus.urls) {
    it(`are refused at save and at delivery: ${why} (${urls.length})`, async () => {
      for (const template of urls) {
        const url = template.replaceAll('{port}', String(canary.port));
        for (const policy of [closed, http]) {
          // A public answer here: the text of the URL alone must be reason enough.
          const error = await refusal(
            () => checkTargetForSave({ lookup: answering('93.184.215.14') }, url, policy),
            url,
          );
          expect(error.message).to.match(/^The [^\n]{10,120}\.$/);
          const outcome = await send(policy, url, '127.0.0.1');
          expect(outcome, url).to.include({ kind: 'error', code: 'TARGET_REFUSED' });
        }
      }
      expect(canary.connections()).to.equal(0);
    });
  }

  it('are refused behind a public name, whatever it resolves to that is not public', async () => {
    for (const { why, answers } of corpus.answers) {
      const url = `http://shop.example:${canary.port}/`;
      const lookup = answering(...answers);
      const error = await refusal(() => checkTargetForSave({ lookup }, url, http), why);
      for (const answer of answers.filter((text) => text !== ''))
        expect(error.message).not.to.include(answer);
      expect(await send(http, url, ...answers), why).to.include({ kind: 'error', code: 'TARGET_REFUSED' });
    }
    expect(canary.connections()).to.equal(0);
  });

  it('are at least 200, and would reach the listener if the rule were open', async () => {
    expect(corpus.urls.flatMap((group) => group.urls).length).to.be.at.least(200);
    const spellings = corpus.urls.slice(0, 2).flatMap((group) => group.urls);
    for (const template of spellings.filter((url) => /^http:\/\/(127|0x7f\.)/.test(url))) {
      const outcome = await send(open, template.replaceAll('{port}', String(canary.port)), '127.0.0.1');
      expect(outcome, template).to.include({ kind: 'response', status: 200 });
    }
    expect(canary.connections()).to.be.above(5);
  });
});

describe('the literal check', () => {
  it('takes ordinary URLs and normalises them', () => {
    for (const [url, policy, host, port] of [
      ['HTTPS://shop.example:8443', closed, 'shop.example', 8443],
      ['https://münchen.example/x', closed, 'xn--mnchen-3ya.example', 443],
      ['https://[2606:4700:4700::1111]:8444/', closed, '2606:4700:4700::1111', 8444],
      ['http://shop.example/', http, 'shop.example', 80],
    ] as const)
      expect(parseTarget(url, policy), url).to.include({ host, port });
    const { url, isLiteral } = parseTarget('https://Shop.Example/hook?a=1&b=%20', closed);
    expect([url.href, isLiteral]).to.deep.equal(['https://shop.example/hook?a=1&b=%20', false]);
  });

  it('opens only the blocks that the operator named, for literals and for inside names', async () => {
    const allowedCidrs = ['127.0.0.0/8', 'nonsense', '10.1.0.0/99'];
    const policy: TargetPolicy = { allowedCidrs, allowHttp: true };
    for (const host of ['127.0.0.1', 'localhost', 'receiver'])
      expect(parseTarget(`http://${host}:1/`, policy).host).to.equal(host);
    for (const host of ['10.1.0.1', '[::1]', '[::ffff:127.0.0.1]'])
      await refusal(() => parseTarget(`http://${host}/`, policy), host);
    await refusal(() => resolve('http://receiver/', policy, '127.0.0.1', '10.1.0.1'));
  });
});

describe('the rule of ports and of our own addresses', () => {
  it('takes 80, 443 and what is free to use, and of the others only those that the operator named', async () => {
    for (const port of [443, 80, 1024, 8443, 65535]) parseTarget(`https://shop.example:${port}/`, closed);
    for (const port of [1, 22, 25, 445, 465, 993, 1023]) {
      for (const host of ['shop.example', '93.184.215.14'])
        await refusal(() => parseTarget(`https://${host}:${port}/`, closed), `${host}:${port}`);
      parseTarget(`https://shop.example:${port}/`, { ...closed, allowedPorts: [port] });
    }
  });

  it('asks for no port in a network that was opened, and asks it of every public address beside it', async () => {
    const policy: TargetPolicy = { allowedCidrs: ['10.1.0.0/16'], allowHttp: true };
    parseTarget('http://10.1.2.3:25/', policy);
    expect(await resolve('http://receiver:25/', policy, '10.1.2.3')).to.deep.equal(['10.1.2.3']);
    await refusal(() => resolve('http://receiver:25/', policy, '93.184.215.14'));
    await refusal(() => parseTarget('http://93.184.215.14:25/', policy));
  });

  it('refuses our own public addresses, for literals and for names, also where they were opened', async () => {
    const deniedCidrs = ['93.184.215.14', '2606:2800::/32'];
    const policy: TargetPolicy = { ...closed, allowedCidrs: ['93.184.0.0/16'], deniedCidrs };
    for (const host of ['93.184.215.14', '1572394766', '[2606:2800::1]'])
      await refusal(() => parseTarget(`https://${host}/`, policy), host);
    parseTarget('https://93.184.215.15/', policy);
    await refusal(() => resolve(SHOP, policy, '93.184.215.15', '93.184.215.14'));
  });
});

describe('resolving a target', () => {
  it('returns at most four addresses, IPv4 first, each once, and vets those beyond them', async () => {
    const answers = ['2606:4700::1', '8.8.8.8', '8.8.8.8', '2606:4700::2', '1.1.1.1', '9.9.9.9'];
    expect(await resolve(SHOP, closed, ...answers)).to.deep.equal([
      '8.8.8.8',
      '1.1.1.1',
      '9.9.9.9',
      '2606:4700::1',
    ]);
    await refusal(() => resolve(SHOP, closed, ...answers, '127.0.0.1'));
  });
});

describe('the check at save', () => {
  const save = (lookup: Lookup, timeoutMs?: number) =>
    checkTargetForSave({ lookup, ...(timeoutMs && { timeoutMs }) }, SHOP, closed);

  it('lets a name pass that does not resolve, or not in time, and gives the lookup up', async () => {
    const missing = Object.assign(new Error('gone'), { code: 'ENOTFOUND' });
    expect((await save(() => Promise.reject(missing))).host).to.equal('shop.example');
    expect((await save(answering())).host).to.equal('shop.example');
    let given: AbortSignal | undefined;
    await save((_host, signal) => {
      given = signal;
      return new Promise(() => {});
    }, 50);
    expect(given?.aborted).to.equal(true);
  });

  it('survives a forbidden answer that comes too late', async () => {
    const late = Promise.withResolvers<string[]>();
    await save(() => late.promise, 20);
    late.resolve(['127.0.0.1']);
    await refusal(() => save(() => late.promise, 60_000));
  });
});

describe('looking names up', () => {
  const failureOf = async (work: Promise<unknown>): Promise<NodeJS.ErrnoException | undefined> =>
    await work.then(
      () => undefined,
      (reason) => reason,
    );

  it('knows the names of the machine only where the operator opened a block', async () => {
    const server = await startNameServer(() => undefined);
    const servers = [server.address];
    expect(await createLookup({ useSystem: true, servers })('localhost', never)).to.include('127.0.0.1');
    const closedTo = createLookup({ useSystem: false, servers })('receiver.test', never);
    expect(await failureOf(closedTo)).to.be.instanceOf(Error);
    await server.stop();
  });
});
