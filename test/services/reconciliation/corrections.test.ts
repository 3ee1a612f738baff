import { expect } from 'chai';
import { type Contract, USDT_UNIT } from '../../../dev/support/chain.ts';
import { testContracts } from '../../../dev/support/chain-contracts.ts';
import { advanceDeposit } from '../../../src/services/deposits/advance.ts';
import { claimTransaction } from '../../../src/services/reconciliation/claim.ts';
import { rescan } from '../../../src/services/watcher/rescan.ts';
import { lying } from '../watcher/lies.ts';
import { NO_TRACES, startTestWatcher, type TestWatcher, without } from '../watcher/test-watcher.ts';

const { signal } = new AbortController();
const FLOOR = 10n;

/**
 * Amounts that both reads showed wrongly, and what becomes of them
 * by a claim, after the credit, and where nobody is credited.
 */
describe('an amount that both reads showed wrongly', function () {
  this.timeout(60_000);
  let live: TestWatcher;
  let payer: Contract;

  before(async () => {
    live = await startTestWatcher({ settings: { dustFloorUnits: new Map([['BNB.bsc', FLOOR]]) } });
    payer = await live.chain.deploy(testContracts().Payer);
    await live.chain.send({ to: payer.address, valueUnits: 10n * USDT_UNIT });
    await live.finish();
  });
  after(() => live?.stop());
  afterEach(() => {
    live.proxy.fault = undefined;
    live.restart();
  });

  const rowOf = async (address: string) => (await live.deposits(address))[0] ?? {};
  const claim = (txHash: string) => claimTransaction(live.deps, live.watchedChain, { txHash, signal });
  const aside = (address: string) =>
    live.rows('select reason, amount_units from unrecognised_transfers where address_key = ?', [
      address.slice(2),
    ]);
  const differenceAt = async (address: string) =>
    (
      await live.rows('select difference_units from balance_differences where address_key = ?', [
        address.slice(2),
      ])
    )[0]?.['difference_units'];
  /** A payment of 40 USDT that is shown as `shown` until it is final and read twice. */
  async function misread(address: string, shown: bigint): Promise<{ hash: string; number: number }> {
    live.proxy.fault = lying(address, { logUnits: () => shown });
    const hash = await live.chain.usdt.call('transfer', [address, 40n]);
    const number = await live.chain.mine();
    await live.finish();
    live.proxy.fault = undefined;
    return { hash, number };
  }

  for (const shown of [3n, 90n])
    it(`is put right by a claim while it is open (${shown} for 40)`, async () => {
      const address = await live.newAddress();
      const { hash } = await misread(address, shown);
      expect(await rowOf(address)).to.include({ amount_units: String(shown) });
      const { deposits } = await claim(hash);
      expect(deposits.map((deposit) => deposit.amountUnits)).to.deep.equal([40n]);
      expect(await rowOf(address)).to.include({ amount_units: '40', status: 'detected' });
      const refused = await claim(hash).catch((error: Error) => error.message);
      expect(refused, 'a second time there is nothing to claim').to.match(/is recorded already/);
    });

  it('keeps what was credited when the truth shows after completed, logs both amounts, and stands in the comparison', async () => {
    const address = await live.newAddress();
    const { hash, number } = await misread(address, 90n);
    await live.chain.mine(20);
    await live.catchUp();
    const { id } = await rowOf(address);
    for (let steps = 0; steps < 2; steps++)
      await advanceDeposit(live.deps, { depositId: String(id), alarmed: false });
    expect(await rowOf(address)).to.include({ status: 'completed', amount_units: '90' });
    await rescan(live.deps, live.watchedChain, {
      from: number,
      to: number,
      signal,
      progress: () => undefined,
    });
    expect(await rowOf(address)).to.include({ status: 'completed', amount_units: '90' });
    const line = live.api.lines.find(({ text }) =>
      text.startsWith('a read shows another amount than the one that was credited'),
    );
    expect(line?.fields).to.include({ depositId: id, credited: '90', shown: '40' });
    expect(await claim(hash).catch((error: Error) => error.message)).to.match(/is recorded already/);
    await live.reconcile();
    expect(await differenceAt(address)).to.equal('-50');
  });

  it('is put right where it was set aside: on an address of test mode', async () => {
    const address = await live.newAddress('test');
    live.proxy.fault = lying(address, { logUnits: () => 3n });
    await live.chain.usdt.call('transfer', [address, 40n]);
    await live.chain.mine();
    await live.catchUp();
    expect(await aside(address)).to.deep.equal([
      { reason: 'real money on a test-mode address', amount_units: '3' },
    ]);
    live.proxy.fault = undefined;
    await live.finish();
    expect(await aside(address)).to.deep.equal([
      { reason: 'real money on a test-mode address', amount_units: '40' },
    ]);
    await live.reconcile();
    expect(await differenceAt(address), 'it explains the balance').to.equal(undefined);
  });

  it('loses nothing of what was set aside as dust when the balance attributes the rest to the same transaction', async () => {
    const address = await live.newAddress();
    live.proxy.fault = lying(address, { traced: () => FLOOR - 1n });
    const hash = await payer.call('payCoin', [address, 40n]);
    await live.chain.mine();
    await live.finish();
    expect(await aside(address)).to.deep.equal([{ reason: 'dust', amount_units: '9' }]);
    live.proxy.fault = without(...NO_TRACES);
    live.restart();
    await live.reconcile();
    if ((await rowOf(address))['id'] === undefined) await claim(hash);
    expect(await rowOf(address)).to.include({ transaction_hash: hash, amount_units: '40' });
    expect(await aside(address)).to.deep.equal([]);
    await live.reconcile();
    expect(await differenceAt(address)).to.equal(undefined);
  });
});
