import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { tempDir } from '../../../dev/support/parts.ts';
import { gateway, oneObject } from '../support.ts';
import { ask, askOne, type Care, manifest, programsThat, ROLE, startCare, TABLES, told } from './stage.ts';

/** Killed restores, drills and what holds payouts afterwards: test/long/cli/care. */
describe('backup and restore', function () {
  this.timeout(240_000);
  let care: Care;
  before(async () => {
    care = await startCare(gateway);
  });
  after(() => care?.stop());

  it('is a folder that its owner alone reads, made by programs that tell nobody the password', async () => {
    const { backup, env, programs } = care;
    expect(statSync(backup.folder).mode & 0o777).to.equal(0o700);
    expect(readdirSync(backup.folder).sort()).to.deep.equal(['database.dump', 'manifest.json']);
    for (const name of readdirSync(backup.folder))
      expect(statSync(join(backup.folder, name)).mode & 0o777, name).to.equal(0o600);
    expect(backup.migration).to.match(/^Migration2026/);
    const seen = join(await tempDir('seen'), 'seen');
    const telling = await programsThat(programs, `printf '%s\\n' "$@" > ${seen}; env >> ${seen}`);
    const key = randomBytes(32).toString('base64');
    const more = { POSTGRES_BIN: telling, SECRETS_KEY: key };
    const ran = await gateway(['backup', '--to', await tempDir('to')], { ...env, ...more });
    expect(ran.code, ran.stderr).to.equal(0);
    for (const word of ['SECRETS_KEY', 'seed', 'journal', 'Temporal']) expect(told(ran)).to.contain(word);
    const said = readFileSync(seen, 'utf8').replace(/^PGPASSWORD=.*$/m, '');
    expect(said).to.contain('--format=custom').and.contain('PGHOST=').and.not.contain(key);
    expect(said, 'the password').not.to.contain(new URL(care.url).password);
  });

  it('restores into an empty database: rows, rights, indexes ahead, payouts held, books that agree', async () => {
    const database = await care.databases.make();
    const ran = await care.restore(database, ['--json']);
    expect(ran.code, ran.stderr).to.equal(0);
    const answered = oneObject<Record<string, unknown>>(ran.stdout);
    expect(answered).to.deep.include({ ok: true, payouts_held: true, migration: care.backup.migration });
    expect(answered['books']).to.include({ ok: true, deposits: 2 });
    const { next, highest } = answered['wallet_index'] as { next: number; highest: number };
    expect(highest).to.equal(1);
    expect(next, 'more than a key can take in a day').to.be.greaterThan(8_640_000);
    const held = { kind: 'pause', by_name: 'Ann' };
    expect(await askOne(database.url, 'select kind, by_name from payout_decisions')).to.deep.equal(held);
    const grants = `select has_table_privilege('${ROLE}', 'merchants', 'select') as may`;
    expect(await askOne(database.url, grants)).to.deep.equal({ may: true });
    const refused = await ask(database.url, 'update ledger_entries set amount_units = 0').catch(String);
    expect(refused).to.match(/append-only|refused|never/i);
    const again = await care.call(database, ['payout', 'resume']);
    expect([again.code, again.stdout]).to.deep.equal([1, '']);
    expect(again.stderr).to.match(/Payouts are held since the restore .* the signer has not taken/s);
    const doctor = await care.call(database, ['doctor', '--json']);
    const { checks } = oneObject<{ checks: { name: string; ok: boolean }[] }>(doctor.stdout);
    expect(checks.find(({ name }) => name === 'restore')).to.include({ ok: false });
  });

  it('refuses a database that is not empty, and leaves what is there as it is', async () => {
    const database = await care.databases.make();
    await ask(database.url, 'create table kept (what text)');
    const ran = await care.restore(database);
    expect([ran.code, ran.stdout]).to.deep.equal([1, '']);
    const sentence = `The database ${database.name} is not empty: create an empty one and name it in DATABASE_URL.`;
    expect(told(ran)).to.contain(sentence);
    expect(await ask(database.url, 'select * from kept')).to.deep.equal([]);
  });

  it('that fails half-way leaves a database that nothing starts over, and says how to go on', async () => {
    const database = await care.databases.make();
    const { programs } = care;
    const failing = `case "$0" in *pg_restore) ${programs}/pg_restore "$@"; echo 'error: no' >&2; exit 1;; esac`;
    const ran = await care.restore(database, [], { POSTGRES_BIN: await programsThat(programs, failing) });
    expect([ran.code, ran.stdout]).to.deep.equal([1, '']);
    const [, own = ''] = /called (gateway_restore_[0-9a-f]{12}) now/.exec(told(ran)) ?? [];
    expect(told(ran)).to.contain(`failed: no. Make a role`).and.contain(`drop ${own}, create an empty`);
    for (const args of [['migrate'], ['payout', 'list'], ['doctor']]) {
      const refused = await care.call(database, args);
      expect([refused.code, told(refused)]).to.deep.equal([1, told(refused)]);
      expect(told(refused)).to.contain(`database "${database.name}" does not exist`);
    }
    await ask(care.url, `drop database ${own}`);
    await ask(care.url, `create database ${database.name}`);
    expect((await care.restore(database)).code).to.equal(0);
  });

  it('refuses a newer schema, a damaged dump, and a folder that is none; nothing is changed', async () => {
    const database = await care.databases.make();
    const newer = await care.altered(
      manifest((it) => (it['migrations'] as string[]).push('Migration20990101000000_later')),
    );
    const damaged = await care.altered((copy) => {
      const bytes = readFileSync(join(copy, 'database.dump'));
      bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
      writeFileSync(join(copy, 'database.dump'), bytes);
    });
    const partial = await care.altered((copy) => writeFileSync(join(copy, 'manifest.json'), '{"format":1'));
    for (const [from, words] of [
      [newer, /newer gateway: it has the migration Migration2099/],
      [damaged, /its checksum differs/],
      [partial, /not what a backup/],
      [await tempDir('nothing'), /is no backup of this gateway/],
    ] as const) {
      const ran = await care.restore(database, [], { from });
      expect([ran.code, told(ran)], ran.stderr).to.deep.equal([1, told(ran)]);
      expect(told(ran)).to.match(words);
    }
    expect(await askOne(database.url, TABLES)).to.deep.equal({ n: 0 });
  });
});
