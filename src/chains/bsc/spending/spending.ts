// The sending side of BNB Chain, over the endpoints that also show its blocks. The reading of blocks
// is not slowed down: no endpoint is left alone for what it did here, and none is waited for.
import { keccak256 } from 'ethers';
import { formatUnits } from '../../../domain/money.ts';
import { isTaken, TAKES } from '../../../domain/payouts/taken.ts';
import { hexAddress } from '../../address-key.ts';
import { readHash, toQuantity } from '../../rpc/hex.ts';
import type { RpcPool, RpcSession } from '../../rpc/json-rpc.ts';
import { type Outcome, outcomesOf } from '../../rpc/outcomes.ts';
import type { Outcomes, Quote, Sought, Spending, SpendOrder, SpendRefusal } from '../../spending.ts';
import { tokenTransferData } from '../../transfer.ts';
import { createReceiptReader, type ReceiptReader } from '../receipts.ts';
import { hasSucceeded, readBlockRef } from '../sent-block.ts';
import type { BscSettings } from '../settings.ts';
import { LEAST_GAS } from '../transfer.ts';
import { askGasPrices, chooseGasPrice, floorIn } from './gas-price.ts';
import { type Attempt, tryTransfer } from './trial.ts';

/**
 * Some thirty blocks. What is in none of them was perhaps lost on the way, and sending the same bytes again
 * costs nothing.
 */
const RESEND_MS = 15_000;
/** Some 130 blocks: by then it is the price, or an endpoint that keeps what it gets for itself. */
const OUTBID_MS = 60_000;
/** Two blocks: the headroom over a price is for what it rises in them. */
const PRICE_MS = 900;
const BROADCAST_WITHIN_MS = 5_000;
const DECIMALS = 18;

/** What a node wants at least is asked for again after this time: it may be less by then. */
const FLOOR_MS = 60 * 60_000;

type Limits = Pick<BscSettings, 'usdtContract' | 'maxGasPriceWei' | 'minGasPriceWei' | 'maxGasLimit'>;

/**
 * Quotes and broadcasts on BNB Chain; see {@link Spending}. What endpoints say of the gas price counts for
 * all quotes of two blocks, but for one that has to outbid. What all of them name as the least, where they
 * refuse something, counts for an hour. `now` is any steady clock, in milliseconds.
 */
export function createBscSpending(rpc: RpcPool, limits: Limits, now = () => performance.now()): Spending {
  const receipts = createReceiptReader();
  let known: { readonly told: readonly bigint[]; readonly atMs: number } | undefined;
  const pricesAt = async (anew: boolean, signal: AbortSignal): Promise<readonly bigint[]> => {
    const atMs = now();
    if (!anew && known && atMs - known.atMs < PRICE_MS) return known.told;
    known = { told: await askGasPrices(rpc, signal), atMs };
    return known.told;
  };
  let floor: { readonly wei: bigint; readonly atMs: number } | undefined;
  const floorWei = (): bigint => {
    const named = floor && now() - floor.atMs < FLOOR_MS ? floor.wei : 0n;
    const least =
      limits.minGasPriceWei < limits.maxGasPriceWei ? limits.minGasPriceWei : limits.maxGasPriceWei;
    return named > least ? named : least;
  };
  return {
    quote: async (order, { above, careful = false }, signal) => {
      const maxWei = limits.maxGasPriceWei;
      const told = await pricesAt(above !== undefined, signal);
      const price = chooseGasPrice(told, {
        maxWei,
        floorWei: floorWei(),
        above: above && priceIn(above),
      });
      if (price.refused !== undefined) return refused('gas_price', price.refused);
      return await quoteAt(price.wei, { rpc, limits, order, careful, signal });
    },
    broadcast: async (raw, signal) => {
      const said = await broadcast(rpc, raw, signal);
      const wei = isTaken(said) ? undefined : floorIn(said);
      if (wei !== undefined) floor = { wei, atMs: now() };
      return said;
    },
    outcomes: (hash, sought, signal) => outcomes({ rpc, receipts }, hash, sought, signal),
    resendMs: RESEND_MS,
    outbidMs: OUTBID_MS,
    topUpMarginPercent: 30n,
    finalLookMs: 500,
    shortLookMs: 30_000,
  };
}

type Asked = { readonly rpc: RpcPool; readonly receipts: ReceiptReader };
type Question = {
  readonly rpc: RpcPool;
  readonly limits: Limits;
  readonly order: SpendOrder;
  readonly careful: boolean;
  readonly signal: AbortSignal;
};

