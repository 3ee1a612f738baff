import type { Command } from 'commander';
import { OperatorError } from '../../../base/errors.ts';
import { DECISION_LIMITS } from '../../../domain/decision.ts';
import type { Conclusion } from '../../../services/payouts/conclude/conclude.ts';
import { text } from '../../arguments.ts';
import { hashGiven } from '../../chain-arguments.ts';
import type { CommandGateway } from '../../process.ts';
import { answering, leaf } from '../../run.ts';

const WITHIN_MS = 60_000;
const MAX_DEPOSITS = 20_000;

/** `payout conclude`. */
export function addConcludeCommand(payout: Command): void {
  leaf(payout, 'conclude', 'settles a payout by what the chain shows, where it does not go on by itself')
    .argument('<id>', 'id of a payout, or the address that was paid out', text(100))
    .requiredOption('--tx <hash>', 'hash of the transaction that paid it', text(80))
    .requiredOption('--by <name>', 'who decided', text(DECISION_LIMITS.name))
    .requiredOption('--reason <text>', 'why', text(DECISION_LIMITS.reason))
    .option('--deposits <ids>', 'the deposits that it paid, with commas between them', text(MAX_DEPOSITS))
    .option('--journal <file>', "the signer's journal or a copy of it, for a destination of before")
    .action(answering(conclude));
}

type Options = {
  readonly tx: string;
  readonly by: string;
  readonly reason: string;
  readonly deposits?: string;
  readonly journal?: string;
};

async function conclude({ args, options }: { args: readonly string[]; options: Options }) {
  const { by, reason, tx, deposits, journal } = options;
  const [{ withGateway }, { namedPlace }, { concludePayout }, { chainOf }] = await Promise.all([
    import('../../process.ts'),
    import('../../../services/payouts/named-place.ts'),
    import('../../../services/payouts/conclude/conclude.ts'),
    import('../chain.ts'),
  ]);
  const signal = AbortSignal.timeout(WITHIN_MS);
  const done = await withGateway({ by, secrets: true }, async (gateway) => {
    const place = await namedPlace(gateway.deps.orm.em.fork(), args[0]?.trim() ?? '');
    const hash = await hashGiven('--tx', place.network, tx);
    const signed = journal === undefined ? undefined : await signedIn(gateway, place, hash, journal);
    const chain = await chainOf(gateway, place.network, signal);
    const depositIds = deposits?.split(',').map((id) => id.trim().toLowerCase());
    return await concludePayout(gateway.deps, chain, { place, hash, reason, depositIds, signed, signal });
  });
  if (done.kind === 'seen')
    return {
      json: { ok: true, concluded: false, again_at: done.againAt.toISOString() },
      text: 'The only RPC endpoint shows it, and has to show it once more: nothing is settled yet.',
      next: `Run this again after ${done.againAt.toISOString()}, or set a second RPC endpoint.`,
    };
  const { payoutId, destination, currency, depositIds } = done;
  const [gross, net] = [done.grossUnits, done.netUnits].map(String);
  return {
    json: {
      ok: true,
      concluded: true,
      payout_id: payoutId,
      destination,
      currency,
      gross_units: gross,
      net_units: net,
      deposit_ids: depositIds,
    },
    text: `Payout ${payoutId} is settled: ${net} of ${gross} base units of ${currency} arrived at ${destination}.`,
    next: `See it with "payout show ${payoutId}".`,
  };
}

/** What the journal has signed as this transaction, proven to be of the signer that has this database. */
async function signedIn(
  { deps, config }: CommandGateway,
  { network }: Conclusion['place'],
  hash: string,
  file: string,
) {
  const [{ readSignedFor }, { requireVouched }, { chainOf }] = await Promise.all([
    import('../../../signer/signed-for.ts'),
    import('../../../services/payouts/adopt/signed.ts'),
    import('../../../chains/index.ts'),
  ]);
  const transfers = await chainOf(network).transfers(config.chains[network]);
  const signed = await readSignedFor({ file, network, hash, transfers });
  if (!signed)
    throw new OperatorError(
      `The journal ${file} knows no transaction ${hash} on ${network}`,
      'Run this without --journal where it pays a withdraw address of now',
    );
  await requireVouched(deps.orm.em.fork(), signed);
  return signed;
}
