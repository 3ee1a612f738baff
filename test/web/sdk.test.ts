import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import Koa from 'koa';
import { tempDir } from '../../dev/support/parts.ts';
import { sdkFiles } from '../../src/web/sdk/files.ts';
import { readReleases } from '../../src/web/sdk/releases.ts';
import { call, startTestApi, type TestApi } from '../support/gateway.ts';
import { exchange } from '../support/http/raw-http.ts';
import { SDK_TARBALL, SDK_VERSION as VERSION } from '../support/sdk/projects.ts';

const FOR_EVER = 'public, max-age=31536000, immutable';

describe('what the gateway serves to shops', function () {
  this.timeout(30_000);
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
  });
  after(() => api?.stop());
  const at = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    call(`${api.origin}/sdk${path}`, { headers, method });

  const kinds: readonly (readonly [name: string, type: string, source: string])[] = [
    ['index.mjs', 'text/javascript; charset=utf-8', 'dist/index.mjs'],
    ['index.cjs', 'text/javascript; charset=utf-8', 'dist/index.cjs'],
    ['web.mjs', 'text/javascript; charset=utf-8', 'dist/web.mjs'],
    ['index.d.mts', 'application/typescript; charset=utf-8', 'dist/index.d.mts'],
    ['index.d.cts', 'application/typescript; charset=utf-8', 'dist/index.d.cts'],
    ['listen.mjs', 'text/javascript; charset=utf-8', 'dist/listen.mjs'],
    ['package.json', 'application/json; charset=utf-8', 'package.json'],
    ['gateway_webhook.py', 'text/plain; charset=utf-8', 'python/gateway_webhook.py'],
    ['GatewayWebhook.php', 'text/plain; charset=utf-8', 'php/GatewayWebhook.php'],
    ['README.md', 'text/plain; charset=utf-8', 'README.md'],
  ];
  it('is each file: below its version for ever, without it for a while', async () => {
    for (const [name, type, source] of kinds) {
      const text = execFileSync('tar', ['-xOzf', SDK_TARBALL, `package/${source}`], { encoding: 'utf8' });
      const [versioned, newest] = [await at(`/v${VERSION}/${name}`), await at(`/${name}`)];
      for (const answer of [versioned, newest]) {
        expect([answer.status, answer.text === text], name).to.deep.equal([200, true]);
        expect(Object.fromEntries(answer.headers), name).to.include({
          'content-type': type,
          'x-content-type-options': 'nosniff',
          'cross-origin-resource-policy': 'same-origin',
        });
      }
      const kept = [versioned, newest].map(({ headers }) => headers.get('cache-control'));
      expect(kept, name).to.deep.equal([FOR_EVER, 'public, max-age=300']);
    }
    const newest = await at('/index.mjs');
    // As bytes: the fetch of this runtime adds that it wants nothing that was kept.
    const lines = [
      'GET /sdk/index.mjs HTTP/1.1',
      'Host: here',
      `If-None-Match: ${newest.headers.get('etag')}`,
    ];
    const [again] = await exchange(api.origin, [...lines, 'Connection: close', '', ''].join('\r\n'));
    expect([again?.status, again?.text]).to.deep.equal([304, '']);
    const head = await at('/index.mjs', {}, 'HEAD');
    const length = `${Buffer.byteLength(newest.text)}`;
    expect([head.status, head.text, head.headers.get('content-length')]).to.deep.equal([200, '', length]);
  });

  it('is the tarball, whose integrity the list tells', async () => {
    const response = await fetch(`${api.origin}/sdk/deposit-gateway-sdk-${VERSION}.tgz`);
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes.equals(readFileSync(SDK_TARBALL))).to.equal(true);
    expect(Object.fromEntries(response.headers)).to.include({
      'content-type': 'application/gzip',
      'cache-control': FOR_EVER,
    });
    const { body } = await at('/index.json');
    expect(body['latest']).to.equal(VERSION);
    const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
    expect(body['versions'][0].tarball).to.include({ size: bytes.length, integrity });
    for (const { path, size } of body['versions'][0].files) {
      const { status, headers } = await at(`/${path}`);
      expect([status, headers.get('content-length')], path).to.deep.equal([200, `${size}`]);
    }
  });

  it('is nothing else: no other name, no other method, no way out of the folder', async () => {
    const names = ['v0.0.0/index.mjs', `v${VERSION}/`, `v${VERSION}/dist/index.mjs`, 'build.ts', 'INDEX.MJS'];
    const wrong = [...names, '../package.json', '%2e%2e/package.json', '__proto__'].map((name) => `/${name}`);
    for (const path of wrong) expect((await at(path)).status, path).to.equal(404);
    expect((await at('/index.mjs', {}, 'POST')).status).to.equal(404);
  });

  it('keeps every version that was built: a lockfile names its URL after the gateway was upgraded', async () => {
    const folder = await tempDir('releases');
    mkdirSync(folder, { recursive: true });
    const bytes = readFileSync(SDK_TARBALL);
    for (const version of ['0.9.0', '0.10.0', '0.2.11'])
      writeFileSync(join(folder, `deposit-gateway-sdk-${version}.tgz`), bytes);
    writeFileSync(join(folder, 'notes.txt'), 'no release');
    const releases = readReleases(pathToFileURL(`${folder}/`));
    expect(releases.map(({ version }) => version)).to.deep.equal(['0.10.0', '0.9.0', '0.2.11']);
    const app = new Koa();
    app.use(sdkFiles('https://pay.example.com/shop', releases));
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    try {
      for (const path of ['deposit-gateway-sdk-0.2.11.tgz', 'v0.9.0/index.mjs', 'v0.10.0/index.mjs'])
        expect((await call(`http://127.0.0.1:${port}/sdk/${path}`)).status, path).to.equal(200);
      const { text } = await call(`http://127.0.0.1:${port}/sdk/`);
      expect(text).to.include('npm install https://pay.example.com/shop/sdk/deposit-gateway-sdk-0.10.0.tgz');
      expect(text).to.include('href="deposit-gateway-sdk-0.2.11.tgz"');
    } finally {
      server.close();
    }
  });
});
