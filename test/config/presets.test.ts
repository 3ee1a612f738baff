import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { CHAINS } from '../../src/chains/index.ts';
import { describeConfig, loadConfig } from '../../src/config/index.ts';
import { gateway } from '../cli/support.ts';

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
