import { expect } from 'chai';
import type { Contract } from '../../dev/support/chain.ts';
import { testContracts } from '../../dev/support/chain-contracts.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { type FaultProxy, startFaultProxy } from '../../dev/support/fault-proxy.ts';
import { QUICK } from '../../dev/support/live-gateway.ts';
import { type LiveMoney, startLiveMoney } from '../../dev/support/live-money.ts';
import { activityDepsOf } from '../../src/app/compose.ts';
import { reconcileStep } from '../../src/services/reconciliation/pass.ts';
import { NO_TRACES, without } from '../services/watcher/test-watcher.ts';

const COIN = 10n ** 18n;
const { signal } = new AbortController();

/**
 * The whole gateway on an endpoint that shows no internal
 * transfers: the comparison of balances has to find them.
 */
describe('internal BNB without traces', function () {
  this.timeout(90_000);
  let live: LiveMoney;
  let proxy: FaultProxy;
  let payer: Contract;

  before(async () => {
    proxy = await startFaultProxy('http://127.0.0.1:1');
    proxy.fault = without(...NO_TRACES);
    live = await startLiveMoney({
      settings: QUICK,
      rpcUrls: (chain) => {
        proxy.target = chain.url;
        return proxy.url;
      },
    });
    payer = await live.chain.deploy(testContracts().Payer);
    await live.chain.send({ to: payer.address, valueUnits: COIN });
    await live.chain.mine();
  });
  after(async () => {
    await live?.stop();
    await proxy?.stop();
  });

  const final = async (block: number) =>
    await eventually(`block ${block} read twice`, async () => {
      const [cursor] = await live.gateway.deps.orm.em
        .fork()
        .execute<{ verified_number: string }[]>('select verified_number from chain_cursors');
      return Number(cursor?.verified_number) >= block;
    });

  /** One whole round at once: the worker's own comes by the clock. */
  async function reconcile(): Promise<void> {
    const chain = activityDepsOf(live.gateway.gateway, signal).chains.get('bsc');
    if (!chain) throw new Error('no chain');
    const pace = { everyMs: 0, batchAddresses: 50 };
    for (let step = await reconcileStep(live.gateway.deps, chain, pace, signal); step.did !== 'finished'; )
      step = await reconcileStep(live.gateway.deps, chain, pace, signal);
  }

  it('becomes a deposit that is announced from detected to completed, once, however often it is looked for', async () => {
    const to = await live.newCustomer();
    const hash = await payer.call('payCoin', [to.address, 6_000_000_000_000_000n]);
    const plain = await live.chain.send({ to: (await live.newCustomer()).address, valueUnits: 5n });
    const block = await live.chain.mine();
    await live.chain.mine(6);
    await final(block + 3);
    expect(await live.deposits(hash)).to.deep.equal([]);
    await reconcile();
    const completed = await live.eventOf('deposit.completed', hash);
    expect(completed).to.include({
      amount: '0.006',
      currency: 'BNB',
      customer_id: to.id,
      block_number: block,
    });
    // Balances tell how much and when, calldata tells which
    // transaction; which contract paid in the end, nothing tells.
    expect(completed['from_address']).to.equal(null);
    await reconcile();
    await reconcile();
    await live.eventOf('deposit.completed', plain);
    for (const one of [hash, plain]) expect(await live.deposits(one)).to.have.length(1);
    const told = live.events().filter((item) => item.data['transaction_hash'] === hash);
    expect(told.map((item) => item.event)).to.have.members([
      'deposit.detected',
      'deposit.confirming',
      'deposit.completed',
    ]);
    expect((await live.ledger('BNB'))['available']).to.equal(6_000_000_000_000_005n);
  });
});
