import { dirname, join } from 'node:path';
import { type Print, type RunningServer, startChild, waitUntilReady } from '../src/base/processes.ts';
import { packageFolder } from '../src/embedded/packages.ts';
import { PROCESSORS } from '../src/embedded/platform.ts';
import { choosePort, retryTakenPort } from '../src/embedded/ports.ts';

// Against a node that hangs: on a busy machine one that works may take far longer than usual.
const START_TIMEOUT_MS = 60_000;
const RPC_TIMEOUT_MS = 60_000;

export type AnvilOptions = {
  readonly port?: number;
  readonly chainId?: number;
  /** Mines by the clock. Without it nothing is mined until `mine()`, which makes a test repeatable. */
  readonly blockTimeMs?: number;
  /**
   * The finalized block is the head less twice this; unset means 1. A larger number leaves
   * room for reorgs that do not break finality.
   */
  readonly slotsInAnEpoch?: number;
  /** Where `stop()` keeps the chain, and the next start reads it from. */
  readonly statePath?: string;
  readonly dataDir?: string;
  /** More of the node's own command line. */
  readonly flags?: readonly string[];
  readonly log: Print;
};

/** A running EVM node whose finalized block is the head less two (see `slotsInAnEpoch`). */
export type Anvil = RunningServer & {
  readonly url: string;
  /** One JSON-RPC call. Throws the node's own message. */
  rpc(method: string, params?: readonly unknown[]): Promise<unknown>;
  /** Mines `blocks` blocks (default 1). */
  mine(blocks?: number): Promise<void>;
};

/**
 * The binary inside the npm package of this platform; it needs no install
 * script. Throws a sentence where there is none.
 */
export function anvilBinary(): string {
  const name = `@foundry-rs/anvil-${process.platform}-${PROCESSORS[process.arch] ?? process.arch}`;
  const folder = packageFolder('@foundry-rs/anvil', name);
  if (!folder)
    throw new Error(
      `the EVM node for ${process.platform} ${process.arch} is not installed (package ${name}): run "npm ci" without --omit=optional`,
    );
  return join(folder, 'bin', process.platform === 'win32' ? 'anvil.exe' : 'anvil');
}

async function rpcCall(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(RPC_TIMEOUT_MS),
  });
  const answer = (await response.json()) as { result?: unknown; error?: { message: string } };
  if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
  return answer.result;
}

/**
 * Starts anvil with BSC's chain id and the shape of its
 * fast finality. Throws a sentence when it does not serve.
 */
export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  const { chainId = 56, blockTimeMs, slotsInAnEpoch = 1, statePath, dataDir, flags = [], log } = options;
  const command = anvilBinary();
  return retryTakenPort(async () => {
    const port = await choosePort('the EVM node', options.port);
    const url = `http://127.0.0.1:${port}`;
    const args = ['--host', '127.0.0.1', '--port', String(port), '--chain-id', String(chainId), '--quiet'];
    args.push('--slots-in-an-epoch', String(slotsInAnEpoch), ...flags);
    args.push(
      ...(blockTimeMs === undefined ? ['--no-mining'] : ['--block-time', String(blockTimeMs / 1000)]),
    );
    if (statePath !== undefined) args.push('--state', statePath);
    const child = await startChild({
      name: 'anvil',
      command,
      args,
      cwd: dirname(command),
      ...(dataDir === undefined ? {} : { dataDir }),
    });
    await waitUntilReady(child, {
      name: 'the EVM node',
      timeoutMs: START_TIMEOUT_MS,
      ready: () =>
        rpcCall(url, 'eth_chainId', []).then(
          (id) => id === `0x${chainId.toString(16)}`,
          () => false,
        ),
    });
    log(`EVM node (anvil, chain ${chainId}) on ${url}`);
    const { pid, stop, kill, pause, resume } = child;
    return {
      url,
      port,
      pid,
      stop,
      kill,
      pause,
      resume,
      rpc: (method, params = []) => rpcCall(url, method, params),
      mine: async (blocks = 1) => void (await rpcCall(url, 'anvil_mine', [`0x${blocks.toString(16)}`])),
    };
  });
}
