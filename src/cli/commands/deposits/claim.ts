import { UsageError } from '../../../base/errors.ts';
import { assetOf, NATIVE_CURRENCY, type Network } from '../../../domain/assets.ts';
import { parseUnits } from '../../../domain/money.ts';
import { presentDeposits } from '../../../services/deposits/reads.ts';
import { type ClaimInput, claimTransaction } from '../../../services/reconciliation/claim.ts';
import { RescanStopped } from '../../../services/watcher/rescan.ts';
import { withGateway } from '../../process.ts';
import type { CommandCall, Explained } from '../../run.ts';
import { addressGiven, chainOf, hashGiven, stoppedReading } from '../chain.ts';

/**
 * Where no endpoint keeps old balances, it takes minutes to read every
 * block in which the money can have come.
 */
const WITHIN_MS = 30 * 60_000;

type Options = Explained & {
  readonly tx: string;
  readonly network: Network;
  readonly amount?: string;
  readonly address?: string;
};

/** Records a transaction that a person names, after proving it on the chain. */
export async function claim({ options }: CommandCall<Options>) {
  const decision = decisionOf(options);
  const txHash = hashGiven(options.network, options.tx);
  const signal = AbortSignal.timeout(WITHIN_MS);
  const deposits = await withGateway({ by: options.by }, async (gateway) => {
    const chain = await chainOf(gateway, options.network, signal);
    const claimed = await claimTransaction(gateway.deps, chain, { txHash, ...decision, signal });
    return await presentDeposits(gateway.deps.orm.em.fork(), [...claimed.deposits]);
  }).catch((error: unknown) => {
    if (!(error instanceof RescanStopped)) throw error;
    throw stoppedReading(error, 'Nothing was changed; run it again in a minute');
  });
  const lines = deposits.map(
    (row) => `Deposit ${row.id}: ${row.amount} ${row.currency} to ${row.address}, ${row.status}.`,
  );
  return { json: { deposits }, text: lines.join('\n') };
}

/** What the operator names; a UsageError where something is missing or is no amount. */
function decisionOf({ network, amount, address, by, reason }: Options): Pick<ClaimInput, 'word' | 'decider'> {
  if ((by === undefined) !== (reason === undefined))
    throw new UsageError('--by and --reason belong together');
  const decider = by === undefined || reason === undefined ? undefined : { by, reason };
  if (amount === undefined && address !== undefined) throw new UsageError('--address needs --amount');
  if (amount === undefined) return { decider };
  if (!decider) throw new UsageError('--amount needs --by and --reason');
  const addressKey = address === undefined ? undefined : addressGiven('--address', network, address);
  return { decider, word: { carriedUnits: unitsOf(network, amount), addressKey, decider } };
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
