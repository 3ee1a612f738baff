import { expect } from 'chai';
import { testContracts } from '../../../dev/support/chain-contracts.ts';
import type { TronContract } from '../../../dev/tron/contracts.ts';
import { startTronNode, type TronNode } from '../../../dev/tron/node.ts';
import { ALICE, ask, BOB, creditedAt, prefixed, readBlock } from './asking.ts';

describe('the money on the double of a Tron node', function () {
  this.timeout(60_000);
  let node: TronNode;
  let payer: TronContract;
  before(async () => {
    node = await startTronNode();
    payer = await node.deploy(testContracts().Payer);
    await node.trigger({ contract: payer.key, data: '', valueSun: 100_000_000n });
    await node.mine();
  });
  after(() => node?.stop());

  it('is read from its blocks as from those of a node', async () => {
    await node.pay({ to: ALICE, currency: 'TRX', units: 5n });
    await node.pay({ to: BOB, currency: 'USDT', units: 6n });
    const height = await node.mine();
    expect(await creditedAt(node, height)).to.deep.equal(['alice TRX 5', 'bob USDT 6']);
    expect(await readBlock(node, height + 1)).to.equal(undefined);
  });

  it('costs what witnesses have voted, from one block to the next', async () => {
    const feeOf = async (): Promise<number> => {
      const id = await node.pay({ to: BOB, currency: 'USDT', units: 6n });
      await node.mine();
      return (await ask(node.url, 'wallet/gettransactioninfobyid', { value: id })).receipt.energy_fee;
    };
    await feeOf();
    const before = await feeOf();
    node.rules.prices.sunPerEnergy = 210n;
    expect(await feeOf()).to.equal((before / 100) * 210);
    const { chainParameter: told } = await ask(node.url, 'wallet/getchainparameters', {});
    expect(told.find(({ key }: { key: string }) => key === 'getEnergyFee').value).to.equal(210);
    node.rules.prices.sunPerEnergy = 100n;
  });

  it('goes nowhere where code takes too long, and burns what it may', async () => {
    node.rules.isTooSlow = ({ type }) => type === 'TriggerSmartContract';
    const id = await node.pay({ to: BOB, currency: 'USDT', units: 6n });
    const height = await node.mine();
    node.rules.isTooSlow = () => false;
    const info = await ask(node.url, 'wallet/gettransactioninfobyid', { value: id });
    expect([info.receipt.result, info.result]).to.deep.equal(['OUT_OF_TIME', 'FAILED']);
    expect(info.receipt.energy_fee).to.be.greaterThan(1_000_000);
    expect(await creditedAt(node, height)).to.deep.equal([]);
  });

  it('is exact above 2^53', async () => {
    const much = 2n ** 53n + 1n;
    await node.pay({ to: ALICE, currency: 'TRX', units: much });
    await node.pay({ to: ALICE, currency: 'USDT', units: much });
    const height = await node.mine();
    expect(await creditedAt(node, height)).to.deep.equal([`alice TRX ${much}`, `alice USDT ${much}`]);
  });

  it('fits into one block fifty-five times', async () => {
    for (let units = 1n; units <= 55n; units++) await node.pay({ to: ALICE, currency: 'USDT', units });
    const credited = await creditedAt(node, await node.mine());
    expect(credited).to.deep.equal(Array.from({ length: 55 }, (_, at) => `alice USDT ${at + 1}`));
  });

  it('is passed on by code, and only where the code succeeds', async () => {
    await payer.call('payCoins', [
      [ALICE, BOB],
      [3n, 4n],
    ]);
    await payer.call('payCoinAndFail', [ALICE, 9n]);
    await payer.call('payCoinAndSwallow', [ALICE, 9n]);
    const height = await node.mine();
    expect(await creditedAt(node, height)).to.deep.equal(['alice TRX 3', 'bob TRX 4']);
    const [paid, failed, swallowed] = await ask(node.url, 'wallet/gettransactioninfobyblocknum', {
      num: height,
    });
    expect(paid.internal_transactions).to.have.length(4);
    expect([failed.receipt.result, failed.result]).to.deep.equal(['REVERT', 'FAILED']);
    expect(swallowed.receipt.result).to.equal('SUCCESS');
    for (const internal of [...failed.internal_transactions, ...swallowed.internal_transactions])
      expect(internal.rejected).to.equal(true);
  });

  it('goes nowhere where a contract pays itself, not even what it paid before', async () => {
    const id = await payer.call('payCoins', [
      [ALICE, payer.key],
      [3n, 1n],
    ]);
    const height = await node.mine();
    expect(await creditedAt(node, height)).to.deep.equal([]);
    const info = await ask(node.url, 'wallet/gettransactioninfobyid', { value: id });
    expect([info.receipt.result, info.result]).to.deep.equal(['TRANSFER_FAILED', 'FAILED']);
    expect(info.internal_transactions.some(hasValue(3))).to.equal(true);
    for (const internal of info.internal_transactions) expect(internal.rejected).to.equal(true);
  });

  it('is there once more for each equal log of one transaction', async () => {
    await node.usdt.call('transfer', [payer.key, 50n]);
    await payer.call('pay', [node.usdt.key, [ALICE, ALICE], [7n, 7n]]);
    expect(await creditedAt(node, await node.mine())).to.deep.equal(['alice USDT 14']);
  });

  it('is refused as TRX to a contract that nobody calls', async () => {
    const refused = await node
      .pay({ to: payer.key, currency: 'TRX', units: 1n })
      .catch((error: unknown) => error);
    expect(refused).to.include({ code: 'CONTRACT_VALIDATE_ERROR' });
  });

  it('is not told of by a node that does not save what code did', async () => {
    await payer.call('payCoins', [[ALICE], [3n]]);
    const height = await node.mine();
    node.savesInternals = false;
    expect(await creditedAt(node, height)).to.deep.equal([]);
    node.savesInternals = true;
    expect(await creditedAt(node, height)).to.deep.equal(['alice TRX 3']);
  });

  it('stays where it is when a payment fails on the chain', async () => {
    const poor = node.accounts[1];
    const id = await node.pay({ to: ALICE, currency: 'USDT', units: 1n, from: poor });
    const height = await node.mine();
    expect(await creditedAt(node, height)).to.deep.equal([]);
    const info = await ask(node.url, 'wallet/gettransactioninfobyid', { value: id });
    expect(info.receipt.result).to.equal('REVERT');
    expect(info.fee).to.be.greaterThan(0);
  });

  it('costs what the node says that it costs', async () => {
    const [, , sender] = node.accounts;
    if (!sender) throw new Error('no third account');
    const balance = async (): Promise<number> =>
      (await ask(node.url, 'wallet/getaccount', { address: prefixed(sender.address) })).balance;
    const before = await balance();
    const ids = [
      await node.pay({ to: BOB, currency: 'TRX', units: 1_000n, from: sender, memo: '00ff' }),
      await node.pay({ to: ALICE, currency: 'USDT', units: 1n, from: sender }),
    ];
    await node.mine();
    const infos = await Promise.all(
      ids.map((value) => ask(node.url, 'wallet/gettransactioninfobyid', { value })),
    );
    const fees = infos.reduce((sum, { fee }) => sum + fee, 0);
    expect(infos[0].fee).to.equal(1_000_000);
    expect(await balance()).to.equal(before - fees - 1_000);
  });

  it('cannot pay for more energy than there is', async () => {
    const id = await node.pay({ to: ALICE, currency: 'USDT', units: 1n, feeLimit: 100_000n });
    const height = await node.mine();
    expect(await creditedAt(node, height)).to.deep.equal([]);
    const info = await ask(node.url, 'wallet/gettransactioninfobyid', { value: id });
    expect(info.receipt).to.include({
      result: 'OUT_OF_ENERGY',
      energy_fee: 100_000,
      energy_usage_total: 1_000,
    });
    expect(info.result).to.equal('FAILED');
  });
});

const hasValue =
  (sun: number) =>
  ({ callValueInfo }: { callValueInfo: { callValue?: number }[] }): boolean =>
    callValueInfo[0]?.callValue === sun;
