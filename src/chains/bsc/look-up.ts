import { type AddressKey, keyOfHex } from '../address-key.ts';
import type { OpenChain } from '../chain.ts';
import { isRecord } from '../rpc/call.ts';
import { EndpointFailure } from '../rpc/errors.ts';
import { readQuantity } from '../rpc/hex.ts';
import type { RpcPool, RpcSession } from '../rpc/json-rpc.ts';
import { bestSeen, LOOK_WITHIN_MS, MOVES_SHOWN } from '../rpc/looked-up.ts';
import type { SeenMove, SeenTransaction } from '../seen.ts';
import { TRANSFER_TOPIC } from './block.ts';
import { TOPIC_ADDRESS } from './sent-block.ts';

/** Asks every endpoint for a transaction and its receipt; see {@link OpenChain.lookUp}. */
export function lookUpOver(rpc: RpcPool): OpenChain['lookUp'] {
  return async (txHash, signal) => {
    const limits = { withinMs: LOOK_WITHIN_MS };
    return bestSeen(rpc.name, await rpc.each((session) => seenOn(session, txHash), signal, limits));
  };
}

async function seenOn(session: RpcSession, txHash: string): Promise<SeenTransaction | null> {
  const sent = await session.call('eth_getTransactionByHash', [txHash]);
  if (sent === null) return null;
  if (!isRecord(sent)) throw new EndpointFailure('a transaction that is no object');
  const receipt = await session.call('eth_getTransactionReceipt', [txHash]);
  const mined = isRecord(receipt) ? receipt : undefined;
  const succeeded = mined && readQuantity(mined['status']) === 1;
  const coin = moveOf(sent['to'], null, sent['value']);
  const logs = succeeded && Array.isArray(mined['logs']) ? mined['logs'].flatMap(moveIn) : [];
  return {
    blockNumber: readQuantity(mined?.['blockNumber']) ?? null,
    outcome: mined === undefined ? 'waits' : succeeded ? 'succeeded' : 'failed',
    from: addressIn(sent['from'], 2) ?? null,
    moves: [...(coin ? [coin] : []), ...logs].slice(0, MOVES_SHOWN),
  };
}

/** A Transfer log of any token; nothing for every other log. */
function moveIn(log: unknown): SeenMove[] {
  if (!isRecord(log) || !Array.isArray(log['topics'])) return [];
  const { topics, address, data } = log;
  if (topics.length !== 3 || topics[0] !== TRANSFER_TOPIC) return [];
  const contract = addressIn(address, 2);
  const move = contract && moveOf(topics[2], contract, data, TOPIC_ADDRESS);
  return move ? [move] : [];
}

function moveOf(to: unknown, contract: AddressKey | null, units: unknown, offset = 2): SeenMove | undefined {
  const key = addressIn(to, offset);
  if (key === undefined || typeof units !== 'string' || !/^0x[0-9a-f]{1,64}$/i.test(units)) return undefined;
  const moved = BigInt(units);
  return moved > 0n ? { to: key, contract, units: moved } : undefined;
}

function addressIn(text: unknown, offset: number): AddressKey | undefined {
  return typeof text === 'string' && /^0x[0-9a-f]+$/i.test(text) && text.length === offset + 40
    ? keyOfHex(text, offset)
    : undefined;
}
