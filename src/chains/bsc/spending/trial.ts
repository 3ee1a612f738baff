// A transfer, tried on the state of the chain without being sent.
import { EndpointFailure, RpcRejected } from '../../rpc/errors.ts';
import type { RpcPool, RpcSession } from '../../rpc/json-rpc.ts';
import { ethCallOn } from '../contract-call.ts';
import { LEAST_GAS } from '../transfer.ts';

/**
 * What is tried, as a node takes it. It names no price: a node then asks nothing of the sender's coins, and
 * most addresses that hold tokens have none before they are given some.
 */
export type Attempt = {
  readonly from: string;
  readonly to: string;
  readonly value: string;
  /** 0x for a transfer of the coin; of all others the answer is judged. */
  readonly data: string;
};

/** What an attempt takes, or why it would be undone, in the contract's own words where it has some. */
export type Trial =
  /** No nonce where two endpoints name different ones. */
  | { readonly nonce?: number | undefined; readonly gas: bigint; readonly refused?: undefined }
  | { readonly refused: string };

const LIMITS = { timeoutMs: 3_000 } as const;
/**
 * How nodes say that a contract failed in another way than by undoing what it was asked for. They do not say
 * it as they say that, but as they say what is wrong with themselves.
 */
const BROKEN: readonly (readonly [RegExp, string])[] = [
  [/out of gas|oog\b|outofgas/i, 'it uses all the gas there is'],
  [/invalid opcode|invalidfeopcode|opcodenotfound/i, 'it ends in an invalid instruction'],
];
const NODES_OWN_WORDS = /^(?:vm exception while processing transaction: )?(?:execution )?revert(?:ed)?:? ?/i;

/**
 * Tries it at the best endpoint. Where the transfer is refused there, another endpoint is asked as well, if
 * one has the time: a node that is behind or lies would hold it back for ever, and the worst of believing
 * the second one is a transfer that fails and costs its gas. `careful`: one has failed of late, so two have
 * to take it, where there are two, and the one that says more gas counts. Throws RpcUnavailable where none
 * answers.
 */
export async function tryTransfer(
  rpc: RpcPool,
  attempt: Attempt,
  { careful, signal }: { readonly careful: boolean; readonly signal: AbortSignal },
): Promise<Trial> {
  const first = await rpc.aside(async (session) => {
    return { endpoint: session.endpoint, trial: await tryOn(session, attempt) };
  }, signal);
  const { endpoint, trial } = first;
  const isRefused = trial.refused !== undefined;
  if (isRefused && careful) return trial;
  if (trial.refused === undefined && !careful)
    return { ...trial, nonce: await agreedNonce(rpc, attempt, { endpoint, nonce: trial.nonce }, signal) };
  const other = await rpc.elsewhere(endpoint, (session) => tryOn(session, attempt), signal);
  if (!other) return trial;
  if (trial.refused !== undefined || other.refused !== undefined) return other;
  return {
    nonce: trial.nonce === other.nonce ? trial.nonce : undefined,
    gas: trial.gas > other.gas ? trial.gas : other.gas,
  };
}

/**
 * What two endpoints say, where a second one has the time: a place once taken is never given back, and where
 * one is wrong nothing lands. Of addresses whose tokens go, which have sent nothing before, one may say so.
 */
async function agreedNonce(
  rpc: RpcPool,
  attempt: Attempt,
  { endpoint, nonce }: { readonly endpoint: number; readonly nonce: number | undefined },
  signal: AbortSignal,
): Promise<number | undefined> {
  if (nonce === 0 && !isCoin(attempt)) return nonce;
  const other = await rpc.elsewhere(endpoint, (session) => nonceOf(session, attempt.from), signal);
  return other === undefined || other === nonce ? nonce : undefined;
}

const isCoin = ({ data }: Attempt): boolean => data === '0x';

