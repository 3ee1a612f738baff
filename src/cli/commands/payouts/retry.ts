import type { Command } from 'commander';
import { DECISION_LIMITS } from '../../../domain/decision.ts';
import { text } from '../../arguments.ts';
import { type Acting, acting } from '../../operator.ts';
import { answering, leaf } from '../../run.ts';

const MAX_ID = 100;

/** `payout retry`. */
export function addRetryCommand(payout: Command): void {
  acting(
    leaf(
      payout,
      'retry',
      'looks again now, whatever it waits for: a payout, or an address at which nothing is planned',
    ),
  )
    .argument('<id>', 'id of a payout, or an address from "payout list"', text(MAX_ID))
    .option('--reason <text>', 'why', text(DECISION_LIMITS.reason))
    .action(answering(retry));
}

async function retry({
  args,
  options,
}: {
  args: readonly string[];
  options: Acting & { readonly reason?: string };
}) {
  const [{ withGateway }, { retryPayout }, { askToLook }] = await Promise.all([
    import('../../process.ts'),
    import('../../../services/payouts/decisions.ts'),
    import('./ask-actor.ts'),
  ]);
  const { by, reason = null } = options;
  const id = args[0]?.trim() ?? '';
  const { network, address, merchantId, told } = await withGateway(
    { by, temporal: 'attached' },
    async (gateway) => {
      const { byName, ...place } = await retryPayout(gateway.deps, { id, reason });
      return { ...place, told: await askToLook(gateway, place, { by: byName, reason }) };
    },
  );
  return {
    json: { ok: true, network, address, merchant_id: merchantId, told },
    text: told
      ? `${address} on ${network} is looked at again now.`
      : `${address} on ${network} is looked at again within moments, if a worker runs.`,
    next: 'What became of it: "payout list".',
  };
}
