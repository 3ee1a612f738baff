// BNB Chain (and any EVM node that speaks the same JSON-RPC) as a ChainReader.
import { assetOf } from '../../domain/assets.ts';
import { sameChain } from '../identity.ts';
import type { BlockRef, ChainReader, HeightView, NamedBlock } from '../reader.ts';
import { isRecord } from '../rpc/call.ts';
import { ChainMismatch, EndpointFailure, RpcRejected, RpcUnavailable } from '../rpc/errors.ts';
import { readHash, readQuantity, toQuantity } from '../rpc/hex.ts';
import type { RpcPool, RpcSession } from '../rpc/json-rpc.ts';
import { createSecondFinal } from '../rpc/second-final.ts';
import { balancesOn, createMulticallCache } from './balances.ts';
import { bscToken } from './block.ts';
import { ethCallOn } from './contract-call.ts';
import { BSC_PACE } from './pace.ts';
import { createReceiptReader } from './receipts.ts';
import { createScans } from './scan.ts';
import { readBlockRef } from './sent-block.ts';
import { createMissedTraces } from './traces/missed-traces.ts';
import { createTracer, type Tracer } from './traces/tracer.ts';

export type BscReaderOptions = {
  readonly rpc: RpcPool;
  /** 0x address of the USDT contract, any case. */
  readonly usdtContract: string;
  /** How many transfers that are never credited one block may record; spam tokens arrive by the thousand. */
  readonly unrecognisedLimit?: number | undefined;
  /** Reads internal transfers where an endpoint shows them; false never asks for traces. */
  readonly tracer?: Tracer | false | undefined;
  /** Called with what the tracer finds out about endpoints; names hosts only. */
  readonly report?: ((message: string) => void) | undefined;
  /** Milliseconds of a clock that only goes forward. */
  readonly now?: (() => number) | undefined;
};

const DECIMALS_CALL = '0x313ce567';

/**
 * Makes a reader for BNB Chain over a pool of endpoints. A block that is final, or read by a command,
 * gets its trace from another endpoint where its own gives none: that read decides what the block holds.
 * A block at the head does not: every plain deposit in it would wait for the slowest endpoint, which may
 * not even have the block yet, just to show a rare internal transfer a second or two before finality
 * does. Throws a sentence when the contract is no address.
 */
export function createBscReader(options: BscReaderOptions): ChainReader {
  if (!/^0x[0-9a-fA-F]{40}$/.test(options.usdtContract))
    throw new Error('the USDT contract on bsc must be 0x and 40 hex digits');
  const { rpc, now = () => performance.now() } = options;
  const token = bscToken(options.usdtContract.toLowerCase());
  const tracer =
    options.tracer === false ? undefined : (options.tracer ?? createTracer({ report: options.report }));
  const missed = createMissedTraces({ now, report: options.report });
  const multicall = createMulticallCache();
  const secondFinal = createSecondFinal({
    pool: rpc,
    ask: (session, which) => namedOn(session, which === 'final' ? 'finalized' : 'latest'),
    now,
    report: options.report,
  });
  /**
   * The final block that was named last; undefined until one was asked for, as
   * in commands that read old blocks only.
   */
  let finalNumber: number | undefined;
  const scans = createScans({
    rpc,
    rules: { token, chainId: rpc.chainId, unrecognisedLimit: options.unrecognisedLimit ?? 1_000 },
    receipts: createReceiptReader({ report: options.report }),
    tracer,
    missed,
    insistsOn: (number) => finalNumber === undefined || number <= finalNumber,
  });

  return {
    network: 'bsc',
    pace: BSC_PACE,
    endpoints: rpc.status().length,
    head: async (signal) => (await tagged(rpc, 'latest', signal)).block,
    finalized: async (signal) => {
      const { block, endpoint } = await tagged(rpc, 'finalized', signal);
      const final = await secondFinal.beside(block, endpoint, signal);
      finalNumber = final.number;
      return final;
    },
    header: (number, signal) => rpc.run((session) => headerOn(session, number), signal),
    views: (number, signal) => rpc.all((session) => viewOn(session, number), signal),
    scan: scans.scan,
    balances: (addresses, number, signal) =>
      rpc.run(
        (session) => balancesOn(session, { addresses, number, token: token.contract, multicall }),
        signal,
      ),
    traceTransaction: scans.traceTransaction,
    readings: scans.readings,
    ...(tracer ? { missedTraces: missed } : {}),
    locate: async (txHash, signal) => {
      // Every endpoint is asked, because "nobody has it" can end in
      // a deposit being called orphaned, and one node may just lag.
      const places = await rpc.all((session) => locateOn(session, txHash), signal);
      return places.find((place) => place !== undefined);
    },
    checkIdentity: async (signal, known) => {
      await rpc.checkChain(signal);
      await checkDecimals(rpc, options.usdtContract, signal);
      return sameChain('bsc', await chainIdOf(rpc, signal), known);
    },
  };
}

