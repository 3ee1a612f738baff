import { id } from 'ethers';
import type { CallContract } from '../chain.ts';
import { EndpointFailure } from '../rpc/errors.ts';
import type { RpcPool, RpcSession } from '../rpc/json-rpc.ts';

export type ContractCall = { readonly to: string; readonly data: string };

/** Shorter than for a block: a price is not worth a long wait. */
const ASIDE_LIMITS = { timeoutMs: 3_000 } as const;
/** 0x and the 4 bytes that name a method. */
const SELECTOR_CHARACTERS = 10;

/** Calls contracts through a pool of endpoints, each for 3 s at most; see {@link CallContract}. */
export function callContractOver(rpc: RpcPool): CallContract {
  return ({ to, method }, signal) => {
    const call = { to, data: id(method).slice(0, SELECTOR_CHARACTERS) };
    return rpc.aside((session) => ethCallOn(session, call, ASIDE_LIMITS), signal);
  };
}

/**
 * Calls a contract at the head and returns the result as 0x hex ("0x" where there is
 * no contract). Throws RpcRejected on a revert.
 */
export async function ethCallOn(
  session: RpcSession,
  call: ContractCall,
  options?: { readonly timeoutMs?: number },
): Promise<string> {
  const data = await session.call('eth_call', [call, 'latest'], options);
  if (typeof data !== 'string' || !/^0x[0-9a-f]*$/i.test(data))
    throw new EndpointFailure('no result of a contract call');
  return data.toLowerCase();
}
