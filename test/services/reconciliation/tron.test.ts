// Balances of Tron, which a node tells of this moment alone, against what the ledger says.
import { expect } from 'chai';
import { testContracts } from '../../../dev/support/chain-contracts.ts';
import type { TronContract } from '../../../dev/tron/contracts.ts';
import { INFOS, when } from '../../../dev/tron/faults.ts';
import type { TronFault } from '../../../dev/tron/http/endpoint.ts';
import type { AddressKey } from '../../../src/chains/address-key.ts';
import { claimed } from '../watcher/asked.ts';
import { asideAt, heal, paid, states } from '../watcher/tron/scenes.ts';
import { startTronWatcher, type TronWatcher } from '../watcher/tron/tron-watcher.ts';
import { forgetDeposit } from './support.ts';

/** One endpoint, and code whose payments it may hide. */
describe('the balances of Tron and the ledger', () => {
  let live: TronWatcher;
  let payer: TronContract;
  before(async () => {
    live = await startTronWatcher();
    payer = await live.node.deploy(testContracts().Payer);
    await live.node.trigger({ contract: payer.key, data: '', valueSun: 1_000_000n });
    await live.finish();
    await live.reconcile();
  });
  afterEach(() => {
    heal(live);
    live.restart();
    live.seen.differences.length = 0;
    live.seen.foundLate = 0;
  });
  after(() => live?.stop());
  const differencesAt = (address: AddressKey) =>
    live.rows('select * from balance_differences where address_key = ?', [address]);
  const claim = (txHash: string) => claimed(live, txHash);

  it('agree for what was credited in whatever way, also beyond 2^53', async () => {
    const { address } = await paid(live, { currency: 'TRX', units: 9_007_199_254_740_993n });
    await live.node.pay({ to: address, currency: 'USDT', units: 9_007_199_254_740_995n });
    await payer.call('payCoin', [address, 7n]);
    await live.finish();
    expect(await live.reconcile()).to.include({ did: 'finished' });
    expect(await differencesAt(address)).to.deep.equal([]);
    expect(live.seen.differences).to.deep.equal([]);
  });

  it('do not differ for what is not final yet, nor for what waits to be mined', async () => {
    const { address } = await paid(live, { currency: 'TRX', units: 120n });
    await live.node.pay({ to: address, currency: 'USDT', units: 121n });
    await live.catchUp();
    await live.reconcile();
    expect(await differencesAt(address)).to.deep.equal([]);
    await live.finish();
    await live.reconcile();
    expect(await differencesAt(address)).to.deep.equal([]);
  });

  it('do not differ where the deposit becomes final between the two heights of a look', async () => {
    const { address } = await paid(live, { currency: 'TRX', units: 122n });
    await live.node.mine(3);
    await live.catchUp();
    let mined = false;
    live.endpoint.fault = async ({ path, body }) => {
      if (!mined && path === 'walletsolidity/getaccount' && String(body['address']).endsWith(address)) {
        mined = true;
        await live.node.mine(2);
        void live.catchUp();
      }
      return undefined;
    };
    await live.reconcile();
    expect(mined).to.equal(true);
    expect(await differencesAt(address)).to.deep.equal([]);
    expect(live.seen.differences).to.deep.equal([]);
  });

  it('are looked at again before a difference counts: one old answer is none', async () => {
    const { address } = await paid(live, { currency: 'TRX', units: 123n });
    await live.finish();
    let old = 1;
    const forgets: TronFault = when(
      ({ path, body }) =>
        path.endsWith('/getaccount') && String(body['address']).endsWith(address) && old-- > 0,
      () => ({ json: {} }),
    );
    live.endpoint.fault = forgets;
    await live.reconcile();
    expect(old).to.be.below(0);
    expect(await differencesAt(address)).to.deep.equal([]);
  });

  it('find TRX that a contract passed on and no node showed, by the one transaction that names it', async () => {
    const address = await live.newAddress();
    await live.finish();
    await live.reconcile();
    live.restart();
    live.endpoint.fault = INFOS.withoutInternals;
    const txHash = await payer.call('payCoin', [address, 125n]);
    await live.node.mine();
    await live.finish();
    expect(await live.deposits(address)).to.deep.equal([]);
    await live.reconcile();
    expect(states(await live.deposits(address))).to.deep.equal(['125 TRX verified']);
    expect((await live.deposits(address))[0]).to.include({ transaction_hash: txHash });
    expect(await differencesAt(address)).to.deep.equal([]);
    heal(live);
    live.restart();
    await live.reconcile();
    expect(states(await live.deposits(address))).to.deep.equal(['125 TRX verified']);
  });

  it('tell the operator of TRX whose amount no call names, and record it when it is claimed', async () => {
    const address = await live.newAddress();
    await live.finish();
    await live.reconcile();
    live.restart();
    live.endpoint.fault = INFOS.withoutInternals;
    const txHash = await payer.call('passOn', [address], { valueSun: 126n });
    await live.node.mine();
    await live.finish();
    await live.reconcile();
    expect(await live.deposits(address)).to.deep.equal([]);
    expect(live.seen.differences).to.deep.equal([126n]);
    expect((await asideAt(live, address)).join()).to.match(/^126 arrived between block/);
    heal(live);
    live.restart();
    expect(await claim(txHash)).to.deep.equal([126n]);
    expect(states(await live.deposits(address))).to.deep.equal(['126 TRX verified']);
    expect(await differencesAt(address)).to.deep.equal([]);
    expect(await asideAt(live, address)).to.deep.equal([]);
  });

  it('are not compared by what is no balance', async () => {
    const { address } = await paid(live, { currency: 'TRX', units: 129n });
    await live.finish();
    const odd: readonly unknown[] = [
      { address: `41${address}`, balance: -1 },
      { address: `41${'00'.repeat(20)}`, balance: 5 },
      { address: `41${address}`, balance: '129' },
      [],
    ];
    for (const answer of odd) {
      live.endpoint.fault = when(
        ({ path }) => path.endsWith('/getaccount'),
        () => ({ json: answer }),
      );
      expect(await live.reconcile().catch(() => 'it waits')).to.equal('it waits');
      expect(await differencesAt(address)).to.deep.equal([]);
      live.later(60_000);
    }
  });

  it('are compared to their end although somebody pays one address all the time, and what no read showed is found after that', async () => {
    const address = await live.newAddress();
    const txHash = await live.node.pay({ to: address, currency: 'TRX', units: 11n });
    await live.node.mine();
    await live.finish();
    await forgetDeposit(live, txHash);
    let dust = 0;
    live.endpoint.fault = beforeAsked(address, async () => {
      dust += 1;
      await live.node.pay({ to: address, currency: 'TRX', units: 1n });
      await live.finish();
    });
    // Twice: it is the second pass without a comparison that would begin above that payment.
    for (let passes = 0; passes < 2; passes += 1)
      expect(await live.reconcile()).to.include({ did: 'finished' });
    expect(dust).to.be.at.least(5);
    expect(states(await live.deposits(address))).to.not.include('11 TRX verified');
    heal(live);
    await live.finish();
    await live.reconcile();
    expect(states(await live.deposits(address))).to.include('11 TRX verified');
  });
});

/** Does this each time before the node is asked what lies on the address. */
const beforeAsked = (address: AddressKey, work: () => Promise<void>): TronFault =>
  when(
    ({ path, body }) => path.endsWith('getaccount') && JSON.stringify(body).includes(address),
    async () => {
      await work();
      return undefined;
    },
  );
