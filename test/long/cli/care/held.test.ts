import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type FreshDatabase, freshDatabase, tempDir } from '../../../../dev/support/parts.ts';
import { MIGRATIONS } from '../../../../migrations/index.ts';
import { type Orm, openOrm } from '../../../../src/db/orm.ts';
import { holdAfterRestore, unknownSinceRestore } from '../../../../src/services/restores/hold.ts';
import { findPrograms } from '../../../cli/care/stage.ts';
import { answer, type Env, gatewayProcess } from '../../../cli/support.ts';

const WHO = ['--by', 'Ann', '--reason', 'the disk died'];

describe('payouts after a restore', function () {
  this.timeout(120_000);
  const open: { orm: Orm; database: FreshDatabase }[] = [];
  let programs = '';
  before(async () => {
    programs = await findPrograms();
  });
  after(async () => {
    for (const { orm, database } of open) {
      await orm.close(true);
      await database.drop();
    }
  });

  /** A database with the schema up to this migration; up to the last one where none is named. */
  async function schemaOf(to?: string) {
    const made = await empty();
    await made.orm.migrator.up(to === undefined ? {} : { to });
    return made;
  }
  async function empty() {
    const database = await freshDatabase();
    const orm = await openOrm({ url: database.url, poolSize: 2, applicationName: 'look' });
    open.push({ orm, database });
    const env: Env = { DATABASE_URL: database.url, POSTGRES_BIN: programs, LOG_LEVEL: 'error' };
    const sql = async (text: string) => await orm.em.fork().execute<Record<string, unknown>[]>(text);
    const call = async (args: readonly string[]) => {
      // Nobody may be connected while it is restored.
      await orm.close(true);
      const ran = await gatewayProcess(args, env);
      await orm.reconnect();
      return ran;
    };
    return { orm, env, sql, call };
  }

  it('of a version that knew no restores are held too', async () => {
    const old = await schemaOf(MIGRATIONS.at(-2)?.name);
    const args = ['backup', '--to', await tempDir('older')];
    const { folder } = await answer<{ folder: string }>(args, old.env);
    const { call, sql } = await empty();
    const ran = await call(['restore', '--from', folder, ...WHO]);
    expect(ran.code, ran.stderr).to.equal(0);
    expect(
      await sql(`select (select count(*)::int from restores where over_at is null) as restores,
        (select kind from payout_decisions) as kind`),
    ).to.deep.equal([{ restores: 1, kind: 'pause' }]);
    expect((await call(['payout', 'resume'])).stderr).to.match(/Payouts are held since the restore/);
  });

  it('are held since now, by a host whose clock is behind by a day too', async () => {
    const { orm, sql } = await schemaOf();
    const begin = Date.now();
    const now = () => new Date(begin - 86_400_000);
    const deps = { actor: { kind: 'operator', name: 'Ann', from: null }, now, newId: randomUUID } as const;
    const order = { backupAt: now(), reason: 'the disk died' };
    await orm.em.fork().transactional((em) => holdAfterRestore(em, deps, order));
    const [row] = await sql('select restored_at as at from restores');
    expect(Date.parse(String(row?.['at']))).to.be.at.least(begin - 1_000);
  });

  it('go on by nothing that the backup itself tells of signer and chains', async () => {
    const { env, sql } = await schemaOf();
    // The clock of the host that restores is behind the one of the signer and of the workers.
    // It knows microseconds, and a Date does not.
    const ahead = `'${new Date(Date.now() + 3_600_000).toISOString().replace('Z', '789Z')}'`;
    await sql(`insert into signer_state (name, seen_at) values ('signer', ${ahead})`);
    await sql(
      `insert into chain_cursors (network, first_block, scanned_number, scanned_hash, reread_number,
         anchored_number, head_number, finalized_number, moved_at, finalized_moved_at,
         polled_at, version, created_at)
       values ('bsc', 1, 100, '0xA', 100, 100, 100, 100, now(), now(), ${ahead}, 1, now())`,
    );
    const to = await tempDir('ahead');
    const { folder } = await answer<{ folder: string }>(['backup', '--to', to], env);
    const restored = await empty();
    const ran = await restored.call(['restore', '--from', folder, ...WHO]);
    expect(ran.code, ran.stderr).to.equal(0);
    expect((await restored.call(['payout', 'resume'])).stderr).to.match(/the signer has not taken/);
    const [row] = await restored.sql(
      `select (select polled_at from chain_cursors) > restored_at as seen, restored_at as at from restores`,
    );
    expect(row?.['seen']).to.equal(false);
    // An endpoint that is behind: what it calls the head was mined before the loss.
    const unknown = async () =>
      await unknownSinceRestore(restored.orm.em.fork(), ['bsc'], {
        goals: { bsc: 100 },
        restoredAt: new Date(String(row?.['at'])),
      });
    const mined = async (more: string) =>
      await restored.sql(
        `insert into chain_blocks (network, number, hash, parent_hash, mined_at)
         select 'bsc', 100, '0xA', '0xB', restored_at ${more} from restores
         on conflict (network, number) do update set mined_at = excluded.mined_at`,
      );
    expect((await unknown()).join(), 'a block of which nothing is known').to.match(/bsc is read twice up to/);
    await mined("- interval '1 minute'");
    expect((await unknown()).join()).to.match(/bsc is read twice up to block 100, which was mined before/);
    await mined("+ interval '1 minute'");
    expect((await unknown()).join()).not.to.contain('bsc');
  });
});
