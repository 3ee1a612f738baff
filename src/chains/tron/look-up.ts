import { type AddressKey, keyOfHex } from '../address-key.ts';
import type { OpenChain } from '../chain.ts';
import { isRecord } from '../rpc/call.ts';
import { bestSeen, LOOK_WITHIN_MS, MOVES_SHOWN } from '../rpc/looked-up.ts';
import type { SeenMove, SeenTransaction } from '../seen.ts';
import { isNothing } from './block/header.ts';
import { TRANSFER_TOPIC } from './block/money.ts';
import { hasSucceeded, readTransaction } from './block/sent-block.ts';
import { AFTER_41, isPrefixed } from './block/sent-values.ts';
import type { TronPool, TronSession } from './protocol.ts';

/** In a padded topic the address stands behind 12 zero bytes; a log names its contract without 41. */
const TOPIC_ADDRESS = 24;

/**
 * Asks every endpoint for a transaction and what it did; see {@link OpenChain.lookUp}. It takes two requests
 * of the day to each.
 */
export function lookUpOnTron(pool: TronPool): OpenChain['lookUp'] {
  return async (txHash, signal) => {
    const limits = { withinMs: LOOK_WITHIN_MS };
    return bestSeen(pool.name, await pool.each((session) => seenOn(session, txHash), signal, limits));
  };
}

async function seenOn(session: TronSession, txHash: string): Promise<SeenTransaction | null> {
  const sent = await session.call('wallet/gettransactionbyid', { value: txHash });
  if (isNothing(sent)) return null;
  const transaction = readTransaction(sent);
  const info = await session.call('wallet/gettransactioninfobyid', { value: txHash });
  const mined = isRecord(info) && typeof info['blockNumber'] === 'number' ? info : undefined;
  const value = isRecord(transaction.value) ? transaction.value : {};
  const succeeded = mined !== undefined && hasSucceeded(transaction) && mined['result'] !== 'FAILED';
  const coin = transaction.type === 'TransferContract' ? moveOf(value['to_address'], value['amount']) : [];
  const passed = succeeded ? [...listIn(mined, 'internal_transactions').flatMap(passedOn)] : [];
  const tokens = succeeded ? listIn(mined, 'log').flatMap(moveIn) : [];
  return {
    blockNumber: mined === undefined ? null : Number(mined['blockNumber']),
    outcome: mined === undefined ? 'waits' : succeeded ? 'succeeded' : 'failed',
    from: isPrefixed(value['owner_address']) ? keyOfHex(value['owner_address'], AFTER_41) : null,
    moves: [...coin, ...passed, ...tokens].slice(0, MOVES_SHOWN),
  };
}

function passedOn(internal: unknown): SeenMove[] {
  if (!isRecord(internal) || internal['rejected'] === true) return [];
  return listIn(internal, 'callValueInfo').flatMap((part) =>
    isRecord(part) && part['tokenId'] === undefined
      ? moveOf(internal['transferTo_address'], part['callValue'])
      : [],
  );
}

/** A Transfer log of any token; nothing for every other log. */
function moveIn(log: unknown): SeenMove[] {
  if (!isRecord(log)) return [];
  const [topic, , to, ...others] = listIn(log, 'topics');
  const { address, data } = log;
  const contract = keyIn(address, 0);
  const key = keyIn(to, TOPIC_ADDRESS);
  if (topic !== TRANSFER_TOPIC || others.length > 0 || key === undefined || contract === undefined) return [];
  if (typeof data !== 'string' || !/^[0-9a-f]{64}$/i.test(data)) return [];
  return [{ to: key, contract, units: BigInt(`0x${data}`) }];
}

function moveOf(to: unknown, units: unknown): SeenMove[] {
  const moved = typeof units === 'bigint' || Number.isSafeInteger(units) ? BigInt(units as number) : 0n;
  return isPrefixed(to) && moved > 0n ? [{ to: keyOfHex(to, AFTER_41), contract: null, units: moved }] : [];
}

function keyIn(text: unknown, offset: number): AddressKey | undefined {
  return typeof text === 'string' && text.length === offset + 40 && /^[0-9a-f]+$/i.test(text)
    ? keyOfHex(text, offset)
    : undefined;
}

function listIn(holder: Readonly<Record<string, unknown>>, name: string): readonly unknown[] {
  const list = holder[name];
  return Array.isArray(list) ? list : [];
}
