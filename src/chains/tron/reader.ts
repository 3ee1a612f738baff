// Tron as a ChainReader, over the HTTP API of its full nodes.
import { assetOf } from '../../domain/assets.ts';
import { sameChain } from '../identity.ts';
import type { FinalPace } from '../pace.ts';
import type { BlockRef, ChainReader, HeightView, NamedBlock } from '../reader.ts';
import { isRecord } from '../rpc/call.ts';
import { ChainMismatch, EndpointFailure, RpcRejected, RpcUnavailable } from '../rpc/errors.ts';
import { createSecondFinal } from '../rpc/second-final.ts';
import { TRON_ADDRESSES } from './addresses.ts';
import { isNothing, readTronHeader } from './block/header.ts';
import { callTronContract } from './contract-call.ts';
import type { Genesis } from './genesis.ts';
import { TRON_PACE } from './pace.ts';
import type { TronPool, TronSession } from './protocol.ts';
import { currentBalancesOn, requestsForBalances } from './reads/balances.ts';
import { type Bodies, createBodies } from './reads/bodies.ts';
import { createLateInfos } from './reads/late-infos.ts';
import { createTronScans } from './reads/scan.ts';
import { createShownInternals } from './reads/shown-internals.ts';

export type TronReaderOptions = {
  readonly pool: TronPool;
  readonly genesis: Genesis;
  /** The USDT contract in base58. */
  readonly usdtContract: string;
  /**
   * Whether every block is read a second time. Where the day's requests do not allow that, only
   * blocks that touch us are.
   */
  readonly readsAllAgain: boolean;
  /** How many requests may be spent now on what is not following the chain. */
  readonly spareRequests: () => number;
  /** How many blocks a search may read; see `ReaderPace`. */
  readonly searchBlocks?: number | undefined;
  /** When it is asked what is final; see `ReaderPace`. */
  readonly final?: FinalPace | undefined;
  /** How many transfers that are never credited one block may record; spam tokens arrive by the thousand. */
  readonly unrecognisedLimit?: number | undefined;
  /** Called with what the reader finds out about endpoints; names hosts only. */
  readonly report?: ((message: string) => void) | undefined;
  /** The clock in milliseconds; unset means the process's own. */
  readonly now?: (() => number) | undefined;
};

/** Makes a reader for Tron over a pool of endpoints. Throws a sentence when the contract is no address. */
export function createTronReader(options: TronReaderOptions): ChainReader {
  const { pool, genesis, readsAllAgain, report, now = () => performance.now() } = options;
  const token = TRON_ADDRESSES.key(options.usdtContract);
  const bodies = createBodies(now);
  const secondFinal = createSecondFinal({
    pool,
    ask: (session, which) => namedOn(session, which),
    now,
    report,
  });
  /** The final block that was named last; undefined until one was asked for. */
  let finalNumber: number | undefined;
  const scans = createTronScans({
    pool,
    rules: { token, unrecognisedLimit: options.unrecognisedLimit ?? 1_000 },
    bodies,
    internals: createShownInternals(now),
    late: createLateInfos(now),
    finalHeight: async (session) => {
      // Where none is named this is below every block, and the next read asks again. Another question may
      // have been answered meanwhile.
      const named = finalNumber === undefined ? await namedOn(session, 'final') : undefined;
      finalNumber ??= named?.number;
      return finalNumber ?? -1;
    },
    report,
  });

  return {
    network: 'tron',
    pace: {
      ...TRON_PACE,
      searchBlocks: options.searchBlocks ?? TRON_PACE.searchBlocks,
      final: options.final ?? TRON_PACE.final,
    },
    endpoints: pool.status().length,
    head: async (signal) => there(await pool.run((session) => headOn(session, bodies), signal), 'newest'),
    finalized: async (signal) => {
      const seen = await pool.run(async (session) => {
        const block = await namedOn(session, 'final');
        return block && { block, endpoint: session.endpoint };
      }, signal);
      const { block, endpoint } = there(seen, 'solidified');
      const final = await secondFinal.beside(block, endpoint, signal);
      finalNumber = final.number;
      return final;
    },
    header: (number, signal) => pool.run((session) => headerOn(session, number), signal),
    views: (number, signal) => pool.all((session) => viewOn(session, number), signal),
    scan: scans.scan,
    readings: scans.readings,
    confirm: readsAllAgain ? scans.confirm : async () => true,
    currentBalances: async (addresses, signal) =>
      options.spareRequests() < requestsForBalances(addresses.length)
        ? undefined
        : await pool.run((session) => currentBalancesOn(session, addresses, token), signal),
    locate: async (txHash, signal) => {
      // Every endpoint is asked, because "nobody has it" can end in
      // a deposit being called orphaned, and one node may just lag.
      const places = await pool.all((session) => locateOn(session, txHash), signal);
      return places.find((place) => place !== undefined);
    },
    checkIdentity: async (signal, known) => {
      if (known !== undefined) genesis.expect(known);
      await pool.checkChain(signal);
      await checkDecimals(pool, options.usdtContract, signal);
      return sameChain('tron', there(genesis.id(), 'first'), known);
    },
  };
}

