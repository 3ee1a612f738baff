import type { OpenChain } from '../chain.ts';
import { EndpointFailure } from '../rpc/errors.ts';
import type { RpcPool } from '../rpc/json-rpc.ts';

const LIMITS = { timeoutMs: 3_000 } as const;

/** What stands for a key's own address that lets other code run for it (EIP-7702): its key still signs. */
const DELEGATION = /^0xef0100[0-9a-f]{40}$/i;

/** Asks through a pool of endpoints whether an address is a contract; see {@link OpenChain.hasCode}. */
export function hasCodeOver(rpc: RpcPool): NonNullable<OpenChain['hasCode']> {
  return (address, signal) =>
    rpc.aside(async (session) => {
      const code = await session.call('eth_getCode', [`0x${address}`, 'latest'], LIMITS);
      if (typeof code !== 'string' || !/^0x([0-9a-f]{2})*$/i.test(code))
        throw new EndpointFailure('no code of an address');
      return code !== '0x' && !DELEGATION.test(code);
    }, signal);
}
