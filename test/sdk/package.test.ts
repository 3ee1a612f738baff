import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { eventually } from '../../dev/support/eventually.ts';
import { tempDir } from '../../dev/support/parts.ts';
import { closedPort } from '../../dev/support/receiver.ts';
import { buildSdk, minifiedSizes, packSdk } from '../../packages/sdk/build.ts';
import { readReleases } from '../../src/web/sdk/releases.ts';
import { LocalShop } from '../cli/webhooks/local-shop.ts';
import { call, startTestApi, type TestApi } from '../support/gateway.ts';
import { SHOP_ANSWER, shopProgram, TYPED_ANSWER, typedShopProgram } from '../support/sdk/exercise.ts';
import {
  projectLike,
  runIn,
  SDK_VERSION,
  type SdkProgram,
  sdkPrograms,
  shopProject,
} from '../support/sdk/projects.ts';

const ROOT = join(import.meta.dirname, '../..');
const PACKAGE = join(ROOT, 'packages/sdk');
const MAX_MINIFIED_BYTES = 12 * 1024;
const ESM = `import * as sdk from 'deposit-gateway-sdk';\n`;
const CJS = `const sdk = require('deposit-gateway-sdk');\n`;
const PRINT = 'exercise(sdk).then((answer) => console.log(answer));\n';

