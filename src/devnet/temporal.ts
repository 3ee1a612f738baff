import { chmodSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { choosePort, freePort, retryTakenPort } from './ports.ts';
import { type Child, type Log, startChild, stopLeftovers, waitUntilReady } from './processes.ts';
import { findTemporalCli } from './temporal-cli.ts';

export { findTemporalCli } from './temporal-cli.ts';

const START_TIMEOUT_MS = 60_000;
const PROBE_TIMEOUT_MS = 2_000;

const SEARCH_ATTRIBUTES = ['MerchantId=Keyword', 'Network=Keyword', 'DepositStage=Keyword', 'StageSince=Datetime', 'NeedsOperator=Bool'];

const DYNAMIC_CONFIG = [
  'matching.enableFairness=true',
  // Fairness orders one partition's backlog; several would blur it, and this server is small.
  'matching.numTaskqueueReadPartitions=1',
  'matching.numTaskqueueWritePartitions=1',
  'frontend.WorkflowPauseEnabled=true',
  // Else the attributes above are unknown for the first seconds after they were made.
  'system.forceSearchAttributesCacheRefreshOnRead=true',
];

export type TemporalOptions = {
  readonly dataDir: string;
  readonly port?: number;
  readonly uiPort?: number;
  /** `default` where not given. */
  readonly namespace?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly log: Log;
};

/** A running Temporal development server with its Web UI, whose store is one SQLite file. */
export type Temporal = Pick<Child, 'pid' | 'stop' | 'kill' | 'pause' | 'resume'> & {
  /** host:port of the gRPC service. */
  readonly address: string;
  readonly port: number;
  readonly uiUrl: string;
  readonly namespace: string;
};

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

async function serves(port: number, namespace: string): Promise<boolean> {
  if (!(await accepts(port))) return false;
  let connection: Connection | undefined;
  try {
    connection = await Connection.connect({ address: `127.0.0.1:${port}`, connectTimeout: PROBE_TIMEOUT_MS });
    const { workflowService } = connection;
    await connection.withDeadline(Date.now() + PROBE_TIMEOUT_MS, () => workflowService.describeNamespace({ namespace }));
    return true;
  } catch {
    return false;
  } finally {
    await connection?.close();
  }
}

type ServerPorts = { readonly port: number; readonly uiPort: number; readonly httpPort: number; readonly metricsPort: number };

function serverArgs(dataDir: string, namespace: string, ports: ServerPorts): string[] {
  const args = ['server', 'start-dev', '--db-filename', join(dataDir, 'temporal.sqlite'), '--ip', '127.0.0.1', '--log-level', 'error'];
  args.push('--port', String(ports.port), '--ui-port', String(ports.uiPort), '--http-port', String(ports.httpPort));
  args.push('--metrics-port', String(ports.metricsPort), '--namespace', namespace);
  for (const attribute of SEARCH_ATTRIBUTES) args.push('--search-attribute', attribute);
  for (const setting of DYNAMIC_CONFIG) args.push('--dynamic-config-value', setting);
  return args;
}

/** Starts the server over `dataDir`/temporal.sqlite and returns when its namespace answers. Throws a sentence when it does not serve. */
export async function startTemporal(options: TemporalOptions): Promise<Temporal> {
  const { dataDir, namespace = 'default', env = process.env, log } = options;
  await stopLeftovers(dataDir, log);
  const command = await findTemporalCli({ log, env });
  return retryTakenPort(async () => {
    const port = await choosePort('Temporal', options.port);
    const uiPort = await choosePort("Temporal's Web UI", options.uiPort);
    const args = serverArgs(dataDir, namespace, { port, uiPort, httpPort: await freePort(), metricsPort: await freePort() });
    const child = await startChild({ name: 'Temporal', command, args, cwd: dataDir, env, logFile: join(dataDir, 'temporal.log'), dataDir });
    await waitUntilReady(child, { name: 'Temporal', timeoutMs: START_TIMEOUT_MS, ready: () => serves(port, namespace) });
    chmodSync(join(dataDir, 'temporal.sqlite'), 0o600);
    const uiUrl = `http://127.0.0.1:${uiPort}`;
    log(`Temporal on 127.0.0.1:${port}, Web UI ${uiUrl}`);
    const { pid, stop, kill, pause, resume } = child;
    return { address: `127.0.0.1:${port}`, port, uiUrl, namespace, pid, stop, kill, pause, resume };
  });
}
