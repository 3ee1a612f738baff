// A chain as commands name and read it.
import { existsSync } from 'node:fs';
import { activityDepsOf } from '../../app/compose.ts';
import { OperatorError, UsageError } from '../../base/errors.ts';
import type { AddressKey } from '../../chains/address-key.ts';
import { hashForm, transactionHashOf } from '../../chains/addresses.ts';
import { chainOf as factsOf } from '../../chains/index.ts';
import type { ChainReader } from '../../chains/reader.ts';
import type { Network } from '../../domain/assets.ts';
import { gasWalletsSince, publishGasWallets } from '../../services/payouts/gas.ts';
import { proveIdentity } from '../../services/watcher/cursor.ts';
import { RescanStopped, rescan } from '../../services/watcher/rescan.ts';
import type { WatchedChain } from '../../services/watcher/watched-chain.ts';
import { readPublicParts } from '../../signer/wallet-file.ts';
import { type CommandGateway, withGateway } from '../process.ts';
import { rateReporter } from '../rate.ts';
import { type Acting, type CommandCall, progress } from '../run.ts';

const IDENTITY_WITHIN_MS = 10_000;
const MAX_BLOCKS = 1_000_000;

/**
 * The key of an address that an option names. Throws a UsageError that names the option for every text that
 * is not a whole address in the network's own spelling: a mistyped one must not become another one.
 */
export function addressGiven(option: string, network: Network, text: string): AddressKey {
  const { parse, form } = factsOf(network).addresses;
  const key = parse(text.trim());
  if (key === undefined)
    throw new UsageError(`${option} must be ${form}, with a right checksum; copy it again`);
  return key;
}

/** The hash of a transaction that `--tx` names, as the network's reader spells it. Throws a UsageError. */
export function hashGiven(network: Network, text: string): string {
  const hash = transactionHashOf(network, text.trim());
  if (hash === undefined) throw new UsageError(`--tx must be ${hashForm(network)}; copy it again`);
  return hash;
}

/**
 * The chain as a command reads it, proven to be the configured one. Throws an
 * OperatorError where it is off, unreachable or another one.
 */
export async function chainOf(
  gateway: CommandGateway,
  network: Network,
  signal: AbortSignal,
): Promise<WatchedChain> {
  const chain = activityDepsOf(gateway, signal).chains.get(network);
  if (!chain) throw new OperatorError(`${network} is off`, `Set ${factsOf(network).watchedBy} and try again`);
  await tellGasWallets(gateway, network);
  await checkIdentity(gateway, chain.reader);
  return chain;
}

/**
 * Money that comes from our own gas wallets is no deposit: without their addresses it cannot be told apart.
 * Who holds the wallet file tells them; that may be this command.
 */
async function tellGasWallets({ config, deps }: CommandGateway, network: Network): Promise<void> {
  if (existsSync(config.wallet.seedFile))
    await publishGasWallets(deps, (await readPublicParts(config.wallet.seedFile)).gas);
  if ((await gasWalletsSince(deps.orm.em.fork(), network, '0')).length === 0)
    progress(
      `No gas wallet is known on ${network}, so transfers from one of yours look like deposits: start the signer, or set WALLET_SEED_FILE if you have any.`,
    );
}

async function checkIdentity({ deps }: CommandGateway, reader: ChainReader): Promise<void> {
  try {
    await proveIdentity(deps, reader, AbortSignal.timeout(IDENTITY_WITHIN_MS));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new OperatorError(`The chain cannot be read: ${reason}`, 'See "gateway doctor"', { cause: error });
  }
}

/** Blocks that could not be read again, as a sentence with what to do. */
export function stoppedReading(error: RescanStopped, nextAction: string): OperatorError {
  const { message } = error;
  return new OperatorError(`${message.charAt(0).toUpperCase()}${message.slice(1)}`, nextAction, {
    cause: error,
  });
}

/** Hands `work` a signal that Ctrl-C and SIGTERM abort with this reason, for something long. */
export async function untilInterrupted<T>(
  reason: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const onSignal = (): void => stop.abort(new Error(reason));
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    return await work(stop.signal);
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}

type BlockRange = Acting & { readonly network: Network; readonly from: number; readonly to: number };

/** Reads blocks again; what stops it says where to go on. */
export async function rescanBlocks({ options: { network, from, to, by } }: CommandCall<BlockRange>) {
  if (from > to) throw new UsageError('--from must not be above --to');
  if (to - from >= MAX_BLOCKS)
    throw new UsageError(`At most ${MAX_BLOCKS} blocks at a time; do it in several steps`);
  const say = rateReporter('rescan', 'blocks');
  const result = await untilInterrupted('interrupted', (signal) =>
    withGateway({ by }, async (gateway) => {
      const chain = await chainOf(gateway, network, signal);
      return await rescan(gateway.deps, chain, {
        from,
        to,
        signal,
        progress: ({ blocks, total, found, block }) =>
          say(blocks, total, `, at block ${block}, ${found} found`),
      });
    }),
  ).catch((error: unknown) => {
    if (!(error instanceof RescanStopped)) throw error;
    const next = `it again with --from ${Math.max(from, error.nextBlock)}`;
    throw stoppedReading(
      error,
      error.nextBlock > from
        ? `Everything below block ${error.nextBlock} is done; run ${next}`
        : `Correct that, or wait, and run ${next}`,
    );
  });
  return {
    json: { network, from, to, ...result },
    text: `Read ${result.blocks} blocks of ${network} again and found ${result.found} missed deposits.`,
  };
}
