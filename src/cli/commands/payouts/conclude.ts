import type { Command } from 'commander';
import { OperatorError } from '../../../base/errors.ts';
import type { Network } from '../../../domain/assets.ts';
import { DECISION_LIMITS } from '../../../domain/decision.ts';
import { text } from '../../arguments.ts';
import { hashGiven } from '../../chain-arguments.ts';
import type { CommandGateway } from '../../process.ts';
import { answering, leaf } from '../../run.ts';

const WITHIN_MS = 60_000;
const MAX_DEPOSITS = 20_000;

/** `payout conclude`. */
export function addConcludeCommand(payout: Command): void {
  leaf(payout, 'conclude', 'settles a payout by what the chain shows, where it does not go on by itself')
    .argument('<id>', 'id of a payout, or the address that sent the transaction', text(100))
    .requiredOption('--tx <hash>', 'hash of the transaction that paid it', text(80))
    .requiredOption('--by <name>', 'who decided', text(DECISION_LIMITS.name))
    .requiredOption('--reason <text>', 'why', text(DECISION_LIMITS.reason))
    .option('--deposits <ids>', 'the deposits that it paid, with commas between them', text(MAX_DEPOSITS))
    .option(
      '--journal <file>',
      "the signer's journal or a copy of it, for what a restored database has forgotten",
    )
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
  const [{ withGateway }, { namedPlace }, { concludePayout }, { takeUp }, { chainOf }, { CHAINS }] =
    await Promise.all([
      import('../../process.ts'),
      import('../../../services/payouts/decisions.ts'),
      import('../../../services/payouts/conclude/conclude.ts'),
      import('../../../services/payouts/conclude/forgotten.ts'),
      import('../chain.ts'),
      import('../../../chains/index.ts'),
    ]);
  const signal = AbortSignal.timeout(WITHIN_MS);
  const done = await withGateway({ by, secrets: true }, async (gateway) => {
    const em = gateway.deps.orm.em.fork();
    const id = args[0]?.trim() ?? '';
    // A gas wallet may be named too: to whom that has sent, the journal says.
    const of = CHAINS.find(({ addresses }) => addresses.parse(id) !== undefined);
    const { network } = of ?? (await namedPlace(em, id));
    const hash = await hashGiven('--tx', network, tx);
    const signed = journal === undefined ? undefined : await signedIn(gateway, network, hash, journal);
    const taken = signed && (await takeUp(gateway.deps, { signed, hash, reason }));
    if (taken) return { kind: 'taken_up' as const, ...taken };
    const place = await namedPlace(em, id);
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
  if (done.kind === 'taken_up')
    return {
      json: { ok: true, concluded: false, payout_id: done.payoutId, transaction_hashes: done.hashes },
      text: `Payout ${done.payoutId} is known again, with what was signed for it: ${done.hashes.join(', ')}.`,
      next: `It goes on by itself, what no block has is sent: see it with "payout show ${done.payoutId}".`,
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

/** What the journal has signed as this transaction, and for the same payout. */
async function signedIn({ config }: CommandGateway, network: Network, hash: string, file: string) {
  const [{ readSignedFor }, { chainOf }] = await Promise.all([
    import('../../../signer/signed-for.ts'),
    import('../../../chains/index.ts'),
  ]);
  const transfers = await chainOf(network).transfers(config.chains[network]);
  const signed = await readSignedFor({ file, network, hash, transfers });
  if (signed) return signed;
  throw new OperatorError(
    `The journal ${file} knows no transaction ${hash} on ${network}, so the signer did not sign it`,
    'Run this without --journal where it pays a withdraw address of now; else find out who sent it, and then "payout accept"',
  );
}
