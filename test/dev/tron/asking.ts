// How the tests of the double ask it, and somebody whom it pays.
import type { TronNode } from '../../../dev/tron/node.ts';
import { type AddressKey, keyOfHex } from '../../../src/chains/address-key.ts';
import { parseExactJson } from '../../../src/chains/tron/block/exact-json.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of a node, looked at member by member.
export type Answer = any;

/** An address that nobody has the key of. */
export const ALICE = keyOfHex('a1'.repeat(20));

/** An address as it stands in requests. */
export const prefixed = (key: AddressKey): string => `41${key}`;

/** One POST whose answer is JSON. */
export async function ask(base: string, path: string, body: object = {}): Promise<Answer> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${base}/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return parseExactJson(await answer.text());
}

/** What became of a transaction, as the newest view tells it; nothing where it is in no block. */
export const infoOf = (node: TronNode, value: string): Promise<Answer> =>
  ask(node.url, 'wallet/gettransactioninfobyid', { value });
