import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { openJournal } from '../../../../src/signer/journal.ts';
import { DESTINATIONS } from '../../../signer/pull/stage.ts';
import { type AdoptStage, type SignedPayout, startAdoptStage, UNITS } from './stage.ts';

describe('taking up is refused, and changes nothing,', function () {
  this.timeout(180_000);
  let the: AdoptStage;
  before(async () => {
    the = await startAdoptStage();
  });
  after(() => the?.stop());
  // What was written past the guards, and what was not taken up, would be in the way of the next case.
  afterEach(async () => {
    await the.stopSigners();
    await the.force(
      `delete from sent_transactions where state = 'foreign'
         or (raw is not null and raw = '\\x00') or state = 'asked'`,
    );
    await the.signer();
  });

  const cases: Readonly<
    Record<string, { readonly says: RegExp; readonly make: (one: SignedPayout) => Promise<unknown> }>
  > = {
    'where its block was read once only': {
      says: /^block \d+, which holds 0x.*, was read once only: wait/,
      make: (one) => the.shows(one.transfer, { twice: false }),
    },
    'where its block shows another amount': {
      says: /moved something else than was signed: compare/,
      make: ({ transfer }) =>
        the.shows(transfer, {
          moves: [{ to: String(transfer['to_address']), currency: 'USDT', units: UNITS }],
        }),
    },
    'where its block shows another receiver': {
      says: /moved something else than was signed: compare/,
      make: ({ transfer }) =>
        the.shows(transfer, {
          moves: [{ to: DESTINATIONS.bsc[1], currency: 'USDT', units: 2n * UNITS + 1n }],
        }),
    },
    'where its block shows nothing that moved': {
      says: /moved something else than was signed: compare/,
      make: ({ transfer }) => the.shows(transfer, { moves: [] }),
    },
    'where a deposit is not completed': {
      says: /^deposit .*, which 0x.* pays out, is confirming: "deposit show .*run this again when it is completed$/,
      make: ({ depositIds }) =>
        the.force("update deposits set status = 'confirming' where id = ?", [depositIds[0]]),
    },
    'where a deposit was read once only': {
      says: /is completed and not read twice: /,
      make: ({ depositIds }) =>
        the.force('update deposits set verified_at = null where id = ?', [depositIds[1]]),
    },
    'where a deposit is not known': {
      says: /^deposit .*, which 0x.* pays out, is not known: wait until the blocks of its time are read again/,
      make: ({ depositIds }) =>
        the.force("update deposits set id = 'ffffffff-0000-8000-8000-000000000001' where id = ?", [
          depositIds[0],
        ]),
    },
    'where a deposit has another amount': {
      says: /which nobody signed: compare the deposits/,
      make: ({ depositIds }) =>
        the.force('update deposits set amount_units = amount_units + 1 where id = ?', [depositIds[0]]),
    },
    'where a deposit is of another merchant': {
      says: /is of another address, asset or merchant than the journal has it/,
      make: ({ depositIds }) =>
        the.force('update deposits set merchant_id = gen_random_uuid() where id = ?', [depositIds[0]]),
    },
    'where another payout has paid a deposit': {
      says: /is paid out by payout .* as well: compare 0x/,
      make: ({ depositIds }) =>
        the.force("update deposits set payout_id = gen_random_uuid(), status = 'settled' where id = ?", [
          depositIds[0],
        ]),
    },
    'where the address belongs to another merchant': {
      says: /belongs to another merchant than the journal has it/,
      make: ({ place }) =>
        the.force('update deposit_addresses set merchant_id = gen_random_uuid() where address_key = ?', [
          place.addressKey,
        ]),
    },
    'where the customer is lost': {
      says: /belongs to no customer here, .* "payout accept"$/,
      make: ({ place }) =>
        the.force('delete from deposit_addresses where address_key = ?', [place.addressKey]),
    },
    'while the signer may be signing for the address': {
      says: /^the signer is asked to sign something for this address: /,
      make: async ({ place }) => {
        const id = await the.ask(await the.plan(place, 'USDT'));
        await the.decided(id);
        await the.stopSigners();
        await the.force('update sent_transactions set refused = null where id = ?', [id]);
      },
    },
    'while another payout of the address is on its way': {
      says: /^another payout of this address \(.*\) is on its way: wait/,
      make: async ({ place }) => {
        const id = await the.ask(await the.plan(place, 'USDT'));
        await the.force(
          `update sent_transactions set state = 'signed', raw = '\\x00', hash = '0x${'9'.repeat(64)}', signed_at = now() where id = ?`,
          [id],
        );
      },
    },
  };
  for (const [name, { says, make }] of Object.entries(cases))
    it(name, async () => {
      const one = await the.forgotten();
      await the.shows(one.topUp ?? {});
      await make(one);
      await the.refused(one, says);
    });

  it('where the signer has not vouched for the line', async () => {
    const one = await the.shown(await the.forgotten());
    await the.stopSigners();
    const [state] = await the.sql('select line, line_hash from signer_state');
    await the.force('update signer_state set line = line - 1', []);
    await the.refused(one, /^the signer has not taken this database over yet, .*start it/);
    await the.force('update signer_state set line = ?, line_hash = ?', [state?.['line'], 'ab'.repeat(32)]);
    await the.refused(one, /^this is not the journal of the signer that has taken this database over/);
    await the.force('update signer_state set line = ?, line_hash = ?', [
      state?.['line'],
      state?.['line_hash'],
    ]);
    await the.adopt(one.transfer);
  });

  it('by a journal that is another one, an older copy, changed, or none', async () => {
    const one = await the.shown(await the.forgotten());
    const lines = readFileSync(the.files.journalFile, 'utf8').trimEnd().split('\n');
    const copy = (name: string, text: readonly string[]): string => {
      const file = join(the.folder, name);
      writeFileSync(file, `${text.join('\n')}\n`);
      return file;
    };
    const error = async (file: string): Promise<string> =>
      await the.adopt(one.transfer, file).then(
        () => 'taken up',
        (thrown: Error) => thrown.message,
      );
    const at = lines.findIndex((line) => line.includes(String(one.transfer['hash'])));
    await the.ask(await the.plan(await withMoney(), 'USDT')).then((id) => the.decided(id));
    expect(await error(copy('older', lines.slice(0, at + 1)))).to.match(
      /or an older copy of it: name the newest/,
    );
    const now = readFileSync(the.files.journalFile, 'utf8').trimEnd().split('\n');
    const changed = now.map((line, n) => (n === at ? line.replace('"attempt":1', '"attempt":2') : line));
    expect(await error(copy('changed', changed))).to.match(/^Line \d+ of .* is not what was written there/);
    expect(await error(join(the.folder, 'none'))).to.match(
      /cannot be read .*name a copy of it with --journal/,
    );
    const forged = await openJournal({ file: join(the.folder, 'forged'), now: new Date() });
    for (const text of lines.slice(1)) {
      const { n: _, at: when, previous: __, ...entry } = JSON.parse(text);
      await forged.append(entry, new Date(when));
    }
    await forged.close();
    expect(await error(forged.file)).to.match(/^this is not the journal of the signer/);
    // Bytes of another transaction under a line's hash.
    const lied = await openJournal({ file: join(the.folder, 'lied'), now: new Date() });
    for (const text of lines.slice(1)) {
      const { n: _, at: when, previous: __, ...entry } = JSON.parse(text);
      const amount = entry.hash === one.transfer['hash'] ? { amount: '1' } : {};
      await lied.append({ ...entry, ...amount }, new Date(when));
    }
    await lied.close();
    expect(await error(lied.file)).to.match(/the bytes in it say different things/);
    expect(await the.signedFor('bsc', `0x${'5'.repeat(64)}`)).to.equal(undefined);
    await the.adopt(one.transfer);
  });

  async function withMoney() {
    const place = await the.place('bsc');
    await the.deposit(place, 'USDT', UNITS);
    return place;
  }
});
