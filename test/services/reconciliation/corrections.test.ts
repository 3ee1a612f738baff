import { expect } from 'chai';
import { advancedTo, bscStage, claimed, readAgain } from '../watcher/asked.ts';
import { lying } from '../watcher/lies.ts';
import { NO_TRACES, without } from '../watcher/test-watcher.ts';
import { asideAt, differencesAt } from './support.ts';

const FLOOR = 10n;

describe('an amount that both reads showed wrongly', () => {
  const { live, payer } = bscStage({ settings: { dustFloorUnits: new Map([['BNB.bsc', FLOOR]]) } });

  const rowOf = async (address: string) => (await live.deposits(address))[0] ?? {};
  const aside = async (address: string) =>
    (await asideAt(live, address)).map((row) => [row['reason'], row['amount_units']]);
  const differenceAt = async (address: string) =>
    (await differencesAt(live, address))[0]?.['difference_units'];
  /** A payment of 40 USDT that is shown as `shown` until it is final and read twice. */
  async function misread(address: string, shown: bigint): Promise<{ hash: string; number: number }> {
    live.proxy.fault = lying(address, { logUnits: () => shown });
    const hash = await live.chain.usdt.call('transfer', [address, 40n]);
    const number = await live.chain.mine();
    await live.finish();
    live.proxy.fault = undefined;
    return { hash, number };
  }

  it('is put right by a claim while it is open', async () => {
    for (const shown of [3n, 90n]) {
      const address = await live.newAddress();
      const { hash } = await misread(address, shown);
      expect(await rowOf(address)).to.include({ amount_units: String(shown) });
      expect(await claimed(live, hash)).to.deep.equal([40n]);
      expect(await rowOf(address)).to.include({ amount_units: '40', status: 'detected' });
      expect(await claimed(live, hash), 'a second time there is nothing to claim').to.match(
        /is recorded already/,
      );
    }
  });

  it('keeps what was credited when the truth shows after completed, logs both amounts, and stands in the comparison', async () => {
    const address = await live.newAddress();
    const { hash, number } = await misread(address, 90n);
    await live.chain.mine(20);
    await live.catchUp();
    const { id } = await rowOf(address);
    await advancedTo(live.deps, id);
    expect(await rowOf(address)).to.include({ status: 'completed', amount_units: '90' });
    await readAgain(live, number);
    expect(await rowOf(address)).to.include({ status: 'completed', amount_units: '90' });
    const line = live.api.lines.find(({ text }) =>
      text.startsWith('a read shows another amount than the one that was credited'),
    );
    expect(line?.fields).to.include({ depositId: id, credited: '90', shown: '40' });
    expect(await claimed(live, hash)).to.match(/is recorded already/);
    await live.reconcile();
    expect(await differenceAt(address)).to.equal('-50');
  });

  it('loses nothing of what was set aside as dust when the balance attributes the rest to the same transaction', async () => {
    const address = await live.newAddress();
    live.proxy.fault = lying(address, { traced: () => FLOOR - 1n });
    const hash = await payer.call('payCoin', [address, 40n]);
    await live.chain.mine();
    await live.finish();
    expect(await aside(address)).to.deep.equal([['dust', '9']]);
    live.proxy.fault = without(...NO_TRACES);
    live.restart();
    await live.reconcile();
    if ((await rowOf(address))['id'] === undefined) await claimed(live, hash);
    expect(await rowOf(address)).to.include({ transaction_hash: hash, amount_units: '40' });
    expect(await aside(address)).to.deep.equal([]);
    await live.reconcile();
    expect(await differenceAt(address)).to.equal(undefined);
  });
});
