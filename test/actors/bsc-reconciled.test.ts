import { expect } from 'chai';
import type { Contract } from '../../dev/support/chain.ts';
import { testContracts } from '../../dev/support/chain-contracts.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { type FaultProxy, startFaultProxy } from '../../dev/support/fault-proxy.ts';
import { QUICK } from '../../dev/support/live-gateway.ts';
import { type Json, type LiveMoney, startLiveMoney } from '../../dev/support/live-money.ts';
import { tempDir } from '../../dev/support/parts.ts';
import { activityDepsOf } from '../../src/app/compose.ts';
import { readiness } from '../../src/app/health.ts';
import { reconcileStep } from '../../src/services/reconciliation/pass.ts';
import { answer } from '../cli/support.ts';
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

  const operatorEnv = async () => ({
    DATABASE_URL: live.databaseUrl,
    DUST_FLOOR: 'none',
    BSC_RPC_URLS: proxy.url,
    BSC_USDT_CONTRACT: live.chain.usdt.address,
    BSC_CONFIRMATIONS: '3',
    PRICE_SOURCE: 'fixed:BNB=600,TRX=0.3,USDT=1',
    DATA_DIR: await tempDir('claim'),
    TEMPORAL_ADDRESS: '127.0.0.1:1',
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

  it('is set aside where nothing tells its transaction, and becomes a deposit when the operator claims it', async () => {
    const to = await live.newCustomer();
    // The development phrase's addresses are rich on this node.
    await live.chain.anvil.rpc('anvil_setBalance', [to.address, '0x0']);
    const hash = await payer.call('passOn', [to.address], { valueUnits: 7_000_000_000_000_000n });
    const block = await live.chain.mine();
    await live.chain.mine(12);
    await final(block + 8);
    // Only the newest balances can be asked for.
    proxy.fault = async (call, forward) => {
      const asked =
        call.method === 'eth_getBalance' || call.method === 'eth_call' ? call.params[1] : undefined;
      const head = Number(await live.chain.anvil.rpc('eth_blockNumber'));
      if (typeof asked === 'string' && asked.startsWith('0x') && Number(asked) < head - 4)
        return {
          json: { jsonrpc: '2.0', id: call.id, error: { code: -32000, message: 'missing trie node' } },
        };
      return await without(...NO_TRACES)(call, forward);
    };
    await reconcile();
    expect(await live.deposits(hash)).to.deep.equal([]);
    const env = await operatorEnv();
    const aside = () =>
      live.gateway.deps.orm.em
        .fork()
        .execute<Json[]>(
          'select amount_units, transaction_hash, contract_address from unrecognised_transfers where address_key = ?',
          [to.address.slice(2)],
        );
    expect(await aside()).to.deep.equal([
      { amount_units: '7000000000000000', transaction_hash: '', contract_address: '' },
    ]);
    const claim = ['deposit', 'claim', '--tx', hash, '--network', 'bsc'];
    const claimed = await answer<{ deposits: Record<string, unknown>[] }>(claim, env);
    expect(claimed.deposits).to.have.length(1);
    expect(claimed.deposits[0]).to.include({
      transaction_hash: hash,
      amount: '0.007',
      currency: 'BNB',
      customer_id: to.id,
    });
    expect(await live.eventOf('deposit.completed', hash)).to.include({ amount: '0.007' });
    expect(await aside()).to.deep.equal([]);
  });

  it('has readiness say why balances are not being compared, when they cannot be', async () => {
    proxy.fault = without('eth_getBalance', 'eth_call');
    await live.gateway.deps.orm.em
      .fork()
      .execute("update balance_rounds set started_at = started_at - interval '2 hours', position = null");
    const told =
      /^bsc: balances are not being compared with the ledger: no endpoint of bsc tells balances at block \d+/;
    const state = () => readiness(live.gateway.gateway, new Date(0));
    await eventually(
      'a note of it',
      async () => (await state()).notes.some((note) => told.test(note)),
      45_000,
      state,
    );
    expect((await state()).ready, 'deposits do not need it').to.equal(true);
  });
});
