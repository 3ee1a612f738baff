import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../../dev/support/eventually.ts';
import { ownPostgres, tempDir } from '../../dev/support/parts.ts';
import { createTestAuthority } from '../../dev/support/tls.ts';
import { ConfigError, loadConfig } from '../../src/config/index.ts';
import { openOrm } from '../../src/db/orm.ts';

/**
 * What DATABASE_URL asks of a connection is done, or refused: nobody believes in a secrecy that is not there.
 */
describe('TLS to PostgreSQL', function () {
  this.timeout(60_000);
  let server: Awaited<ReturnType<typeof ownPostgres>>;
  let plain: Awaited<ReturnType<typeof ownPostgres>>;
  let ca: string;
  let strangers: string;

  before(async () => {
    const authority = createTestAuthority();
    const folder = await tempDir('authorities');
    [ca, strangers] = [join(folder, 'ca.pem'), join(folder, 'strangers.pem')];
    writeFileSync(ca, authority.caPem);
    writeFileSync(strangers, createTestAuthority('strangers').caPem);
    [server, plain] = await Promise.all([ownPostgres(), ownPostgres()]);
    const { key, cert } = authority.issue(['127.0.0.1']);
    const admin = await openOrm({ url: server.now.url, poolSize: 1, applicationName: 'admin' });
    const sql = (text: string) => admin.em.fork().execute(text);
    // The server writes them itself, because it reads a key only where nobody else can.
    for (const [name, pem] of Object.entries({ 'server.key': key, 'server.crt': cert }))
      await sql(
        `copy (select unnest(string_to_array('${pem.trim()}', chr(10)))) to program 'umask 077; cat > ${name}'`,
      );
    await sql('alter system set ssl = on');
    await sql('select pg_reload_conf()');
    await admin.close(true);
  });
  after(async () => {
    await server?.stop();
    await plain?.stop();
  });

  const urlOf = (url: string, query: string, host?: string): string => {
    const made = new URL(url);
    if (host !== undefined) made.hostname = host;
    made.search = query;
    return made.href;
  };
  /** Whether a new connection is encrypted, or why there is none. */
  async function isEncrypted(url: string): Promise<boolean | string> {
    const orm = await openOrm({ url, poolSize: 1, applicationName: 'tls' });
    try {
      const [row] = await orm.em
        .fork()
        .execute<{ ssl: boolean }[]>('select ssl from pg_stat_ssl where pid = pg_backend_pid()');
      return row?.ssl ?? 'no answer';
    } catch (error) {
      return String(error);
    } finally {
      await orm.close(true);
    }
  }

  it('is there where the URL requires it, and nothing is asked without it', async () => {
    await eventually(
      'a server with TLS',
      async () => (await isEncrypted(urlOf(server.now.url, 'sslmode=require'))) === true,
      10_000,
    );
    expect(await isEncrypted(urlOf(plain.now.url, 'sslmode=require'))).to.match(/does not support SSL/);
    expect(await isEncrypted(urlOf(server.now.url, 'sslmode=disable'))).to.equal(false);
    expect(await isEncrypted(server.now.url)).to.equal(false);
  });

  it('proves the authority and the name as far as the URL asks', async () => {
    const { url } = server.now;
    for (const mode of ['verify-ca', 'verify-full']) {
      expect(await isEncrypted(urlOf(url, `sslmode=${mode}&sslrootcert=${ca}`)), mode).to.equal(true);
      expect(await isEncrypted(urlOf(url, `sslmode=${mode}&sslrootcert=${strangers}`)), mode).to.match(
        /certificate|issuer/,
      );
    }
    expect(await isEncrypted(urlOf(url, 'sslmode=verify-full')), 'no public authority signed it').to.match(
      /certificate|issuer/,
    );
    // The certificate names 127.0.0.1.
    expect(await isEncrypted(urlOf(url, `sslmode=verify-full&sslrootcert=${ca}`, 'localhost'))).to.match(
      /altnames|does not match/,
    );
    expect(await isEncrypted(urlOf(url, `sslmode=verify-ca&sslrootcert=${ca}`, 'localhost'))).to.equal(true);
  });

  it('is refused at the start in a sentence where the URL asks for something that is not honoured', () => {
    const refusal = (query: string): string => {
      try {
        loadConfig({ DATABASE_URL: `postgres://u:hunter2@db/gateway?${query}` }, { role: 'tool' });
        return 'taken';
      } catch (error) {
        return error instanceof ConfigError ? error.problems.join(' ') : String(error);
      }
    };
    for (const [query, sentence] of [
      ['sslmode=prefer', /must have one of disable, require, verify-ca, verify-full as sslmode/],
      ['ssl=true', /must not have the parameter "ssl": only sslmode and sslrootcert are honoured/],
      ['sslmode=verify-full&sslrootcert=/nowhere.pem', /that this process can read as sslrootcert/],
    ] as const) {
      const said = refusal(query);
      expect(said).to.match(sentence);
      expect(said)
        .to.match(/^DATABASE_URL /)
        .and.not.contain('hunter2');
    }
  });
});
