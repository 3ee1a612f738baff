// How the tests of the double ask it, and people whom it pays.
import type { TronNode } from '../../../dev/tron/node.ts';
import { type AddressKey, keyOfHex } from '../../../src/chains/address-key.ts';
import { AddressSet } from '../../../src/chains/address-set.ts';
import { readTronBlock, type TronBlock } from '../../../src/chains/tron/block/block.ts';
import { parseExactJson } from '../../../src/chains/tron/block/exact-json.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of a node, looked at member by member.
export type Answer = any;

/** Addresses that nobody has the key of. */
export const ALICE = keyOfHex('a1'.repeat(20));
export const BOB = keyOfHex('b0'.repeat(20));

const WATCHED = new AddressSet();
WATCHED.add(ALICE);
WATCHED.add(BOB);

/** An address as it stands in requests. */
export const prefixed = (key: AddressKey): string => `41${key}`;

/** One POST; the whole answer. */
export async function post(base: string, path: string, body: string): Promise<Response> {
  return await fetch(`${base}/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
}

/** One POST whose answer is JSON. */
export async function ask(base: string, path: string, body: object = {}): Promise<Answer> {
  return parseExactJson(await (await post(base, path, JSON.stringify(body))).text());
}

/** What became of a transaction, as the newest view tells it; nothing where it is in no block. */
export const infoOf = (node: TronNode, value: string): Promise<Answer> =>
  ask(node.url, 'wallet/gettransactioninfobyid', { value });

/** A block as the product reads it. */
export async function readBlock(
  node: TronNode,
  number: number,
  { base = node.url, view = 'wallet' } = {},
): Promise<TronBlock | undefined> {
  const block = await ask(base, `${view}/getblockbynum`, { num: number });
  const infos = await ask(base, `${view}/gettransactioninfobyblocknum`, { num: number });
  return readTronBlock(block, infos, { watched: WATCHED, token: node.usdt.key, unrecognisedLimit: 10 });
}

/** What a block brought, as "alice TRX 5". */
export async function creditedAt(node: TronNode, number: number): Promise<string[] | undefined> {
  const block = await readBlock(node, number);
  return block?.transfers.map(({ to, currency, amountUnits }) => `${nameOf(to)} ${currency} ${amountUnits}`);
}

function nameOf(address: string): string {
  return address.startsWith('TQhqR') ? 'alice' : 'bob';
}