describe('the package of the SDK', function () {
  this.timeout(300_000);
  let api: TestApi;
  /** Where npm installed the package from the running gateway. */
  let project: string;
  let programs: Readonly<Record<SdkProgram | 'node24', string>>;
  let shops = 0;

  before(async () => {
    api = await startTestApi();
    project = await shopProject({}, `${api.origin}/sdk/deposit-gateway-sdk-${SDK_VERSION}.tgz`);
    programs = { ...(await sdkPrograms()), node24: process.execPath };
  });
  after(() => api?.stop());

  const input = () => {
    shops += 1;
    return { url: api.url, key: api.keys.test, name: `user-${shops}` };
  };
  const shop = (files: Readonly<Record<string, string>>) => projectLike(project, files);
  const asJson = (text: string): unknown => JSON.parse(text.trim());

  it('is in the repository as its sources make it: run "npm run build:sdk" when this fails', async () => {
    const folder = await tempDir('sdk-build');
    await buildSdk(folder);
    const dist = (of: string) => readdirSync(join(of, 'dist')).sort();
    expect(dist(PACKAGE)).to.deep.equal(dist(folder));
    for (const name of dist(folder)) {
      const [kept, built] = [PACKAGE, folder].map((of) => readFileSync(join(of, 'dist', name), 'utf8'));
      expect(kept === built, name).to.equal(true);
    }
    packSdk(folder);
    const told = (from?: URL) =>
      readReleases(from).map(({ version, files }) => [
        version,
        [...files.values()].map(({ name, integrity }) => `${name} ${integrity}`).sort(),
      ]);
    expect(told()).to.deep.include(told(pathToFileURL(`${folder}/`))[0]);
    expect(readFileSync(join(PACKAGE, 'README.md'), 'utf8')).to.include(`sdk-${SDK_VERSION}.tgz`);
    expect(readFileSync(join(PACKAGE, 'LICENSE'), 'utf8')).to.equal(
      readFileSync(join(ROOT, 'LICENSE'), 'utf8'),
    );
  });

  it('is small: 12 KB at most when a bundler has made it so', async () => {
    const sizes = await minifiedSizes();
    expect(Object.keys(sizes)).to.deep.equal(['index.cjs', 'index.mjs', 'web.cjs', 'web.mjs']);
    for (const [name, { plain }] of Object.entries(sizes))
      expect(plain, name).to.be.at.most(MAX_MINIFIED_BYTES);
  });

  it('is installed by npm from the running gateway, alone, and the lockfile knows its hash', async () => {
    const { dependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
    const url = `${api.origin}/sdk/deposit-gateway-sdk-${SDK_VERSION}.tgz`;
    expect(dependencies).to.deep.equal({ 'deposit-gateway-sdk': url });
    const { packages } = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8'));
    expect(Object.keys(packages)).to.deep.equal(['', 'node_modules/deposit-gateway-sdk']);
    expect(packages['node_modules/deposit-gateway-sdk'].integrity).to.equal(
      readReleases()[0]?.tarball.integrity,
    );
  });

  for (const node of ['node18', 'node20', 'node22', 'node24'] as const)
    it(`runs in an ESM project and in a CommonJS project on ${node}`, async () => {
      const folder = await shop({
        'main.mjs': ESM + shopProgram(input(), { sync: true }) + PRINT,
        'main.js': CJS + shopProgram(input(), { sync: true }) + PRINT,
        'version.js': 'console.log(process.versions.node)',
      });
      expect(await runIn(folder, programs[node], ['version.js'])).to.match(
        new RegExp(`^${node.slice(4)}\\.`),
      );
      expect(asJson(await runIn(folder, programs[node], ['main.mjs']))).to.deep.equal(SHOP_ANSWER);
      // "npm init -y" may write "type": "commonjs" or nothing: the same either way.
      expect(asJson(await runIn(folder, programs[node], ['main.js']))).to.deep.equal(SHOP_ANSWER);
    });

  for (const node of ['node18', 'node24'] as const)
    it(`forwards events to a shop of this machine on ${node}, with nothing of this repository`, async () => {
      const { keys } = await api.newMerchant();
      const local = new LocalShop();
      await local.open();
      const words = ['listen', '--api', api.origin, '--forward-to', local.url];
      const file = join(project, 'node_modules/deposit-gateway-sdk/dist/listen.mjs');
      const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
      local.secret = secret;
      const env = { ...process.env, GATEWAY_KEY: keys.test, WEBHOOK_SECRET: secret };
      const program = spawn(programs[node], [file, ...words], { env, stdio: ['ignore', 'pipe', 'inherit'] });
      try {
        await once(program.stdout, 'data');
        await call(`${api.url}/customers`, { key: keys.test, body: { external_id: 'here' } });
        await eventually('the webhook', () => local.got.length === 1);
        expect(local.got[0]?.event).to.equal('customer.created');
      } finally {
        const ended = once(program, 'exit');
        program.kill('SIGINT');
        expect(await ended).to.deep.equal([0, null]);
        await local.close();
      }
    });

  it('runs in a project whose files are all ESM', async () => {
    const folder = await shop({ 'main.js': ESM + shopProgram(input(), { sync: true }) + PRINT });
    await runIn(folder, 'npm', ['pkg', 'set', 'type=module']);
    expect(asJson(await runIn(folder, programs.node18, ['main.js']))).to.deep.equal(SHOP_ANSWER);
  });

  it('runs on Deno, installed and by the URL of the gateway', async () => {
    const folder = await shop({
      'installed.mjs': ESM + shopProgram(input(), { sync: true }) + PRINT,
      'by-url.mjs': `import * as sdk from '${api.origin}/sdk/v${SDK_VERSION}/index.mjs';\n${shopProgram(input(), { sync: true })}${PRINT}`,
      'web.mjs': `import * as sdk from '${api.origin}/sdk/web.mjs';\n${shopProgram(input(), { sync: false })}${PRINT}`,
    });
    const { host } = new URL(api.origin);
    const env = { DENO_DIR: join(folder, '.deno'), DENO_NO_UPDATE_CHECK: '1' };
    const allowed = ['run', '--quiet', '--allow-net', `--allow-import=${host}`, '--node-modules-dir=manual'];
    for (const file of ['installed.mjs', 'by-url.mjs', 'web.mjs'])
      expect(asJson(await runIn(folder, programs.deno, [...allowed, file], env)), file).to.deep.equal(
        SHOP_ANSWER,
      );
  });

  it('runs on Bun', async () => {
    const folder = await shop({ 'main.mjs': ESM + shopProgram(input(), { sync: true }) + PRINT });
    expect(asJson(await runIn(folder, programs.bun, ['main.mjs']))).to.deep.equal(SHOP_ANSWER);
  });

  it('runs in a Worker, which has nothing of Node', async () => {
    const port = await closedPort();
    const folder = await shop({
      'worker.mjs': `${ESM}${shopProgram(input(), { sync: false })}
export default { fetch: async () => new Response(await exercise(sdk).catch((error) => error.stack)) };`,
      'config.capnp': `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "shop", worker = (compatibilityDate = "2024-09-01", modules = [
      (name = "shop", esModule = embed "worker.mjs"),
      (name = "deposit-gateway-sdk", esModule = embed "node_modules/deposit-gateway-sdk/dist/web.mjs") ])),
    (name = "internet", network = (allow = ["public", "private", "local"])) ],
  sockets = [ (name = "http", address = "127.0.0.1:${port}", http = (), service = "shop") ]
);`,
    });
    const worker = spawn(programs.workerd, ['serve', 'config.capnp'], { cwd: folder, stdio: 'inherit' });
    try {
      const answer = await eventually('the worker’s answer', () =>
        fetch(`http://127.0.0.1:${port}/`).catch(() => undefined),
      );
      expect(asJson(await answer.text())).to.deep.equal(SHOP_ANSWER);
    } finally {
      const ended = once(worker, 'exit');
      worker.kill('SIGKILL');
      await ended;
    }
  });

  const compilers = [
    { name: 'TypeScript 5.6', tsc: () => programs.typescript56 },
    { name: 'the newest TypeScript', tsc: () => join(ROOT, 'node_modules/typescript/lib/tsc.js') },
  ];
  const STRICT = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    verbatimModuleSyntax: false,
    skipLibCheck: false,
    target: 'es2022',
    types: [],
    outDir: 'out',
  };
  const kinds = [
    { name: 'ESM (nodenext)', type: 'module', options: { module: 'nodenext' } },
    { name: 'CommonJS (nodenext)', type: 'commonjs', options: { module: 'nodenext' } },
    { name: 'bundler', type: 'module', options: { module: 'esnext', moduleResolution: 'bundler' } },
  ];
  for (const { name, tsc } of compilers)
    it(`is typed for ${name} in strict projects: ESM, CommonJS, bundler`, async () => {
      for (const kind of kinds) {
        const compilerOptions = { ...STRICT, ...kind.options };
        const folder = await shop({
          'main.ts': typedShopProgram(input()),
          'tsconfig.json': JSON.stringify({ compilerOptions, files: ['main.ts'] }),
          'package.json': JSON.stringify({ type: kind.type }),
        });
        await runIn(folder, process.execPath, [tsc(), '-p', '.']);
        const printed = await runIn(folder, programs.node18, ['out/main.js']);
        expect(asJson(printed), kind.name).to.deep.equal(TYPED_ANSWER);
      }
    });
});
