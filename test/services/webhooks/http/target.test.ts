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
import { createWebhookTransport } from '../../../../src/services/webhooks/http/transport.ts';
import { type Answers, startNameServer } from '../../../support/http/name-server.ts';

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

async function refusal(action: () => unknown): Promise<TargetRefused> {
  try {
    await action();
  } catch (error) {
    if (error instanceof TargetRefused) return error;
    throw error;
  }
  throw new Error('not refused');
}

describe('hostile URLs', () => {
  let canary: Canary;
  beforeEach(async () => {
    canary = await startCanary();
  });
  afterEach(() => canary.stop());

  const send = (policy: TargetPolicy, url: string, lookup: Lookup) =>
    createWebhookTransport({ lookup, policy, now: () => performance.now() }).post({
      url,
      headers: {},
      body: Buffer.from('{}'),
      timeoutMs: 2_000,
    });

  for (const { why, urls } of corpus.urls) {
    it(`are refused at save and at delivery: ${why} (${urls.length})`, async () => {
      for (const template of urls) {
        const url = template.replaceAll('{port}', String(canary.port));
        for (const policy of [closed, http]) {
          // A public answer here: the text of the URL alone must be reason enough.
          const error = await refusal(() =>
            checkTargetForSave({ lookup: answering('93.184.215.14') }, url, policy),
          ).catch((other) => {
            throw new Error(`${JSON.stringify(url)}: ${other}`);
          });
          expect(error.message).to.match(/^The [^\n]{10,120}\.$/);
          const outcome = await send(policy, url, answering('127.0.0.1'));
          expect(outcome, url).to.include({ kind: 'error', code: 'TARGET_REFUSED' });
        }
      }
      expect(canary.connections()).to.equal(0);
    });
  }

  for (const { why, answers } of corpus.answers) {
    it(`are refused behind a public name: ${why}`, async () => {
      const url = `http://shop.example:${canary.port}/`;
      const error = await refusal(() => checkTargetForSave({ lookup: answering(...answers) }, url, http));
      for (const answer of answers.filter((text) => text !== ''))
        expect(error.message).not.to.include(answer);
      const outcome = await send(http, url, answering(...answers));
      expect(outcome).to.include({ kind: 'error', code: 'TARGET_REFUSED' });
      expect(canary.connections()).to.equal(0);
    });
  }

  it('are at least 200, and would reach the listener if the rule were open', async () => {
    expect(corpus.urls.flatMap((group) => group.urls).length).to.be.at.least(200);
    const spellings = corpus.urls.slice(0, 2).flatMap((group) => group.urls);
    for (const template of spellings.filter(
      (url) => url.startsWith('http://127') || url.startsWith('http://0x7f.'),
    )) {
      const outcome = await send(
        open,
        template.replaceAll('{port}', String(canary.port)),
        answering('127.0.0.1'),
      );
      expect(outcome, template).to.include({ kind: 'response', status: 200 });
    }
    expect(canary.connections()).to.be.above(5);
  });
});

