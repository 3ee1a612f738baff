// The sending side of Tron, over the endpoints that also show its blocks.
import { formatUnits } from '../../../domain/money.ts';
import { TAKES } from '../../../domain/payouts/taken.ts';
import { isRecord } from '../../rpc/call.ts';
import { EndpointFailure } from '../../rpc/errors.ts';
import { type Outcome, outcomesOf } from '../../rpc/outcomes.ts';
import type { Outcomes, Quote, Sought, Spending, SpendOrder, SpendRefusal } from '../../spending.ts';
import { TRON_ADDRESSES } from '../addresses.ts';
import { readTronHeader } from '../block/header.ts';
import { hasSucceeded, readTransaction, transactionsOf } from '../block/sent-block.ts';
import type { TronPool, TronSession } from '../protocol.ts';
import type { TronSettings } from '../settings.ts';
import { bytesOfTransfer } from '../transfer/transfer.ts';
import { bandwidthOn, type Receiver, receiverOn, referenceOn } from './accounts.ts';
import { createTronLending } from './lending.ts';
import { termsAt } from './life.ts';
import { createTronPrices, type TronPrices } from './prices.ts';
import { tryTransfer } from './trial.ts';

/** Ten blocks. Sending the same bytes again changes nothing, and each endpoint counts it as a request. */
const RESEND_MS = 30_000;
const BROADCAST_WITHIN_MS = 5_000;
/** What a quote and the balances beside it take of a day's requests, of the dearer kind. */
const REQUESTS = 16;
/** What looking at a loan takes beside, of two endpoints. */
const LENDING_REQUESTS = 12;
const DECIMALS = 6;
/**
 * More energy than the trial took, in percent: the factor for contracts that are called often changes every
 * six hours. What is not used is not burnt.
 */
const ENERGY_MARGIN = 20n;
/**
 * And at least so much more energy: a trial that empties the sender's balance may be cheaper than a transfer
 * from an address to which another deposit has come meanwhile.
 */
const LEAST_MARGIN = 5_000n;

type Limits = Pick<TronSettings, 'usdtContract' | 'maxFeeLimitSun'> & Partial<Pick<TronSettings, 'energy'>>;

export type TronSpendingOptions = {
  readonly pool: TronPool;
  readonly limits: Limits;
  /** How many requests may be spent now on what is not following the chain. */
  readonly spareRequests: () => number;
  /** How soon it is worth asking again for what is missing; see `Spending`. */
  readonly shortLookMs: number;
  /** The date in milliseconds since 1970; unset means the process's own. */
  readonly date?: (() => number) | undefined;
};

/**
 * Quotes and broadcasts on Tron; see {@link Spending}. Nothing has a place in an order there: a transaction
 * ends by its time, and is never outbid.
 */
export function createTronSpending(options: TronSpendingOptions): Spending {
  const { pool, limits, spareRequests, shortLookMs, date = Date.now } = options;
  const token = TRON_ADDRESSES.key(limits.usdtContract);
  const lends = limits.energy === 'delegate';
  const prices = createTronPrices(pool);
  const least = createLeast(date, shortLookMs);
  return {
    quote: async (order, { careful = false }, signal) => {
      if (spareRequests() < REQUESTS + (lends ? LENDING_REQUESTS : 0))
        return refused(
          'requests',
          "the day's requests are needed for reading the chain: it goes on by itself, or at once with a higher TRON_REQUESTS_PER_DAY where the key allows more",
        );
      const trying = { careful, signal };
      const energy = order.kind === 'token' ? await tried(pool, { ...order, token }, trying) : 0n;
      if (typeof energy !== 'bigint') return energy;
      const known = await prices(careful && order.kind === 'token', signal);
      if (order.kind === 'token') least.saw(energy * known.energy);
      const seen = await pool.aside((session) => lookOn(session, order), signal);
      return quoteOf({ order, token, limits, energy, prices: known, seen, careful, nowMs: date() });
    },
    broadcast: (raw, signal) => broadcast(pool, raw, signal),
    outcomes: (hash, sought, signal) => outcomes(pool, hash, sought, signal),
    resendMs: RESEND_MS,
    outbidMs: Number.POSITIVE_INFINITY,
    topUpMarginPercent: 10n,
    finalLookMs: 3_000,
    shortLookMs,
    // What is lent is not paid for.
    leastTokenCost: () => (lends ? undefined : least.known()),
    lending: createTronLending({ pool, token, prices, date }),
    lends,
  };
}

/**
 * The least of what was seen, for so long: whoever asks after that finds out anew, because what one endpoint
 * overstates would otherwise hold back everybody who could show that it is not so.
 */
function createLeast(
  date: () => number,
  holdsMs: number,
): { saw(units: bigint): void; known(): bigint | undefined } {
  let least: { readonly units: bigint; readonly until: number } | undefined;
  const known = (): bigint | undefined => (least && least.until > date() ? least.units : undefined);
  return {
    known,
    saw: (units) => {
      const before = known();
      if (before === undefined || units < before) least = { units, until: date() + holdsMs };
    },
  };
}

/** The energy that a transfer of the token takes, or why it is not to be sent. */
async function tried(
  pool: TronPool,
  attempt: Parameters<typeof tryTransfer>[1],
  trying: Parameters<typeof tryTransfer>[2],
): Promise<bigint | Quote> {
  const trial = await tryTransfer(pool, attempt, trying);
  if (trial.refused === undefined) return trial.energy;
  return refused('refuses', `the token refuses the transfer: ${trial.refused}`);
}

type Seen = {
  readonly receiver: Receiver;
  readonly bandwidth: Awaited<ReturnType<typeof bandwidthOn>>;
  readonly reference: Awaited<ReturnType<typeof referenceOn>>;
};

