import type { OpenChain } from '../chain.ts';
import { EndpointFailure } from '../rpc/errors.ts';
import type { RpcPool } from '../rpc/json-rpc.ts';

const LIMITS = { timeoutMs: 3_000 } as const;

/** Asks through a pool of endpoints whether code runs at an address; see {@link OpenChain.hasCode}. */
export function hasCodeOver(rpc: RpcPool): NonNullable<OpenChain['hasCode']> {
  return (address, signal) =>
    rpc.aside(async (session) => {
      const code = await session.call('eth_getCode', [`0x${address}`, 'latest'], LIMITS);
      if (typeof code !== 'string' || !/^0x([0-9a-f]{2})*$/i.test(code))
        throw new EndpointFailure('no code of an address');
      return code !== '0x';
    }, signal);
}
