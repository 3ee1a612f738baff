import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { findTemporalServer } from '../../../dev/temporal-server-install.ts';
import { type Child, startChild } from '../../../src/base/processes.ts';
import { onPath } from '../../../src/embedded/packages.ts';
import { freePort } from '../../../src/embedded/ports.ts';
import { postgresPrograms, postgresUser } from '../../../src/embedded/postgres-binaries.ts';
import { findTemporalCli } from '../../../src/embedded/temporal-cli.ts';
import { ROOT, type Service } from './file.ts';

const LIMIT_MS = 120_000;
const log = (line: string): void => void process.stderr.write(`${line}\n`);

/** A program of Debian's package `postgresql-client`, which the image of PostgreSQL has too. */
function needClient(): void {
  if (onPath('psql', process.env) === undefined)
    throw new Error(
      'psql is missing: install the Debian package "postgresql-client" and run the tests again',
    );
}

/**
 * PostgreSQL as its image begins with an empty volume: a superuser "postgres" with the password of the
 * environment, the server with the command of the compose file, and databases.sh. Where it listens, its
 * clients find it by the variables that are returned.
 */
export async function startPostgresService(
  service: Service,
  { folder, env }: { folder: string; env: Readonly<Record<string, string>> },
): Promise<{ readonly child: Child; readonly port: number; readonly client: Record<string, string> }> {
  needClient();
  const user = postgresUser(log);
  const programs = postgresPrograms(user, log);
  const [data, password] = [join(folder, 'data'), join(folder, 'password')];
  mkdirSync(data, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o711);
  writeFileSync(password, `${env['POSTGRES_PASSWORD']}\n`, { mode: 0o600 });
  if (user) for (const path of [data, password]) chownSync(path, user.uid, user.gid);
  const as = { cwd: folder, timeout: LIMIT_MS, stdio: 'pipe' as const, ...(user ?? {}) };
  const begin = [
    '-D',
    data,
    '-U',
    'postgres',
    '-A',
    'scram-sha-256',
    '--auth-local=trust',
    `--pwfile=${password}`,
  ];
  execFileSync(join(programs, 'bin/initdb'), [...begin, '--no-sync', '--encoding=UTF8', '--locale=C'], as);
  const port = await freePort();
  const [, ...asked] = service.command ?? [];
  const here = [
    '-D',
    data,
    '-p',
    String(port),
    '-k',
    data,
    '-c',
    'listen_addresses=127.0.0.1',
    '-c',
    'fsync=off',
  ];
  const child = await startChild({
    name: 'postgres of the compose file',
    command: join(programs, 'bin/postgres'),
    args: [...asked, ...here],
    stopSignal: 'SIGINT',
    logFile: join(folder, 'log'),
    cwd: folder,
    ...(user ? { user } : {}),
  });
  const client = { PGPORT: String(port), PGHOST: data };
  const path = { PATH: process.env['PATH'] ?? '' };
  execFileSync(
    '/bin/sh',
    ['-c', 'for i in $(seq 100); do pg_isready -q -U postgres && exit 0; sleep 0.2; done; exit 1'],
    {
      env: { ...path, ...client },
      timeout: LIMIT_MS,
    },
  );
  execFileSync('bash', [join(ROOT, 'deploy/postgres/databases.sh')], {
    env: { ...path, ...env, ...client },
    timeout: LIMIT_MS,
    stdio: 'pipe',
  });
  return { child, port, client: { PGPORT: String(port) } };
}

/** The programs of the images of Temporal: a folder for PATH with what `admin-tools` has, and the server. */
export async function temporalImages(
  folder: string,
): Promise<{ readonly tools: string; readonly server: string; readonly schemas: string }> {
  const { server, sqlTool, schemas } = await findTemporalServer({ log, env: process.env });
  const cli = await findTemporalCli({ log, env: process.env });
  const tools = join(folder, 'admin-tools');
  mkdirSync(tools, { recursive: true });
  if (!existsSync(join(tools, 'temporal'))) {
    symlinkSync(cli, join(tools, 'temporal'));
    symlinkSync(sqlTool, join(tools, 'temporal-sql-tool'));
  }
  return { tools, server, schemas };
}

/** A script of deploy/temporal with the places of this machine: its server of PostgreSQL, and its schemas. */
export function scriptHere(
  container: string,
  { folder, port, schemas }: { folder: string; port: number; schemas: string },
): string {
  const name = container.replace('/deploy/', '');
  const text = readFileSync(join(ROOT, 'deploy/temporal', name), 'utf8')
    .replace('--ep postgres -p 5432', `--ep 127.0.0.1 -p ${port}`)
    .replace('/etc/temporal/schema/postgresql/v12/', `${schemas}/`)
    .replace('/versioned"', '"');
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

/** Ports between the services of one Temporal server, and what its image sets before it starts it. */
export async function temporalHere(port: number): Promise<Record<string, string>> {
  const inner = ['FRONTEND_MEMBERSHIP', 'FRONTEND_HTTP', 'HISTORY_GRPC', 'HISTORY_MEMBERSHIP'];
  const more = ['MATCHING_GRPC', 'MATCHING_MEMBERSHIP', 'WORKER_GRPC', 'WORKER_MEMBERSHIP'];
  const ports: Record<string, string> = { FRONTEND_GRPC_PORT: String(port) };
  for (const name of [...inner, ...more]) ports[`${name}_PORT`] = String(await freePort());
  return { ...ports, TEMPORAL_BROADCAST_ADDRESS: '127.0.0.1', LOG_LEVEL: 'warn' };
}
