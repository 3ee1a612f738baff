import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { openJournal } from '../../../../src/signer/journal.ts';
import { DESTINATIONS } from '../../../signer/pull/asking.ts';
import { type AdoptStage, type SignedPayout, startAdoptStage, UNITS } from './stage.ts';

describe('taking up is refused, and changes nothing,', function () {
  this.timeout(180_000);
  let the: AdoptStage;
  /** Each that starts again costs a second of work. */
  let isStopped = false;
  before(async () => {
    the = await startAdoptStage();
  });
  after(() => the?.stop());
  // What was written past the guards, and what was not taken up, would be in the way of the next case.
  afterEach(async () => {
    await the.force(
      `delete from sent_transactions where state = 'foreign'
         or (raw is not null and raw = '\\x00') or state = 'asked'`,
    );
    if (isStopped) await the.signer();
    isStopped = false;
  });
  const stop = async (): Promise<void> => {
    await the.stopSigners();
    isStopped = true;
  };

  type Make = (one: SignedPayout) => Promise<unknown>;
  /** Written past the guards, about one of its two deposits. */
  const deposit =
    (set: string, which = 0): Make =>
    ({ depositIds }) =>
      the.force(`update deposits set ${set} where id = ?`, [depositIds[which]]);
  const owner =
    (change: string): Make =>
    ({ place }) =>
      the.force(`${change} where address_key = ?`, [place.addressKey]);
  const moved =
    (move: { to?: string; units: bigint }): Make =>
    ({ transfer }) => {
      const to = String(transfer['to_address']);
      return the.shows(transfer, { moves: [{ to, currency: 'USDT', ...move }] });
    };
  const ALL = 2n * UNITS + 1n;
  const ELSE = /moved something else than was signed: compare/;
  const asksFor = async ({ place }: SignedPayout) => await the.ask(await the.plan(place, 'USDT'));
  const onceRead: Make = ({ transfer }) => the.shows(transfer, { twice: false });
  const signing: Make = async (one) => {
    const id = await asksFor(one);
    await the.decided(id);
    await stop();
    await the.force('update sent_transactions set refused = null where id = ?', [id]);
  };
  const paying: Make = async (one) =>
    the.force(
      `update sent_transactions set state = 'signed', raw = '\\x00', hash = ?, signed_at = now() where id = ?`,
      [`0x${'9'.repeat(64)}`, await asksFor(one)],
    );
  const OPEN =
    /^deposit .*, which 0x.* pays out, is confirming: "deposit show .*run this again when it is completed$/;
  const OTHERS = /is of another address, asset or merchant than the journal has it/;
  const PAID = /is paid out by payout .* as well: compare 0x/;
  const newOwner = 'update deposit_addresses set merchant_id = gen_random_uuid()';
  const elsePaid = "payout_id = gen_random_uuid(), status = 'settled'";
  const cases: readonly (readonly [where: string, make: Make, says: RegExp])[] = [
    ['its block was read once only', onceRead, /^block \d+, which holds 0x.*, was read once only: wait/],
    ['its block shows another amount', moved({ units: UNITS }), ELSE],
    ['its block shows another receiver', moved({ to: DESTINATIONS.bsc[1], units: ALL }), ELSE],
    ['a deposit is not completed', deposit("status = 'confirming'"), OPEN],
    ['a deposit was read once only', deposit('verified_at = null', 1), /is completed and not read twice: /],
    ['a deposit has another amount', deposit('amount_units = amount_units + 1'), /which nobody signed: comp/],
    ['a deposit is of another merchant', deposit('merchant_id = gen_random_uuid()'), OTHERS],
    ['another payout has paid a deposit', deposit(elsePaid), PAID],
    ['its address is of another merchant', owner(newOwner), /belongs to another merchant than the journal/],
    [
      'something may be signed just now',
      signing,
      /^the signer is asked to sign something for this address: /,
    ],
    ['another payout is on its way', paying, /^another payout of this address \(.*\) is on its way: wait/],
  ];
  for (const [name, make, says] of cases)
    it(`where ${name}`, async () => {
      const one = await the.forgotten();
      await the.shows(one.topUp ?? {});
      await make(one);
      await the.notAdopted(one, says);
    });

  it('where the signer has not vouched for the line', async () => {
    const one = await the.shown(await the.forgotten());
    await stop();
    const [state] = await the.sql('select line, line_hash from signer_state');
    await the.force('update signer_state set line = line - 1', []);
    await the.notAdopted(one, /^the signer has not taken this database over yet, .*start it/);
    await the.force('update signer_state set line = ?, line_hash = ?', [state?.['line'], 'ab'.repeat(32)]);
    await the.notAdopted(one, /^this is not the journal of the signer that has taken this database over/);
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
    const saysOf = async (file: string, says: RegExp): Promise<void> => {
      const said = await the.adopt(one.transfer, file).then(
        () => 'taken up',
        (thrown: Error) => thrown.message,
      );
      expect(said).to.match(says);
    };
    /** The same lines in a journal of its own, in which some of this one's is changed. */
    const forged = async (name: string, change: object): Promise<string> => {
      const journal = await openJournal({ file: join(the.folder, name), now: new Date() });
      for (const text of lines.slice(1)) {
        const { n: _, at: when, previous: __, ...entry } = JSON.parse(text);
        const changed = entry.hash === one.transfer['hash'] ? { ...entry, ...change } : entry;
        await journal.append(changed, new Date(when));
      }
      await journal.close();
      return journal.file;
    };
    const at = lines.findIndex((line) => line.includes(String(one.transfer['hash'])));
    await the.decided(await the.ask(await the.planned('bsc', 'USDT', UNITS)));
    await saysOf(copy('older', lines.slice(0, at + 1)), /or an older copy of it: name the newest/);
    const now = readFileSync(the.files.journalFile, 'utf8').trimEnd().split('\n');
    const changed = now.map((line, n) => (n === at ? line.replace('"attempt":1', '"attempt":2') : line));
    await saysOf(copy('changed', changed), /^Line \d+ of .* is not what was written there/);
    await saysOf(join(the.folder, 'none'), /cannot be read .*name a copy of it with --journal/);
    await saysOf(await forged('forged', {}), /^this is not the journal of the signer/);
    // Bytes of another transaction under a line's hash.
    await saysOf(await forged('lied', { amount: '1' }), /the bytes in it say different things/);
    expect(await the.signedFor('bsc', `0x${'5'.repeat(64)}`)).to.equal(undefined);
    await the.adopt(one.transfer);
  });
});
