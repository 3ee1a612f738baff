// A transfer of the token, tried on the state of the chain without being sent.
import type { AddressKey } from '../../address-key.ts';
import { isRecord } from '../../rpc/call.ts';
import { EndpointFailure, RpcRejected } from '../../rpc/errors.ts';
import { tokenTransferData } from '../../transfer.ts';
import { TRANSFER_TOPIC } from '../block/money.ts';
import type { TronPool, TronSession } from '../protocol.ts';

export type Attempt = {
  readonly token: AddressKey;
  readonly from: AddressKey;
  readonly to: AddressKey;
  readonly units: bigint;
};

/** What an attempt takes, or why it would be undone, in the contract's own words where it has some. */
export type Trial = { readonly energy: bigint; readonly refused?: undefined } | { readonly refused: string };

/** Error(string), as Solidity writes a reason. */
const REASON = '08c379a0';
const WORD_DIGITS = 64;
/** More than a block can hold. */
const MOST_ENERGY = 100_000_000;

/**
 * Tries it on the view that nothing can replace and on the newest one, and takes the dearer: a receiver may
 * have emptied his address meanwhile, and a first balance costs twice as much. Where it is refused, another
 * endpoint is asked as well: a node that is behind or lies would hold it back for ever. `careful`: a transfer
 * has failed of late, and one endpoint that understates the energy would have each of them burn its coins;
 * so two have to take it, where there are two, and the dearer one counts. Throws RpcUnavailable where none
 * answers.
 */
export async function tryTransfer(
  pool: TronPool,
  attempt: Attempt,
  { careful, signal }: { readonly careful: boolean; readonly signal: AbortSignal },
): Promise<Trial> {
  const { endpoint, trial } = await pool.aside(
    async (session) => ({ endpoint: session.endpoint, trial: await tryOn(session, attempt) }),
    signal,
  );
  const isRefused = trial.refused !== undefined;
  if (isRefused === careful) return trial;
  const other = await pool.elsewhere(endpoint, (session) => tryOn(session, attempt), signal);
  if (!other) return trial;
  const isDearer = trial.refused === undefined && other.refused === undefined && trial.energy > other.energy;
  return isDearer ? trial : other;
}

async function tryOn(session: TronSession, attempt: Attempt): Promise<Trial> {
  const body = bodyOf(attempt);
  try {
    const final = await session.solidity('walletsolidity/triggerconstantcontract', body);
    const newest = await session.call('wallet/triggerconstantcontract', body);
    const [one, other] = [energyOf(final, attempt), energyOf(newest, attempt)];
    return { energy: one > other ? one : other };
  } catch (error) {
    if (error instanceof RpcRejected) return { refused: session.hide(error.message) };
    throw error;
  }
}

/** By the signature, which every version of a node takes. */
function bodyOf({ token, from, to, units }: Attempt): Readonly<Record<string, unknown>> {
  return {
    owner_address: `41${from}`,
    contract_address: `41${token}`,
    function_selector: 'transfer(address,uint256)',
    parameter: tokenTransferData(to, units).slice('a9059cbb'.length),
  };
}

/**
 * The energy that it took, what contracts pay for being called often included. What the contract answers
 * says nothing, because the best known one answers "no" to what it did; the log of the transfer does.
 * Throws RpcRejected where it would be undone, or move something else.
 */
function energyOf(answer: unknown, attempt: Attempt): bigint {
  const { result, energy_used: energy, constant_result: results, transaction, logs } = membersOf(answer);
  const { result: isRun, code, message } = membersOf(result);
  if (code === 'CONTRACT_VALIDATE_ERROR' && /not exist/i.test(textOf(message)))
    throw new RpcRejected('there is no token contract at its address: correct TRON_USDT_CONTRACT');
  const [first] = Array.isArray(results) ? results : [];
  if (isRun !== true) throw new EndpointFailure('no trial of a transfer');
  if (message !== undefined || hasFailed(transaction)) throw new RpcRejected(reasonIn(first, message));
  if (typeof energy !== 'number' || !Number.isSafeInteger(energy) || energy < 1 || energy > MOST_ENERGY)
    throw new EndpointFailure('no energy of a trial');
  // Older nodes leave the logs of a trial out.
  if (Array.isArray(logs) && !logs.some((log) => isTransfer(log, attempt)))
    throw new RpcRejected('it would move another amount than is paid out, or to somebody else');
  return BigInt(energy);
}

function isTransfer(log: unknown, { token, from, to, units }: Attempt): boolean {
  const { address, topics, data } = membersOf(log);
  const words = [TRANSFER_TOPIC, from.padStart(WORD_DIGITS, '0'), to.padStart(WORD_DIGITS, '0')];
  return (
    String(address).toLowerCase() === token &&
    Array.isArray(topics) &&
    topics.length === words.length &&
    words.every((word, at) => String(topics[at]).toLowerCase() === word) &&
    typeof data === 'string' &&
    /^[0-9a-f]{64}$/i.test(data) &&
    BigInt(`0x${data}`) === units
  );
}

function hasFailed(transaction: unknown): boolean {
  const { ret } = membersOf(transaction);
  const [first] = Array.isArray(ret) ? ret : [];
  const said = membersOf(first)['ret'];
  return said !== undefined && said !== 'SUCESS' && said !== 'SUCCESS';
}

/** The contract's own words, else the node's. */
function reasonIn(output: unknown, message: unknown): string {
  if (typeof output === 'string' && output.startsWith(REASON)) {
    const at = REASON.length + 2 * WORD_DIGITS;
    const length = Number.parseInt(output.slice(at - WORD_DIGITS, at).slice(-6), 16);
    const words = Buffer.from(output.slice(at, at + 2 * length), 'hex').toString('utf8');
    if (words.trim() !== '') return words.toWellFormed();
  }
  return textOf(message).trim() || 'it gives no reason';
}

/** Nodes write their messages in hex. */
const textOf = (message: unknown): string =>
  typeof message === 'string' ? Buffer.from(message, 'hex').toString('utf8') : '';
const membersOf = (value: unknown): Readonly<Record<string, unknown>> => (isRecord(value) ? value : {});
