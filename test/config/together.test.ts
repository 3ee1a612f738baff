import { expect } from 'chai';
import { testXpubs } from '../../dev/support/test-wallet.ts';
import { neededVariables, renderConfigDocs } from '../../src/config/docs.ts';
import { type Environment, loadConfig } from '../../src/config/index.ts';
import type { Variable } from '../../src/config/variable.ts';
import { VARIABLES } from '../../src/config/variables/index.ts';
import { problemsOf, SECRETS_KEY, USDT_BSC } from '../support/repository/config-samples.ts';

const xpub = testXpubs();
const BOTH = 'bsc-testnet,tron-nile';
const ON_BSC = '0x0567F2323251f0Aab15c8dFb1967E4e8A7D42aeE';
const ON_TRON = 'TC6o8AakUg4Xz9nHY9qXpJNsgF7CQkwBqF';
const BSC = { BSC_RPC_URLS: 'https://bsc.test' };
const TRON = { TRON_API_URLS: 'https://tron.test' };
const TWO = { TRON_API_URLS: 'http://a:8090,https://b/KEY/' };
const OF_BSC = 'an address of BNB Chain, where prices are read as BSC_RPC_URLS is set: 0x and 40 hex digits.';
const OF_TRON =
  'an address of Tron, where prices are read as TRON_API_URLS is set: T and 33 characters in base58.';

