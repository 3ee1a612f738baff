import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { type Contract, isError } from 'ethers';
import { ARTIFACTS_FILE, artifactsText, compileContracts } from '../../dev/contracts/compile.ts';
import { CONTRACT_NAMES, deploy, deployTestUsdt, devProvider, receiptOf } from '../../dev/contracts.ts';
import { anvil } from '../../dev/support/parts.ts';

const RECEIVERS = [
  '0x00000000000000000000000000000000000000a1',
  '0x00000000000000000000000000000000000000a2',
] as const;

describe('development contracts', () => {
  it('are compiled from the sources beside them: run "npm run contracts" when this fails', () => {
    const compiled = compileContracts();
    expect(Object.keys(compiled)).to.deep.equal([...CONTRACT_NAMES]);
    expect(readFileSync(ARTIFACTS_FILE, 'utf8')).to.equal(artifactsText(compiled));
  });

  it('pay tokens and coins directly, by approval and from inside a contract', async () => {
    const node = await anvil();
    const provider = devProvider(node.url);
    const usdt = await deployTestUsdt({ provider });
    const payer = await deploy({ provider, name: 'Payer' });
    const call = async (contract: Contract, method: string, ...args: unknown[]) => {
      const sent = await contract.getFunction(method)(...args);
      await node.mine();
      await receiptOf(provider, sent.hash);
    };
    await call(usdt, 'transfer', await payer.getAddress(), 100n);
    await call(payer, 'payToken', await usdt.getAddress(), RECEIVERS, [1n, 2n]);
    await call(usdt, 'approve', await payer.getAddress(), 30n);
    await call(payer, 'payTokenFrom', await usdt.getAddress(), RECEIVERS, [10n, 20n]);
    await call(payer, 'payBnb', RECEIVERS, [5n, 6n], { value: 18n });
    await call(payer, 'payBoth', await usdt.getAddress(), RECEIVERS[0], 7n, 40n);
    expect(await Promise.all(RECEIVERS.map((to) => usdt.getFunction('balanceOf')(to)))).to.deep.equal([
      51n,
      22n,
    ]);
    expect(await Promise.all(RECEIVERS.map((to) => provider.getBalance(to)))).to.deep.equal([12n, 6n]);
    expect(await usdt.getFunction('decimals')()).to.equal(18n);
    provider.destroy();
    await node.stop();
  });

  it('quote a price that the test sets, refuse money, and shout about transfers that never were', async () => {
    const node = await anvil();
    const provider = devProvider(node.url);
    const feed = await deploy({ provider, name: 'MockAggregator', args: [600n * 10n ** 8n, 1_700_000_000n] });
    await feed.getFunction('set')(-1n, 5n);
    await node.mine();
    const round: bigint[] = [...(await feed.getFunction('latestRoundData')())];
    expect(round).to.deep.equal([2n, -1n, 5n, 5n, 2n]);
    const reverter = await deploy({ provider, name: 'Reverter' });
    const refused = await provider
      .call({ to: await reverter.getAddress(), value: 1n })
      .catch((error: unknown) => error);
    expect(isError(refused, 'CALL_EXCEPTION')).to.equal(true);
    const spoofer = await deploy({ provider, name: 'Spoofer' });
    const shout = await spoofer.getFunction('spoof')(RECEIVERS[0], RECEIVERS[1], 9n);
    await node.mine();
    const receipt = await provider.getTransactionReceipt(shout.hash);
    expect(receipt?.logs.map(({ address, topics }) => [address, topics.length])).to.deep.equal([
      [await spoofer.getAddress(), 3],
    ]);
    provider.destroy();
    await node.stop();
  });
});
