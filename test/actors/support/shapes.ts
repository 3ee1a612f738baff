// Every way in which money can reach a customer on BNB Chain.
import { expect } from 'chai';
import { Wallet } from 'ethers';
import { type Contract, TEST_CHAIN_ID, type TestChain, USDT_UNIT } from '../../../dev/support/chain.ts';
import { testContracts } from '../../../dev/support/chain-contracts.ts';
import { TRANSFER_TOPIC } from '../../../src/chains/bsc/block.ts';

type Customer = { readonly id: string; readonly address: string };
export type Expected = {
  readonly hash: string;
  readonly to: Customer;
  readonly currency: 'USDT' | 'BNB';
  readonly units: bigint;
};
/** Who pays on the chain: an account, and a contract with money of its own that does as it is told. */
type Payers = {
  readonly chain: TestChain;
  readonly payer: Contract;
  readonly payingAccount: string;
};
/** A way to pay: sends its transactions and says what has to come of them. */
type Shape = readonly [
  name: string,
  pay: (the: Payers, to: Customer, other: Customer) => Promise<readonly Expected[]>,
];

export const COIN = 10n ** 18n;
export const UNITS = 3n * USDT_UNIT + 7n;
const pad = (address: string) => `0x${address.slice(2).padStart(64, '0')}`;
const word = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`;

const usdt = (hash: string, to: Customer, units = UNITS): Expected => ({
  hash,
  to,
  currency: 'USDT',
  units,
});
const bnb = (hash: string, to: Customer, units: bigint): Expected => ({ hash, to, currency: 'BNB', units });
const raw = async (the: Payers, transaction: Record<string, unknown>): Promise<string> =>
  (await the.chain.anvil.rpc('eth_sendTransaction', [
    { from: the.payingAccount, gas: '0x30000', ...transaction },
  ])) as string;

async function delegated(the: Payers, to: Customer): Promise<string> {
  const wallet = Wallet.createRandom();
  await the.chain.anvil.rpc('anvil_setBalance', [wallet.address, `0x${COIN.toString(16)}`]);
  const authorization = await wallet.authorize({
    address: the.payer.address,
    nonce: 1,
    chainId: TEST_CHAIN_ID,
  });
  const fees = { maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n, gasLimit: 200_000n };
  const signed = await wallet.signTransaction({
    type: 4,
    chainId: TEST_CHAIN_ID,
    nonce: 0,
    to: to.address,
    value: 44n,
    authorizationList: [authorization],
    ...fees,
  });
  return (await the.chain.anvil.rpc('eth_sendRawTransaction', [signed])) as string;
}

/** What is credited, each exactly once. */
export const CREDITED: readonly Shape[] = [
  ['plain USDT', async (the, to) => [usdt(await the.chain.usdt.call('transfer', [to.address, UNITS]), to)]],
  [
    'USDT by transferFrom',
    async (the, to) => [
      usdt(
        await the.payer.call('pull', [the.chain.usdt.address, [the.payingAccount], [to.address], [UNITS]]),
        to,
      ),
    ],
  ],
  [
    'USDT through a third contract',
    async (the, to) => [
      usdt(await the.payer.call('pay', [the.chain.usdt.address, [to.address], [UNITS]]), to),
    ],
  ],
  [
    'a batch of USDT to several customers',
    async (the, to, other) => {
      const hash = await the.payer.call('pay', [
        the.chain.usdt.address,
        [to.address, other.address],
        [UNITS, 5n],
      ]);
      return [usdt(hash, to), usdt(hash, other, 5n)];
    },
  ],
  [
    'two transfers to one customer in one transaction',
    async (the, to) => [
      usdt(
        await the.payer.call('pay', [the.chain.usdt.address, [to.address, to.address], [UNITS, 5n]]),
        to,
        UNITS + 5n,
      ),
    ],
  ],
  [
    'USDT and BNB in one transaction',
    async (the, to) => {
      const hash = await the.payer.call('payBoth', [the.chain.usdt.address, to.address, UNITS, 21n]);
      return [usdt(hash, to), bnb(hash, to, 21n)];
    },
  ],
  ['plain BNB', async (the, to) => [bnb(await the.chain.send({ to: to.address, valueUnits: 31n }), to, 31n)]],
  [
    'BNB that a contract passes on',
    async (the, to) => [bnb(await the.payer.call('payCoin', [to.address, 32n]), to, 32n)],
  ],
  [
    'BNB that a contract passes on to several customers, twice to one',
    async (the, to, other) => {
      const hash = await the.payer.call('payCoins', [
        [to.address, other.address, to.address],
        [1n, 2n, 4n],
      ]);
      return [bnb(hash, to, 5n), bnb(hash, other, 2n)];
    },
  ],
  [
    'BNB with calldata',
    async (the, to) => [
      bnb(await the.chain.send({ to: to.address, valueUnits: 33n, data: '0xc0ffee' }), to, 33n),
    ],
  ],
  [
    'a transaction of type 0',
    async (the, to) => [
      bnb(await raw(the, { type: '0x0', gasPrice: '0x2540be400', to: to.address, value: '0x28' }), to, 40n),
    ],
  ],
  [
    'a transaction of type 1',
    async (the, to) => [
      bnb(
        await raw(the, {
          type: '0x1',
          gasPrice: '0x2540be400',
          accessList: [],
          to: to.address,
          value: '0x29',
        }),
        to,
        41n,
      ),
    ],
  ],
  [
    'a transaction of type 2',
    async (the, to) => [
      bnb(
        await raw(the, {
          type: '0x2',
          maxFeePerGas: '0x2540be400',
          maxPriorityFeePerGas: '0x1',
          to: to.address,
          value: '0x2a',
        }),
        to,
        42n,
      ),
    ],
  ],
  ['a transaction of type 4', async (the, to) => [bnb(await delegated(the, to), to, 44n)]],
  [
    'the creation of a contract that pays while it is made',
    async (the, to) => {
      await the.chain.deploy(testContracts().Heir, [to.address, 45n, the.payingAccount], {
        valueUnits: 100n,
      });
      const block = (await the.chain.anvil.rpc('eth_getBlockByNumber', ['latest', false])) as {
        transactions: string[];
      };
      return [bnb(block.transactions.at(-1) ?? '', to, 45n)];
    },
  ],
];

/** What nothing is credited of. */
export const REFUSED: readonly Shape[] = [
  [
    'another token of the same name',
    async (the, to) => {
      const fake = await the.chain.deploy(testContracts().Token, [18]);
      await fake.call('mint', [to.address, UNITS]);
      return [];
    },
  ],
  [
    'a Transfer event of another contract',
    async (the, to) => {
      await the.payer.call('log3', [TRANSFER_TOPIC, pad(the.payingAccount), pad(to.address), word(UNITS)]);
      return [];
    },
  ],
  [
    'a transfer in a transaction that failed',
    async (the, to) => {
      await the.payer.call('payAndFail', [the.chain.usdt.address, to.address, UNITS]);
      await the.payer.call('payCoinAndFail', [to.address, 5n]);
      return [];
    },
  ],
  [
    'a part that failed inside a transaction that succeeded',
    async (the, to) => {
      await the.payer.call('payAndSwallow', [the.chain.usdt.address, to.address, UNITS]);
      await the.payer.call('payCoinAndSwallow', [to.address, 5n]);
      return [];
    },
  ],
  [
    'a value of zero',
    async (the, to) => {
      await the.chain.usdt.call('transfer', [to.address, 0n]);
      await the.chain.send({ to: to.address, valueUnits: 0n });
      return [];
    },
  ],
  [
    'what another deposit wallet of ours sends',
    async (the, to, other) => {
      // What it sends it has to have: that is a deposit of its own.
      await the.chain.anvil.rpc('anvil_impersonateAccount', [other.address]);
      await the.chain.usdt.call('transfer', [other.address, 50n]);
      await the.chain.send({ to: other.address, valueUnits: COIN });
      await the.chain.mine();
      const sent = await the.chain.usdt.call('transfer', [to.address, 5n], { from: other.address });
      await the.chain.send({ from: other.address, to: to.address, valueUnits: 5n });
      await the.chain.mine();
      expect(await the.chain.anvil.rpc('eth_getTransactionReceipt', [sent])).to.include({ status: '0x1' });
      return [];
    },
  ],
];