async function quoteAt(wei: bigint, { rpc, limits, order, careful, signal }: Question): Promise<Quote> {
  const isNative = order.kind === 'native';
  const worthless = (feeUnits: bigint): Quote =>
    refused(
      'worthless',
      `sending ${coins(order.units)} BNB costs ${coins(feeUnits)} BNB of it: it goes with the next deposit of the address, or when gas is cheaper`,
    );
  const leastFee = LEAST_GAS * wei;
  if (isNative && order.units <= leastFee) return worthless(leastFee);
  const attempt = attemptOf(order, limits, order.units - leastFee);
  const trial = await tryTransfer(rpc, attempt, { careful, signal });
  if (trial.refused !== undefined) {
    const who = isNative ? `the receiver ${hexAddress(order.to)}` : 'the token';
    return refused('refuses', `${who} refuses the transfer: ${trial.refused}`);
  }
  const { gas, nonce } = trial;
  if (gas > limits.maxGasLimit)
    return refused(
      'refuses',
      `the transfer takes up to ${gas} gas, and one may use ${limits.maxGasLimit}: raise BSC_MAX_GAS_LIMIT if that is right`,
    );
  const mostUnits = gas * wei;
  if (isNative && order.units <= mostUnits) return worthless(mostUnits);
  return {
    kind: 'terms',
    terms: {
      gas_limit: gas.toString(),
      gas_price: wei.toString(),
      ...(nonce === undefined ? {} : { nonce }),
    },
    units: isNative ? order.units - mostUnits : order.units,
    mostUnits,
  };
}

function attemptOf({ from, to, kind, units }: SpendOrder, limits: Limits, value: bigint): Attempt {
  if (kind === 'native')
    return { from: hexAddress(from), to: hexAddress(to), value: `0x${value.toString(16)}`, data: '0x' };
  const token = limits.usdtContract.toLowerCase();
  return { from: hexAddress(from), to: token, value: '0x0', data: `0x${tokenTransferData(to, units)}` };
}

/** Throws where these are no terms of this chain: they were signed once, so somebody changed them. */
function priceIn({ gas_price }: Readonly<Record<string, string | number>>): bigint {
  if (typeof gas_price !== 'string' || !/^[1-9][0-9]{0,29}$/.test(gas_price))
    throw new Error('the terms that are to be outbid name no gas price');
  return BigInt(gas_price);
}

async function broadcast(rpc: RpcPool, raw: Uint8Array, signal: AbortSignal): Promise<readonly string[]> {
  const bytes = `0x${Buffer.from(raw).toString('hex')}`;
  const hash = keccak256(raw);
  const answers = await rpc.each(
    async (session) => {
      const answer = await session.call('eth_sendRawTransaction', [bytes]);
      return answer === hash ? TAKES : 'answers with something else than its hash';
    },
    signal,
    { withinMs: BROADCAST_WITHIN_MS },
  );
  return answers.map(({ host, value, problem }) => `${host}: ${value ?? withoutBytes(problem ?? '')}`);
}

async function outcomes(
  { rpc, receipts }: Asked,
  hash: string,
  sought: Sought,
  signal: AbortSignal,
): Promise<Outcomes> {
  const answers = await rpc.each((session) => outcomeOn(session, receipts, hash, sought), signal, {
    withinMs: BROADCAST_WITHIN_MS,
  });
  return outcomesOf(answers);
}

/** Here a place in the wallet's order ends a transaction, and never its time. */
async function outcomeOn(
  session: RpcSession,
  receipts: ReceiptReader,
  hash: string,
  sought: Sought,
): Promise<Outcome> {
  if (sought instanceof Date) return 'unknown';
  const block = await session.call('eth_getBlockByNumber', [toQuantity(sought.number), false]);
  if (block === null) return 'unknown';
  const { hash: shown } = readBlockRef(block, sought.number);
  const { transactions = [] } = block as { readonly transactions?: readonly unknown[] };
  if (shown !== sought.hash || !transactions.some((one) => readHash(one) === hash)) return 'absent';
  const list = await receipts.read(session, { hash: shown, transactions: [{ hash }] });
  const receipt = (Array.isArray(list) ? list : []).find((one) => readHash(one?.transactionHash) === hash);
  if (!receipt || readHash(receipt.blockHash) !== shown) return 'held';
  return hasSucceeded(receipt) ? 'succeeded' : 'failed';
}

/** Some nodes repeat what they were sent. */
const withoutBytes = (text: string): string => text.replace(/[0-9a-f]{65,}/gi, '***');

const refused = (code: SpendRefusal, reason: string): Quote => ({ kind: 'refused', code, reason });
const coins = (units: bigint): string => formatUnits(units, DECIMALS);
