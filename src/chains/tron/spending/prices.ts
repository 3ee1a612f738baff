// What the chain takes for things, by the word of every endpoint: that changes every six hours at most.
import { isRecord } from '../../rpc/call.ts';
import { EndpointFailure, RpcUnavailable } from '../../rpc/errors.ts';
import type { TronPool, TronSession } from '../protocol.ts';

const WITHIN_MS = 3_000;
const KEPT_MS = 10 * 60_000;
/** Fifteen thousand TRX are the most that one transaction may burn: no price is higher. */
const MOST_SUN = 15_000_000_000;

/** In sun. */
export type TronPrices = {
  readonly energy: bigint;
  /** For each byte of bandwidth beyond the free ones. */
  readonly byte: bigint;
  /** For a receiver whom the chain does not know yet. */
  readonly newAccount: bigint;
  /** For the same, beside it, where the sender has staked for no bandwidth. */
  readonly newAccountBandwidth: bigint;
};

const KEYS = {
  energy: 'getEnergyFee',
  byte: 'getTransactionFee',
  newAccount: 'getCreateNewAccountFeeInSystemContract',
  newAccountBandwidth: 'getCreateAccountFee',
} as const satisfies Readonly<Record<keyof TronPrices, string>>;
const NAMES = Object.keys(KEYS) as readonly (keyof TronPrices)[];

/**
 * The chain's prices, kept for ten minutes. Of what endpoints tell the middle one counts, of two middle ones
 * the higher: too little of it would burn all that a transfer may cost and move nothing, and too much comes
 * back as coins that the next payout of the address uses. `careful`: a transfer has failed of late, so they
 * are asked for again, also of endpoints that are left alone: they may have risen, or been told by one alone.
 * Throws RpcUnavailable where none tells them.
 */
export function createTronPrices(
  pool: TronPool,
  now: () => number = () => performance.now(),
): (careful: boolean, signal: AbortSignal) => Promise<TronPrices> {
  let kept: { readonly prices: TronPrices; readonly at: number } | undefined;
  return async (careful, signal) => {
    if (kept && !careful && now() - kept.at < KEPT_MS) return kept.prices;
    const answers = await pool.each(pricesOn, signal, { ready: !careful, withinMs: WITHIN_MS });
    const told = answers.flatMap(({ value }) => (value === undefined ? [] : [value]));
    if (told.length === 0) {
      const why = answers.map(({ host, problem }) => `${host}: ${problem}`).join(', ');
      throw new RpcUnavailable(
        `no endpoint of ${pool.name} tells what transactions cost: ${why || 'each is left alone after a failure'}`,
        pool.name,
      );
    }
    const prices = middleOf(told);
    kept = { prices, at: now() };
    return prices;
  };
}

async function pricesOn(session: TronSession): Promise<TronPrices> {
  const answer = await session.call('wallet/getchainparameters', {});
  const list = isRecord(answer) ? answer['chainParameter'] : undefined;
  if (!Array.isArray(list)) throw new EndpointFailure('no parameters of the chain');
  const priceOf = (name: keyof TronPrices): bigint => {
    const found: unknown = list.find((one) => isRecord(one) && one['key'] === KEYS[name]);
    // A zero is left out, as everywhere.
    const value = isRecord(found) ? (found['value'] ?? 0) : undefined;
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0 || value > MOST_SUN)
      throw new EndpointFailure(`no ${KEYS[name]} among the parameters of the chain`);
    return BigInt(value);
  };
  return {
    energy: priceOf('energy'),
    byte: priceOf('byte'),
    newAccount: priceOf('newAccount'),
    newAccountBandwidth: priceOf('newAccountBandwidth'),
  };
}

function middleOf(told: readonly TronPrices[]): TronPrices {
  const of = (name: keyof TronPrices): bigint => {
    const sorted = told.map((prices) => prices[name]).toSorted((a, b) => (a < b ? -1 : Number(a > b)));
    return sorted[sorted.length >> 1] ?? 0n;
  };
  const [energy, byte, newAccount, newAccountBandwidth] = NAMES.map(of) as [bigint, bigint, bigint, bigint];
  return { energy, byte, newAccount, newAccountBandwidth };
}
