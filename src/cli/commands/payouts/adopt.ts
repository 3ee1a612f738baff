import type { Command } from 'commander';
import { OperatorError } from '../../../base/errors.ts';
import { NETWORKS, type Network } from '../../../domain/assets.ts';
import { DECISION_LIMITS } from '../../../domain/decision.ts';
import { oneOf, text } from '../../arguments.ts';
import { hashGiven } from '../../chain-arguments.ts';
import { answering, leaf } from '../../run.ts';

/** `payout adopt`. */
export function addAdoptCommand(payout: Command): void {
  leaf(
    payout,
    'adopt',
    'takes up what the signer has signed and a restored database has forgotten; where the journal can be read',
  )
    .requiredOption('--tx <hash>', 'hash of a transaction that the signer has signed', text(80))
    .requiredOption('--network <network>', 'which chain', oneOf(...NETWORKS))
    .requiredOption('--by <name>', 'who decided', text(DECISION_LIMITS.name))
    .requiredOption('--reason <text>', 'why', text(DECISION_LIMITS.reason))
    .option('--journal <file>', "the signer's journal or a copy of it (default: SIGN_JOURNAL_FILE)")
    .action(answering(adopt));
}

type Options = {
  readonly tx: string;
  readonly network: Network;
  readonly by: string;
  readonly reason: string;
  readonly journal?: string;
};

const WHAT = {
  payout: 'its transfer',
  gas: 'coins for gas',
  delegate: 'lent energy',
  reclaim: 'energy taken back',
} as const;

async function adopt({ options }: { options: Options }) {
  const { network, by, reason } = options;
  const hash = await hashGiven('--tx', network, options.tx);
  const [{ withGateway }, { adoptPayout }, { readSignedFor }, { chainOf }] = await Promise.all([
    import('../../process.ts'),
    import('../../../services/payouts/adopt/adopt.ts'),
    import('../../../signer/signed-for.ts'),
    import('../../../chains/index.ts'),
  ]);
  const { payoutId, depositIds, transactions } = await withGateway({ by }, async ({ deps, config }) => {
    const file = options.journal ?? config.signing.journalFile;
    const transfers = await chainOf(network).transfers(config.chains[network]);
    const signed = await readSignedFor({ file, network, hash, transfers });
    if (!signed)
      throw new OperatorError(
        `The journal ${file} knows no transaction ${hash} on ${network}, so the signer did not sign it`,
        'Find out who sent it: "deposit stuck", and then "payout accept"',
      );
    return await adoptPayout(deps, { signed, hash, reason });
  });
  const named = transactions.map(({ purpose, hash: one, blockNumber }) => {
    return `${WHAT[purpose]} ${one}: ${blockNumber === null ? 'in no block yet, it is sent again' : `in final block ${blockNumber}`}`;
  });
  return {
    json: {
      ok: true,
      network,
      payout_id: payoutId,
      deposit_ids: depositIds,
      transactions: transactions.map((one) => ({
        transaction_hash: one.hash,
        purpose: one.purpose,
        block_number: one.blockNumber === null ? null : Number.parseInt(one.blockNumber, 10),
      })),
    },
    text: [`Payout ${payoutId} is known again, with ${transactions.length} transactions.`, ...named].join(
      '\n',
    ),
    next: 'It settles by itself once final blocks show that it was paid: see its deposits with "deposit show".',
  };
}
