import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { tempDir } from '../../../dev/support/parts.ts';
import { gateway, oneObject } from '../support.ts';
import { ask, askOne, type Care, manifest, programsThat, ROLE, startCare, TABLES, told } from './stage.ts';

/** Killed and troubled restores, drills and much else: test/long/cli/care. */
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
    expect(backup.rows).to.include({ merchants: 1, customers: 1, deposits: 2 });
    expect(backup.migration).to.match(/^Migration2026/);
    const seen = join(await tempDir('seen'), 'seen');
    const telling = await programsThat(programs, `printf '%s\\n' "$@" >> ${seen}; env >> ${seen}`);
    const ran = await gateway(['backup', '--to', await tempDir('to')], { ...env, POSTGRES_BIN: telling });
    expect(ran.code, ran.stderr).to.equal(0);
    for (const word of ['SECRETS_KEY', 'seed', 'journal', 'Temporal']) expect(told(ran)).to.contain(word);
    const said = readFileSync(seen, 'utf8');
    expect(said).to.contain('PGPASSFILE=').and.not.to.contain(new URL(care.url).password);
    const file = /PGPASSFILE=(.*)/.exec(said)?.[1] ?? '';
    expect(existsSync(file), 'the password file is left behind').to.equal(false);
  });

  it('restores into an empty database: rows, rights, indexes ahead, payouts held, books that agree', async () => {
    const database = await care.databases.make();
    const ran = await care.restore(database, ['--json']);
    expect(ran.code, ran.stderr).to.equal(0);
    const answered = oneObject<Record<string, unknown>>(ran.stdout);
    const { rows } = care.backup;
    expect(answered).to.deep.include({ ok: true, set_aside: [], payouts_held: true, rows });
    expect(answered['books']).to.include({ ok: true });
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

  it('refuses a database that is not empty, and puts aside what is there only when it is told to', async () => {
    const database = await care.databases.make();
    await ask(
      database.url,
      `create table kept (what text); create sequence wallet_index_seq start 40000000;
       create materialized view counted as select count(*) from kept;
       create function mine() returns int language sql as 'select 1'`,
    );
    const ran = await care.restore(database);
    expect([ran.code, ran.stdout]).to.deep.equal([1, '']);
    expect(ran.stderr).to.match(/not empty: it has 4 .*--replace/s);
    const replaced = await care.restore(database, ['--replace', '--json']);
    expect(replaced.code, replaced.stderr).to.equal(0);
    type Replaced = { set_aside: string[]; wallet_index: { next: number } };
    const { set_aside: asides, wallet_index: index } = oneObject<Replaced>(replaced.stdout);
    expect(index.next, 'what was given away before').to.be.greaterThan(40_000_000);
    expect(asides.join()).to.match(/^before_restore_\d{14}$/);
    expect(await ask(database.url, `select * from ${asides[0]}.kept`)).to.deep.equal([]);
    expect(await askOne(database.url, 'select count(*)::int as n from deposits')).to.deep.equal({ n: 2 });
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