/** Everything of one node, so that it fits together. */
async function lookOn(session: TronSession, { kind, from, to }: SpendOrder): Promise<Seen> {
  return {
    reference: await referenceOn(session),
    receiver: kind === 'native' ? await receiverOn(session, to) : 'account',
    bandwidth: await bandwidthOn(session, from),
  };
}

type Costs = {
  readonly order: SpendOrder;
  readonly token: ReturnType<typeof TRON_ADDRESSES.key>;
  readonly limits: Limits;
  readonly energy: bigint;
  readonly prices: TronPrices;
  readonly seen: Seen;
  readonly careful: boolean;
  readonly nowMs: number;
};

function quoteOf({ order, token, limits, energy, prices, seen, careful, nowMs }: Costs): Quote {
  const { kind, from, to, units } = order;
  const isNative = kind === 'native';
  if (isNative && seen.receiver === 'contract')
    return refused(
      'refuses',
      `${TRON_ADDRESSES.format(to)} is a contract, and the chain takes no TRX for one`,
    );
  const feeLimit = (energy + marginOf(energy)) * prices.energy;
  if (feeLimit > limits.maxFeeLimitSun)
    return refused(
      'refuses',
      `the transfer burns up to ${coins(feeLimit)} TRX for energy, and one may burn ${coins(limits.maxFeeLimitSun)} TRX: raise TRON_MAX_FEE_LIMIT if that is right`,
    );
  const { reference, bandwidth, receiver } = seen;
  const terms = termsAt(reference, nowMs, feeLimit);
  const bytes = bytesOfTransfer(token, { from, to, kind, units, nonce: null }, terms);
  const isFree = bandwidth.free >= bytes || bandwidth.staked >= bytes;
  const isNew = receiver === 'unknown';
  // The coins for a token's transfer are counted with its bytes: what its address has free today it may
  // have used until the coins are there, and what is not burnt stays for the next one.
  const forBytes = isNative && isFree && !careful ? 0n : BigInt(bytes) * prices.byte;
  const forAccount =
    prices.newAccount + (bandwidth.staked >= bytes && !careful ? 0n : prices.newAccountBandwidth);
  const mostUnits = feeLimit + (isNew ? forAccount : forBytes);
  if (isNative && units <= mostUnits)
    return refused(
      'worthless',
      `sending ${coins(units)} TRX costs ${coins(mostUnits)} TRX of it: it goes with the next deposit of the address`,
    );
  return { kind: 'terms', terms, units: isNative ? units - mostUnits : units, mostUnits };
}

async function broadcast(pool: TronPool, raw: Uint8Array, signal: AbortSignal): Promise<readonly string[]> {
  const transaction = Buffer.from(raw).toString('hex');
  const answers = await pool.each(
    async (session) => {
      const answer = await session.call('wallet/broadcasthex', { transaction });
      const { result, code, message } = isRecord(answer) ? answer : {};
      if (result === true) return TAKES;
      const words = typeof message === 'string' ? Buffer.from(message, 'hex').toString('utf8') : '';
      return session.hide(`does not take it: ${typeof code === 'string' ? code : 'no code'} ${words}`);
    },
    signal,
    { withinMs: BROADCAST_WITHIN_MS },
  );
  return answers.map(({ host, value, problem }) => `${host}: ${value ?? problem}`);
}

/** Of final blocks alone: the newest view also tells of what is in no block yet. */
async function outcomes(
  pool: TronPool,
  hash: string,
  sought: Sought,
  signal: AbortSignal,
): Promise<Outcomes> {
  const ask = sought instanceof Date ? outcomeBy : outcomeIn;
  const answers = await pool.each((session) => ask(session, hash, sought as Date & InBlock), signal, {
    withinMs: BROADCAST_WITHIN_MS,
  });
  return outcomesOf(answers);
}

type InBlock = Exclude<Sought, Date>;

async function outcomeIn(
  session: TronSession,
  hash: string,
  { number, hash: id }: InBlock,
): Promise<Outcome> {
  const block = await session.solidity('walletsolidity/getblockbynum', { num: number });
  const ref = readTronHeader(block, number);
  if (!ref) return 'unknown';
  const sent = transactionsOf(ref, block).map(readTransaction);
  const found = ref.hash === id ? sent.find((one) => one.id === hash) : undefined;
  if (!found) return 'absent';
  return hasSucceeded(found) ? 'succeeded' : 'failed';
}

async function outcomeBy(session: TronSession, hash: string, endedAt: Date): Promise<Outcome> {
  // What is final is asked first: a block that becomes final in between is in the second answer.
  const final = await referenceOn(session);
  const info = await session.solidity('walletsolidity/gettransactioninfobyid', { value: hash });
  const { id, result, receipt } = isRecord(info) ? info : {};
  if (id === undefined) return final.timestampMs >= endedAt.getTime() ? 'absent' : 'unknown';
  if (id !== hash) throw new EndpointFailure('the info of another transaction');
  const said = isRecord(receipt) ? receipt['result'] : undefined;
  return result === 'FAILED' || (said !== undefined && said !== 'SUCCESS') ? 'failed' : 'succeeded';
}

/** Nothing for what runs no code. */
function marginOf(energy: bigint): bigint {
  const share = (energy * ENERGY_MARGIN + 99n) / 100n;
  return energy === 0n || share > LEAST_MARGIN ? share : LEAST_MARGIN;
}

const refused = (code: SpendRefusal, reason: string): Quote => ({ kind: 'refused', code, reason });
const coins = (sun: bigint): string => formatUnits(sun, DECIMALS);