describe('the literal check', () => {
  it('takes ordinary https URLs and normalises them', () => {
    const target = parseTarget('https://Shop.Example/hook?a=1&b=%20', closed);
    expect(target).to.include({ host: 'shop.example', port: 443, isLiteral: false });
    expect(target.url.href).to.equal('https://shop.example/hook?a=1&b=%20');
    expect(parseTarget('HTTPS://shop.example:8443', closed)).to.include({ port: 8443 });
    expect(parseTarget('https://münchen.example/x', closed).host).to.equal('xn--mnchen-3ya.example');
    expect(parseTarget('https://my_shop.example/x@y:z', closed).host).to.equal('my_shop.example');
    expect(parseTarget('https://8.8.8.8/', closed)).to.include({ host: '8.8.8.8', isLiteral: true });
    expect(parseTarget('https://[2606:4700:4700::1111]:8444/', closed)).to.include({
      host: '2606:4700:4700::1111',
      port: 8444,
    });
    expect(parseTarget('http://shop.example/', http).port).to.equal(80);
  });

  it('says why it refuses a fragment', async () => {
    const { message } = await refusal(() => parseTarget('https://shop.example/hook?a=1#b', closed));
    expect(message).to.equal('The URL must not contain "#": what follows it is never sent to a server.');
  });

  it('takes 2048 characters and not one more', async () => {
    const url = `https://shop.example/${'a'.repeat(2048 - 21)}`;
    expect(url).to.have.length(2048);
    parseTarget(url, closed);
    await refusal(() => parseTarget(`${url}a`, closed));
  });

  it('opens only the blocks that the operator named, for literals and for inside names', async () => {
    const policy: TargetPolicy = {
      allowedCidrs: ['127.0.0.0/8', 'nonsense', '10.1.0.0/99'],
      allowHttp: true,
    };
    expect(parseTarget('http://127.0.0.1:1/', policy).host).to.equal('127.0.0.1');
    expect(parseTarget('http://localhost:1/', policy).host).to.equal('localhost');
    expect(parseTarget('http://receiver:1/', policy).host).to.equal('receiver');
    await refusal(() => parseTarget('http://10.1.0.1/', policy));
    await refusal(() => parseTarget('http://[::1]/', policy));
    await refusal(() => parseTarget('http://[::ffff:127.0.0.1]/', policy));
    await refusal(() =>
      resolveTarget(
        { lookup: answering('127.0.0.1', '10.1.0.1') },
        parseTarget('http://receiver/', policy),
        policy,
        never,
      ),
    );
  });
});

describe('the rule of ports and of our own addresses', () => {
  it('takes 80, 443 and what is free to use, and of the others only those that the operator named', async () => {
    for (const port of [443, 80, 1024, 8443, 65535]) parseTarget(`https://shop.example:${port}/`, closed);
    for (const port of [1, 22, 25, 445, 465, 993, 1023]) {
      await refusal(() => parseTarget(`https://shop.example:${port}/`, closed));
      await refusal(() => parseTarget(`https://93.184.215.14:${port}/`, closed));
      parseTarget(`https://shop.example:${port}/`, { ...closed, allowedPorts: [port] });
    }
  });

  it('asks for no port in a network that was opened, and asks it of every public address beside it', async () => {
    const policy: TargetPolicy = { allowedCidrs: ['10.1.0.0/16'], allowHttp: true };
    parseTarget('http://10.1.2.3:25/', policy);
    const target = parseTarget('http://receiver:25/', policy);
    expect(await resolveTarget({ lookup: answering('10.1.2.3') }, target, policy, never)).to.deep.equal([
      '10.1.2.3',
    ]);
    await refusal(() => resolveTarget({ lookup: answering('93.184.215.14') }, target, policy, never));
    await refusal(() => parseTarget('http://93.184.215.14:25/', policy));
  });

  it('refuses our own public addresses, for literals and for names, also where they were opened', async () => {
    const policy: TargetPolicy = {
      ...closed,
      allowedCidrs: ['93.184.0.0/16'],
      deniedCidrs: ['93.184.215.14', '2606:2800::/32'],
    };
    for (const url of ['https://93.184.215.14/', 'https://1572394766/', 'https://[2606:2800::1]/'])
      await refusal(() => parseTarget(url, policy));
    parseTarget('https://93.184.215.15/', policy);
    const named = parseTarget('https://shop.example/', policy);
    await refusal(() =>
      resolveTarget({ lookup: answering('93.184.215.15', '93.184.215.14') }, named, policy, never),
    );
  });
});

