// Calls of contracts that change nothing. Their results are used for prices and for what a token says of
// itself, never for money: the newest view of a node holds what is in no block yet as well.
import type { AddressKey } from '../address-key.ts';
import type { CallContract } from '../chain.ts';
import { isRecord } from '../rpc/call.ts';
import { EndpointFailure, RpcRejected } from '../rpc/errors.ts';
import { TRON_ADDRESSES } from './addresses.ts';
import type { TronPool, TronSession } from './protocol.ts';

/** Whoever calls: nobody has to exist for it. */
export const NOBODY = `41${'0'.repeat(40)}`;

export type TronContractCall = {
  readonly contract: AddressKey;
  /** Its signature: "decimals()". The node makes the selector of it. */
  readonly method: string;
  /** The arguments in words of 64 hex digits; unset where the method takes none. */
  readonly parameter?: string;
};

/** Calls contracts through a pool of endpoints; see {@link CallContract}. Addresses are base58. */
export function callTronContractOver(pool: TronPool): CallContract {
  return ({ to, method }, signal) => {
    const contract = TRON_ADDRESSES.key(to);
    return pool.aside((session) => callTronContract(session, { contract, method }), signal);
  };
}

/**
 * Calls a contract at the head and returns the result as 0x hex ("0x" where there is no contract). Throws
 * RpcRejected where the contract refuses, EndpointFailure for an answer that is none.
 */
export async function callTronContract(
  session: TronSession,
  { contract, method, parameter }: TronContractCall,
): Promise<string> {
  // By its signature, which every version of a node takes; bytes of a call only newer ones do.
  const answer = await session.call('wallet/triggerconstantcontract', {
    owner_address: NOBODY,
    contract_address: `41${contract}`,
    function_selector: method,
    ...(parameter === undefined ? {} : { parameter }),
  });
  return resultOf(answer);
}

function resultOf(answer: object): string {
  const { result, constant_result: results, transaction } = answer as Record<string, unknown>;
  if (!isRecord(result)) throw new EndpointFailure('no result of a contract call');
  if (result['code'] === 'CONTRACT_VALIDATE_ERROR') {
    if (/support constant/i.test(wordsOf(result['message'])))
      throw new EndpointFailure('the node runs no calls of contracts (set vm.supportConstant)');
    return '0x';
  }
  const [first] = Array.isArray(results) ? results : [];
  if (result['result'] !== true || typeof first !== 'string' || !/^([0-9a-f]{2})*$/i.test(first))
    throw new EndpointFailure('no result of a contract call');
  // A call that reverts is answered like one that succeeds, and says so in its transaction only.
  if (hasFailed(transaction) || result['message'] !== undefined)
    throw new RpcRejected('the contract refused the call');
  return `0x${first.toLowerCase()}`;
}

/** Nodes write their messages in hex. */
function wordsOf(message: unknown): string {
  return typeof message === 'string' ? Buffer.from(message, 'hex').toString('utf8') : '';
}

function hasFailed(transaction: unknown): boolean {
  const results = isRecord(transaction) ? transaction['ret'] : undefined;
  const [first] = Array.isArray(results) ? results : [];
  return (
    isRecord(first) && first['ret'] !== undefined && first['ret'] !== 'SUCESS' && first['ret'] !== 'SUCCESS'
  );
}
