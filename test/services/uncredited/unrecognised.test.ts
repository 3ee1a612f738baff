import { expect } from 'chai';
import type { UnrecognisedTransfer } from '../../../src/chains/reader.ts';
import { listLeftOut, purgeStrangers } from '../../../src/services/uncredited/strangers.ts';
import { recordUnrecognised } from '../../../src/services/uncredited/unrecognised.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

const DAY_MS = 24 * 3_600_000;

/**
 * Tokens of strangers cost their sender nearly nothing: what they cost
 * us is bounded, and nothing of ours is ever among what is left out.
 */
describe('what reaches our addresses and is never credited', () => {
  let shop: Shop;

  before(async () => {
    shop = await startShop({ statementTimeoutMs: 15_000 });
  });
  after(() => shop?.stop());

  let count = 0;
  const newAddress = (): string => `0x${(++count).toString(16).padStart(40, 'e')}`;
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
    const deps = more.at ? { ...shop.deps, now: () => more.at as Date } : shop.deps;
    return recordUnrecognised(shop.deps.orm.em.fork(), deps, {
      network: 'bsc',
      blockNumber: 7,
      transfers,
      ...more,
    });
  };
  const kept = async (token: string): Promise<number> =>
    Number(
      (
        await shop.sql('select count(*) as n from unrecognised_transfers where contract_address = ?', [token])
      )[0]?.['n'],
    );

  it('is kept up to a thousand of one token a day, says so once, and counts the rest', async () => {
    const address = newAddress();
    const [flood, rare] = [contract(), contract()];
    await record([...spam(address, flood, 900), ...spam(address, rare, 2)]);
    await record(spam(address, flood, 150));
    const late = spam(address, flood, 30);
    await record(late);
    await record(late, { again: true });
    expect(await kept(flood)).to.equal(1_000);
    expect(await kept(rare)).to.equal(2);
    const day = shop.clock.now.toISOString().slice(0, 10);
    const listed = await listLeftOut(shop.deps, { limit: 10 });
    expect(listed).to.deep.equal([{ network: 'bsc', contract_address: flood, day, left_out: 80 }]);
    const said = shop.api.lines.filter((line) => line.text.startsWith('a token floods our addresses'));
    expect(said).to.have.length(1);
    await record(spam(address, flood, 5), { at: new Date(shop.clock.now.getTime() + DAY_MS) });
    expect(await kept(flood), 'another day').to.equal(1_005);
  });

  it('is kept whole where it is in our own assets', async () => {
    const address = newAddress();
    const usdt = shop.deps.settings.contracts.bsc;
    await record([...spam(address, usdt, 1_100), ...spam(address, null, 1_100)]);
    expect([await kept(usdt), await kept('')]).to.deep.equal([1_100, 1_100]);
  });

  it('is one row for each transaction, address and contract, however often it is read', async () => {
    const address = newAddress();
    const token = contract();
    const [one] = spam(address, token, 1);
    if (!one) throw new Error('no transfer');
    await record([one, { ...one, amountUnits: 5n }]);
    await record([one]);
    expect(await kept(token)).to.equal(1);
  });

  it('is of the amount that the second read shows, where the first had shown another', async () => {
    const token = contract();
    const transfers = spam(newAddress(), token, 2);
    const shown = async () =>
      (
        await shop.sql(
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
    const address = newAddress();
    const [old, young, usdt] = [contract(), contract(), shop.deps.settings.contracts.bsc];
    const before = await kept(usdt);
    const at = new Date(shop.clock.now.getTime() - 91 * DAY_MS);
    await record([...spam(address, old, 1_010), ...spam(address, usdt, 3)], { at });
    await record(spam(address, young, 3), { at: new Date(shop.clock.now.getTime() - 89 * DAY_MS) });
    await record(spam(address, old, 3));
    expect(await purgeStrangers(shop.deps)).to.equal(1_000);
    expect([await kept(old), await kept(young), await kept(usdt)]).to.deep.equal([3, 3, before + 3]);
    expect(
      (await listLeftOut(shop.deps, { limit: 10 })).some((day) => day.contract_address === old),
    ).to.equal(false);
  });
});
