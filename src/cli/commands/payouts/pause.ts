import type { Command } from 'commander';
import { DECISION_LIMITS } from '../../../domain/decision.ts';
import { text } from '../../arguments.ts';
import { type Acting, acting } from '../../operator.ts';
import { answering, leaf } from '../../run.ts';

/** `payout pause` and `payout resume`. */
export function addPauseCommands(payout: Command): void {
  for (const [name, about, paused] of [
    ['pause', 'plans and signs no payout any more; what is signed already goes on', true],
    ['resume', 'lets payouts go on that were paused', false],
  ] as const)
    acting(leaf(payout, name, about))
      .option('--merchant <id>', 'only of this merchant; else of all', text())
      .option('--reason <text>', 'why', text(DECISION_LIMITS.reason))
      .action(answering(({ options }: { options: Options }) => setTo(paused, options)));
}

type Options = Acting & { readonly merchant?: string; readonly reason?: string };

async function setTo(paused: boolean, { merchant, by, reason }: Options) {
  const [{ withGateway }, { setPaused, readPauses }] = await Promise.all([
    import('../../process.ts'),
    import('../../../services/payouts/pauses.ts'),
  ]);
  const merchantId = merchant?.toLowerCase() ?? null;
  const { changed, woken, all } = await withGateway(
    paused ? { by } : { by, secrets: true },
    async ({ deps }) => ({
      ...(await setPaused(deps, { merchantId, paused, reason: reason ?? null })),
      all: (await readPauses(deps.orm.em.fork())).some((pause) => pause.merchantId === null),
    }),
  );
  const whose = merchantId === null ? 'All payouts' : `Payouts of merchant ${merchantId}`;
  const json = { ok: true, merchant_id: merchantId, paused, changed, woken };
  if (!changed)
    return {
      json,
      text: `${whose} ${paused ? 'are paused' : 'were not paused'} already; nothing was changed.`,
    };
  if (paused)
    return {
      json,
      text: `${whose} are paused: nothing new is planned or signed.`,
      next: `What was signed before goes on: "payout list --state paying" shows it. To go on: "payout resume${merchantId === null ? '' : ` --merchant ${merchantId}`}".`,
    };
  const still =
    merchantId !== null && all
      ? ' All payouts of this gateway are still paused: "payout resume" lets them go on.'
      : '';
  return {
    json,
    text: `${whose} go on; ${woken} addresses were told.${still}`,
    next: 'See what they do with "payout list".',
  };
}