/** Variables that are right alone, and what is said of them together; without a text they go together. */
const TOGETHER: readonly [Environment, (string | RegExp)?][] = [
  [
    { WALLET_XPUB_BSC: xpub.live.bsc, WALLET_XPUB_TEST_BSC: xpub.live.bsc },
    /^WALLET_XPUB_TEST_BSC is the same key as WALLET_XPUB_BSC/,
  ],
  [
    { RATE_LIMIT_BURST: '99' },
    'RATE_LIMIT_BURST must not be below RATE_LIMIT_PER_SECOND: raise the one or lower the other.',
  ],
  [
    { BSC_RPC_URLS: 'https://h,wss://h/hunter2' },
    /^BSC_RPC_URLS must be a comma-separated list of http, https URLs without user information; entry 2 is not one\.$/,
  ],
  [{ TRON_API_URLS: 'wss://h' }, /^TRON_API_URLS must be a comma-separated list of http, https URLs/],
  [{ PRICE_SOURCE: 'fixed:BNB=1', PRICE_FEEDS: `BNB=${USDT_BSC}` }, /^PRICE_FEEDS only goes with/],
  [{ TEMPORAL_TLS: 'false', TEMPORAL_API_KEY: 'hunter2' }, /^TEMPORAL_TLS is false beside/],
  // Feeds are of the chain that prices are read on: BNB Chain before Tron.
  [{ ...BSC, PRICE_FEEDS: `TRX=${ON_BSC}` }],
  [{ ...TRON, PRICE_FEEDS: `TRX=${ON_TRON}` }],
  [{ PRICE_FEEDS: `BNB=${ON_BSC},TRX=${ON_TRON}` }],
  [{ ...BSC, ...TRON, PRICE_FEEDS: `TRX=${ON_TRON}` }, `PRICE_FEEDS must give TRX ${OF_BSC}`],
  [{ ...TRON, PRICE_FEEDS: `BNB=${ON_BSC}` }, `PRICE_FEEDS must give BNB ${OF_TRON}`],
  [{ PRESET: BOTH }],
  [
    { PRESET: 'bsc-testnet', BSC_CHAIN_ID: '56' },
    'BSC_CHAIN_ID contradicts PRESET, whose bsc-testnet has 97: remove BSC_CHAIN_ID, or take bsc-testnet out of PRESET.',
  ],
  [
    { PRESET: BOTH, TRON_USDT_CONTRACT: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' },
    /^TRON_USDT_CONTRACT contradicts/,
  ],
  [
    { PRESET: 'bsc-testnet', TRON_API_URLS: 'https://api.trongrid.io' },
    'TRON_API_URLS is set, and PRESET does not name tron-nile: real money and test money must not share a gateway. Add tron-nile to PRESET, or remove TRON_API_URLS.',
  ],
  [
    { PRESET: 'goerli' },
    'PRESET must be one or more of bsc-testnet, tron-nile, each once and separated by commas; it is "goerli".',
  ],
  ...['https://a/hunter2', 'http://a,http://b,http://c'].map((urls): [Environment, string] => [
    { ...TWO, TRON_SOLIDITY_URLS: urls },
    `TRON_SOLIDITY_URLS must name one address for each of TRON_API_URLS, in the same order, and names ${urls.split(',').length} for 2; where they are the same addresses, remove it.`,
  ]),
];

/** Stores and proxies that are dangerous, each with the variable that is warned of; the others with none. */
const WARNED: readonly [Environment, string?][] = [
  ...['172.16.0.0/12', '2001:db8::/63'].map((cidr): [Environment, string] => [
    { TRUSTED_PROXIES: cidr },
    'TRUSTED_PROXIES',
  ]),
  ...['172.30.251.1', '10.1.2.0/24', '10.1.2.128/25', 'fd00::/64'].map((cidr): [Environment] => [
    { TRUSTED_PROXIES: cidr },
  ]),
  [{ DATABASE_URL: 'postgres://u:hunter2@db.shop.test/g' }, 'DATABASE_URL'],
  [{ DATABASE_URL: 'postgres://u@db.shop.test/g?sslmode=verify-full' }],
  [{ DATABASE_URL: 'postgres://u@10.0.0.5/g' }],
  [{ TEMPORAL_ADDRESS: 'temporal.shop.test:7233' }, 'TEMPORAL_ADDRESS'],
  [{ TEMPORAL_ADDRESS: 'temporal.shop.test:7233', TEMPORAL_TLS: 'true' }],
  [{ TEMPORAL_ADDRESS: 'temporal.shop.test:7233', TEMPORAL_API_KEY: 'hunter2' }],
  [{ TEMPORAL_ADDRESS: 'temporal:7233' }],
  [{ NOTIFY_URL: 'http://chat.shop.test/hooks/hunter2' }, 'NOTIFY_URL'],
  [{ NOTIFY_URL: 'https://chat.shop.test/hooks/hunter2' }],
  [{ NOTIFY_URL: 'http://chat:8065/hooks/hunter2' }],
];

describe('variables together', () => {
  it('are refused where they contradict one another, and taken where they do not', () => {
    for (const [env, says] of TOGETHER) {
      const problems = problemsOf(env);
      const what = JSON.stringify(env);
      if (says === undefined) expect(problems, what).to.deep.equal([]);
      else if (typeof says === 'string') expect(problems, what).to.deep.equal([says]);
      else expect(problems.join('\n'), what).to.match(says);
      expect(problems.join(), what).to.not.contain('hunter2');
    }
  });

  it('are warned of where others may listen or pretend, and nowhere else', () => {
    for (const [env, name] of WARNED) {
      const { warnings } = loadConfig({ PRICE_SOURCE: 'fixed:BNB=600', ...env });
      const dangers = warnings.filter((one) => name !== 'TRUSTED_PROXIES' || /wider than/.test(one));
      const named = dangers
        .map((one) => one.split(' ')[0])
        .filter((one) => one !== 'TRUSTED_PROXIES' || name);
      expect(named, JSON.stringify(env)).to.deep.equal(name === undefined ? [] : [name]);
      expect(warnings.join()).to.not.contain('hunter2');
    }
    const missing = (env: Environment) =>
      loadConfig(env).warnings.filter((warning) => warning.startsWith('PRICE_SOURCE'));
    expect(missing({ PRICE_SOURCE: 'chainlink' }).join()).to.match(
      /BSC_RPC_URLS and TRON_API_URLS are unset: BNB and TRX have no price\.$/,
    );
    for (const env of [BSC, TRON, { PRICE_SOURCE: 'fixed:TRX=0.3' }]) expect(missing(env)).to.deep.equal([]);
  });

  it('send no key to Temporal in the clear', () => {
    const { temporal } = loadConfig({ TEMPORAL_ADDRESS: 'temporal:7233', TEMPORAL_API_KEY: 'k' });
    expect(temporal.kind === 'address' && temporal.tls).to.not.equal(undefined);
  });

  it('ask Tron for what is final at addresses of their own, one for each, or at the same ones', () => {
    const same = ['http://a:8090', 'https://b/KEY'];
    const urlsOf = (env: Record<string, string>) => {
      const { urls, apiUrls, solidityUrls } = loadConfig(env).chains.tron;
      return { urls, apiUrls, solidityUrls };
    };
    expect(urlsOf(TWO)).to.deep.equal({ urls: same, apiUrls: same, solidityUrls: same });
    const solidityUrls = ['http://a:8091', 'https://b/KEY'];
    const apart = { urls: [...same, 'http://a:8091'], apiUrls: same, solidityUrls };
    expect(urlsOf({ ...TWO, TRON_SOLIDITY_URLS: solidityUrls.join() })).to.deep.equal(apart);
    const off = { urls: [], apiUrls: [], solidityUrls: [] };
    expect(urlsOf({ TRON_SOLIDITY_URLS: 'http://a:8091' }), 'the chain is off').to.deep.equal(off);
  });

  it('are in production what the top of the documents names, and nothing else', () => {
    const filled: Record<string, string> = {
      SECRETS_KEY,
      WALLET_XPUB_BSC: xpub.live.bsc,
      WALLET_XPUB_TRON: xpub.live.tron,
      WALLET_XPUB_TEST_BSC: xpub.test.bsc,
      WALLET_XPUB_TEST_TRON: xpub.test.tron,
    };
    const known = VARIABLES as Record<string, Variable<unknown>>;
    const valueFor = (name: string) =>
      filled[name] ?? known[name]?.example.replaceAll('example.com', 'shop.test');
    const needed = neededVariables();
    for (const role of ['api', 'worker', 'signer'] as const) {
      const names = needed[role === 'worker' ? 'api' : role];
      const env = Object.fromEntries(names.map((name) => [name, valueFor(name)]));
      expect(problemsOf({ ...env, NODE_ENV: 'production' }, role), role).to.deep.equal([]);
      for (const name of names) expect(renderConfigDocs().split('## Service')[0]).to.include(`\`${name}\``);
    }
    for (const [name, { example }] of Object.entries(known))
      if (!/…|RANDOM_BYTES|\.pem$/.test(example))
        expect(problemsOf({ [name]: example }, 'none'), name).to.deep.equal([]);
  });
});
