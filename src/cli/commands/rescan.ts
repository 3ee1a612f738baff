import { UsageError } from '../../base/errors.ts';
import type { Network } from '../../domain/assets.ts';
import { RescanStopped, rescan } from '../../services/watcher/rescan.ts';
import { withGateway } from '../process.ts';
import { rateReporter } from '../rate.ts';
import type { Acting, CommandCall } from '../run.ts';
import { chainOf, stoppedReading, untilInterrupted } from './chain.ts';

const MAX_BLOCKS = 1_000_000;

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
