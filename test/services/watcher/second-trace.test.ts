import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { firstOf } from '../../../dev/support/fault-proxy.ts';
import { advanceDeposit } from '../../../src/services/deposits/advance.ts';
import { bscStage } from './asked.ts';
import { lying } from './lies.ts';
import { NO_TRACES, without } from './test-watcher.ts';

/** BNB that a contract passed on leaves no log: another trace of it, or the balance, confirms the first. */
describe('money that a single trace showed', () => {
  let ahead = 0;
  const { live, payer } = bscStage({ now: () => new Date(Date.now() + ahead), others: 1 });
  const second = () => live.others[0] ?? live.proxy;
  beforeEach(() => {
    second().fault = without(...NO_TRACES);
  });

  const rowOf = async (address: string) => (await live.deposits(address))[0] ?? {};
  const NO_BALANCES = ['eth_getBalance', 'eth_call'];
  /** The watcher asks again and again, less and less often. */
  const proven = (address: string) =>
    eventually('a proof', async () => {
      ahead += 400_000;
      await live.catchUp();
      return (await rowOf(address))['verified_at'] !== null;
    });
  const reasonOf = async (address: string): Promise<string> => {
    const result = await advanceDeposit(live.deps, {
      depositId: String((await rowOf(address))['id']),
      alarmed: false,
    });
    return result.kind === 'wait' ? result.reason : result.kind;
  };

  it('is not proven by the second trace of the same endpoint, and is by that of another one', async () => {
    second().fault = without(...NO_TRACES, ...NO_BALANCES);
    const address = await live.newAddress();
    await payer.call('payCoin', [address, 40n]);
    await live.chain.mine();
    await live.catchUp();
    live.proxy.fault = without(...NO_BALANCES);
    await live.finish();
    for (let tries = 0; tries < 3; tries++) {
      ahead += 400_000;
      await live.catchUp();
    }
    expect((await rowOf(address))['verified_at'], 'it only says the same again').to.equal(null);
    second().fault = without(...NO_BALANCES);
    await proven(address);
    expect(await rowOf(address)).to.include({ amount_units: '40' });
  });

  it('is not proven by two endpoints that trace it differently', async () => {
    second().fault = without(...NO_BALANCES);
    const address = await live.newAddress();
    const lie = firstOf(without(...NO_BALANCES), lying(address, { traced: () => 90n }));
    live.proxy.fault = lie;
    await payer.call('payCoin', [address, 40n]);
    await live.chain.mine();
    await live.finish();
    expect(await rowOf(address)).to.include({ amount_units: '90', verified_at: null });
    live.proxy.fault = without(...NO_BALANCES);
    await proven(address);
    expect(await rowOf(address)).to.include({ amount_units: '40' });
  });

  it('waits where neither can be had, says what for, holds nobody else up, and goes on with the first proof', async () => {
    const address = await live.newAddress();
    const plain = await live.newAddress();
    await payer.call('payCoin', [address, 40n]);
    await live.chain.send({ to: plain, valueUnits: 7n });
    const number = await live.chain.mine();
    await live.catchUp();
    live.proxy.fault = without(...NO_TRACES, ...NO_BALANCES);
    second().fault = without(...NO_TRACES, ...NO_BALANCES);
    await live.chain.mine(20);
    await live.catchUp();
    const [cursor] = await live.rows('select verified_number from chain_cursors');
    expect(Number(cursor?.['verified_number'])).to.be.above(number);
    expect((await rowOf(plain))['verified_at']).to.not.equal(null);
    expect((await rowOf(address))['verified_at']).to.equal(null);
    await reasonOf(address);
    expect(await reasonOf(address)).to.match(
      /^a trace alone showed what came in block \d+: it waits for the traces of two endpoints or a balance/,
    );
    live.proxy.fault = without(...NO_TRACES);
    await proven(address);
  });

  it('is not proven by a balance that rose by another amount', async () => {
    const address = await live.newAddress();
    live.proxy.fault = lying(address, { traced: () => 90n });
    await payer.call('payCoin', [address, 40n]);
    await live.chain.mine();
    await live.catchUp();
    expect(await rowOf(address)).to.include({ amount_units: '90' });
    live.proxy.fault = without(...NO_TRACES);
    await live.finish();
    expect((await rowOf(address))['verified_at']).to.equal(null);
    live.proxy.fault = lying(address, { traced: () => 90n });
    ahead += 60_000;
    await live.catchUp();
    expect((await rowOf(address))['verified_at'], 'the same trace said the same again').to.equal(null);
    live.proxy.fault = undefined;
    for (let tries = 0; tries < 2; tries++) {
      ahead += 60_000;
      await live.catchUp();
    }
    expect((await rowOf(address))['verified_at']).to.not.equal(null);
    expect(await rowOf(address)).to.include({ amount_units: '40' });
  });

  describe('whose block was replaced', () => {
    /** A payment of 40 inside a contract; its block is replaced by an empty one. */
    async function orphaned(): Promise<{ address: string; raw: string; blockNumber: number }> {
      const address = await live.newAddress();
      const hash = await payer.call('payCoin', [address, 40n]);
      const blockNumber = await live.chain.mine();
      await live.catchUp();
      const raw = String(await live.chain.anvil.rpc('eth_getRawTransactionByHash', [hash]));
      await live.chain.reorg(1);
      await live.catchUp();
      expect(await rowOf(address)).to.include({ block_hash: null, block_number: String(blockNumber) });
      return { address, raw, blockNumber };
    }
    const untraced = (...more: string[]): void => {
      live.proxy.fault = without(...NO_TRACES, ...more);
      second().fault = without(...NO_TRACES, ...more);
      live.restart();
    };

    it('waits while its transaction succeeded in another block that nobody traced, and goes on with a proof', async () => {
      const { address, raw } = await orphaned();
      untraced(...NO_BALANCES);
      await live.chain.anvil.rpc('eth_sendRawTransaction', [raw]);
      await live.finish();
      for (let steps = 0; steps < 3; steps++) await reasonOf(address);
      expect(await rowOf(address)).to.include({
        status: 'confirming',
        amount_units: '40',
        verified_at: null,
      });
      await live.chain.mine(20);
      await live.catchUp();
      await reasonOf(address);
      expect(await reasonOf(address)).to.match(/^a trace alone showed what came in block \d+/);
      untraced();
      await proven(address);
      expect(await rowOf(address)).to.include({ amount_units: '40', generation: 1 });
    });
  });
});
