import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { addressKeyOf } from '../../../src/chains/addresses.ts';
import { ASSETS, NETWORKS } from '../../../src/domain/assets.ts';
import {
  DESTINATIONS,
  GAS_PRICE,
  type SignerStage,
  startSignerStage,
  termsOf,
  testTransfers,
} from './stage.ts';

describe('the signer', function () {
  this.timeout(60_000);
  let the: SignerStage;
  let signer: { stop(): Promise<void> };
  before(async () => {
    the = await startSignerStage();
    signer = await the.signer();
  });
  after(() => the?.stop());

  const settled = (id: string) => the.decided(id);
  const bytesOf = (row: Record<string, unknown>): Buffer => row['raw'] as Buffer;

  it('signs payouts of every asset, and stores the bytes that its journal holds', async () => {
    const transfers = await testTransfers();
    for (const { network, currency, kind } of ASSETS) {
      const place = await the.place(network);
      const units = [5n, 7n].map((some) => some * 10n ** 17n);
      for (const one of units) await the.deposit(place, currency, one);
      const payout = await the.plan(place, currency);
      const id = await the.ask(payout);
      const row = await settled(id);
      expect(row, currency).to.include({ state: 'signed', refused: null });
      const read = transfers[network].read(bytesOf(row));
      expect(read.hash).to.equal(row['hash']);
      expect(read.transfer).to.include({
        from: place.addressKey,
        to: addressKeyOf(network, DESTINATIONS[network][0]),
        kind,
        units: BigInt(String(row['amount_units'])),
      });
      expect(read.transfer.nonce).to.equal(network === 'bsc' ? 0 : null);
      expect(row['nonce'] === null).to.equal(network === 'tron');
      expect(row['expires_at'] === null).to.equal(network === 'bsc');
      const journal = readFileSync(the.files.journalFile, 'utf8');
      expect(journal).to.contain(bytesOf(row).toString('hex'));
      const gross = units.reduce((sum, one) => sum + one, 0n);
      expect(read.transfer.units).to.equal(
        kind === 'token' ? gross : network === 'bsc' ? gross - 21_000n * GAS_PRICE : gross - 300_000n,
      );
    }
  });

  it('gives the address of a planned payout coins for its fee, one nonce after the other', async () => {
    for (const network of NETWORKS) {
      const nonces: unknown[] = [];
      for (let n = 0; n < 2; n += 1) {
        const place = await the.place(network);
        await the.deposit(place, 'USDT', 10n ** 18n);
        const payout = await the.plan(place, 'USDT');
        const row = await settled(await the.ask(payout, { purpose: 'gas' }));
        expect(row, `${network} ${row['refused']}`).to.include({ state: 'signed' });
        const { transfer } = (await testTransfers())[network].read(bytesOf(row));
        expect(transfer).to.include({
          from: addressKeyOf(network, the.gas[network]),
          to: place.addressKey,
          units: 1_000_000n,
          kind: 'native',
        });
        nonces.push(transfer.nonce);
      }
      expect(nonces).to.deep.equal(network === 'bsc' ? [0, 1] : [null, null]);
    }
  });

  it('replaces an attempt in its place, for a tenth more, and never beside it', async () => {
    const place = await the.place('bsc');
    await the.deposit(place, 'BNB', 10n ** 18n);
    const payout = await the.plan(place, 'BNB');
    const first = await settled(await the.ask(payout));
    const at = (price: bigint) => ({
      terms: termsOf('bsc', 'BNB', { gas_price: price.toString() }),
      units: payout.grossUnits - 21_000n * price,
    });
    const cheap = await settled(await the.ask(payout, { attempt: 2, ...at(GAS_PRICE + GAS_PRICE / 11n) }));
    expect(cheap['refused']).to.match(
      /^terms: it replaces 0x[0-9a-f]{64} and has to pay at least 1100000000 for gas/,
    );
    const second = await settled(await the.ask(payout, { attempt: 3, ...at((GAS_PRICE * 11n) / 10n) }));
    expect(second).to.include({ state: 'signed', nonce: first['nonce'] });
    expect(second['hash']).not.to.equal(first['hash']);
  });

  it('signs on Tron nothing more for a payout before what it signed can land no more', async () => {
    const place = await the.place('tron');
    await the.deposit(place, 'TRX', 10n ** 9n);
    const payout = await the.plan(place, 'TRX');
    const id = await the.ask(payout);
    await settled(id);
    const later = { expiration: Date.now() + 1_200_000 };
    const second = await the.ask(payout, { attempt: 2, terms: termsOf('tron', 'TRX', later) });
    expect((await settled(second))['refused']).to.match(
      /^earlier: [0-9a-f]{64} of payout .* is signed: wait until final blocks/,
    );
    await the.sql("update sent_transactions set state = 'dead' where id = ?", [id]);
    await eventually('the time of the first', async () =>
      /^earlier: [0-9a-f]{64} can land until 20/.test(String((await the.row(second))['refused'])),
    );
    await signer.stop();
    signer = await the.signer({ now: () => new Date(Date.now() + 700_000) });
    await eventually('the signature after it', async () => (await the.row(second))['state'] === 'signed');
  });

  it('is woken by what is asked for, and says how it is', async () => {
    await signer.stop();
    signer = await the.signer({ pollMs: 600_000 });
    const seen = async () => (await the.sql('select * from signer_state'))[0] ?? {};
    const before = await seen();
    await eventually('the first look', async () => (await seen())['seen_at'] !== before['seen_at']);
    const place = await the.place('bsc');
    await the.deposit(place, 'USDT', 10n ** 18n);
    expect(await settled(await the.ask(await the.plan(place, 'USDT')))).to.include({ state: 'signed' });
    expect(await seen()).to.include({ sealed_code: null, name: 'signer' });
  });
});
