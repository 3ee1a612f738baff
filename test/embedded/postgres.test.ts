import { readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MikroORM } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { ownPostgres, postgres, tempDir } from '../../dev/support/parts.ts';
import { processTree, startedAt } from '../../src/base/process-table.ts';
import { type Postgres, startPostgres } from '../../src/embedded/postgres.ts';
import { failureOf } from '../support/repository/scripts.ts';

const silent = () => undefined;

async function query(server: { url: string }, sql: string): Promise<Record<string, unknown>[]> {
  const orm = await MikroORM.init({
    clientUrl: server.url,
    entities: [],
    discovery: { warnWhenNoEntities: false },
  });
  try {
    return await orm.em.getConnection().execute(sql);
  } finally {
    await orm.close(true);
  }
}

const start = (dataDir: string, more: { port?: number } = {}): Promise<Postgres> =>
  startPostgres({ dataDir, fsync: false, log: silent, ...more });

describe('the embedded PostgreSQL', () => {
  it('keeps committed rows through kill -9, on the same port, leaves no process behind, and stops under open sessions', async () => {
    const server = await ownPostgres();
    const { port, url } = server.now;
    await query(server.now, 'create table kept (n int); insert into kept values (42)');
    const tree = processTree(server.now.pid);
    expect(tree.length).to.be.greaterThan(3);
    await server.kill();
    expect(tree.filter(({ pid }) => startedAt(pid) !== undefined)).to.deep.equal([]);
    await server.start();
    expect([server.now.port, server.now.url]).to.deep.equal([port, url]);
    expect(await query(server.now, 'select n from kept')).to.deep.equal([{ n: 42 }]);
    const sleeping = failureOf(query(server.now, 'select pg_sleep(60)'));
    await query(server.now, 'select 1');
    await server.stop();
    expect(startedAt(server.now.pid)).to.equal(undefined);
    await sleeping;
    await server.start();
    expect(await query(server.now, 'select n from kept')).to.deep.equal([{ n: 42 }]);
    await server.stop();
  });

  describe('over one folder', () => {
    let dataDir: string;
    before(async () => {
      dataDir = await tempDir();
    });

    it('serves it alone, once, beside another one, and asks for a password that only its owner can read', async () => {
      const [server, other] = [await start(dataDir), await postgres()];
      expect(await failureOf(start(dataDir))).to.match(/already serves .*: stop it first$/);
      await query(server, 'create table only_here (n int)');
      expect(await failureOf(query(other, 'select * from only_here'))).to.contain('only_here');
      expect(statSync(join(dataDir, 'pg-password')).mode & 0o077).to.equal(0);
      const wrong = new URL(server.url);
      wrong.password = 'wrong';
      expect(await failureOf(query({ url: wrong.href }, 'select 1'))).to.match(/password/);
      await server.kill();
    });

    it('starts although its pid file names a process that is now another program', async () => {
      const file = join(realpathSync(join(dataDir, 'pg')), 'postmaster.pid');
      // A server over another folder: it runs as the same user, so
      // PostgreSQL itself would take it for the owner of this one.
      const { pid: stranger } = await postgres();
      writeFileSync(file, readFileSync(file, 'utf8').replace(/^\d+/, String(stranger)));
      const second = await start(dataDir);
      expect(startedAt(stranger)).to.be.a('string');
      await second.stop();
    });
  });
});
