import { expect } from 'chai';
import { type ConfigRole, loadConfig } from '../../src/config/index.ts';
import { problemsOf } from '../support/repository/config-samples.ts';

describe('configuration in production', () => {
  const inProduction = (env: Record<string, string | undefined>) =>
    problemsOf({ NODE_ENV: 'production', ...env }, 'none').filter(
      (problem) => !/must be set in production/.test(problem),
    );

  it('embeds nothing and makes up no key in production, by role', () => {
    const missing = (role: ConfigRole): string[] =>
      problemsOf({ NODE_ENV: 'production' }, role).map((problem) => problem.split(' ')[0] ?? '');
    expect(missing('api')).to.deep.equal([
      'PUBLIC_URL',
      'DATABASE_URL',
      'TEMPORAL_ADDRESS',
      'SECRETS_KEY',
      'WALLET_XPUB_BSC',
      'WALLET_XPUB_TRON',
    ]);
    expect(missing('worker')).to.deep.equal([
      'PUBLIC_URL',
      'DATABASE_URL',
      'TEMPORAL_ADDRESS',
      'SECRETS_KEY',
    ]);
    expect(missing('signer')).to.deep.equal([
      'DATABASE_URL',
      'SECRETS_KEY',
      'WALLET_SEED_FILE',
      'WALLET_PASSPHRASE_FILE',
      'SIGN_JOURNAL_FILE',
    ]);
    expect(missing('tool')).to.deep.equal(['DATABASE_URL', 'TEMPORAL_ADDRESS']);
    expect(missing('none')).to.deep.equal([]);
    // In production nothing signs inside of another role.
    const needs = [...missing('api'), ...missing('signer')].filter((name) => name !== 'SIGN_JOURNAL_FILE');
    expect(missing('all')).to.include.members(needs);
  });

  it('lets a changed withdraw address wait for a day in production, and not at all outside', () => {
    const afterMs = (env: NodeJS.ProcessEnv): number =>
      loadConfig(env, { role: 'none' }).signing.newDestinationAfterMs;
    expect(afterMs({})).to.equal(0);
    expect(afterMs({ NODE_ENV: 'production' })).to.equal(86_400_000);
    expect(afterMs({ NODE_ENV: 'production', SIGN_NEW_DESTINATION_AFTER: '48h' })).to.equal(172_800_000);
  });

  it('lets an address that a user changes wait for a day, and in production never for less than an hour', () => {
    const delayMs = (env: NodeJS.ProcessEnv): number =>
      loadConfig(env, { role: 'none' }).settlement.withdrawChangeDelayMs;
    expect(delayMs({})).to.equal(86_400_000);
    expect(delayMs({ WITHDRAW_CHANGE_DELAY: '0' })).to.equal(0);
    expect(delayMs({ NODE_ENV: 'production' })).to.equal(86_400_000);
    expect(delayMs({ NODE_ENV: 'production', WITHDRAW_CHANGE_DELAY: '1h' })).to.equal(3_600_000);
    for (const WITHDRAW_CHANGE_DELAY of ['0', '3599s', '59m'])
      expect(inProduction({ WITHDRAW_CHANGE_DELAY })).to.deep.equal([
        'WITHDRAW_CHANGE_DELAY must be at least 1h in production: whoever takes over a session could send payouts to themselves before anybody sees it.',
      ]);
  });

  it('asks no endpoint in the clear in production, unless it is near or named', () => {
    const far = [
      'http://rpc.provider.test/hunter2',
      'https://a,http://93.184.216.34',
      'http://bsc-node:8545',
    ];
    for (const urls of far) {
      const [problem, ...others] = inProduction({ BSC_RPC_URLS: urls });
      expect(problem, urls).to.match(
        /^BSC_RPC_URLS must not ask .* without TLS in production.*RPC_HTTP_HOSTS\.$/,
      );
      expect([others, problem?.includes('hunter2')]).to.deep.equal([[], false]);
      expect(problemsOf({ BSC_RPC_URLS: urls }), 'outside production').to.deep.equal([]);
    }
    expect(inProduction({ TRON_API_URLS: 'http://tron.provider.test' })[0]).to.match(
      /^TRON_API_URLS must not ask tron\.provider\.test/,
    );
    const solidity = { TRON_SOLIDITY_URLS: 'http://93.184.216.34' };
    expect(inProduction({ TRON_API_URLS: 'https://a', ...solidity })).to.have.length(1);
    expect(inProduction({ TRON_API_URLS: 'https://a', ...solidity })[0]).to.match(
      /^TRON_SOLIDITY_URLS must not ask 93\.184\.216\.34 without TLS/,
    );
    expect(inProduction(solidity), 'asked for nothing').to.deep.equal([]);
    for (const urls of ['http://localhost', 'http://10.1.2.3,http://192.168.0.9', 'http://[fd00::5]'])
      expect(inProduction({ BSC_RPC_URLS: urls }), urls).to.deep.equal([]);
    expect(
      inProduction({ BSC_RPC_URLS: 'http://bsc-node:8545', RPC_HTTP_HOSTS: 'other,BSC-node' }),
    ).to.deep.equal([]);
    expect(
      inProduction({ BSC_RPC_URLS: 'http://100.64.0.1,http://169.254.169.254,http://192.0.2.1' }),
      'neither is private',
    ).to.have.length(1);
  });

  it('refuses what is left of an example in production', () => {
    for (const env of [
      { DATABASE_URL: 'postgres://gateway:CHANGE_ME_2@postgres:5432/gateway' },
      { PUBLIC_URL: 'https://pay.example.com' },
      { PUBLIC_URL: 'https://example.org/pay' },
      { BSC_RPC_URLS: 'https://bsc-1.example.com/KEY,https://b.provider.test' },
      { TRON_API_KEY: 'change_me' },
    ]) {
      const [name = ''] = Object.keys(env);
      const [problem = '', ...others] = inProduction(env);
      expect(
        [problem.startsWith(`${name} still has the placeholder`), others],
        JSON.stringify(env),
      ).to.deep.equal([true, []]);
      expect(problem).to.not.contain('_2@');
      expect(problemsOf(env), 'outside production').to.deep.equal([]);
    }
    expect(inProduction({ PUBLIC_URL: 'https://pay.myexample.com' })).to.deep.equal([]);
    expect(inProduction({ PUBLIC_URL: 'https://example.com.shop.test' })).to.deep.equal([]);
  });
});
