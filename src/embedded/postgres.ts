import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { startedAt } from '../base/process-table.ts';
import {
  type ChildSpec,
  type Print,
  type RunningServer,
  startChild,
  stopLeftovers,
  waitUntilReady,
} from '../base/processes.ts';
import { accepts, choosePort, retryTakenPort } from './ports.ts';
import { postgresPrograms, postgresUser } from './postgres-binaries.ts';
import { DATABASE_NAME, openCluster, programEnv, ROLE_NAME } from './postgres-cluster.ts';

const START_TIMEOUT_MS = 60_000; // a crash recovery replays the log first
const STOP_TIMEOUT_MS = 30_000;

export type PostgresOptions = {
  readonly dataDir: string;
  readonly port?: number;
  /** False only where the data may be lost with the machine: tests and the demo. */
  readonly fsync?: boolean;
  readonly log: Print;
};

/** A running PostgreSQL 18 with an empty or kept database `gateway`. */
export type Postgres = RunningServer & { readonly url: string };

/** The lines of postmaster.pid: 1 process, 2 folder, 4 port, 7 shared memory, 8 state. */
function pidFile(dir: string): string[] {
  try {
    return readFileSync(join(dir, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return [];
  }
}

function dropSharedMemory(dir: string): void {
  const id = pidFile(dir)[6]?.trim().split(/\s+/)[1];
  if (id === undefined) return;
  try {
    execFileSync('ipcrm', ['-m', id], { stdio: 'ignore' });
  } catch {
    // gone already, or no ipcrm here: the next start over this folder removes it
  }
}

/**
 * True when this process is a PostgreSQL server over this very
 * folder, not one that merely got the number of a dead one.
 */
function servesFolder(pid: number, dir: string): boolean {
  if (startedAt(pid) === undefined) return false;
  try {
    return realpathSync(readlinkSync(`/proc/${pid}/cwd`)) === realpathSync(dir);
  } catch {
    // Without /proc, as on macOS, PostgreSQL's own check of the file has to do.
    return process.platform !== 'linux';
  }
}

function clearStalePidFile(dir: string): void {
  const pid = Number(pidFile(dir)[0]);
  if (!pid) return;
  if (servesFolder(pid, dir))
    throw new Error(`a PostgreSQL (process ${pid}) already serves ${dir}: stop it first`);
  // PostgreSQL would refuse to start where an unrelated
  // process now has that number, as happens in containers.
  dropSharedMemory(dir);
  rmSync(join(dir, 'postmaster.pid'), { force: true });
}

/**
 * The server's log says what happened, but never with which data: neither the text of a
 * statement, which holds values, nor the details of an error, which repeat a row or a key.
 * The client that sent the statement gets them.
 */
const WITHOUT_TEXTS = {
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_statement: 'none',
  log_min_duration_statement: '-1',
};

function serverArgs(dir: string, port: number, fsync: boolean): string[] {
  const durable = fsync ? 'on' : 'off';
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    // In files of the cluster instead of /dev/shm, where a crash would leave them behind.
    dynamic_shared_memory_type: 'mmap',
    max_connections: '200',
    shared_buffers: '64MB',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_checkpoints: 'off',
    ...WITHOUT_TEXTS,
    jit: 'off',
    fsync: durable,
    full_page_writes: durable,
    // Never off: a commit must survive a kill of the server, even where it need not survive the machine.
    synchronous_commit: 'on',
  };
  return [
    '-D',
    dir,
    '-p',
    String(port),
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
}

/**
 * Starts PostgreSQL over `dataDir`/pg, making the cluster the first time, and returns when it takes
 * queries. Works as root (it then runs as the system user `postgres`) and after a crash. It listens on
 * 127.0.0.1 only, with a random password kept in the data folder. Throws a sentence when it cannot serve.
 */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const { dataDir, fsync = true, log } = options;
  await stopLeftovers(dataDir, log);
  const user = postgresUser(log);
  const programs = postgresPrograms(user, log);
  const { dir, password } = await openCluster({ dataDir, programs, user, fsync, log });
  clearStalePidFile(dir);
  return retryTakenPort(async () => {
    const port = await choosePort('PostgreSQL', options.port);
    const spec: ChildSpec = {
      name: 'PostgreSQL',
      command: join(programs, 'bin/postgres'),
      args: serverArgs(dir, port, fsync),
      cwd: dir,
      env: programEnv(),
      logFile: join(dataDir, 'postgres.log'),
      dataDir,
      stopSignal: 'SIGINT', // fast shutdown: ends the sessions, keeps the data in order
      stopTimeoutMs: STOP_TIMEOUT_MS,
      ...(user ? { user } : {}),
    };
    const child = await startChild(spec);
    const ready = async () =>
      Number(pidFile(dir)[0]) === child.pid && pidFile(dir)[7]?.trim() === 'ready' && (await accepts(port));
    await waitUntilReady(child, { name: 'PostgreSQL', timeoutMs: START_TIMEOUT_MS, ready });
    log(`PostgreSQL 18 on 127.0.0.1:${port}, data in ${dir}`);
    const url = `postgresql://${ROLE_NAME}:${password}@127.0.0.1:${port}/${DATABASE_NAME}`;
    const { pid, pause, resume } = child;
    const stop = async () => {
      await child.stop();
      dropSharedMemory(dir); // only a server that was killed has left some
    };
    return { url, port, pid, stop, kill: child.kill, pause, resume };
  });
}
