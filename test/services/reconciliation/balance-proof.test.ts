import { expect } from 'chai';
import { NO_TRACES, startTestWatcher, type TestWatcher } from '../watcher/test-watcher.ts';

describe('a deposit that waits for a second trace or a balance', function () {
  this.timeout(60_000);
  let live: TestWatcher;

  before(async () => {
    live = await startTestWatcher();
  });
  after(() => live?.stop());

  const verified = async (address: string) =>
    (await live.deposits(address)).map((row) => row['verified_at'] !== null);

  it('is proven where the balance of its address is what the ledger says, and only there', async () => {
    const [right, wrong] = [await live.newAddress(), await live.newAddress()];
    for (const to of [right, wrong]) await live.chain.send({ to, valueUnits: 10n });
    await live.finish();
    // The block of the money itself can be asked no more:
    // its balance, or another trace of it, would prove both.
    live.proxy.fault = async (call) => {
      const at = call.method === 'eth_getBalance' || call.method === 'eth_call' ? call.params[1] : undefined;
      const head = Number(await live.chain.anvil.rpc('eth_blockNumber'));
      const old = typeof at === 'string' && at.startsWith('0x') && Number(at) < head - 8;
      const refused = old || (NO_TRACES as readonly string[]).includes(call.method);
      return refused
        ? { json: { jsonrpc: '2.0', id: call.id, error: { code: -32000, message: 'missing trie node' } } }
        : undefined;
    };
    await live.chain.mine(12);
    for (const to of [right, wrong])
      await live.rows('update deposits set verified_at = null where address_key = ? returning id', [
        to.slice(2),
      ]);
    await live.chain.anvil.rpc('anvil_setBalance', [wrong, '0x9']);
    await live.finish();
    await live.reconcile();
    expect([await verified(right), await verified(wrong)]).to.deep.equal([[true], [false]]);
    await live.chain.anvil.rpc('anvil_setBalance', [wrong, '0xa']);
    await live.finish();
    await live.reconcile();
    expect(await verified(wrong)).to.deep.equal([true]);
  });
});
