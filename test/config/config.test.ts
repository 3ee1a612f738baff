import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { testXpubs } from '../../dev/support/test-wallet.ts';
import { renderConfigDocs, renderEnvExample } from '../../src/config/docs.ts';
import { ConfigError, describeConfig, loadConfig, thresholdUnits } from '../../src/config/index.ts';
import type { Variable } from '../../src/config/variable.ts';
import { VARIABLES } from '../../src/config/variables/index.ts';
import { problemsOf, SECRETS_KEY, XPRV } from '../support/repository/config-samples.ts';

const _xpub = testXpubs();
const folder = mkdtempSync(join(tmpdir(), 'gateway-config-'));
const pem = join(folder, 'ca.pem');

const entries = Object.entries<Variable<unknown>>(VARIABLES);

describe('configuration', () => {
  before(() => writeFileSync(pem, '-----BEGIN CERTIFICATE-----\n'));
  after(() => rmSync(folder, { recursive: true }));

  it('keeps every secret out of problems, also when it is pasted into the wrong variable', () => {
    for (const [name] of entries) {
      for (const text of [
        'postgres://gateway:hunter2@db/x\u0000',
        'http://u:hunter2@h:99999',
        `${XPRV} hunter2`,
      ]) {
        expect(problemsOf({ [name]: text }).join(), name).not.to.match(/hunter2|xprv9/);
      }
    }
  });

  it('reports all problems at once, ending with what to do', () => {
    try {
      loadConfig({ PORT: '70000', BSC_CONFIRMATIONS: '1e5', LOG_LEVEL: 'loud' });
      expect.fail('accepted');
    } catch (error) {
      expect(error).to.be.instanceOf(ConfigError);
      expect((error as ConfigError).problems.map((problem) => problem.split(' ')[0])).to.have.members([
        'PORT',
        'BSC_CONFIRMATIONS',
        'LOG_LEVEL',
      ]);
      expect((error as ConfigError).message).to.match(
        /3 problems:\n(.+\n){3}Set these variables and start again/,
      );
    }
  });

  it('takes an empty variable as unset', () => {
    const empty = Object.fromEntries(entries.map(([name]) => [name, '']));
    expect(loadConfig(empty)).to.deep.equal(loadConfig({}));
  });

  it('has the documented defaults', () => {
    const config = loadConfig({});
    expect(config.database.kind).to.equal('embedded');
    expect(config.temporal.kind).to.equal('embedded');
    expect([
      config.chains.bsc.chainId,
      config.chains.bsc.confirmations,
      config.chains.tron.confirmations,
      config.http.port,
    ]).to.deep.equal([56, 15, 19, 8080]);
    expect([config.chains.bsc.enabled, config.chains.tron.enabled]).to.deep.equal([false, false]);
    expect(thresholdUnits(config.settlement.minUnits, 'bsc', 'USDT')).to.equal(10n ** 18n);
    expect(thresholdUnits(config.settlement.minUnits, 'tron', 'USDT')).to.equal(20_000_000n);
    expect(thresholdUnits(config.payments.minDepositUnits, 'bsc', 'USDT')).to.equal(undefined);
    expect(config.limits).to.deep.equal({
      requestsPerSecond: 100,
      requestsBurst: 200,
      badCredentialsPerMinute: 20,
      testsPerSecond: 5,
    });
  });

  it('warns of each opened exception and of variables that are none of ours, and of nothing else', () => {
    const quiet = { PRICE_SOURCE: 'fixed:BNB=600' };
    expect(loadConfig({ ...quiet, HOME: '/root', PATH: '/bin' }).warnings).to.deep.equal([]);
    const loud = {
      WEBHOOK_ALLOWED_CIDRS: '127.0.0.1',
      WEBHOOK_ALLOW_HTTP: 'true',
      WEBHOOK_CA_FILE: pem,
      TRUSTED_PROXIES: '0.0.0.0/0',
      BSC_CONFIRMATION: '99',
    };
    const { warnings } = loadConfig({ ...quiet, ...loud });
    for (const name of Object.keys(loud))
      expect(
        warnings.filter((warning) => warning.startsWith(name)),
        name,
      ).to.have.length(1);
    expect(warnings.join()).not.to.contain('99');
  });

  it('takes every secret from a file instead, and refuses it both ways', () => {
    const file = join(folder, 'secret');
    const urlFile = join(folder, 'url');
    writeFileSync(file, `${SECRETS_KEY}\n`, { mode: 0o600 });
    writeFileSync(urlFile, 'postgres://u:hunter2@db/g', { mode: 0o600 });
    const config = loadConfig({ SECRETS_KEY_FILE: file, DATABASE_URL_FILE: urlFile });
    expect(Buffer.from(config.secretsKey ?? []).toString('base64')).to.equal(SECRETS_KEY);
    expect(config.database).to.deep.equal({ kind: 'url', url: 'postgres://u:hunter2@db/g' });
    expect(config.warnings.filter((warning) => /_FILE/.test(warning))).to.deep.equal([]);
    chmodSync(file, 0o644);
    const shared = loadConfig({ SECRETS_KEY_FILE: file }).warnings.filter((warning) =>
      /other users/.test(warning),
    );
    expect(shared.join()).to.include(`chmod 600 ${file}`);
    for (const [name, variable] of entries.filter(([, { secret }]) => secret)) {
      const both = problemsOf({ [name]: variable.example, [`${name}_FILE`]: file }).find((problem) =>
        problem.includes('both set'),
      );
      expect(both, name).to.equal(`${name} and ${name}_FILE are both set: keep one of them.`);
      expect(problemsOf({ [`${name}_FILE`]: join(folder, 'absent') })[0], name).to.match(
        new RegExp(`^${name}_FILE must name a file`),
      );
      expect(problemsOf({ [`${name}_FILE`]: folder })[0], name).to.match(
        new RegExp(`^${name}_FILE must name a file`),
      );
    }
    expect(
      problemsOf(
        { NODE_ENV: 'production', DATABASE_URL_FILE: urlFile, TEMPORAL_ADDRESS: 'temporal:7233' },
        'tool',
      ),
    ).to.deep.equal([]);
    const described = describeConfig({ SECRETS_KEY_FILE: file });
    expect(described.find(({ name }) => name === 'SECRETS_KEY')).to.deep.equal({
      name: 'SECRETS_KEY',
      value: '(set, not shown)',
      source: 'file',
    });
    writeFileSync(file, 'hunter2\n');
    expect(problemsOf({ SECRETS_KEY_FILE: file }).join())
      .to.match(/^SECRETS_KEY must be/)
      .and.not.match(/hunter2/);
  });

  it('describes itself without any secret', () => {
    const secrets = {
      DATABASE_URL: 'postgres://u:hunter2@h/db',
      TRON_API_KEY: 'hunter2',
      SECRETS_KEY,
      BSC_RPC_URLS: 'https://rpc/hunter2',
    };
    const described = describeConfig(secrets);
    expect(JSON.stringify(described))
      .not.to.match(/hunter2/)
      .and.not.to.contain(SECRETS_KEY);
    expect(described.find(({ name }) => name === 'DATABASE_URL')).to.deep.equal({
      name: 'DATABASE_URL',
      value: '(set, not shown)',
      source: 'environment',
    });
    expect(described.find(({ name }) => name === 'PORT')).to.deep.equal({
      name: 'PORT',
      value: '8080',
      source: 'default',
    });
  });

  it('has current generated documents: run "npm run docs" when this fails', () => {
    const at = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
    expect(at('docs/configuration.md')).to.equal(renderConfigDocs());
    expect(at('.env.example')).to.equal(renderEnvExample());
  });
});
