// A wallet's key can let a contract's code run at its address (EIP-7702); whoever calls it then moves its
// coins, and the wallet itself sends nothing.
import { expect } from 'chai';
import { HDNodeWallet, type TransactionLike } from 'ethers';
import { type Contract, startTestChain, TEST_CHAIN_ID, type TestChain } from '../../../dev/support/chain.ts';
import { testContracts } from '../../../dev/support/chain-contracts.ts';
import { TEST_PHRASE } from '../../../dev/support/test-wallet.ts';
import { AddressSet } from '../../../src/chains/address-set.ts';
import { createBscReader } from '../../../src/chains/bsc/reader.ts';
import type { ChainReader, ScannedBlock } from '../../../src/chains/reader.ts';
import { createRpcPool } from '../../../src/chains/rpc/json-rpc.ts';

const { signal } = new AbortController();
const shop = `0x${'c0'.repeat(20)}`;
const [victim, thief] = [1, 2].map((at) =>
  HDNodeWallet.fromPhrase(TEST_PHRASE, '', `m/44'/60'/0'/0/${at}`),
) as [HDNodeWallet, HDNodeWallet];
const wallet = victim.address.toLowerCase();
const alice = `0x${'a1'.repeat(20)}`;

describe('code that runs at our wallet’s address', function () {
  this.timeout(60_000);
  let chain: TestChain;
  let code: Contract;
  let reader: ChainReader;
  before(async () => {
    chain = await startTestChain();
    code = await chain.deploy(testContracts().Payer);
    const rpc = createRpcPool({ name: 'bsc', urls: [chain.url], chainId: TEST_CHAIN_ID });
    reader = createBscReader({ rpc, usdtContract: chain.usdt.address });
    // The wallet never sends: its signature alone is in the thief's transaction.
    const permit = await victim.authorize({ address: code.address, chainId: TEST_CHAIN_ID, nonce: 0 });
    await stolen({ type: 4, authorizationList: [permit], data: code.data('payCoin', [shop, 5n]) });
    await scanned();
  });
  after(() => chain?.stop());

  const watched = new AddressSet();
  watched.add(wallet);
  watched.add(alice);
  const scanned = async (): Promise<ScannedBlock> =>
    (await reader.scan(await chain.mine(), watched, signal)) ?? expect.fail('no block');
  const stolen = async (transaction: TransactionLike): Promise<string> => {
    const nonce = Number(await chain.anvil.rpc('eth_getTransactionCount', [thief.address, 'latest']));
    const whole = { chainId: TEST_CHAIN_ID, to: wallet, nonce, gasLimit: 500_000n };
    const fees = { maxFeePerGas: 9n * 10n ** 9n, maxPriorityFeePerGas: 10n ** 9n };
    const raw = await thief.signTransaction({ ...whole, ...fees, ...transaction });
    return String(await chain.anvil.rpc('eth_sendRawTransaction', [raw]));
  };

  it('and moves its coins away is told as taken, by somebody else’s transaction', async () => {
    const txHash = await stolen({
      type: 2,
      data: code.data('payCoins', [
        [shop, shop, shop],
        [7n, 0n, 8n],
      ]),
    });
    const { sent, taken, transfers } = await scanned();
    expect([sent, transfers]).to.deep.equal([undefined, []]);
    expect(taken).to.deep.equal([{ txHash, from: wallet, to: shop, currency: 'BNB', units: 15n }]);
  });

  it('and pays a customer of ours is no deposit', async () => {
    const txHash = await stolen({ type: 2, data: code.data('payCoin', [alice, 9n]) });
    const { taken, transfers, own } = await scanned();
    expect([transfers, own?.map(({ to, amountUnits }) => [to, amountUnits])]).to.deep.equal([
      [],
      [[alice, 9n]],
    ]);
    expect(taken).to.deep.equal([{ txHash, from: wallet, to: alice, currency: 'BNB', units: 9n }]);
  });

  it('and fails moved nothing', async () => {
    await stolen({ type: 2, data: code.data('payCoinAndFail', [shop, 9n]) });
    expect((await scanned()).taken).to.equal(undefined);
    await stolen({ type: 2, data: code.data('payCoinAndSwallow', [shop, 9n]) });
    expect((await scanned()).taken).to.equal(undefined);
  });
});
