import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { tempDir } from '../../dev/support/parts.ts';
import { buildSdk, packSdk } from '../../packages/sdk/build.ts';
import { readReleases } from '../../src/web/sdk/releases.ts';
import { startTestApi, type TestApi } from '../support/gateway.ts';
import { SHOP_ANSWER, STRICT, shopProgram, TYPED_ANSWER, typedShopProgram } from '../support/sdk/exercise.ts';
import { forwardsTo } from '../support/sdk/listen.ts';
import { projectLike, runIn, SDK_VERSION, shopProject } from '../support/sdk/projects.ts';

const ROOT = join(import.meta.dirname, '../..');
const PACKAGE = join(ROOT, 'packages/sdk');

/** On this Node and with this compiler; on others in test/long. */
describe('the package of the SDK', function () {
  this.timeout(120_000);

  it('is in the repository as its sources make it: run "npm run build:sdk" when this fails', async () => {
    const folder = await tempDir('sdk-build');
    await buildSdk(folder);
    packSdk(folder);
    const told = (from?: URL) =>
      readReleases(from).map(({ version, files }) => [
        version,
        [...files.values()].map(({ name, integrity }) => `${name} ${integrity}`).sort(),
      ]);
    expect(told()).to.deep.include(told(pathToFileURL(`${folder}/`))[0]);
    for (const named of [join(PACKAGE, 'README.md'), join(ROOT, 'package.json')])
      expect(readFileSync(named, 'utf8'), named).to.include(`sdk-${SDK_VERSION}.tgz`);
    expect(readFileSync(join(PACKAGE, 'LICENSE'), 'utf8')).to.equal(
      readFileSync(join(ROOT, 'LICENSE'), 'utf8'),
    );
  });

  describe('that npm installs from the running gateway', () => {
    let api: TestApi;
    let project: string;
    let url: string;
    before(async () => {
      api = await startTestApi();
      url = `${api.origin}/sdk/deposit-gateway-sdk-${SDK_VERSION}.tgz`;
      project = await shopProject({}, url);
    });
    after(() => api?.stop());
    const input = (name: string) => ({ url: api.url, key: api.keys.test, name });
    const asJson = (text: string): unknown => JSON.parse(text.trim());

    it('comes alone, and the lockfile knows its hash', () => {
      const { dependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
      expect(dependencies).to.deep.equal({ '@deposit-gateway/sdk': url });
      const { packages } = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8'));
      expect(Object.keys(packages)).to.deep.equal(['', 'node_modules/@deposit-gateway/sdk']);
      const { integrity } = packages['node_modules/@deposit-gateway/sdk'];
      expect(integrity).to.equal(readReleases()[0]?.tarball.integrity);
    });

    it('runs as ESM and as CommonJS, and is typed in a strict project', async () => {
      const print = 'exercise(sdk).then((answer) => console.log(answer));';
      const compilerOptions = { ...STRICT, module: 'nodenext' };
      const folder = await projectLike(project, {
        'main.mjs': `import * as sdk from '@deposit-gateway/sdk';${shopProgram(input('esm'), { sync: true })}${print}`,
        'main.cjs': `const sdk = require('@deposit-gateway/sdk');${shopProgram(input('cjs'), { sync: true })}${print}`,
        'typed.ts': typedShopProgram(input('typed')),
        'tsconfig.json': JSON.stringify({ compilerOptions, files: ['typed.ts'] }),
        'package.json': JSON.stringify({ type: 'module' }),
      });
      for (const file of ['main.mjs', 'main.cjs'])
        expect(asJson(await runIn(folder, process.execPath, [file])), file).to.deep.equal(SHOP_ANSWER);
      const tsc = join(ROOT, 'node_modules/typescript/lib/tsc.js');
      await runIn(folder, process.execPath, [tsc, '-p', '.']);
      expect(asJson(await runIn(folder, process.execPath, ['out/typed.js']))).to.deep.equal(TYPED_ANSWER);
    });

    it('forwards events to a shop of this machine, with nothing of this repository', async () => {
      const got = await forwardsTo(process.execPath, project, api);
      expect(got).to.deep.equal({ events: ['customer.created'], ended: [0, null] });
    });
  });
});
