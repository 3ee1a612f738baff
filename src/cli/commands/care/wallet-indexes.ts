import type { Command } from 'commander';
import { DECISION_LIMITS } from '../../../domain/decision.ts';
import type { WalletIndexes } from '../../../services/merchants/wallet-indexes.ts';
import { text, wholeNumber } from '../../arguments.ts';
import { type Acting, acting } from '../../operator.ts';
import { answering, type CommandResult, leaf } from '../../run.ts';
import { facts } from '../../table.ts';

const MOST = 1_000_000;

/** `wallet indexes`. */
export function addWalletIndexCommand(wallet: Command): void {
  acting(
    leaf(
      wallet,
      'indexes',
      'which index the next customer gets; --skip leaves some out, so that no address is given twice',
    ),
  )
    .option(
      '--skip <count>',
      'indexes to leave out above the highest one that is known',
      wholeNumber(1, MOST),
    )
    .option('--reason <text>', 'why', text(DECISION_LIMITS.reason), 'wallet indexes are left out')
    .action(answering(indexes));
}

type Options = Acting & { readonly skip?: number; readonly reason: string };

async function indexes({ options }: { options: Options }): Promise<CommandResult> {
  const [{ withGateway }, { readWalletIndexes, advanceWalletIndexes }] = await Promise.all([
    import('../../process.ts'),
    import('../../../services/merchants/wallet-indexes.ts'),
  ]);
  const { skip, reason, by } = options;
  return await withGateway({ by }, async ({ deps }) => {
    if (skip === undefined) return shown(await readWalletIndexes(deps.orm.em.fork()), false);
    const { before, after } = await advanceWalletIndexes(deps, { gap: skip, reason });
    return shown(after, after.next !== before.next);
  });
}

function shown({ next, highest }: WalletIndexes, changed: boolean): CommandResult {
  const ok = next > highest;
  return {
    json: { ok, next, highest, left_out: Math.max(0, next - highest - 1), changed },
    text: facts({
      'next customer gets': next,
      'highest that is known': highest,
      'left out between': Math.max(0, next - highest - 1),
    }),
    problem: ok
      ? undefined
      : `The next index is not above ${highest}, so no customer can be made. Run "gateway wallet indexes --skip 10000".`,
  };
}
