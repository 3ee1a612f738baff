import { expect } from 'chai';
import { describeConfig, loadConfig } from '../../src/config/index.ts';
import { gateway } from '../cli/support.ts';

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

  it('is not needed for prices where deposits can only be simulated, outside production, which is said once', () => {
    const sourceOf = (env: Record<string, string | undefined>) => loadConfig(env).prices.source.kind;
    const { warnings } = loadConfig({});
    expect([sourceOf({}), warnings.length]).to.deep.equal(['fixed', 1]);
    expect(warnings[0]).to.match(/^PRICE_SOURCE is fixed:BNB=600,TRX=0\.3,USDT=1, made up .+ BSC_RPC_URLS/);
    const told = describeConfig({}).find(({ name }) => name === 'PRICE_SOURCE');
    expect(told).to.include({ source: 'default', value: 'fixed:BNB=600,TRX=0.3,USDT=1' });
    for (const env of [{ BSC_RPC_URLS: 'https://b.test' }, { PRICE_SOURCE: 'chainlink' }])
      expect(sourceOf(env)).to.equal('chainlink');
    const production = describeConfig({ NODE_ENV: 'production' });
    expect(production.find(({ name }) => name === 'PRICE_SOURCE')?.value).to.equal('chainlink');
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
  }).timeout(30_000);
});
