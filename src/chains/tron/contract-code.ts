import type { OpenChain } from '../chain.ts';
import { isRecord } from '../rpc/call.ts';
import { EndpointFailure } from '../rpc/errors.ts';
import type { TronPool } from './protocol.ts';

/** Asks through a pool of endpoints whether code runs at an address; see {@link OpenChain.hasCode}. */
export function hasCodeOnTron(pool: TronPool): NonNullable<OpenChain['hasCode']> {
  return (address, signal) =>
    pool.aside(async (session) => {
      const contract = await session.call('wallet/getcontract', { value: `41${address}` });
      if (!isRecord(contract) || 'Error' in contract) throw new EndpointFailure('no answer about a contract');
      // A node says nothing at all of an address without a contract.
      return Object.keys(contract).length > 0;
    }, signal);
}
