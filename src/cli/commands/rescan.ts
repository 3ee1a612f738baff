import type { Command } from 'commander';
import { OperatorError, UsageError } from '../../base/errors.ts';
import { NETWORKS, type Network } from '../../domain/assets.ts';
import type { RescanProgress } from '../../services/watcher/rescan.ts';
import { oneOf, wholeNumber } from '../arguments.ts';
import { type Acting, acting } from '../operator.ts';
import { rateReporter } from '../rate.ts';
import { answering, leaf } from '../run.ts';

const MAX_BLOCKS = 1_000_000;
const MAX_HEIGHT = 1_000_000_000;

/** `rescan`. */
export function addRescanCommand(program: Command): void {
  acting(leaf(program, 'rescan', 'reads blocks of a chain again and records what was missed'))
    .requiredOption('--network <network>', 'which chain', oneOf(...NETWORKS))
    .requiredOption('--from <block>', 'first block', wholeNumber(0, MAX_HEIGHT))
    .requiredOption('--to <block>', 'last block', wholeNumber(0, MAX_HEIGHT))
    .action(answering(run));
}

type Range = Acting & { readonly network: Network; readonly from: number; readonly to: number };

async function run({ options }: { options: Range }) {
  const { network, from, to } = options;
  if (from > to) throw new UsageError('--from must not be above --to');
  if (to - from >= MAX_BLOCKS)
    throw new UsageError(`At most ${MAX_BLOCKS} blocks at a time; do it in several steps`);
  const { withGateway } = await import('../process.ts');
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    const result = await withGateway({ by: options.by }, (gateway) =>
      readAgain(gateway, options, stop.signal),
    );
    const json = { network, from, to, ...result };
    return {
      json,
      text: `Read ${result.blocks} blocks of ${network} again and found ${result.found} missed deposits.`,
    };
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}

type Gateway = Parameters<Parameters<typeof import('../process.ts').withGateway>[1]>[0];

async function readAgain(gateway: Gateway, { network, from, to }: Range, signal: AbortSignal) {
  const [{ chainOf }, { rescan, RescanStopped }] = await Promise.all([
    import('./chain.ts'),
    import('../../services/watcher/rescan.ts'),
  ]);
  const chain = await chainOf(gateway, network, signal);
  try {
    return await rescan(gateway.deps, chain, { from, to, signal, progress: reporter() });
  } catch (error) {
    if (!(error instanceof RescanStopped)) throw error;
    const done = error.nextBlock > from ? `Everything below block ${error.nextBlock} is done; ` : '';
    throw new OperatorError(
      `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}`,
      `${done}${done ? 'run' : 'Correct that, or wait, and run'} it again with --from ${Math.max(from, error.nextBlock)}`,
      { cause: error },
    );
  }
}

function reporter(): (at: RescanProgress) => void {
  const say = rateReporter('rescan', 'blocks');
  return ({ blocks, total, found, block }) => say(blocks, total, `, at block ${block}, ${found} found`);
}