function there<T>(seen: T | undefined, which: string): T {
  if (seen === undefined) throw new RpcUnavailable(`no endpoint of tron has a ${which} block yet`, 'tron');
  return seen;
}

/** The head with its body in one answer, which is kept for the scan of that block. */
async function headOn(session: TronSession, bodies: Bodies): Promise<NamedBlock | undefined> {
  const block = await session.call('wallet/getblock', { detail: true });
  const ref = readTronHeader(block);
  if (!ref) return undefined;
  session.sawHead(ref.number);
  bodies.keepHead(ref.number, block);
  return { ...ref, host: session.host };
}

async function namedOn(session: TronSession, which: 'newest' | 'final'): Promise<NamedBlock | undefined> {
  const block =
    which === 'final'
      ? await session.solidity('walletsolidity/getnowblock', {})
      : await session.call('wallet/getblock', { detail: false });
  const ref = readTronHeader(block);
  if (ref && which === 'newest') session.sawHead(ref.number);
  return ref && { ...ref, host: session.host };
}

async function headerOn(session: TronSession, number: number): Promise<BlockRef | undefined> {
  const block = await session.call('wallet/getblock', { id_or_num: String(number), detail: false });
  return readTronHeader(block, number);
}

async function viewOn(session: TronSession, number: number): Promise<HeightView> {
  const block = await headerOn(session, number);
  // The head is asked for afterwards, so that a head that arrives in between cannot make a
  // block above it look like one that is not there.
  const named = await namedOn(session, 'newest');
  if (!named) throw new EndpointFailure('no newest block');
  const { host, ...head } = named;
  const solid = await namedOn(session, 'final').catch((error: unknown) => {
    if (error instanceof EndpointFailure && error.notOffered) return undefined;
    throw error;
  });
  return {
    host,
    head,
    finalized: solid ? withoutHost(solid) : null,
    block: block ?? (number > head.number ? 'above its head' : 'not there'),
  };
}

const withoutHost = ({ number, hash, parentHash, timestampMs }: NamedBlock): BlockRef => ({
  number,
  hash,
  parentHash,
  timestampMs,
});

/** An info exists only of a transaction in a block; `gettransactionbyid` tells of pending ones too. */
async function locateOn(
  session: TronSession,
  txHash: string,
): Promise<{ blockNumber: number; blockHash: string } | undefined> {
  const info = await session.call('wallet/gettransactioninfobyid', { value: txHash });
  if (isNothing(info)) return undefined;
  const blockNumber = isRecord(info) ? info['blockNumber'] : undefined;
  if (typeof blockNumber !== 'number' || !Number.isSafeInteger(blockNumber) || blockNumber < 0)
    throw new EndpointFailure('an info without its block');
  const block = await headerOn(session, blockNumber);
  if (!block) throw new EndpointFailure(`an info of block ${blockNumber}, which is not there`);
  return { blockNumber, blockHash: block.hash };
}

async function checkDecimals(pool: TronPool, usdtContract: string, signal: AbortSignal): Promise<void> {
  const expected = assetOf('tron', 'USDT').decimals;
  const contract = TRON_ADDRESSES.key(usdtContract);
  let answer: string | undefined;
  try {
    answer = await pool.run(
      (session) => callTronContract(session, { contract, method: 'decimals()' }),
      signal,
    );
  } catch (error) {
    if (!(error instanceof RpcRejected)) throw error;
    throw new ChainMismatch(
      `the USDT contract ${usdtContract} on tron refuses decimals(): correct TRON_USDT_CONTRACT`,
    );
  }
  if (answer === undefined || !/^0x[0-9a-f]{64}$/.test(answer))
    throw new ChainMismatch(
      `there is no token contract at ${usdtContract} on tron: correct TRON_USDT_CONTRACT or TRON_API_URLS`,
    );
  if (BigInt(answer) !== BigInt(expected))
    throw new ChainMismatch(
      `the USDT contract ${usdtContract} on tron has ${BigInt(answer)} decimals, not ${expected}: correct TRON_USDT_CONTRACT`,
    );
}
