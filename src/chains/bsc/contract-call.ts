import type { CallContract } from '../chain.ts';
import { EndpointFailure } from '../rpc/errors.ts';
import type { RpcPool, RpcSession } from '../rpc/json-rpc.ts';

export type ContractCall = { readonly to: string; readonly data: string };

/** Calls contracts through a pool of endpoints; see {@link CallContract}. */
export function callContractOver(rpc: RpcPool): CallContract {
  return (call, options, signal) => rpc.aside((session) => ethCallOn(session, call, options), signal);
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
