// What lies on many addresses at the end of one block: one call for
// hundreds of them where Multicall3 is deployed, else one call each.
import { Interface } from 'ethers';
import { type AddressKey, hexAddress } from '../address-key.ts';
import type { Balance } from '../reader.ts';
import { EndpointFailure, RpcRejected } from '../rpc/errors.ts';
import { toQuantity } from '../rpc/hex.ts';
import type { RpcSession } from '../rpc/json-rpc.ts';

/** The same address on every chain that has it (github.com/mds1/multicall). */
export const MULTICALL3 = '0xcA11bde05977b3631167028862bE2a173976CA11';
export const MULTICALL3_ABI = [
  'function aggregate3((address target, bool allowFailure, bytes callData)[] calls) payable returns ((bool success, bytes returnData)[])',
  'function getBlockNumber() view returns (uint256)',
  'function getEthBalance(address) view returns (uint256)',
] as const;

const multicallAbi = new Interface(MULTICALL3_ABI);
const BALANCE_OF = '0x70a08231';
const MAX_ADDRESSES = 500;
const PARALLEL = 8;
/**
 * The error of a node that answers and refuses: it no longer (or not yet) keeps the state of that
 * block, or gives old state to paying callers only. Nodes word this in a dozen ways. It is no failure
 * of the endpoint, which must stay in use for new blocks.
 */
const REFUSED = /^rpc error/;

/** Whether an endpoint has Multicall3, by its place in the list. */
export type MulticallCache = Map<number, boolean>;
/** Nothing is known yet: each endpoint is asked before its first batch. */
export const createMulticallCache = (): MulticallCache => new Map();

type Question = {
  readonly addresses: readonly AddressKey[];
  readonly number: number;
  readonly token: string;
  readonly multicall: MulticallCache;
};

/** The balances in the order of the addresses; undefined where the node does not keep that block's state. */
export async function balancesOn(session: RpcSession, question: Question): Promise<Balance[] | undefined> {
  const { addresses, multicall } = question;
  if (addresses.length > MAX_ADDRESSES) throw new Error(`at most ${MAX_ADDRESSES} balances at a time`);
  if (addresses.length === 0) return [];
  try {
    if (addresses.length > 1 && (await hasMulticall(session, multicall))) {
      const together = await askTogether(session, question);
      if (together) return together;
    }
    return await askEach(session, question);
  } catch (error) {
    if (error instanceof EndpointFailure && REFUSED.test(error.message)) return undefined;
    throw error;
  }
}

async function hasMulticall(session: RpcSession, cache: MulticallCache): Promise<boolean> {
  const known = cache.get(session.endpoint);
  if (known !== undefined) return known;
  const code = await session.call('eth_getCode', [MULTICALL3, 'latest']);
  const has = typeof code === 'string' && code.length > 2;
  cache.set(session.endpoint, has);
  return has;
}

/** Undefined where the contract was not there yet at that block, or refuses. */
async function askTogether(
  session: RpcSession,
  { addresses, number, token }: Question,
): Promise<Balance[] | undefined> {
  const self = (method: string, args: readonly unknown[] = []) => [
    MULTICALL3,
    false,
    multicallAbi.encodeFunctionData(method, args),
  ];
  const calls = [
    self('getBlockNumber'),
    ...addresses.map((address) => self('getEthBalance', [hexAddress(address)])),
    ...addresses.map((address) => [token, false, balanceOf(address)]),
  ];
  let answer: unknown;
  try {
    answer = await session.call('eth_call', [
      { to: MULTICALL3, data: multicallAbi.encodeFunctionData('aggregate3', [calls]) },
      toQuantity(number),
    ]);
  } catch (error) {
    if (error instanceof RpcRejected) return undefined;
    throw error;
  }
  if (isEmpty(answer)) return undefined;
  const words = readAggregate(answer, calls.length);
  // A load balancer may have sent the call to a node at another height: only the response itself can say so.
  if (words[0] !== BigInt(number))
    throw new EndpointFailure(`balances of block ${words[0]} in answer to ${number}`);
  return addresses.map((addressKey, index) => ({
    addressKey,
    nativeUnits: words[1 + index] ?? 0n,
    tokenUnits: words[1 + addresses.length + index] ?? 0n,
  }));
}

function readAggregate(answer: unknown, length: number): bigint[] {
  let results: readonly { success: boolean; returnData: string }[];
  try {
    results = multicallAbi.decodeFunctionResult('aggregate3', String(answer).toLowerCase())[0];
  } catch {
    throw new EndpointFailure('no balances in the answer of Multicall3');
  }
  if (results.length !== length) throw new EndpointFailure(`${results.length} balances instead of ${length}`);
  return results.map(({ success, returnData }) => readWord(success ? returnData : undefined));
}

async function askEach(session: RpcSession, { addresses, number, token }: Question): Promise<Balance[]> {
  const found: Balance[] = [];
  const tag = toQuantity(number);
  for (let first = 0; first < addresses.length; first += PARALLEL) {
    const some = addresses.slice(first, first + PARALLEL).map(async (addressKey): Promise<Balance> => {
      const [native, held] = await Promise.all([
        session.call('eth_getBalance', [hexAddress(addressKey), tag]),
        session.call('eth_call', [{ to: token, data: balanceOf(addressKey) }, tag]),
      ]);
      if (typeof native !== 'string' || !/^0x[0-9a-f]{1,64}$/i.test(native))
        throw new EndpointFailure('no balance');
      // Nothing comes back from a block in which the token was not there yet.
      return { addressKey, nativeUnits: BigInt(native), tokenUnits: isEmpty(held) ? 0n : readWord(held) };
    });
    found.push(...(await Promise.all(some)));
  }
  return found;
}

function readWord(data: unknown): bigint {
  if (typeof data !== 'string' || !/^0x[0-9a-f]{64}$/i.test(data)) throw new EndpointFailure('no balance');
  return BigInt(data);
}

const isEmpty = (data: unknown): boolean => data === '0x' || data === '0X';
const balanceOf = (key: AddressKey): string => BALANCE_OF + key.padStart(64, '0');
