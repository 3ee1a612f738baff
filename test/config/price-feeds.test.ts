import { expect } from 'chai';
import { ConfigError, type Environment, loadConfig } from '../../src/config/index.ts';

const ON_BSC = '0x0567F2323251f0Aab15c8dFb1967E4e8A7D42aeE';
const ON_TRON = 'TC6o8AakUg4Xz9nHY9qXpJNsgF7CQkwBqF';
const BSC = { BSC_RPC_URLS: 'https://bsc.test' };
const TRON = { TRON_API_URLS: 'https://tron.test' };

const problemsOf = (env: Environment): readonly string[] => {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
};

describe('price feeds that are configured', () => {
  it('are addresses of the chain that prices are read on: BNB Chain before Tron', () => {
    for (const env of [BSC, { ...BSC, ...TRON }]) {
      expect(problemsOf({ ...env, PRICE_FEEDS: `TRX=${ON_BSC}` })).to.deep.equal([]);
      expect(problemsOf({ ...env, PRICE_FEEDS: `BNB=${ON_BSC},TRX=${ON_TRON}` })).to.deep.equal([
        'PRICE_FEEDS must give TRX an address of BNB Chain, where prices are read as BSC_RPC_URLS is set: 0x and 40 hex digits.',
      ]);
    }
    expect(problemsOf({ ...TRON, PRICE_FEEDS: `TRX=${ON_TRON}` })).to.deep.equal([]);
    expect(problemsOf({ ...TRON, PRICE_FEEDS: `BNB=${ON_BSC},USDT=${ON_BSC}` })).to.deep.equal([
      'PRICE_FEEDS must give BNB an address of Tron, where prices are read as TRON_API_URLS is set: T and 33 characters in base58.',
      'PRICE_FEEDS must give USDT an address of Tron, where prices are read as TRON_API_URLS is set: T and 33 characters in base58.',
    ]);
  });

  it('may stay while no chain is watched', () => {
    expect(problemsOf({ PRICE_FEEDS: `BNB=${ON_BSC},TRX=${ON_TRON}` })).to.deep.equal([]);
  });

  it('are in one of both spellings, of which a wrong one is told', () => {
    expect(problemsOf({ PRICE_FEEDS: 'TRX=nothing' })).to.deep.equal([
      'PRICE_FEEDS must give TRX the address of a feed: 0x and 40 hex digits, or T and 33 characters in base58, with a right checksum; it is "TRX=nothing".',
    ]);
  });

  it('are missed, with a warning, only where no chain is watched that has any', () => {
    const missing = (env: Environment) =>
      loadConfig(env).warnings.filter((warning) => warning.startsWith('PRICE_SOURCE'));
    expect(missing({})).to.deep.equal([
      'PRICE_SOURCE is chainlink, which reads BNB Chain or Tron, but BSC_RPC_URLS and TRON_API_URLS are unset: BNB and TRX have no price.',
    ]);
    for (const env of [BSC, TRON, { ...BSC, ...TRON }, { PRICE_SOURCE: 'fixed:TRX=0.3' }])
      expect(missing(env)).to.deep.equal([]);
  });
});
