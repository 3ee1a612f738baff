import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Print,
  type RunningServer,
  startChild,
  stopLeftovers,
  waitUntilReady,
} from '../base/processes.ts';
import { SEARCH_ATTRIBUTES } from '../temporal/client.ts';
import { accepts, choosePort, freePort, retryTakenPort } from './ports.ts';
import { findTemporalCli } from './temporal-cli.ts';
import { probeTemporal } from './temporal-probe.ts';

const START_TIMEOUT_MS = 60_000;

const DYNAMIC_CONFIG = [
  'matching.enableFairness=true',
  // Fairness orders the backlog of one partition; several partitions would blur it, and this server is small.
  'matching.numTaskqueueReadPartitions=1',
  'matching.numTaskqueueWritePartitions=1',
  'frontend.WorkflowPauseEnabled=true',
  // Without this, search attributes are unknown for the first seconds after they were made.
  'system.forceSearchAttributesCacheRefreshOnRead=true',
];

export type TemporalOptions = {
  readonly dataDir: string;
  readonly port?: number;
  readonly uiPort?: number;
  /** Unset means `default`. */
  readonly namespace?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly log: Print;
};

/** A running Temporal development server with its Web UI, whose store is one SQLite file. */
export type Temporal = RunningServer & {
  /** host:port of the gRPC service. */
  readonly address: string;
  readonly uiUrl: string;
  readonly namespace: string;
};

async function serves(port: number, namespace: string): Promise<boolean> {
  if (!(await accepts(port))) return false;
  return await probeTemporal(port, ({ workflowService }) =>
    workflowService.describeNamespace({ namespace }),
  ).then(
    () => true,
    () => false,
  );
}

type ServerPorts = {
  readonly port: number;
  readonly uiPort: number;
  readonly httpPort: number;
  readonly metricsPort: number;
};

function serverArgs(dataDir: string, namespace: string, ports: ServerPorts): string[] {
  const args = [
    'server',
    'start-dev',
    '--db-filename',
    join(dataDir, 'temporal.sqlite'),
    '--ip',
    '127.0.0.1',
    '--log-level',
    'error',
  ];
  args.push(
    '--port',
    String(ports.port),
    '--ui-port',
    String(ports.uiPort),
    '--http-port',
    String(ports.httpPort),
  );
  args.push('--metrics-port', String(ports.metricsPort), '--namespace', namespace);
  for (const [name, type] of Object.entries(SEARCH_ATTRIBUTES))
    args.push('--search-attribute', `${name}=${type}`);
  for (const setting of DYNAMIC_CONFIG) args.push('--dynamic-config-value', setting);
  return args;
}

/**
 * Starts the server over `dataDir`/temporal.sqlite and returns when
 * its namespace answers. Throws a sentence when it does not serve.
 */
export async function startTemporal(options: TemporalOptions): Promise<Temporal> {
  const { dataDir, namespace = 'default', env = process.env, log } = options;
  await stopLeftovers(dataDir, log);
  const command = await findTemporalCli({ log, env });
  return retryTakenPort(async () => {
    const port = await choosePort('Temporal', options.port);
    const uiPort = await choosePort("Temporal's Web UI", options.uiPort);
    const args = serverArgs(dataDir, namespace, {
      port,
      uiPort,
      httpPort: await freePort(),
      metricsPort: await freePort(),
    });
    const child = await startChild({
      name: 'Temporal',
      command,
      args,
      cwd: dataDir,
      env,
      logFile: join(dataDir, 'temporal.log'),
      dataDir,
    });
    await waitUntilReady(child, {
      name: 'Temporal',
      timeoutMs: START_TIMEOUT_MS,
      ready: () => serves(port, namespace),
    });
    chmodSync(join(dataDir, 'temporal.sqlite'), 0o600);
    const uiUrl = `http://127.0.0.1:${uiPort}`;
    log(`Temporal on 127.0.0.1:${port}, Web UI ${uiUrl}`);
    const { pid, stop, kill, pause, resume } = child;
    return { address: `127.0.0.1:${port}`, port, uiUrl, namespace, pid, stop, kill, pause, resume };
  });
}
