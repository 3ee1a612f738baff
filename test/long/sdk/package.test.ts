import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { closedPort } from '../../../dev/support/receiver.ts';
import { startTestApi, type TestApi } from '../../support/gateway.ts';
import {
  SHOP_ANSWER,
  STRICT,
  shopProgram,
  TYPED_ANSWER,
  typedShopProgram,
} from '../../support/sdk/exercise.ts';
import { forwardsTo } from '../../support/sdk/listen.ts';
import {
  projectLike,
  runIn,
  SDK_VERSION,
  type SdkProgram,
  sdkPrograms,
  shopProject,
} from '../../support/sdk/projects.ts';

const ESM = `import * as sdk from '@deposit-gateway/sdk';\n`;
const CJS = `const sdk = require('@deposit-gateway/sdk');\n`;
const PRINT = 'exercise(sdk).then((answer) => console.log(answer));\n';

describe('the package of the SDK elsewhere', function () {
  this.timeout(300_000);
  let api: TestApi;
  let project: string;
  let programs: Readonly<Record<SdkProgram, string>>;
  let shops = 0;

  before(async () => {
    api = await startTestApi();
    project = await shopProject({}, `${api.origin}/sdk/deposit-gateway-sdk-${SDK_VERSION}.tgz`);
    programs = await sdkPrograms();
  });
  after(() => api?.stop());

  const input = () => {
    shops += 1;
    return { url: api.url, key: api.keys.test, name: `user-${shops}` };
  };
  const shop = (files: Readonly<Record<string, string>>) => projectLike(project, files);
  const asJson = (text: string): unknown => JSON.parse(text.trim());

  for (const node of ['node18', 'node20', 'node22'] as const)
    it(`runs in an ESM project and in a CommonJS project on ${node}`, async () => {
      const folder = await shop({
        'main.mjs': ESM + shopProgram(input(), { sync: true }) + PRINT,
        'main.js': CJS + shopProgram(input(), { sync: true }) + PRINT,
        'version.js': 'console.log(process.versions.node)',
      });
      const version = new RegExp(`^${node.slice(4)}\\.`);
      expect(await runIn(folder, programs[node], ['version.js'])).to.match(version);
      for (const file of ['main.mjs', 'main.js'])
        expect(asJson(await runIn(folder, programs[node], [file])), file).to.deep.equal(SHOP_ANSWER);
    });

  it('forwards events to a shop of this machine on Node 18', async () => {
    const got = await forwardsTo(programs.node18, project, api);
    expect(got).to.deep.equal({ events: ['customer.created'], ended: [0, null] });
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
    for (const file of ['installed.mjs', 'by-url.mjs', 'web.mjs']) {
      const printed = await runIn(folder, programs.deno, [...allowed, file], env);
      expect(asJson(printed), file).to.deep.equal(SHOP_ANSWER);
    }
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
      (name = "@deposit-gateway/sdk", esModule = embed "node_modules/@deposit-gateway/sdk/dist/web.mjs") ])),
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

  const kinds = [
    { type: 'module', options: { module: 'nodenext' } },
    { type: 'commonjs', options: { module: 'nodenext' } },
    { type: 'module', options: { module: 'esnext', moduleResolution: 'bundler' } },
  ];
  it('is typed for TypeScript 5.6 in strict projects: ESM, CommonJS, bundler', async () => {
    for (const { type, options } of kinds) {
      const folder = await shop({
        'main.ts': typedShopProgram(input()),
        'tsconfig.json': JSON.stringify({ compilerOptions: { ...STRICT, ...options }, files: ['main.ts'] }),
        'package.json': JSON.stringify({ type }),
      });
      await runIn(folder, process.execPath, [programs.typescript56, '-p', '.']);
      const printed = await runIn(folder, programs.node18, ['out/main.js']);
      expect(asJson(printed), JSON.stringify(options)).to.deep.equal(TYPED_ANSWER);
    }
  });
});
