import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { decideToFail } from '../../../src/services/deposits/operator.ts';
import { bscStage, ledgerOf, readAgain } from './asked.ts';
import { type Lie, lying, onceMore, together } from './lies.ts';
import type { Row } from './test-watcher.ts';

type Misread = { readonly name: string; readonly address: string; readonly hash: string };

/** What an endpoint shows at the head is believed only until the block is final and read again. */
describe('an amount that the first read showed wrongly', () => {
  let aheadMs = 0;
  // Finality lies behind all of these payments.
  const { live, payer } = bscStage({ now: () => new Date(Date.now() + aheadMs), slotsInAnEpoch: 6 });

  const rowOf = async (address: string): Promise<Row> => (await live.deposits(address))[0] ?? {};

  /** Each way to pay 40 to an address, and what can be shown wrongly of it. */
  const token = (address: string) => live.chain.usdt.call('transfer', [address, 40n]);
  const split = (address: string) =>
    payer.call('pay', [live.chain.usdt.address, [address, address], [15n, 25n]]);
  const coin = (address: string) => live.chain.send({ to: address, valueUnits: 40n });
  const inside = (address: string) => payer.call('payCoin', [address, 40n]);
  const WAYS: Readonly<Record<string, readonly [(address: string) => Promise<string>, Lie, shown: string]>> =
    {
      'USDT, too much': [token, { logUnits: () => 90n }, '90'],
      'USDT, too little': [token, { logUnits: () => 3n }, '3'],
      'USDT in two logs, one missing': [split, { logs: (logs) => logs.slice(1) }, '25'],
      'USDT in two logs, one shown once more as another': [split, { logs: onceMore }, '55'],
      'BNB, too much': [coin, { value: () => 90n }, '90'],
      'BNB, too little': [coin, { value: () => 3n }, '3'],
      'BNB that a contract passed on, too much': [inside, { traced: () => 90n }, '90'],
      'BNB that a contract passed on, too little': [inside, { traced: () => 3n }, '3'],
    };

  /** A payment of 40 in each way, in a block of its own, that the first read shows as something else. */
  async function misread(): Promise<{ all: Misread[]; from: number; to: number }> {
    const all: (Misread & { readonly shown: string })[] = [];
    const lies = [];
    const from = (await live.chain.mine(0)) + 1;
    for (const [name, [pay, lie, shown]] of Object.entries(WAYS)) {
      const address = await live.newAddress();
      lies.push(lying(address, lie));
      all.push({ name, address, shown, hash: await pay(address) });
      await live.chain.mine();
    }
    live.proxy.fault = together(lies);
    await live.catchUp();
    for (const { name, address, shown } of all)
      expect(await rowOf(address), name).to.include({ amount_units: shown, verified_at: null });
    return { all, from, to: from + all.length - 1 };
  }
  async function expectTruth({ name, address }: Misread): Promise<void> {
    const row = await rowOf(address);
    expect(row, name).to.include({ amount_units: '40', status: 'detected' });
    expect(row['verified_at'], name).to.not.equal(null);
    expect(await ledgerOf(live, address), name).to.deep.equal({ chain: -40n, pending: 40n });
  }

  it('is put right by the second read', async () => {
    const { all } = await misread();
    live.proxy.fault = undefined;
    await live.finish();
    for (const one of all) await expectTruth(one);
  });

  it('is put right after its block was replaced', async () => {
    const { all } = await misread();
    live.proxy.fault = undefined;
    const raws: unknown[] = [];
    for (const { hash } of all) raws.push(await live.chain.anvil.rpc('eth_getRawTransactionByHash', [hash]));
    await live.chain.reorg(all.length);
    await live.catchUp();
    for (const { name, address } of all) expect(await rowOf(address), name).to.include({ block_hash: null });
    for (const raw of raws) await live.chain.anvil.rpc('eth_sendRawTransaction', [raw]);
    await live.finish();
    for (const one of all) await expectTruth(one);
  });

  it('is put right by a rescan where the second read was wrong too', async () => {
    const { all, from, to } = await misread();
    await live.finish();
    live.proxy.fault = undefined;
    await readAgain(live, from, to);
    // What only a trace shows wants the balance, which had contradicted it: that is asked for again.
    await eventually('every proof', async () => {
      aheadMs += 400_000;
      await live.catchUp();
      const [open] = await live.rows('select 1 from deposits where verified_at is null');
      return open === undefined;
    });
    for (const one of all) await expectTruth(one);
  });

  it('is put right while it is held for an operator', async () => {
    const { all } = await misread();
    for (const { address } of all) {
      const { id } = await rowOf(address);
      await decideToFail(live.deps, { depositId: String(id), by: 'Ann', reason: 'a sanctioned sender' });
    }
    live.proxy.fault = undefined;
    await live.finish();
    for (const { name, address } of all) {
      expect(await rowOf(address), name).to.include({ amount_units: '40', status: 'failed' });
      expect(await ledgerOf(live, address), name).to.deep.equal({ chain: -40n, held: 40n });
    }
  });

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
        .then(() => 'it was changed', String);
    expect(await counted('+ 2')).to.equal('it was changed');
    expect(await counted('- 1')).to.contain('never falls');
  });
});
