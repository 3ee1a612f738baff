import { expect } from 'chai';
import { USDT_UNIT } from '../../dev/support/chain.ts';
import { testContracts } from '../../dev/support/chain-contracts.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { type LiveMoney, startLiveMoney } from '../../dev/support/live-money.ts';
import { COIN, CREDITED, type Expected, REFUSED, UNITS } from './support/shapes.ts';

/**
 * Every way in which money can reach a customer, through the
 * whole gateway: all are sent first, then each is looked at.
 */
describe('every shape of a transfer on BNB Chain', function () {
  this.timeout(120_000);
  let live: LiveMoney;
  const expected = new Map<string, readonly Expected[]>();

  before(async () => {
    live = await startLiveMoney({ env: { MIN_DEPOSIT: 'USDT.bsc=0.000000000000000003' } });
    const [payingAccount = ''] = live.chain.accounts;
    const payer = await live.chain.deploy(testContracts().Payer);
    await live.chain.send({ to: payer.address, valueUnits: COIN });
    await live.chain.usdt.call('transfer', [payer.address, 1_000n * USDT_UNIT]);
    await live.chain.usdt.call('approve', [payer.address, 1_000n * USDT_UNIT]);
    await live.chain.mine();
    const payers = { chain: live.chain, payer, payingAccount };
    for (const [name, pay] of [...CREDITED, ...REFUSED]) {
      const [to, other] = [await live.newCustomer(), await live.newCustomer()];
      expected.set(name, await pay(payers, to, other));
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

  for (const [name] of CREDITED) {
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

  for (const [name] of REFUSED) {
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
