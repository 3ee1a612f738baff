import type { Command } from 'commander';
import { NETWORKS, type Network } from '../domain/assets.ts';
import { OperatorError } from '../errors.ts';
import { oneOf, text } from './arguments.ts';
import { answering, leaf } from './run.ts';

const WITHIN_MS = 60_000;

/** `deposit claim`. */
export function addClaimCommand(deposit: Command): void {
  leaf(deposit, 'claim', 'records a transaction that no read and no comparison could attribute, after proving it on the chain')
    .requiredOption('--tx <hash>', 'hash of the transaction', text(80))
    .requiredOption('--network <network>', 'which chain', oneOf(...NETWORKS))
    .action(answering(claim));
}

async function claim({ options }: { options: { readonly tx: string; readonly network: Network } }) {
  const [{ withGateway }, { chainOf }, { claimTransaction }, { RescanStopped }, { presentDeposits }] = await Promise.all([
    import('./ground.ts'),
    import('./chain.ts'),
    import('../services/chain/claim.ts'),
    import('../services/chain/rescan.ts'),
    import('../services/deposit-reads.ts'),
  ]);
  const signal = AbortSignal.timeout(WITHIN_MS);
  const claimed = await withGateway({}, async (gateway) => {
    const chain = await chainOf(gateway, options.network, signal);
    try {
      const { deposits } = await claimTransaction(gateway.deps, chain, { txHash: options.tx, signal });
      return await presentDeposits(gateway.deps.orm.em.fork(), [...deposits]);
    } catch (error) {
      if (!(error instanceof RescanStopped)) throw error;
      throw new OperatorError(
        `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}`,
        'Nothing was changed; run it again in a minute',
        { cause: error },
      );
    }
  });
  const lines = claimed.map((row) => `Deposit ${row.id}: ${row.amount} ${row.currency} to ${row.address}, ${row.status}.`);
  return { json: { deposits: claimed }, text: lines.join('\n') };
}
