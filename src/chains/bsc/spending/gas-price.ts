// What gas costs now, by the word of every endpoint that is not left alone, and what is paid for it.
import { formatUnits } from '../../../domain/money.ts';
import { EndpointFailure, RpcUnavailable } from '../../rpc/errors.ts';
import type { RpcPool } from '../../rpc/json-rpc.ts';

const WITHIN_MS = 3_000;
/** 18 BNB for one unit of gas: more is no price. */
const PRICE = /^0x[0-9a-f]{1,16}$/i;
/** Nodes replace a transaction only by one that pays this much more. */
const LEAST_BUMP_PERCENT = 10n;
const GWEI_DECIMALS = 9;

/** A price in wei, or why nothing may be sent at present. */
export type GasPrice =
  | { readonly wei: bigint; readonly refused?: undefined }
  | { readonly wei?: undefined; readonly refused: string };

/**
 * The prices that the endpoints tell, in wei; at least one. Throws RpcUnavailable where none tells it. No
 * endpoint is waited for longer than 3 s, and nothing that goes wrong counts against it.
 */
export async function askGasPrices(rpc: RpcPool, signal: AbortSignal): Promise<readonly bigint[]> {
  const answers = await rpc.each(
    async (session) => {
      const price = await session.call('eth_gasPrice', []);
      if (typeof price !== 'string' || !PRICE.test(price)) throw new EndpointFailure('no gas price');
      return BigInt(price);
    },
    signal,
    { ready: true, withinMs: WITHIN_MS },
  );
  const prices = answers.flatMap(({ value }) => (value === undefined ? [] : [value]));
  if (prices.length > 0) return prices;
  const why = answers.map(({ host, problem }) => `${host}: ${problem}`).join(', ');
  throw new RpcUnavailable(
    `no RPC endpoint of ${rpc.name} tells the gas price: ${why || 'each is left alone after a failure'}`,
    rpc.name,
  );
}

/**
 * The price that is paid, from what the endpoints told; `above` is what a transaction pays that has to be
 * outbid, in wei.
 *
 * The middle one of the answers decides, and of two middle ones the lower: a single endpoint of two or more
 * can not make anything dear. It can make it too cheap, and then nothing is mined: so what has waited in
 * vain is outbid by the higher one of the two, where that is allowed. Zero is what a node says that does not
 * know. No price is below `floorWei`, which nodes refuse.
 */
export function chooseGasPrice(
  answers: readonly bigint[],
  {
    maxWei,
    floorWei,
    above,
  }: { readonly maxWei: bigint; readonly floorWei: bigint; readonly above?: bigint | undefined },
): GasPrice {
  const known = answers.filter((wei) => wei > 0n).toSorted((a, b) => (a < b ? -1 : Number(a > b)));
  const lower = known[(known.length - 1) >> 1] ?? 1n;
  const higher = known[known.length >> 1] ?? 1n;
  const told = above !== undefined && higher <= maxWei ? higher : lower;
  const present = told < floorWei ? floorWei : told;
  if (present > maxWei) return { refused: `gas costs ${gwei(present)} gwei, ${allowed(maxWei)}` };
  const quick = atMost(withHeadroom(present), maxWei);
  if (above === undefined) return { wei: quick };
  const least = (above * (100n + LEAST_BUMP_PERCENT) + 99n) / 100n;
  if (least > maxWei)
    return {
      refused: `what waits pays ${gwei(above)} gwei, another one in its place has to pay ${gwei(least)} gwei, ${allowed(maxWei)}`,
    };
  const outbids = atMost(withHeadroom(above), maxWei);
  if (outbids > quick) return { wei: outbids };
  return { wei: quick };
}

/**
 * The least price in wei that refusals of a transaction name; undefined unless each of them names one: while
 * another endpoint is away, or refuses it for another reason, a single one could name any price.
 */
export function floorIn(refusals: readonly string[]): bigint | undefined {
  const named = refusals.flatMap((said) => {
    const wei = /\bminimum needed (\d{1,19})\b/i.exec(said)?.[1];
    return wei === undefined || !/\bunderpriced\b/i.test(said) ? [] : [BigInt(wei)];
  });
  return named.length < refusals.length ? undefined : named.toSorted((a, b) => (a < b ? -1 : 1))[0];
}

/**
 * An eighth more. It is enough to come before everybody who pays just what nodes tell, and where blocks have
 * a base fee, that rises by an eighth at most from one block to the next; on this chain it is the tenth part
 * of a cent. It is also what tools for outbidding use: above the tenth that nodes ask for, so that no
 * rounding makes it too little.
 */
const withHeadroom = (wei: bigint): bigint => wei + (wei + 7n) / 8n;

const atMost = (wei: bigint, maxWei: bigint): bigint => (wei < maxWei ? wei : maxWei);
const gwei = (wei: bigint): string => formatUnits(wei, GWEI_DECIMALS);
const allowed = (maxWei: bigint): string =>
  `and at most ${gwei(maxWei)} gwei are paid: it goes by itself once gas is cheaper, or at once with a higher BSC_MAX_GAS_PRICE_GWEI`;