describe('resolving a target', () => {
  it('returns at most four addresses, IPv4 first, each once', async () => {
    const lookup = answering('2606:4700::1', '8.8.8.8', '8.8.8.8', '2606:4700::2', '1.1.1.1', '9.9.9.9');
    const addresses = await resolveTarget(
      { lookup },
      parseTarget('https://shop.example/', closed),
      closed,
      never,
    );
    expect(addresses).to.deep.equal(['8.8.8.8', '1.1.1.1', '9.9.9.9', '2606:4700::1']);
  });

  it('vets the answers beyond those that it returns', async () => {
    const lookup = answering('8.8.8.8', '1.1.1.1', '9.9.9.9', '8.8.4.4', '1.0.0.1', '127.0.0.1');
    await refusal(() =>
      resolveTarget({ lookup }, parseTarget('https://shop.example/', closed), closed, never),
    );
  });

  it('does not look up a literal', async () => {
    const lookup: Lookup = async () => expect.fail('looked up');
    expect(
      await resolveTarget({ lookup }, parseTarget('https://8.8.8.8/', closed), closed, never),
    ).to.deep.equal(['8.8.8.8']);
  });
});

describe('the check at save', () => {
  const save = (lookup: Lookup, timeoutMs?: number) =>
    checkTargetForSave({ lookup, ...(timeoutMs && { timeoutMs }) }, 'https://shop.example/', closed);

  it('lets a name pass that does not resolve', async () => {
    const missing: Lookup = async () =>
      Promise.reject(Object.assign(new Error('gone'), { code: 'ENOTFOUND' }));
    expect((await save(missing)).host).to.equal('shop.example');
    expect((await save(answering())).host).to.equal('shop.example');
  });

  it('lets a name pass that takes longer than 2 s, and gives the lookup up', async () => {
    const startedMs = performance.now();
    let given: AbortSignal | undefined;
    const stalled: Lookup = (_host, signal) => {
      given = signal;
      return new Promise(() => {});
    };
    await save(stalled);
    expect(performance.now() - startedMs).to.be.at.least(1_950);
    expect(given?.aborted).to.equal(true);
  });

  it('survives a forbidden answer that comes too late', async () => {
    const late: Lookup = () => new Promise((resolve) => setTimeout(() => resolve(['127.0.0.1']), 60));
    await save(late, 20);
    await new Promise((resolve) => setTimeout(resolve, 80));
    await refusal(() => save(late, 500));
  });
});

describe('looking names up', () => {
  it('asks for A and AAAA without search domains', async () => {
    const zone: Record<string, Answers> = {
      'shop.example': { a: ['93.184.215.14'], aaaa: ['2606:4700:4700::1111'] },
      'v4.example': { a: ['127.0.0.1'] },
    };
    const server = await startNameServer((name) => zone[name]);
    const lookup = createLookup({ useSystem: false, servers: [server.address] });
    expect(await lookup('shop.example', never)).to.have.members(['93.184.215.14', '2606:4700:4700::1111']);
    expect(await lookup('v4.example', never)).to.deep.equal(['127.0.0.1']);
    const error = await lookup('missing.example', never).then(
      () => undefined,
      (reason) => reason,
    );
    expect(error?.code).to.equal('ENOTFOUND');
    expect(new Set(server.asked.map(({ name }) => name))).to.deep.equal(
      new Set(['shop.example', 'v4.example', 'missing.example']),
    );
    await server.stop();
  });

  it('stops when it is told to, although the name server is silent', async () => {
    const server = await startNameServer(undefined);
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 100);
    const startedMs = performance.now();
    const error = await createLookup({ useSystem: true, servers: [server.address] })(
      'shop.example',
      abort.signal,
    ).catch((reason) => reason);
    expect(error?.code).to.equal('ECANCELLED');
    // A silent server is asked again for many seconds.
    expect(performance.now() - startedMs).to.be.below(5_000);
    await server.stop();
  });

  it('knows the names of the machine only where the operator opened a block', async () => {
    const server = await startNameServer(() => undefined);
    const servers = [server.address];
    expect(await createLookup({ useSystem: true, servers })('localhost', never)).to.include('127.0.0.1');
    const error = await createLookup({ useSystem: false, servers })('receiver.test', never).catch(
      (reason) => reason,
    );
    expect(error).to.be.instanceOf(Error);
    await server.stop();
  });
});
