import { expect } from 'chai';
import { Wallet } from 'ethers';
import { type Contract, TEST_CHAIN_ID, USDT_UNIT } from '../../dev/support/chain.ts';
import { testContracts } from '../../dev/support/chain-contracts.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { type LiveMoney, startLiveMoney } from '../../dev/support/live-money.ts';
import { TRANSFER_TOPIC } from '../../src/chains/bsc/block.ts';

type Customer = { readonly id: string; readonly address: string };
type Expected = {
  readonly hash: string;
  readonly to: Customer;
  readonly currency: 'USDT' | 'BNB';
  readonly units: bigint;
};
/** A way to pay: sends its transactions and says what has to come of them. */
type Shape = readonly [name: string, pay: (to: Customer, other: Customer) => Promise<readonly Expected[]>];

const COIN = 10n ** 18n;
const UNITS = 3n * USDT_UNIT + 7n;
const pad = (address: string) => `0x${address.slice(2).padStart(64, '0')}`;
const word = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`;

/**
 * Every way in which money can reach a customer, through the
 * whole gateway: all are sent first, then each is looked at.
 */
describe('every shape of a transfer on BNB Chain', function () {
  this.timeout(120_000);
  let live: LiveMoney;
  let payer: Contract;
  let payingAccount: string;
  const expected = new Map<string, readonly Expected[]>();

  const usdt = (hash: string, to: Customer, units = UNITS): Expected => ({
    hash,
    to,
    currency: 'USDT',
    units,
  });
  const bnb = (hash: string, to: Customer, units: bigint): Expected => ({ hash, to, currency: 'BNB', units });
  const raw = async (transaction: Record<string, unknown>): Promise<string> =>
    (await live.chain.anvil.rpc('eth_sendTransaction', [
      { from: payingAccount, gas: '0x30000', ...transaction },
    ])) as string;

  async function delegated(to: Customer): Promise<string> {
    const wallet = Wallet.createRandom();
    await live.chain.anvil.rpc('anvil_setBalance', [wallet.address, `0x${COIN.toString(16)}`]);
    const authorization = await wallet.authorize({
      address: payer.address,
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
    return (await live.chain.anvil.rpc('eth_sendRawTransaction', [signed])) as string;
  }

  const credited: readonly Shape[] = [
    ['plain USDT', async (to) => [usdt(await live.chain.usdt.call('transfer', [to.address, UNITS]), to)]],
    [
      'USDT by transferFrom',
      async (to) => [
        usdt(await payer.call('pull', [live.chain.usdt.address, [payingAccount], [to.address], [UNITS]]), to),
      ],
    ],
    [
      'USDT through a third contract',
      async (to) => [usdt(await payer.call('pay', [live.chain.usdt.address, [to.address], [UNITS]]), to)],
    ],
    [
      'a batch of USDT to several customers',
      async (to, other) => {
        const hash = await payer.call('pay', [
          live.chain.usdt.address,
          [to.address, other.address],
          [UNITS, 5n],
        ]);
        return [usdt(hash, to), usdt(hash, other, 5n)];
      },
    ],
    [
      'two transfers to one customer in one transaction',
      async (to) => [
        usdt(
          await payer.call('pay', [live.chain.usdt.address, [to.address, to.address], [UNITS, 5n]]),
          to,
          UNITS + 5n,
        ),
      ],
    ],
    [
      'USDT and BNB in one transaction',
      async (to) => {
        const hash = await payer.call('payBoth', [live.chain.usdt.address, to.address, UNITS, 21n]);
        return [usdt(hash, to), bnb(hash, to, 21n)];
      },
    ],
    ['plain BNB', async (to) => [bnb(await live.chain.send({ to: to.address, valueUnits: 31n }), to, 31n)]],
    [
      'BNB that a contract passes on',
      async (to) => [bnb(await payer.call('payCoin', [to.address, 32n]), to, 32n)],
    ],
    [
      'BNB that a contract passes on to several customers, twice to one',
      async (to, other) => {
        const hash = await payer.call('payCoins', [
          [to.address, other.address, to.address],
          [1n, 2n, 4n],
        ]);
        return [bnb(hash, to, 5n), bnb(hash, other, 2n)];
      },
    ],
    [
      'BNB with calldata',
      async (to) => [
        bnb(await live.chain.send({ to: to.address, valueUnits: 33n, data: '0xc0ffee' }), to, 33n),
      ],
    ],
    [
      'a transaction of type 0',
      async (to) => [
        bnb(await raw({ type: '0x0', gasPrice: '0x2540be400', to: to.address, value: '0x28' }), to, 40n),
      ],
    ],
    [
      'a transaction of type 1',
      async (to) => [
        bnb(
          await raw({ type: '0x1', gasPrice: '0x2540be400', accessList: [], to: to.address, value: '0x29' }),
          to,
          41n,
        ),
      ],
    ],
    [
      'a transaction of type 2',
      async (to) => [
        bnb(
          await raw({
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
    ['a transaction of type 4', async (to) => [bnb(await delegated(to), to, 44n)]],
    [
      'the creation of a contract that pays while it is made',
      async (to) => {
        await live.chain.deploy(testContracts().Heir, [to.address, 45n, payingAccount], { valueUnits: 100n });
        const block = (await live.chain.anvil.rpc('eth_getBlockByNumber', ['latest', false])) as {
          transactions: string[];
        };
        return [bnb(block.transactions.at(-1) ?? '', to, 45n)];
      },
    ],
  ];

  const refused: readonly Shape[] = [
    [
      'another token of the same name',
      async (to) => {
        const fake = await live.chain.deploy(testContracts().Token, [18]);
        await fake.call('mint', [to.address, UNITS]);
        return [];
      },
    ],
    [
      'a Transfer event of another contract',
      async (to) => {
        await payer.call('log3', [TRANSFER_TOPIC, pad(payingAccount), pad(to.address), word(UNITS)]);
        return [];
      },
    ],
    [
      'a transfer in a transaction that failed',
      async (to) => {
        await payer.call('payAndFail', [live.chain.usdt.address, to.address, UNITS]);
        await payer.call('payCoinAndFail', [to.address, 5n]);
        return [];
      },
    ],
    [
      'a part that failed inside a transaction that succeeded',
      async (to) => {
        await payer.call('payAndSwallow', [live.chain.usdt.address, to.address, UNITS]);
        await payer.call('payCoinAndSwallow', [to.address, 5n]);
        return [];
      },
    ],
    [
      'a value of zero',
      async (to) => {
        await live.chain.usdt.call('transfer', [to.address, 0n]);
        await live.chain.send({ to: to.address, valueUnits: 0n });
        return [];
      },
    ],
    [
      'what another deposit wallet of ours sends',
      async (to, other) => {
        // What it sends it has to have: that is a deposit of its own.
        await live.chain.anvil.rpc('anvil_impersonateAccount', [other.address]);
        await live.chain.usdt.call('transfer', [other.address, 50n]);
        await live.chain.send({ to: other.address, valueUnits: COIN });
        await live.chain.mine();
        const sent = await live.chain.usdt.call('transfer', [to.address, 5n], { from: other.address });
        await live.chain.send({ from: other.address, to: to.address, valueUnits: 5n });
        await live.chain.mine();
        expect(await live.chain.anvil.rpc('eth_getTransactionReceipt', [sent])).to.include({ status: '0x1' });
        return [];
      },
    ],
  ];

  before(async () => {
    live = await startLiveMoney({ env: { MIN_DEPOSIT: 'USDT.bsc=0.000000000000000003' } });
    [payingAccount = ''] = live.chain.accounts;
    payer = await live.chain.deploy(testContracts().Payer);
    await live.chain.send({ to: payer.address, valueUnits: COIN });
    await live.chain.usdt.call('transfer', [payer.address, 1_000n * USDT_UNIT]);
    await live.chain.usdt.call('approve', [payer.address, 1_000n * USDT_UNIT]);
    await live.chain.mine();
    for (const [name, pay] of [...credited, ...refused]) {
      const [to, other] = [await live.newCustomer(), await live.newCustomer()];
      expected.set(name, await pay(to, other));
      await live.chain.mine();
      addresses.set(name, to.address);
    }
    await live.chain.mine(20);
  });
  after(async () => {
    await live?.stop();
  });
  const addresses = new Map<string, string>();

  const rowsOf = async (address: string) =>
    (await live.deposits()).filter((row) => String(row['address']).toLowerCase() === address.toLowerCase());

  for (const [name] of credited) {
    it(`credits ${name} exactly once`, async () => {
      const transfers = expected.get(name) ?? [];
      expect(transfers.length).to.be.at.least(1);
      for (const { hash, to, currency, units } of transfers) {
        await eventually(
          `${name} completed`,
          () =>
            live
              .events()
              .find(
                (item) =>
                  item.event === 'deposit.completed' &&
                  item.data['transaction_hash'] === hash &&
                  item.data['customer_id'] === to.id &&
                  item.data['currency'] === currency,
              ),
          30_000,
        );
        const rows = (await rowsOf(to.address)).filter((row) => row['currency'] === currency);
        expect(
          rows.map((row) => [row['transaction_hash'], row['amount_units'], row['status']]),
        ).to.deep.equal([[hash, `${units}`, 'completed']]);
        const completed = live
          .events()
          .filter((item) => item.event === 'deposit.completed' && item.data['id'] === rows[0]?.['id']);
        expect(completed).to.have.length(1);
        expect(completed[0]?.data).to.include({ amount_raw: `${units}`, currency });
      }
    });
  }

  for (const [name] of refused) {
    it(`credits nothing of ${name}`, async () => {
      const [last] = expected.get('a transaction of type 4') ?? [];
      await live.eventOf('deposit.completed', last?.hash ?? '', 30_000);
      expect(await rowsOf(addresses.get(name) ?? '')).to.deep.equal([]);
    });
  }

  it('keeps unknown tokens for the operator', async () => {
    const address = (addresses.get('another token of the same name') ?? '').slice(2);
    const rows = await live.gateway.deps.orm.em
      .fork()
      .execute<Record<string, unknown>[]>('select * from unrecognised_transfers where address_key = ?', [
        address,
      ]);
    expect(rows.map((row) => [row['amount_units'], row['reason']])).to.deep.equal([
      [`${UNITS}`, 'another token'],
    ]);
  });

  it('fails dust as below the minimum, visibly, and credits nothing of it', async () => {
    const to = await live.newCustomer();
    const hash = await live.chain.usdt.call('transfer', [to.address, 2n]);
    const enough = await live.chain.usdt.call('transfer', [to.address, 3n]);
    await live.chain.mine(8);
    expect(await live.eventOf('deposit.failed', hash)).to.include({
      failure_code: 'BELOW_MINIMUM',
      amount_raw: '2',
    });
    await live.eventOf('deposit.completed', enough);
  });

  it('leaves the ledger equal to what lies on the addresses', async () => {
    const rows = await live.deposits();
    for (const currency of ['USDT', 'BNB']) {
      const ledger = await live.ledger(currency);
      const sum = rows
        .filter((row) => row['currency'] === currency)
        .reduce((total, row) => total + BigInt(String(row['amount_units'])), 0n);
      expect((ledger['available'] ?? 0n) + (ledger['pending'] ?? 0n) + (ledger['held'] ?? 0n)).to.equal(sum);
    }
  });
});
