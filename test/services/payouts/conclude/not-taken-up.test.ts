import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openJournal } from '../../../../src/signer/journal.ts';
import { type ForgettingStage, type SignedPayout, startForgettingStage } from './forgetting.ts';

const NEW_OWNER = 'update deposit_addresses set merchant_id = gen_random_uuid()';

describe('taking up is refused', function () {
  this.timeout(180_000);
  let the: ForgettingStage;
  before(async () => {
    the = await startForgettingStage();
  });
  after(() => the?.stop());
  // What was written past the guards, and what was not taken up, would be in the way of the next case.
  afterEach(() =>
    the.force(
      `delete from sent_transactions where state = 'foreign'
         or (raw is not null and raw = '\\x00') or state = 'asked'`,
    ),
  );

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
  const asksFor = async ({ place }: SignedPayout) => await the.ask(await the.plan(place, 'USDT'));
  const paying: Make = async (one) =>
    the.force(
      `update sent_transactions set state = 'signed', raw = '\\x00', hash = ?, signed_at = now() where id = ?`,
      [`0x${'9'.repeat(64)}`, await asksFor(one)],
    );
  const NONE =
    /^no completed deposits of 0x.* that are unpaid .* wait until the blocks of their time are read/;
  const cases: readonly (readonly [where: string, make: Make, says: RegExp])[] = [
    ['a deposit is not completed', deposit("status = 'confirming'"), NONE],
    ['a deposit was read once only', deposit('verified_at = null', 1), NONE],
    ['a deposit has another amount', deposit('amount_units = amount_units + 1'), NONE],
    ['a deposit is of another merchant', deposit('merchant_id = gen_random_uuid()'), NONE],
    ['a deposit is settled', deposit("payout_id = gen_random_uuid(), status = 'settled'"), NONE],
    ['its address is of another merchant', owner(NEW_OWNER), /another merchant than the journal has it/],
    ['its customer is lost', owner('delete from deposit_addresses'), /belongs to no customer here/],
    ['another payout is on its way', paying, /^another payout of this address \(.*\) is on its way: wait/],
  ];
  for (const [name, make, says] of cases)
    it(`where ${name}`, async () => {
      const one = await the.forgotten();
      await the.shows(one.topUp ?? {});
      await make(one);
      await the.notTakenUp(one.transfer, says);
    });

  it('where the signer has not vouched for the line, or by a journal that is another one, older, changed, or none', async () => {
    const one = await the.shown(await the.forgotten());
    const { transfer } = one;
    await the.decided(await the.ask(await the.planned()));
    const journal = () => readFileSync(the.files.journalFile, 'utf8').trimEnd().split('\n');
    const lines = journal();
    const at = lines.findIndex((line) => line.includes(String(transfer['hash'])));
    const copy = (name: string, text: readonly string[]): string => {
      const file = join(the.folder, name);
      writeFileSync(file, `${text.join('\n')}\n`);
      return file;
    };
    /** The same lines in a journal of its own, in which some of this one's is changed. */
    const forged = async (name: string, change: object): Promise<string> => {
      const other = await openJournal({ file: join(the.folder, name), now: new Date() });
      for (const text of lines.slice(1)) {
        const { n: _, at: when, previous: __, ...entry } = JSON.parse(text);
        const changed = entry.hash === transfer['hash'] ? { ...entry, ...change } : entry;
        await other.append(changed, new Date(when));
      }
      await other.close();
      return other.file;
    };
    const ANOTHER =
      /^this is not the journal of the signer that has taken .* or an older copy of it: name the/;
    const changed = lines.map((line, n) => (n === at ? line.replace('"attempt":1', '"attempt":2') : line));
    await the.notTakenUp(transfer, ANOTHER, copy('older', lines.slice(0, at + 1)));
    await the.notTakenUp(transfer, /^Line \d+ of .* is not what was written there/, copy('changed', changed));
    await the.notTakenUp(
      transfer,
      /cannot be read .*name a copy of it with --journal/,
      join(the.folder, 'none'),
    );
    await the.notTakenUp(transfer, ANOTHER, await forged('forged', {}));
    // Bytes of another transaction under a line's hash.
    await the.notTakenUp(transfer, /the bytes in it say different/, await forged('lied', { amount: '1' }));
    await the.stopSigners();
    await the.force('update signer_state set line = ?', [at]);
    await the.notTakenUp(transfer, /^the signer has not taken this database over yet, .*start it/);
    await the.force('update signer_state set line = ?', [lines.length]);
    // Nobody has refused it: it may be signed just now.
    await asksFor(one);
    await the.notTakenUp(transfer, /^the signer is asked to sign something for this address/);
  });
});