async function tagged(rpc: RpcPool, tag: 'latest' | 'finalized', signal: AbortSignal) {
  const seen = await rpc.run(async (session) => {
    const block = await namedOn(session, tag);
    return block && { block, endpoint: session.endpoint };
  }, signal);
  if (!seen) throw new RpcUnavailable(`no RPC endpoint of ${rpc.name} has a ${tag} block yet`, rpc.name);
  return seen;
}

async function namedOn(session: RpcSession, tag: 'latest' | 'finalized'): Promise<NamedBlock | undefined> {
  const seen = await taggedOn(session, tag);
  return seen && { ...seen, host: session.host };
}

async function taggedOn(session: RpcSession, tag: 'latest' | 'finalized'): Promise<BlockRef | undefined> {
  const block = await session.call('eth_getBlockByNumber', [tag, false]);
  if (block === null) return undefined;
  const seen = readBlockRef(block);
  if (tag === 'latest') session.sawHead(seen.number);
  return seen;
}

async function headerOn(session: RpcSession, number: number): Promise<BlockRef | undefined> {
  const block = await session.call('eth_getBlockByNumber', [toQuantity(number), false]);
  return block === null ? undefined : readBlockRef(block, number);
}

async function viewOn(session: RpcSession, number: number): Promise<HeightView> {
  const block = await headerOn(session, number);
  // The head is asked for afterwards, so that a head that arrives in between cannot make a
  // block above it look like one that is not there.
  const head = await taggedOn(session, 'latest');
  if (!head) throw new EndpointFailure('no latest block');
  const finalized = await taggedOn(session, 'finalized').catch((error: unknown) => {
    if (error instanceof EndpointFailure && /^rpc error/.test(error.message)) return undefined;
    throw error;
  });
  return {
    host: session.host,
    head,
    finalized: finalized ?? null,
    block: block ?? (number > head.number ? 'above its head' : 'not there'),
  };
}

async function locateOn(
  session: RpcSession,
  txHash: string,
): Promise<{ blockNumber: number; blockHash: string } | undefined> {
  const receipt = await session.call('eth_getTransactionReceipt', [txHash]);
  if (receipt === null) return undefined;
  const blockNumber = isRecord(receipt) ? readQuantity(receipt['blockNumber']) : undefined;
  const blockHash = isRecord(receipt) ? readHash(receipt['blockHash']) : undefined;
  if (blockNumber === undefined || blockHash === undefined)
    throw new EndpointFailure('a receipt without its block');
  return { blockNumber, blockHash };
}

/** The chain id in decimal digits: every endpoint in use has proven that it is the configured one. */
async function chainIdOf(rpc: RpcPool, signal: AbortSignal): Promise<string> {
  const answer = await rpc.run((session) => session.call('eth_chainId', []), signal);
  return BigInt(String(answer)).toString();
}

async function checkDecimals(rpc: RpcPool, contract: string, signal: AbortSignal): Promise<void> {
  const expected = assetOf('bsc', 'USDT').decimals;
  let answer: string;
  try {
    answer =
      (await rpc.run((session) => ethCallOn(session, { to: contract, data: DECIMALS_CALL }), signal)) ?? '0x';
  } catch (error) {
    if (!(error instanceof RpcRejected)) throw error;
    throw new ChainMismatch(
      `the USDT contract ${contract} on bsc refuses decimals(): correct BSC_USDT_CONTRACT`,
    );
  }
  if (!/^0x[0-9a-f]{64}$/i.test(answer))
    throw new ChainMismatch(
      `there is no token contract at ${contract} on bsc: correct BSC_USDT_CONTRACT or BSC_RPC_URLS`,
    );
  if (BigInt(answer) !== BigInt(expected)) {
    throw new ChainMismatch(
      `the USDT contract ${contract} on bsc has ${BigInt(answer)} decimals, not ${expected}: correct BSC_USDT_CONTRACT`,
    );
  }
}
