import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { CHAINS } from '../../src/chains/index.ts';
import { describeConfig, loadConfig } from '../../src/config/index.ts';
import { VARIABLES } from '../../src/config/variables/index.ts';
import { gateway } from '../cli/support.ts';
import { problemsOf } from '../support/repository/config-samples.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const BOTH = 'bsc-testnet,tron-nile';

describe('a preset of test nets', () => {
  it('makes a gateway for them of nothing but its name', () => {
    const { chains, prices } = loadConfig({ PRESET: BOTH });
    expect(chains.bsc).to.deep.include({ enabled: true, chainId: 97, confirmations: 15 });
    expect(chains.bsc.usdtContract).to.equal('0x337610d27c682E347C9cD60BD4b3b107C9d34dDd');
    expect(chains.tron).to.deep.include({ enabled: true, confirmations: 19 });
    expect(chains.tron.usdtContract).to.equal('TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf');
    expect(prices.source.kind).to.equal('fixed');
    const one = loadConfig({ PRESET: 'tron-nile' }).chains;
    expect([one.bsc.enabled, one.bsc.chainId, one.tron.enabled]).to.deep.equal([false, 56, true]);
  });

  it('gives only values that are taken, of variables that exist', () => {
    for (const { testNet } of CHAINS)
      for (const name of Object.keys({ ...testNet.identity, ...testNet.defaults }))
        expect(Object.keys(VARIABLES)).to.include(name);
    expect(problemsOf({ PRESET: BOTH })).to.deep.equal([]);
  });

  it('gives way to what is set, where that may be another there', () => {
    const { bsc } = loadConfig({
      PRESET: 'bsc-testnet',
      BSC_RPC_URLS: 'http://127.0.0.1:8545',
      BSC_CONFIRMATIONS: '3',
      BSC_USDT_CONTRACT: '0x337610d27c682e347c9cd60bd4b3b107c9d34ddd',
    }).chains;
    expect([bsc.rpcUrls, bsc.confirmations, bsc.chainId]).to.deep.equal([['http://127.0.0.1:8545'], 3, 97]);
  });

  it('is refused beside what makes the chain another one, and beside a main net', () => {
    expect(problemsOf({ PRESET: 'bsc-testnet', BSC_CHAIN_ID: '56' })).to.deep.equal([
      'BSC_CHAIN_ID contradicts PRESET, whose bsc-testnet has 97: remove BSC_CHAIN_ID, or take bsc-testnet out of PRESET.',
    ]);
    const mainNet = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
    expect(problemsOf({ PRESET: BOTH, TRON_USDT_CONTRACT: mainNet }).join()).to.match(
      /^TRON_USDT_CONTRACT contradicts/,
    );
    expect(problemsOf({ PRESET: 'bsc-testnet', TRON_API_URLS: 'https://api.trongrid.io' })).to.deep.equal([
      'TRON_API_URLS is set, and PRESET does not name tron-nile: real money and test money must not share a gateway. Add tron-nile to PRESET, or remove TRON_API_URLS.',
    ]);
  });

  it('of an unknown name is refused with the known ones', () => {
    expect(problemsOf({ PRESET: 'goerli' })).to.deep.equal([
      'PRESET must be one or more of bsc-testnet, tron-nile, each once and separated by commas; it is "goerli".',
    ]);
  });

  it('is warned of, and "config check" tells which values are its own', async () => {
    expect(loadConfig({ PRESET: 'tron-nile' }).warnings.join()).to.match(
      /^PRESET is tron-nile: .+ worth nothing/,
    );
    const from = Object.fromEntries(
      describeConfig({ PRESET: BOTH, BSC_CONFIRMATIONS: '3' }).map(({ name, source }) => [name, source]),
    );
    expect(from).to.include({ BSC_CHAIN_ID: 'preset', BSC_CONFIRMATIONS: 'environment', PORT: 'default' });
    const ran = await gateway(['config', 'check', '--preset', 'bsc-testnet'], { PRESET: '' });
    expect([ran.code, /^BSC_CHAIN_ID +preset +97$/m.test(ran.stdout)]).to.deep.equal([0, true]);
    const twice = await gateway(['start', '--preset', 'bsc-testnet'], { PRESET: 'tron-nile' });
    expect([twice.code, twice.stderr]).to.deep.equal([
      1,
      '--preset is bsc-testnet, and the variable PRESET is tron-nile. Leave one of them out.\n',
    ]);
  }).timeout(30_000);

  it('is told in the documents with every value, and where to get its money', () => {
    const page = readFileSync(join(ROOT, 'docs/testnet.md'), 'utf8');
    for (const { testNet } of CHAINS) {
      const row = page.split('\n').filter((line) => line.includes(`\`${testNet.name}\``));
      expect(row, testNet.name).to.not.deep.equal([]);
      for (const value of Object.values({ ...testNet.identity, ...testNet.defaults }))
        expect(page, testNet.name).to.include(value);
    }
    expect(page.match(/https:\/\/\S*(faucet|join)\S*/g)).to.have.length.at.least(2);
  });
});
