import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import type { Fault } from '../../../dev/support/fault-proxy.ts';
import { pollChain } from '../../../src/services/watcher/poll.ts';
import { bscStage, cursorOf, readAgain } from './asked.ts';
import { lying } from './lies.ts';
import { NO_TRACES, type Row, without } from './test-watcher.ts';

const { signal } = new AbortController();

describe('what comes between the reads of a block and its proof', () => {
  const { live } = bscStage({ longestRestMs: 20 });

  const rowOf = async (address: string): Promise<Row> => (await live.deposits(address))[0] ?? {};

  it('verifies what a rescan finds in a block that was read twice and is not proven final yet', async () => {
    const address = await live.newAddress();
    await live.chain.usdt.call('transfer', [address, 40n]);
    const number = await live.chain.mine();
    const stop = number + 20;
    await live.chain.mine(200);
    const hidden = lying(address, { logs: () => [] });
    const ends: Fault = (call) =>
      call.method === 'eth_getBlockByNumber' &&
      call.params[1] === true &&
      BigInt(String(call.params[0])) > stop
        ? { json: { jsonrpc: '2.0', id: call.id, error: { code: -32000, message: 'not here' } } }
        : undefined;
    live.proxy.fault = async (call, forward) => (await ends(call, forward)) ?? (await hidden(call, forward));
    expect(await live.catchUp().catch(String)).to.contain('not here');
    const cursor = await cursorOf(live);
    expect(cursor).to.include({ reread_number: String(stop) });
    expect(Number(cursor['verified_number'])).to.be.below(number);
    live.proxy.fault = undefined;
    await readAgain(live, number);
    expect(await rowOf(address)).to.include({ amount_units: '40' });
    await live.finish();
    expect((await rowOf(address))['verified_at']).to.not.equal(null);
  });

  it('forgets heights that one answer named far above the chain', async () => {
    live.proxy.fault = async (call, forward) => {
      const answer = await forward();
      const [tag] = call.params;
      if (call.method !== 'eth_getBlockByNumber' || (tag !== 'latest' && tag !== 'finalized'))
        return { json: answer };
      return { json: { ...answer, result: { ...(answer.result as object), number: '0x3b9aca00' } } };
    };
    await pollChain(live.deps, live.watchedChain, signal);
    live.proxy.fault = undefined;
    await live.finish();
    expect(await live.reconcile()).to.include({ did: 'finished' });
    expect(Number((await cursorOf(live))['finalized_number'])).to.be.below(1_000_000);
    expect(live.watchedChain.named?.number ?? 0).to.be.below(1_000_000);
  });

  /**
   * A coin payment of 10 that waits for a proof; nothing is
   * traced and the watcher looks at it only when a test says so.
   */
  async function unproven(): Promise<string> {
    const address = await live.newAddress();
    await live.chain.send({ to: address, valueUnits: 10n });
    await live.finish();
    await live.rows('update deposits set verified_at = null where address_key = ? returning id', [
      address.slice(2),
    ]);
    delete live.watchedChain.proofs;
    return address;
  }

  for (const by of ['block', 'address'] as const)
    it(`does not take an amount that is changed meanwhile for the one that the balance of the ${by} proves`, async () => {
      const address = await unproven();
      const held = live.deps.orm.em.fork();
      await held.begin();
      await held.execute('update deposits set amount_units = 90 where address_key = ?', [address.slice(2)]);
      const proving = by === 'block' ? live.catchUp() : live.reconcile();
      await eventually('a wait for the row', async () => {
        const [waiting] = await live.rows(
          `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%update deposits%'`,
        );
        return waiting !== undefined;
      });
      live.proxy.fault = without(...NO_TRACES);
      await held.commit();
      await proving;
      expect(await rowOf(address)).to.include({ amount_units: '90', verified_at: null });
      await live.rows(
        'update deposits set amount_units = 10, verified_at = now() where address_key = ? returning id',
        [address.slice(2)],
      );
    });
});
