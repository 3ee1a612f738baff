import type { Command } from 'commander';
import { NETWORKS, type Network } from '../../../domain/assets.ts';
import { DECISION_LIMITS } from '../../../domain/decision.ts';
import { oneOf, text } from '../../arguments.ts';
import { hashGiven } from '../../chain-arguments.ts';
import { answering, leaf } from '../../run.ts';

/** `payout accept`. */
export function addAcceptCommand(payout: Command): void {
  leaf(payout, 'accept', 'lets a wallet sign again that sent what this gateway did not sign')
    .requiredOption('--tx <hash>', 'hash of the transaction that somebody else signed', text(80))
    .requiredOption('--network <network>', 'which chain', oneOf(...NETWORKS))
    .requiredOption('--by <name>', 'who decided', text(DECISION_LIMITS.name))
    .requiredOption('--reason <text>', 'why', text(DECISION_LIMITS.reason))
    .action(answering(accept));
}

type Options = {
  readonly tx: string;
  readonly network: Network;
  readonly by: string;
  readonly reason: string;
};

async function accept({ options }: { options: Options }) {
  const { network, by, reason } = options;
  const hash = await hashGiven('--tx', network, options.tx);
  const [{ withGateway }, { acceptForeign }] = await Promise.all([
    import('../../process.ts'),
    import('../../../services/payouts/foreign.ts'),
  ]);
  const { wallets } = await withGateway({ by }, ({ deps }) =>
    acceptForeign(deps, { network, hash, by, reason }),
  );
  return {
    json: { ok: true, network, transaction_hash: hash, wallets },
    text: wallets.map((wallet) => `Wallet ${wallet} signs again.`).join('\n'),
    next: 'What it sent stays a difference of its balance: "reconcile" lists it.',
  };
}
