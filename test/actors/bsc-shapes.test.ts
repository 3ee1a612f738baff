import { expect } from 'chai';
import { Wallet } from 'ethers';
import { type Contract, TEST_CHAIN_ID, USDT_UNIT } from '../../dev/support/chain.ts';
import { testContracts } from '../../dev/support/chain-contracts.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { QUICK } from '../../dev/support/live-gateway.ts';
import { type Json, type LiveMoney, type NewCustomer, startLiveMoney } from '../../dev/support/live-money.ts';

const COIN = 10n ** 18n;
const UNITS = 3n * USDT_UNIT + 7n;
/** The least that is credited of a token. */
const LEAST = 3n;

/** One asset that has to reach a customer, and the state that its deposit ends in. */
type Due = readonly [
  hash: string,
  to: NewCustomer,
  currency: 'USDT' | 'BNB',
  units: bigint,
  state?: 'failed',
];

/**
 * Transfers of many shapes through the whole gateway, all in its blocks at once; what the reader makes of
 * each is told in test/chains.
 */
describe('transfers of every shape on BNB Chain', function () {
  this.timeout(120_000);
  let live: LiveMoney;
  let payer: Contract;
  before(async () => {
    live = await startLiveMoney({
      settings: QUICK,
      env: { MIN_DEPOSIT: `USDT.bsc=0.00000000000000000${LEAST}` },
    });
    const { chain } = live;
    payer = await chain.deploy(testContracts().Payer);
    await chain.send({ to: payer.address, valueUnits: COIN });
    await chain.usdt.call('transfer', [payer.address, 1_000n * USDT_UNIT]);
    await chain.mine();
  });
  after(() => live?.stop());

  const typed = async (type: number, to: NewCustomer, value: number): Promise<string> => {
    const [from = ''] = live.chain.accounts;
    const fees =
      type === 2 ? { maxFeePerGas: '0x2540be400', maxPriorityFeePerGas: '0x1' } : { gasPrice: '0x2540be400' };
    const lists = type === 1 ? { accessList: [] } : {};
    const hex = (number: number) => `0x${number.toString(16)}`;
    const sent = {
      from,
      gas: '0x30000',
      type: hex(type),
      to: to.address,
      value: hex(value),
      ...fees,
      ...lists,
    };
    return String(await live.chain.anvil.rpc('eth_sendTransaction', [sent]));
  };

  /** A transaction of type 4, whose sender lets a contract act for it. */
  async function delegated(to: NewCustomer): Promise<string> {
    const { anvil } = live.chain;
    const wallet = Wallet.createRandom();
    await anvil.rpc('anvil_setBalance', [wallet.address, `0x${COIN.toString(16)}`]);
    const authorization = await wallet.authorize({
      address: payer.address,
      nonce: 1,
      chainId: TEST_CHAIN_ID,
    });
    const signed = await wallet.signTransaction({
      type: 4,
      chainId: TEST_CHAIN_ID,
      nonce: 0,
      to: to.address,
      value: 44n,
      authorizationList: [authorization],
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 1n,
      gasLimit: 200_000n,
    });
    return String(await anvil.rpc('eth_sendRawTransaction', [signed]));
  }

  /** The hash of a creation that pays while it is made, which the deployed contract does not tell. */
  async function created(to: NewCustomer): Promise<string> {
    const { chain } = live;
    await chain.deploy(testContracts().Heir, [to.address, 45n, chain.accounts[0]], { valueUnits: 100n });
    const block = await chain.anvil.rpc('eth_getBlockByNumber', ['latest', false]);
    return (block as { transactions: string[] }).transactions.at(-1) ?? '';
  }

  it('become one deposit for each asset, customer and transaction, and nothing else is credited', async () => {
    const { chain, newCustomer } = live;
    const { usdt } = chain;
    const due: Due[] = [];
    const [a, b] = [await newCustomer(), await newCustomer()];
    const batch = await payer.call('pay', [usdt.address, [a.address, b.address, a.address], [UNITS, 5n, 6n]]);
    due.push([batch, a, 'USDT', UNITS + 6n], [batch, b, 'USDT', 5n]);
    const both = await payer.call('payBoth', [usdt.address, a.address, UNITS, 21n]);
    due.push([both, a, 'USDT', UNITS], [both, a, 'BNB', 21n]);
    const passed = await payer.call('payCoins', [
      [a.address, b.address, a.address],
      [1n, 2n, 4n],
    ]);
    due.push([passed, a, 'BNB', 5n], [passed, b, 'BNB', 2n]);
    await chain.mine();
    for (const type of [0, 1, 2]) due.push([await typed(type, a, 40 + type), a, 'BNB', 40n + BigInt(type)]);
    due.push([await delegated(b), b, 'BNB', 44n]);
    const dust = await newCustomer();
    due.push([await usdt.call('transfer', [dust.address, LEAST - 1n]), dust, 'USDT', LEAST - 1n, 'failed']);
    due.push([await usdt.call('transfer', [dust.address, LEAST]), dust, 'USDT', LEAST]);
    await chain.mine();
    due.push([await created(b), b, 'BNB', 45n]);
    // Nothing of these is credited.
    const nobody = await newCustomer();
    const fake = await chain.deploy(testContracts().Token, [18]);
    await fake.call('mint', [nobody.address, UNITS]);
    await payer.call('payAndFail', [usdt.address, nobody.address, UNITS]);
    await payer.call('payAndSwallow', [usdt.address, nobody.address, UNITS]);
    await payer.call('payCoinAndSwallow', [nobody.address, 5n]);
    await usdt.call('transfer', [nobody.address, 0n]);
    await chain.mine();
    await chain.mine(20);
    for (const [hash, , , , state = 'completed'] of due) await live.eventOf(`deposit.${state}`, hash);

    const asLine = (...parts: readonly unknown[]): string => parts.join(' ').toLowerCase();
    const isDone = (row: Json) => row['status'] === 'completed' || row['status'] === 'failed';
    const rows = await eventually('the end of every deposit', async () => {
      const found = await live.deposits();
      return found.every(isDone) && found;
    });
    expect(
      rows.map((row) =>
        asLine(row['transaction_hash'], row['address'], row['currency'], row['amount_units'], row['status']),
      ),
    ).to.have.members(
      due.map(([hash, { address }, currency, units, state = 'completed']) =>
        asLine(hash, address, currency, units, state),
      ),
    );
    const told = live.events().filter(({ event }) => event === 'deposit.completed');
    expect(new Set(told.map(({ data }) => data['id'])).size, 'told of once each').to.equal(told.length);
    for (const currency of ['USDT', 'BNB']) {
      const sum = due.reduce((total, [, , of, units]) => total + (of === currency ? units : 0n), 0n);
      const { available = 0n, pending = 0n, held = 0n } = await live.ledger(currency);
      expect(available + pending + held, `the ledger of ${currency}`).to.equal(sum);
    }
    const kept = 'select amount_units, reason from unrecognised_transfers where address_key = ?';
    expect(
      await live.gateway.deps.orm.em.fork().execute(kept, [nobody.address.slice(2)]),
      'kept for the operator',
    ).to.deep.equal([{ amount_units: `${UNITS}`, reason: 'another token' }]);
  });
});