async function tryOn(session: RpcSession, attempt: Attempt): Promise<Trial> {
  const [nonce, isPlain] = await Promise.all([
    nonceOf(session, attempt.from),
    isCoin(attempt) && hasNoCode(session, attempt.to),
  ]);
  if (isPlain) return { nonce, gas: LEAST_GAS };
  try {
    // Asked together: nearly every transfer succeeds. Where one does not, the trial says why.
    const estimated = estimate(session, attempt);
    estimated.catch(() => undefined);
    await requireSuccess(session, attempt);
    return { nonce, gas: withMargin(await estimated, attempt) };
  } catch (error) {
    if (error instanceof RpcRejected) return { refused: wordsOf(error.message) };
    throw error;
  }
}

/**
 * More than the estimate, because the block is another one than the state that was asked: a quarter for a
 * contract that has more to do by then. A first balance costs a token 17,100 more than another one, and a
 * receiver may have emptied his meanwhile: so a transfer of the token has room for that too. What is not
 * used is not paid.
 */
function withMargin(estimated: bigint, attempt: Attempt): bigint {
  const quarter = (estimated + 3n) / 4n;
  const firstBalance = isCoin(attempt) ? 0n : 20_000n;
  return estimated + (quarter > firstBalance ? quarter : firstBalance);
}

/** Throws RpcRejected where the transfer is undone, or answered by anything but "true" or nothing. */
async function requireSuccess(session: RpcSession, attempt: Attempt): Promise<void> {
  const answer = await ethCallOn(session, attempt, LIMITS).catch((error: unknown) => {
    const said = error instanceof EndpointFailure ? error.message : '';
    const broken = BROKEN.find(([words]) => words.test(said));
    throw broken ? new RpcRejected(broken[1]) : error;
  });
  if (isCoin(attempt) || answer === '0x') return;
  if (answer.length < WORD_END || BigInt(answer.slice(0, WORD_END)) !== 1n)
    throw new RpcRejected('it answers something else than yes, and no reason');
}
/** 0x and 32 bytes. */
const WORD_END = 66;

async function estimate(session: RpcSession, attempt: Attempt): Promise<bigint> {
  const answer = await session.call('eth_estimateGas', [attempt], LIMITS);
  const gas = typeof answer === 'string' && /^0x[0-9a-f]{1,12}$/i.test(answer) ? BigInt(answer) : 0n;
  if (gas < LEAST_GAS) throw new EndpointFailure('no estimate of the gas');
  return gas;
}

async function nonceOf(session: RpcSession, address: string): Promise<number> {
  const answer = await stateOf(session, 'eth_getTransactionCount', address);
  const nonce = /^0x[0-9a-f]{1,8}$/i.test(answer) ? Number.parseInt(answer, 16) : Number.NaN;
  if (!(nonce < 2 ** 31)) throw new EndpointFailure('no nonce');
  return nonce;
}

/** A key that delegates to code (EIP-7702) runs it when coins arrive, so that is no plain transfer either. */
async function hasNoCode(session: RpcSession, address: string): Promise<boolean> {
  const code = await stateOf(session, 'eth_getCode', address);
  if (!/^0x([0-9a-f]{2})*$/i.test(code)) throw new EndpointFailure('no code of an address');
  return code === '0x';
}

/** What a node keeps of an address. No contract runs for it, so a refusal is a failure of the node. */
async function stateOf(session: RpcSession, method: string, address: string): Promise<string> {
  const answer = await session.call(method, [address, 'latest'], LIMITS).catch((error: unknown) => {
    throw error instanceof RpcRejected ? new EndpointFailure(error.message) : error;
  });
  return typeof answer === 'string' ? answer : '';
}

/** One line of at most 120 characters, as every text of an endpoint. */
function wordsOf(message: string): string {
  const words = message.replace(NODES_OWN_WORDS, '').trim().toWellFormed();
  return words === '' ? 'it gives no reason' : words;
}
