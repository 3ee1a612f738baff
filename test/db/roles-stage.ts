// A server with the database and the roles as they are shipped, under other names.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ownPostgres } from '../../dev/support/parts.ts';
import { postgresPrograms } from '../../dev/support/postgres-programs.ts';
import { testRun } from '../../dev/support/test-run.ts';
import { migrate } from '../../src/app/migrate.ts';
import { type Orm, openOrm } from '../../src/db/orm.ts';
import { call, startTestApi } from '../support/gateway.ts';

const SCRIPT = join(import.meta.dirname, '../../deploy/postgres/databases.sh');
const ROLES = join(import.meta.dirname, '../../deploy/postgres/roles.sh');
const PASSWORD = 'test';

/**
 * The statements of the script under other names: the embedded
 * server's superuser is called like the service's role.
 */
function statementsOf(script: string): { readonly database: string; readonly sql: string }[] {
  const text = script.slice(script.indexOf("<<'SQL'") + 7, script.lastIndexOf('SQL'));
  let database = 'postgres';
  const found: { database: string; sql: string }[] = [];
  const clean = text
    .replace(/^(--|\\getenv).*$/gm, '')
    .replace(/:'(\w+)'/g, `'${PASSWORD}'`)
    .replace(/gateway/g, 'gw');
  for (const line of clean
    .split('\n')
    .map((one) => one.trim())
    .filter((one) => one !== '')) {
    if (line.startsWith('\\connect')) database = line.split(' ')[1] ?? '';
    else found.push({ database, sql: line.replace(/;$/, '') });
  }
  return found;
}

/** What PostgreSQL says to a statement: a refusal, or that it was done. */
export const refusal = (orm: Orm, sql: string): Promise<string> =>
  orm.em
    .fork()
    .execute(sql)
    .then(
      () => 'was done',
      (error: Error) => error.message,
    );

/** Runs both scripts of deploy/postgres; `owner`, `service` and `reader` are connected with their roles. */
export async function startRoles() {
  const programs = await testRun.unlimited(async () => postgresPrograms(console.error, process.env));
  const server = await ownPostgres();
  const opened: Orm[] = [];
  const open = async (url: string) => {
    const orm = await openOrm({ url, poolSize: 3, applicationName: 'roles' });
    opened.push(orm);
    return orm;
  };
  const urlOf = (user: string, password = PASSWORD) => {
    const url = new URL(server.now.url);
    Object.assign(url, { username: user, password, pathname: '/gw' });
    return url.href;
  };
  const runRoles = (password = PASSWORD) => runScript(new URL(server.now.url), programs, password);
  for (const { database, sql } of statementsOf(readFileSync(SCRIPT, 'utf8'))) {
    const orm = await openOrm({
      url: Object.assign(new URL(server.now.url), { pathname: `/${database}` }).href,
      poolSize: 1,
      applicationName: 'superuser',
    });
    await orm.em.fork().execute(sql);
    await orm.close(true);
  }
  const owner = await open(urlOf('gw_owner'));
  await migrate(owner);
  const [service, reader] = [await open(urlOf('gw')), await open(urlOf('gw_reader'))];
  const api = await startTestApi({ databaseUrl: urlOf('gw') });
  const close = async () => {
    await api.stop().catch(() => undefined);
    for (const orm of opened.splice(0)) await orm.close(true);
  };
  return {
    server,
    programs,
    urlOf,
    open,
    opened,
    runRoles,
    owner,
    service,
    reader,
    api,
    /** Closes every connection, so that databases can be renamed. */
    close,
    async stop() {
      await close();
      await server.stop();
    },
  };
}

/** The script that an operator runs, with these passwords. */
async function runScript(
  at: URL,
  programs: string,
  password: string,
): Promise<{ code: number | null; stderr: string }> {
  const names = ['GATEWAY_OWNER', 'GATEWAY_READER', 'GATEWAY_SIGNER', 'GATEWAY', 'TEMPORAL'];
  const script = readFileSync(ROLES, 'utf8')
    .replace(/gateway/g, 'gw')
    .replace('-U postgres', `-U ${at.username}`);
  const child = spawn('bash', ['--norc', '-c', script], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: `${programs}:${process.env['PATH']}`,
      PGHOST: at.hostname,
      PGPORT: at.port,
      PGPASSWORD: decodeURIComponent(at.password),
      ...Object.fromEntries(names.map((name) => [`${name}_DB_PASSWORD`, password])),
    },
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stderr };
}

export type Roles = Awaited<ReturnType<typeof startRoles>>;

/** A customer, an endpoint and a credited deposit, all made with the rights of the service. */
export async function takeDeposit({ api }: Pick<Roles, 'api'>): Promise<void> {
  const made = await call(`${api.url}/customers`, {
    key: api.keys.test,
    body: { external_id: 'a', email: 'a@b.example' },
  });
  expect(made.status, made.text).to.equal(201);
  const endpoint = await call(`${api.url}/webhook-endpoints`, {
    key: api.keys.test,
    body: { url: 'http://127.0.0.1:9/', events: '*' },
  });
  expect(endpoint.status, endpoint.text).to.equal(201);
  const paid = await call(`${api.url}/test/simulate-deposit`, {
    key: api.keys.test,
    body: { customer_id: made.body['id'], amount: '12.5' },
  });
  expect(paid.status, paid.text).to.be.within(200, 201);
}
