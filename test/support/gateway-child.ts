import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../dev/support/eventually.ts';
import { SECRETS_KEY } from '../../dev/support/live-gateway.ts';
import { tempDir } from '../../dev/support/parts.ts';
import { testXpubs } from '../../dev/support/test-wallet.ts';
import { type Child, startChild } from '../../src/base/processes.ts';
import { processEnv } from './process-env.ts';

const ENTRY = join(import.meta.dirname, '../../src/bin.mjs');
const READY_WITHIN_MS = 40_000;

export type GatewayChild = {
  readonly child: Child;
  readonly api: string;
  readonly ops: string;
  log(): string;
};

/**
 * The gateway as a process of its own, as operators run it, so
 * that a test can really kill it. Returns when it is ready.
 */
export async function startGatewayChild(
  env: NodeJS.ProcessEnv,
  role: 'all' | 'api' | 'worker' | 'signer' = 'all',
): Promise<GatewayChild> {
  const folder = await tempDir('gateway');
  const logFile = join(folder, 'gateway.log');
  const xpubs = testXpubs();
  const child = await startChild({
    name: 'gateway',
    command: process.execPath,
    args: [ENTRY, 'start', '--role', role],
    logFile,
    dataDir: folder,
    stopTimeoutMs: 35_000,
    env: {
      ...processEnv(),
      NODE_ENV: 'development',
      DATA_DIR: join(folder, 'data'),
      PORT: '0',
      OPS_PORT: '0',
      LOG_LEVEL: 'info',
      WALLET_XPUB_BSC: xpubs.live.bsc,
      WALLET_XPUB_TRON: xpubs.live.tron,
      WALLET_XPUB_TEST_BSC: xpubs.test.bsc,
      WALLET_XPUB_TEST_TRON: xpubs.test.tron,
      WEBHOOK_ALLOW_HTTP: 'true',
      WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
      PRICE_SOURCE: 'fixed:BNB=600,TRX=0.3,USDT=1',
      SECRETS_KEY: SECRETS_KEY.toString('base64'),
      ...env,
    },
  });
  const log = (): string => (existsSync(logFile) ? readFileSync(logFile, 'utf8') : '');
  const ready = await eventually(
    `the gateway's readiness`,
    () => {
      if (!child.running()) throw new Error(`the gateway ended:\n${log().slice(-2_000)}`);
      const line = log()
        .split('\n')
        .find((text) => text.startsWith('{"ready":true'));
      return line ? (JSON.parse(line) as { api: string; ops: string }) : undefined;
    },
    READY_WITHIN_MS,
  );
  return { child, api: ready.api, ops: ready.ops, log };
}
