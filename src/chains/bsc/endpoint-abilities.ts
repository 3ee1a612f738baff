// What each endpoint of a pool offers and lacks, found out by asking
// it. For diagnosis: nothing of it decides how blocks are read.

import { isRecord } from '../rpc/call.ts';
import { EndpointFailure, RpcRejected } from '../rpc/errors.ts';
import type { RpcPool, RpcSession } from '../rpc/json-rpc.ts';
import type { EachResponse } from '../rpc/types.ts';
import { traceMethodOf } from './traces/method.ts';

export type Abilities = {
  readonly finalized: boolean;
  readonly blockReceipts: boolean;
  readonly batches: boolean;
  /** The method by which it shows what contracts pass on; null where it does not. */
  readonly traces: string | null;
  /** How many blocks back it told a balance, of the distances that were tried; 0 where it told none. */
  readonly balancesBack: number;
};

const ZERO = `0x${'0'.repeat(40)}`;
/** The first distance is what only an archive node answers, the second what reconciliation passes need. */
const DISTANCES = [100_000, 100] as const;

/**
 * Asks every endpoint about ten questions, also one that is left alone at the moment; no failure counts
 * against any. An endpoint that fails says why instead.
 */
export async function askAbilities(rpc: RpcPool, signal: AbortSignal): Promise<EachResponse<Abilities>[]> {
  return await rpc.each(async (session) => {
    const head = await session.call('eth_getBlockByNumber', ['latest', false]);
    const hash = isRecord(head) ? head['hash'] : undefined;
    const number = isRecord(head) ? Number.parseInt(String(head['number']), 16) : Number.NaN;
    if (typeof hash !== 'string' || !(number >= 0)) throw new EndpointFailure('no latest block');
    return {
      finalized: isRecord(await offered(session.call('eth_getBlockByNumber', ['finalized', false]))),
      blockReceipts: Array.isArray(await offered(session.call('eth_getBlockReceipts', [hash]))),
      batches: await takesBatches(session),
      traces: await traceMethodOf(session),
      balancesBack: await balancesBack(session, number),
    };
  }, signal);
}

/** What one endpoint lacks, in words for an operator; an empty list where it lacks nothing. */
export function lacksOf(abilities: Abilities): string[] {
  return [
    ...(abilities.finalized ? [] : ['the finalized block (deposits never complete through it)']),
    ...(abilities.blockReceipts ? [] : ['eth_getBlockReceipts (a call for each transaction instead)']),
    ...(abilities.batches ? [] : ['batches']),
    ...(abilities.traces === null ? ['traces (BNB from contracts is found by the hourly comparison)'] : []),
    ...(abilities.balancesBack === 0
      ? ['balances of the last hundred blocks (no comparison through it)']
      : []),
    ...(abilities.balancesBack === 100 ? ['old balances (no archive)'] : []),
  ];
}

async function balancesBack(session: RpcSession, head: number): Promise<number> {
  for (const distance of DISTANCES) {
    const block = `0x${Math.max(0, head - distance).toString(16)}`;
    if (typeof (await offered(session.call('eth_getBalance', [ZERO, block]))) === 'string') return distance;
  }
  return 0;
}

async function takesBatches(session: RpcSession): Promise<boolean> {
  await session.batch('eth_blockNumber', [[], []]);
  return session.takesBatches();
}

/**
 * The result, or undefined where the node answers that it does not offer it;
 * every other failure counts as the endpoint's.
 */
async function offered(result: Promise<unknown>): Promise<unknown> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof RpcRejected) return undefined;
    if (
      error instanceof EndpointFailure &&
      !error.throttled &&
      (error.notOffered || /^rpc error/.test(error.message))
    )
      return undefined;
    throw error;
  }
}
