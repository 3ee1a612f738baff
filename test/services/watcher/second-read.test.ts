import { expect } from 'chai';
import { type Contract, USDT_UNIT } from '../../../dev/support/chain.ts';
import { testContracts } from '../../../dev/support/chain-contracts.ts';
import { eventually } from '../../../dev/support/eventually.ts';
import { decideToFail } from '../../../src/services/deposits/operator.ts';
import { rescan } from '../../../src/services/watcher/rescan.ts';
import { type Lie, lying, onceMore } from './lies.ts';
import { startTestWatcher, type TestWatcher } from './test-watcher.ts';

const { signal } = new AbortController();

/** What an endpoint shows at the head is believed only until the block is final and read again. */
describe('an amount that the first read showed wrongly', function () {
  this.timeout(60_000);
  let live: TestWatcher;
  let payer: Contract;

  before(async () => {
    live = await startTestWatcher();
    payer = await live.chain.deploy(testContracts().Payer);
    await live.chain.send({ to: payer.address, valueUnits: 10n * USDT_UNIT });
    await live.chain.usdt.call('transfer', [payer.address, 1_000n * USDT_UNIT]);
    await live.finish();
  });
  after(() => live?.stop());
  afterEach(() => {
    live.proxy.fault = undefined;
  });

  const rowOf = async (address: string) => (await live.deposits(address))[0] ?? {};
  async function ledger(address: string): Promise<Record<string, bigint>> {
    const rows = await live.rows(
      `select e.account, sum(e.amount_units)::text as sum from ledger_entries e
       join ledger_transactions t on t.id = e.transaction_id
       join deposits d on d.id = t.deposit_id where d.address_key = ? group by e.account
         having sum(e.amount_units) <> 0`,
      [address.slice(2)],
    );
    return Object.fromEntries(rows.map((row) => [String(row['account']), BigInt(String(row['sum']))]));
  }
  const again = async (from: number) =>
    await rescan(live.deps, live.watchedChain, { from, to: from, signal, progress: () => undefined });

  /** Each way to pay 40 to an address, and what can be shown wrongly of it. */
  const token = (address: string) => live.chain.usdt.call('transfer', [address, 40n]);
  const split = (address: string) =>
    payer.call('pay', [live.chain.usdt.address, [address, address], [15n, 25n]]);
  const coin = (address: string) => live.chain.send({ to: address, valueUnits: 40n });
  const inside = (address: string) => payer.call('payCoin', [address, 40n]);
  const CASES: readonly {
    name: string;
    pay: (address: string) => Promise<string>;
    lie: Lie;
    shown: string;
  }[] = [
    { name: 'USDT, too much', pay: token, lie: { logUnits: () => 90n }, shown: '90' },
    { name: 'USDT, too little', pay: token, lie: { logUnits: () => 3n }, shown: '3' },
    {
      name: 'USDT in two logs, one missing',
      pay: split,
      lie: { logs: (logs) => logs.slice(1) },
      shown: '25',
    },
    {
      name: 'USDT in two logs, one shown once more as another',
      pay: split,
      lie: { logs: onceMore },
      shown: '55',
    },
    { name: 'BNB, too much', pay: coin, lie: { value: () => 90n }, shown: '90' },
    { name: 'BNB, too little', pay: coin, lie: { value: () => 3n }, shown: '3' },
    { name: 'BNB that a contract passed on, too much', pay: inside, lie: { traced: () => 90n }, shown: '90' },
    { name: 'BNB that a contract passed on, too little', pay: inside, lie: { traced: () => 3n }, shown: '3' },
  ];

  it('gives its postings numbers that never fall', async () => {
    const address = await live.newAddress();
    await token(address);
    await live.chain.mine();
    await live.catchUp();
    const counted = (change: string) =>
      live
        .rows(`update deposits set posting_count = posting_count ${change} where address_key = ?`, [
          address.slice(2),
        ])
        .then(
          () => 'it was changed',
          (error: unknown) => String(error),
        );
    expect(await counted('+ 2')).to.equal('it was changed');
    expect(await counted('- 1')).to.contain('never falls');
  });

  for (const { name, pay, lie, shown } of CASES) {
    describe(name, () => {
      /** A payment of 40 that the first read shows as something else. */
      async function misread(): Promise<{ address: string; hash: string; number: number }> {
        const address = await live.newAddress();
        live.proxy.fault = lying(address, lie);
        const hash = await pay(address);
        const number = await live.chain.mine();
        await live.catchUp();
        expect((await rowOf(address))['amount_units']).to.equal(shown);
        return { address, hash, number };
      }
      async function expectTruth(address: string): Promise<void> {
        const row = await rowOf(address);
        expect(row).to.include({ amount_units: '40', status: 'detected' });
        expect(row['verified_at']).to.not.equal(null);
        expect(await ledger(address)).to.deep.equal({ chain: -40n, pending: 40n });
      }

      it('is put right by the second read', async () => {
        const { address } = await misread();
        live.proxy.fault = undefined;
        await live.finish();
        await expectTruth(address);
      });

      it('is put right after its block was replaced', async () => {
        const { address, hash } = await misread();
        live.proxy.fault = undefined;
        const raw = String(await live.chain.anvil.rpc('eth_getRawTransactionByHash', [hash]));
        await live.chain.reorg(1);
        await live.catchUp();
        expect((await rowOf(address))['block_hash']).to.equal(null);
        await live.chain.anvil.rpc('eth_sendRawTransaction', [raw]);
        await live.finish();
        await expectTruth(address);
      });

      it('is put right by a rescan where the second read was wrong too', async () => {
        const { address, number } = await misread();
        await live.finish();
        live.proxy.fault = undefined;
        await again(number);
        // What only a trace shows wants the balance, which had
        // contradicted it: it is asked for again within seconds.
        await eventually('a proof', async () => {
          await live.catchUp();
          return (await rowOf(address))['verified_at'] !== null;
        });
        await expectTruth(address);
      });

      it('is put right while it is held for an operator', async () => {
        const { address } = await misread();
        const { id } = await rowOf(address);
        await decideToFail(live.deps, { depositId: String(id), by: 'Ann', reason: 'a sanctioned sender' });
        live.proxy.fault = undefined;
        await live.finish();
        expect(await rowOf(address)).to.include({ amount_units: '40', status: 'failed' });
        expect(await ledger(address)).to.deep.equal({ chain: -40n, held: 40n });
      });
    });
  }
});
