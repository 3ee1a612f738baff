import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { call, startTestApi, type TestApi } from '../../support/gateway.ts';
import { findGenerators, runIn } from '../../support/generated/install.ts';

const TSCONFIG = {
  compilerOptions: {
    target: 'ES2022',
    lib: ['ES2022', 'DOM', 'DOM.Iterable'],
    module: 'CommonJS',
    moduleResolution: 'Node10',
    esModuleInterop: true,
    strict: true,
    noUncheckedIndexedAccess: true,
    noImplicitReturns: true,
    noFallthroughCasesInSwitch: true,
    types: [],
    skipLibCheck: false,
    rootDir: '.',
    outDir: 'dist',
  },
  include: ['*.ts', 'generated/**/*.ts'],
};

// What a merchant's developer writes: the names are those of the description, the key is given once.
const WITH_HEY_API = `
import * as gateway from './generated';
import { client } from './generated/client.gen';
declare const process: { env: Record<string, string>; stdout: { write(text: string): void } };
const { BASE_URL = '', KEY = '' } = process.env;
client.setConfig({ baseUrl: BASE_URL, auth: () => KEY, throwOnError: true });
async function main() {
const { data: customer } = await gateway.createCustomer({ body: { external_id: 'hey' }, throwOnError: true });
const { data: link } = await gateway.createPaymentLink({
  body: { customer_id: customer.id, amount_usd: 25 },
  throwOnError: true,
});
const { data: made } = await gateway.simulateDeposit({
  body: { customer_id: customer.id, payment_token: link.token, share: 'full' },
  throwOnError: true,
});
const { data: list } = await gateway.listDeposits({ query: { external_id: 'hey', limit: 5 }, throwOnError: true });
const { data: shown } = await gateway.getPayment({ path: { token: link.token }, throwOnError: true });
const refused = await gateway.listPayments({ throwOnError: false });
process.stdout.write(JSON.stringify({
  made: made.id, amount: made.amount, listed: list.data.map(({ id }) => id), status: shown.status,
  refused: refused.error?.error,
}));
}
void main();
`;

describe('clients that generators make from the description', function () {
  this.timeout(6 * 60_000);
  const root = mkdtempSync(join(tmpdir(), 'generated-'));
  let api: TestApi;
  let modules: string;
  let description: string;
  before(async () => {
    modules = await findGenerators(process.env);
    api = await startTestApi();
    description = (await call(`${api.origin}/openapi.json`)).text;
  });
  after(async () => {
    rmSync(root, { recursive: true, force: true });
    await api?.stop();
  });

  /** What a program tells in a project of its own, once this command has generated and all is compiled. */
  async function project(
    name: string,
    generate: readonly string[],
    program: string,
  ): Promise<Record<string, unknown>> {
    const folder = mkdtempSync(join(root, `${name}-`));
    symlinkSync(modules, join(folder, 'node_modules'));
    const files = {
      'package.json': JSON.stringify({ name, private: true }),
      'tsconfig.json': JSON.stringify(TSCONFIG),
      'openapi.json': description,
      'main.ts': program,
    };
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
    const env = { ...process.env, BASE_URL: api.url, KEY: api.keys.test };
    const [generator = '', ...args] = generate;
    await runIn(folder, join(modules, '.bin', generator), args, env);
    await runIn(folder, join(modules, '.bin', 'tsc'), ['-p', '.'], env);
    return JSON.parse(await runIn(folder, process.execPath, ['dist/main.js'], env)) as Record<
      string,
      unknown
    >;
  }

  it('work by @hey-api/openapi-ts, with the key wherever that puts it', async () => {
    const told = await project(
      'hey-api',
      ['openapi-ts', '-i', 'openapi.json', '-o', 'generated'],
      WITH_HEY_API,
    );
    expect(told).to.deep.include({ amount: '25', listed: [told['made']], status: 'completed' });
    expect(told['refused']).to.match(/cookie ch_session holds an API key.*Bearer KEY/);
  });

  it('are made of a description of which Redocly has nothing to say', async () => {
    const file = join(root, 'openapi.json');
    writeFileSync(file, description);
    const { createConfig, lint } = createRequire(join(modules, 'x.js'))('@redocly/openapi-core');
    const problems = await lint({ ref: file, config: await createConfig({ extends: ['recommended'] }) });
    expect(problems.map(({ message }: { message: string }) => message)).to.deep.equal([]);
  });
});
