import { type Command, Option } from 'commander';
import { OperatorError, UsageError } from '../../../base/errors.ts';
import { assetOf, NATIVE_CURRENCY, NETWORKS, type Network } from '../../../domain/assets.ts';
import { DECISION_LIMITS } from '../../../domain/decision.ts';
import { parseUnits } from '../../../domain/money.ts';
import type { ClaimInput } from '../../../services/reconciliation/claim.ts';
import { oneOf, text } from '../../arguments.ts';
import { addressGiven, hashGiven } from '../../chain-arguments.ts';
import { answering, leaf } from '../../run.ts';

/**
 * Where no endpoint keeps old balances, it takes minutes to read every
 * block in which the money can have come.
 */
const WITHIN_MS = 30 * 60_000;

type Options = {
  readonly tx: string;
  readonly network: Network;
  readonly amount?: string;
  readonly address?: string;
  readonly by?: string;
  readonly reason?: string;
};

/** `deposit claim`. */
export function addClaimCommand(deposit: Command): void {
  leaf(
    deposit,
    'claim',
    'records a transaction that no read and no comparison could attribute, after proving it on the chain',
  )
    .requiredOption('--tx <hash>', 'hash of the transaction', text(80))
    .requiredOption('--network <network>', 'which chain', oneOf(...NETWORKS))
    .option(
      '--amount <amount>',
      "the whole that it brought in the chain's own coin, where nothing proves it; needs --by and --reason",
      text(80),
    )
    .addOption(
      new Option(
        '--address <address>',
        'our address that it paid, where its data names none or several',
      ).argParser(text(80)),
    )
    .option('--by <name>', 'who decided', text(DECISION_LIMITS.name))
    .option('--reason <text>', 'why', text(DECISION_LIMITS.reason))
    .action(answering(claim));
}

/** What the operator names; a UsageError where something is missing or is no amount. */
async function decisionOf(options: Options): Promise<Pick<ClaimInput, 'word' | 'decider'>> {
  const { amount, address, by, reason } = options;
  if ((by === undefined) !== (reason === undefined))
    throw new UsageError('--by and --reason belong together');
  const decider = by === undefined || reason === undefined ? undefined : { by, reason };
  if (amount === undefined && address !== undefined) throw new UsageError('--address needs --amount');
  if (amount === undefined) return { decider };
  if (!decider) throw new UsageError('--amount needs --by and --reason');
  const addressKey =
    address === undefined ? undefined : await addressGiven('--address', options.network, address);
  return { decider, word: { carriedUnits: unitsOf(options.network, amount), addressKey, decider } };
}

function unitsOf(network: Network, amount: string): bigint {
  const asset = assetOf(network, NATIVE_CURRENCY[network]);
  try {
    const units = parseUnits(amount, asset.decimals);
    if (units > 0n) return units;
  } catch {
    // The sentence below says what is right.
  }
  throw new UsageError(
    `--amount must be above zero, in ${asset.currency} with at most ${asset.decimals} decimals, such as 0.25`,
  );
}

async function claim({ options }: { options: Options }) {
  const decision = await decisionOf(options);
  const txHash = await hashGiven('--tx', options.network, options.tx);
  const [{ withGateway }, { chainOf }, { claimTransaction }, { RescanStopped }, { presentDeposits }] =
    await Promise.all([
      import('../../process.ts'),
      import('../chain.ts'),
      import('../../../services/reconciliation/claim.ts'),
      import('../../../services/watcher/rescan.ts'),
      import('../../../services/deposits/reads.ts'),
    ]);
  const signal = AbortSignal.timeout(WITHIN_MS);
  const claimed = await withGateway({ by: options.by }, async (gateway) => {
    const chain = await chainOf(gateway, options.network, signal);
    try {
      const { deposits } = await claimTransaction(gateway.deps, chain, {
        txHash,
        ...decision,
        signal,
      });
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
  const lines = claimed.map(
    (row) => `Deposit ${row.id}: ${row.amount} ${row.currency} to ${row.address}, ${row.status}.`,
  );
  return { json: { deposits: claimed }, text: lines.join('\n') };
}
