import { expect } from 'chai';
import type { ScannedBlock, UnrecognisedTransfer } from '../../../src/chains/reader.ts';
import { listLeftOut, purgeStrangers } from '../../../src/services/uncredited/strangers.ts';
import { recordUnrecognised } from '../../../src/services/uncredited/unrecognised.ts';
import { recordAgain } from '../../../src/services/watcher/rescan.ts';
import { statementsOf } from '../../support/statements.ts';
import { startTestWatcher, type TestWatcher } from '../watcher/test-watcher.ts';

const DAY_MS = 24 * 3_600_000;

/**
 * Tokens of strangers cost their sender nearly nothing: what they cost
 * us is bounded, and nothing of ours is ever among what is left out.
 */
describe('what reaches our addresses and is never credited', function () {
  this.timeout(60_000);
  let live: TestWatcher;

  before(async () => {
    live = await startTestWatcher();
    await live.finish();
  });
  after(() => live?.stop());

  let count = 0;
  const hash = (): string => `0x${(++count).toString(16).padStart(64, '0')}`;
  const contract = (): string => `0x${(++count).toString(16).padStart(40, 'c')}`;
  const spam = (address: string, token: string | null, times: number): UnrecognisedTransfer[] =>
    Array.from({ length: times }, () => ({
      txHash: hash(),
      to: address,
      contract: token,
      amountUnits: 1n,
      reason: 'another token',
    }));
  const record = (transfers: readonly UnrecognisedTransfer[], more: { again?: boolean; at?: Date } = {}) => {
    const deps = more.at ? { ...live.deps, now: () => more.at as Date } : live.deps;
    return recordUnrecognised(live.deps.orm.em.fork(), deps, {
      network: 'bsc',
      blockNumber: 7,
      transfers,
      ...more,
    });
  };
  const kept = async (token: string): Promise<number> =>
    Number(
      (
        await live.rows('select count(*) as n from unrecognised_transfers where contract_address = ?', [
          token,
        ])
      )[0]?.['n'],
    );

  it('is kept in one statement, a thousand of them too', async () => {
    const address = await live.newAddress();
    const [token, warm] = [contract(), contract()];
    await record(spam(address, warm, 1));
    const transfers = spam(address, token, 1_000);
    const sent = await statementsOf(live.deps.orm);
    await record(transfers);
    expect(sent).to.have.length(1);
    expect(await kept(token)).to.equal(1_000);
  });

  it('is kept up to a thousand of one token a day, says so once, and counts the rest', async () => {
    const address = await live.newAddress();
    const [flood, rare] = [contract(), contract()];
    await record([...spam(address, flood, 900), ...spam(address, rare, 2)]);
    await record(spam(address, flood, 150));
    const late = spam(address, flood, 30);
    await record(late);
    await record(late, { again: true });
    expect(await kept(flood)).to.equal(1_000);
    expect(await kept(rare)).to.equal(2);
    const day = new Date().toISOString().slice(0, 10);
    const listed = await listLeftOut(live.deps, { limit: 10 });
    expect(listed).to.deep.equal([{ network: 'bsc', contract_address: flood, day, left_out: 80 }]);
    const said = live.api.lines.filter((line) => line.text.startsWith('a token floods our addresses'));
    expect(said).to.have.length(1);
    await record(spam(address, flood, 5), { at: new Date(Date.now() + DAY_MS) });
    expect(await kept(flood), 'another day').to.equal(1_005);
  });

  it('is kept whole where it is in our own assets', async () => {
    const address = await live.newAddress();
    const usdt = live.chain.usdt.address;
    await record([...spam(address, usdt, 1_100), ...spam(address, null, 1_100)]);
    expect([await kept(usdt), await kept('')]).to.deep.equal([1_100, 1_100]);
  });

  it('is one row for each transaction, address and contract, however often it is read', async () => {
    const address = await live.newAddress();
    const token = contract();
    const [one] = spam(address, token, 1);
    if (!one) throw new Error('no transfer');
    await record([one, { ...one, amountUnits: 5n }]);
    await record([one]);
    expect(await kept(token)).to.equal(1);
  });

  it('is of the amount that the second read shows, where the first had shown another', async () => {
    const token = contract();
    const transfers = spam(await live.newAddress(), token, 2);
    const shown = async () =>
      (
        await live.rows(
          'select amount_units::text as units from unrecognised_transfers where contract_address = ?',
          [token],
        )
      ).map((row) => row['units']);
    await record(transfers.map((transfer) => ({ ...transfer, amountUnits: 3n })));
    await record(transfers);
    expect(await shown()).to.deep.equal(['3', '3']);
    await record(transfers.slice(1), { again: true });
    expect((await shown()).toSorted()).to.deep.equal(['1', '3']);
  });

  it('is removed after 90 days, but never what is in our own assets', async () => {
    const address = await live.newAddress();
    const [old, young, usdt] = [contract(), contract(), live.chain.usdt.address];
    const before = await kept(usdt);
    const at = new Date(Date.now() - 91 * DAY_MS);
    await record([...spam(address, old, 1_010), ...spam(address, usdt, 3)], { at });
    await record(spam(address, young, 3), { at: new Date(Date.now() - 89 * DAY_MS) });
    await record(spam(address, old, 3));
    expect(await purgeStrangers(live.deps)).to.equal(1_000);
    expect([await kept(old), await kept(young), await kept(usdt)]).to.deep.equal([3, 3, before + 3]);
    expect(
      (await listLeftOut(live.deps, { limit: 10 })).some((day) => day.contract_address === old),
    ).to.equal(false);
  });

  it('is kept when the block is read once more by a command', async () => {
    const address = await live.newAddress();
    const token = contract();
    const number = await live.chain.mine();
    await live.finish();
    const block = (await live.reader.scan(
      number,
      live.watchedChain.watched.index,
      new AbortController().signal,
    )) as ScannedBlock;
    await recordAgain(live.deps, live.reader, { ...block, unrecognised: spam(address, token, 2) });
    expect(await kept(token)).to.equal(2);
  });
});
