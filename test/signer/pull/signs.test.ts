import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { addressKeyOf } from '../../../src/chains/addresses.ts';
import { ASSETS, NETWORKS } from '../../../src/domain/assets.ts';
import type { SignerDeps } from '../../../src/signer/pull/loop.ts';
import { DESTINATIONS, GAS_PRICE, termsOf } from './asking.ts';
import { testTransfers } from './running.ts';
import { type SignerStage, startSignerStage } from './stage.ts';

describe('the signer', function () {
  this.timeout(60_000);
  let the: SignerStage;
  let signer: { stop(): Promise<void> };
  before(async () => {
    the = await startSignerStage();
    signer = await the.signer();
  });
  after(() => the?.stop());

  const bytesOf = (row: Record<string, unknown>): Buffer => row['raw'] as Buffer;

  it('signs payouts of every asset, and stores the bytes that its journal holds', async () => {
    const transfers = await testTransfers();
    for (const { network, currency, kind } of ASSETS) {
      const place = await the.place(network);
      const units = [5n, 7n].map((some) => some * 10n ** 17n);
      for (const one of units) await the.deposit(place, currency, one);
      const row = await the.signed(await the.ask(await the.plan(place, currency)));
      const { hash, transfer } = transfers[network].read(bytesOf(row));
      const gross = units.reduce((sum, one) => sum + one, 0n);
      const fee = network === 'bsc' ? 21_000n * GAS_PRICE : 300_000n;
      expect(transfer).to.deep.equal({
        from: place.addressKey,
        to: addressKeyOf(network, DESTINATIONS[network][0]),
        kind,
        units: kind === 'token' ? gross : gross - fee,
        nonce: network === 'bsc' ? 0 : null,
      });
      expect([row['hash'], BigInt(String(row['amount_units']))]).to.deep.equal([hash, transfer.units]);
      expect(row['nonce'] === null).to.equal(network === 'tron');
      expect(row['expires_at'] === null).to.equal(network === 'bsc');
      expect(readFileSync(the.files.journalFile, 'utf8')).to.contain(bytesOf(row).toString('hex'));
    }
  });

  it('gives the address of a planned payout coins for its fee, one nonce after the other', async () => {
    for (const network of NETWORKS) {
      const nonces: unknown[] = [];
      for (let n = 0; n < 2; n += 1) {
        const payout = await the.planned(network);
        const row = await the.signed(await the.ask(payout, { purpose: 'gas' }));
        const { transfer } = (await testTransfers())[network].read(bytesOf(row));
        expect(transfer).to.include({
          from: addressKeyOf(network, the.gas[network]),
          to: payout.addressKey,
          units: 1_000_000n,
          kind: 'native',
        });
        nonces.push(transfer.nonce);
      }
      expect(nonces).to.deep.equal(network === 'bsc' ? [0, 1] : [null, null]);
    }
  });

  it('replaces an attempt in its place, for a tenth more, and never beside it or before a later one', async () => {
    const payout = await the.planned('bsc', 'BNB');
    const first = await the.signed(await the.ask(payout));
    const at = (price: bigint) => ({
      terms: termsOf('bsc', 'BNB', { gas_price: price.toString() }),
      units: payout.grossUnits - 21_000n * price,
    });
    const cheap = await the.ask(payout, { attempt: 2, ...at(GAS_PRICE + GAS_PRICE / 11n) });
    await the.refused(cheap, /^terms: it replaces 0x[0-9a-f]{64} and has to pay at least 1100000000 for gas/);
    const second = await the.signed(await the.ask(payout, { attempt: 4, ...at((GAS_PRICE * 11n) / 10n) }));
    expect(second).to.include({ nonce: first['nonce'] });
    expect(second['hash']).not.to.equal(first['hash']);
    const late = await the.ask(payout, { attempt: 3, ...at(GAS_PRICE * 3n) });
    await the.refused(late, /^backup: 0x[0-9a-f]{64} was signed here, .* was a backup restored\?/);
  });

  it('signs on Tron nothing more for a payout before what it signed can land no more', async () => {
    const payout = await the.planned('tron', 'TRX', 10n ** 9n);
    const id = await the.ask(payout);
    await the.signed(id);
    const later = { expiration: Date.now() + 1_200_000 };
    const second = await the.ask(payout, { attempt: 2, terms: termsOf('tron', 'TRX', later) });
    await the.refused(second, /^earlier: [0-9a-f]{64} of payout .* is signed: wait until final blocks/);
    await the.sql("update sent_transactions set state = 'dead' where id = ?", [id]);
    await the.refused(second, /^earlier: [0-9a-f]{64} can land until 20/);
    await signer.stop();
    signer = await the.signer({ now: () => new Date(Date.now() + 700_000) });
    await the.signed(second);
  });

  it('takes no place that a row names or terms tell alone, however far ahead', async () => {
    const payout = await the.planned();
    const nonce = 2 ** 31 - 1;
    const first = await the.ask(payout, { terms: termsOf('bsc', 'USDT', { nonce }) });
    await the.refused(
      first,
      /^terms: the chain shows 2147483647 .*, and this gateway knows of 0: .*"rescan"/,
    );
    await the.force("update sent_transactions set state = 'dead', nonce = 999 where id = ?", [first]);
    expect(Number((await the.signed(await the.ask(payout, { attempt: 2 })))['nonce'])).to.equal(0);
  });

  it('replaces nothing of another asset or wallet, whatever a payout is said to be by now', async () => {
    const payout = await the.planned();
    await the.signed(await the.ask(payout));
    const become = (currency: string, contract: string | null) =>
      the.force('update payouts set currency = ?, contract_address = ? where id = ?', [
        currency,
        contract,
        payout.id,
      ]);
    await become('BNB', null);
    const coins = { currency: 'BNB', amount_units: String(payout.grossUnits) };
    const price = { gas_price: '2000000000' };
    const coin = await the.ask(payout, { attempt: 2, terms: termsOf('bsc', 'BNB', price), change: coins });
    await the.refused(coin, /^backup: 0x.* from or to another wallet/);
    await the.sql("update sent_transactions set state = 'dead' where id = ?", [coin]);
    await become('USDT', payout.contractAddress ?? null);
    const other = await the.planned();
    await the.force('update deposits set payout_id = null where payout_id = ?', [payout.id]);
    await the.force('update deposits set payout_id = ? where payout_id = ?', [payout.id, other.id]);
    await the.force("update payouts set state = 'cancelled', reason = 'x' where id = ?", [other.id]);
    await the.force('update payouts set address = ?, address_key = ? where id = ?', [
      other.address,
      other.addressKey,
      payout.id,
    ]);
    const terms = termsOf('bsc', 'USDT', { gas_price: '2000000000' });
    const id = await the.ask({ ...other, id: payout.id }, { attempt: 3, terms });
    await the.refused(id, /^backup: 0x.* from or to another wallet/);
    await the.sql("update sent_transactions set state = 'dead' where id = ?", [id]);
  });

  it('whose commit fails after its journal has the line stores the same bytes later, and never others', async () => {
    await the.sql('create table dying ()');
    await the.sql(`create function dies() returns trigger language plpgsql as $$
      begin if to_regclass('dying') is not null then raise exception 'it dies'; end if; return null; end $$`);
    await the.sql(`create constraint trigger dies after update on sent_transactions deferrable initially deferred
      for each row when (new.raw is not null) execute function dies()`);
    await signer.stop();
    const payout = await the.planned();
    const id = await the.ask(payout);
    // What stands refused may be given up by whoever asked; what is in the journal must not be.
    await the.sql("update sent_transactions set refused = 'limit: full' where id = ?", [id]);
    signer = await the.signer();
    const signed = () =>
      readFileSync(the.files.journalFile, 'utf8')
        .split('\n')
        .filter((line) => line.includes('"kind":"signed"') && line.includes(payout.id));
    await eventually('the line in the journal', () => signed().length > 0);
    expect(await the.row(id)).to.include({ state: 'asked', raw: null, hash: null, refused: null });
    await the.sql('drop table dying');
    const { raw, hash } = await the.signed(id);
    expect(signed().map((line) => JSON.parse(line))).to.containSubset([
      { raw: (raw as Buffer).toString('hex'), hash },
    ]);
    expect(signed()).to.have.length(1);
  });

  it('commits bytes that the disk has, and none while the disk cannot be made to keep them', async () => {
    await signer.stop();
    const [first, second] = [await the.planned(), await the.planned()];
    const linesOf = ({ id }: { id: string }) =>
      readFileSync(the.files.journalFile, 'utf8')
        .split('\n')
        .filter((line) => line.includes(id));
    let id = await the.ask(first);
    const unsigned = { state: 'asked', raw: null, hash: null };
    const before: unknown[] = [];
    let isBroken = false;
    let failures = 0;
    const openJournalFile: SignerDeps['openJournalFile'] = async (...asked) => {
      const handle = await open(...asked);
      const through = (sync: () => Promise<void>) => async () => {
        before.push({ lines: linesOf(first).length, ...(await the.row(id)) });
        if (isBroken) failures += 1;
        if (isBroken) throw new Error('EIO: the disk is broken');
        await sync();
      };
      const { sync, datasync } = handle;
      return Object.assign(handle, {
        sync: through(sync.bind(handle)),
        datasync: through(datasync.bind(handle)),
      });
    };
    signer = await the.signer({ openJournalFile });
    await the.signed(id);
    // When it is opened, and when its line is written through.
    expect(before).to.containSubset([
      { lines: 0, ...unsigned },
      { lines: 1, ...unsigned },
    ]);
    expect(before).to.have.length(2);
    isBroken = true;
    id = await the.ask(second);
    await the.sealed('journal', /(could not be written|cannot be opened for writing) \(EIO/);
    await eventually('it tries again', () => failures > 2);
    expect(await the.row(id)).to.include(unsigned);
    isBroken = false;
    const { raw } = await the.signed(id);
    expect(linesOf(second).map((line) => JSON.parse(line))).to.containSubset([
      { raw: (raw as Buffer).toString('hex') },
    ]);
    expect(linesOf(second)).to.have.length(1);
  });

  it('is woken by what is asked for, signs all of it, and leaves nobody behind those whom it refuses', async () => {
    await signer.stop();
    // More than it looks at in one turn.
    const payouts = await Promise.all(Array.from({ length: 55 }, () => the.planned()));
    const nobody = await Promise.all(payouts.map((payout) => the.ask(payout, { terms: {} })));
    const many = await Promise.all(Array.from({ length: 3 }, async () => await the.ask(await the.planned())));
    signer = await the.signer({ pollMs: 600_000, retryMs: 1 });
    for (const id of nobody) await the.decided(id);
    for (const id of many) await the.signed(id);
    await signer.stop();
    signer = await the.signer({ retryMs: 1 });
    const later = await the.ask(await the.planned(), { units: 1n });
    await the.decided(later);
    await the.force('update sent_transactions set amount_units = ? where id = ?', [`${10n ** 18n}`, later]);
    await the.signed(await the.ask(await the.planned()));
    await the.signed(later);
  });
});
