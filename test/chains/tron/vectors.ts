// Answers of a real node, as recorded: java-tron 4.8.0 on a private network.
import { readdirSync, readFileSync } from 'node:fs';
import { AddressSet } from '../../../src/chains/address-set.ts';
import { TRON_ADDRESSES } from '../../../src/chains/tron/addresses.ts';
import { readTronBlock, type TronBlock, type TronBlockRules } from '../../../src/chains/tron/block/block.ts';
import { parseExactJson } from '../../../src/chains/tron/block/exact-json.ts';

const FOLDER = new URL('../../vectors/tron/', import.meta.url);

// biome-ignore lint/suspicious/noExplicitAny: answers of a node, changed at will.
export type Sent = any;

/** Everybody on the recorded network whom money reaches, with the digits of the address. */
export const PEOPLE = {
  alice: '46817d5bac6d20e92b9d5ae142a19d57b10d16af',
  bob: '1d5a931f95c65d12d06b70b76a3f1808bdec5be4',
  carol: '3f1f10716a09b3a3d8b48d074cee02749792e436',
  dave: '97d16e2d71d279299dbf53248928bd5bfdf216e1',
  erin: '59012c619e68f64730e7a074f9614c900b90b198',
  frank: '127fb154bbd1071296d533d57027bbb302b4c994',
  grace: 'fff870ed5b2a26f34ec4aa6d17fd3aae8d8c2ceb',
  heidi: '05c4c27971bcbd4110dabfec20fe610f22d3c0c8',
  ivan: '71f65952144ad76453b7b9ef449b3390ef08080a',
  judy: '09a986a1eb0d6bd0ab4d112cbe9a473ffc780197',
  zion: 'dc63fc5c33c31f3cc03b43dc7e6be2281780581a',
  sun: '85ad75d006eff2898708a466969a2e6169acabdb',
  blackhole: '05d8db9af7d7c3b14f424dfb1695465a7ce2fdb7',
  token: '794d019372363a0418f6006116fb540566624bc3',
  batch: '0517c3badc311ca7c80d32e992fded09afc74507',
  token50: '046f132a9f7796666c0b3d63b25d1607a7f29318',
  newborn: '20da201a308cef23cecbfb81c526f42af7ee5c19',
} as const;
export type Person = keyof typeof PEOPLE;
export const EVERYBODY = Object.keys(PEOPLE) as readonly Person[];
export const TOKEN = PEOPLE.token as TronBlockRules['token'];
export const TRANSFER_TOPIC = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** Digits as a word of 32 bytes. */
export const word = (digits: string): string => digits.padStart(64, '0');
/** Somebody's address in base58. */
export const spelled = (person: Person): string => TRON_ADDRESSES.format(PEOPLE[person] as typeof TOKEN);

/** The names of the recorded answers. */
export const RECORDED = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.json'))
  .map((name) => name.slice(0, -'.json'.length));

/** One recorded answer, a new copy each time. */
export function answer(name: string): Sent {
  const file = parseExactJson(readFileSync(new URL(`${name}.json`, FOLDER), 'utf8')) as { response: Sent };
  return file.response;
}

export type Pair = { block: Sent; infos: Sent };
/** A recorded block of many transactions with its infos, a new copy each time. */
export const pairOf = (kind: 'payments' | 'contracts' | 'failures' = 'contracts'): Pair => ({
  block: answer(`wallet_getblockbynum__${kind}`),
  infos: answer(`wallet_gettransactioninfobyblocknum__${kind}`),
});

export type Change = (transaction: Sent, info: Sent) => unknown;
/** One recorded transaction, changed, as the only one of its block. */
export function alone(name: string, change: Change = () => undefined): Pair {
  const transaction = answer(`wallet_gettransactionbyid__${name}`);
  const info = answer(`wallet_gettransactioninfobyid__${name}`);
  change(transaction, info);
  return blockOfOne(transaction, info);
}
/** Alters what the contract of a transaction says. */
export const says =
  (more: object): Change =>
  (transaction) =>
    Object.assign(inputOf(transaction), more);
/** Alters its info. */
export const told =
  (more: object): Change =>
  (_, info) =>
    Object.assign(info, more);
/** Alters its first log. */
export const logged =
  (more: object): Change =>
  (_, info) =>
    Object.assign(info.log[0], more);
/** Makes it the creation of a contract that says this. */
export const creating =
  (value: object): Change =>
  (transaction) =>
    Object.assign(transaction.raw_data.contract[0], { type: 'CreateSmartContract', parameter: { value } });
/** The same as these customers see it. */
export function seenAlone(name: string, people: readonly Person[], change?: Change): TronBlock {
  const { block, infos } = alone(name, change);
  return readWhole(block, infos, people);
}
/** What the contract of a transaction says. */
export const inputOf = (transaction: Sent): Sent => transaction.raw_data.contract[0].parameter.value;

/** A set in which exactly these are customers. */
export function watching(...people: readonly Person[]): AddressSet {
  const watched = new AddressSet();
  for (const person of people) watched.add(PEOPLE[person]);
  return watched;
}

/** Reads a block for these customers. */
export function read(
  block: Sent,
  infos: Sent,
  people: readonly Person[] = EVERYBODY,
  rules: Partial<TronBlockRules> = {},
): TronBlock | undefined {
  const base = { token: TOKEN, watched: watching(...people), unrecognisedLimit: 100 };
  return readTronBlock(block, infos, { ...base, ...rules });
}

/** Reads one that has to be there. */
export function readWhole(...asked: Parameters<typeof read>): TronBlock {
  const found = read(...asked);
  if (!found) throw new Error('the endpoint does not have the block');
  return found;
}

/** What a block brings to each, were that one the only customer: "bob TRX 1". */
export function creditedIn(block: Sent, infos: Sent): string[] {
  return linesOf((person) => readWhole(block, infos, [person]).transfers);
}

/** What reaches each and is not credited for its kind: "bob null". */
export function unrecognisedIn(block: Sent, infos: Sent): string[] {
  return linesOf((person) => readWhole(block, infos, [person]).unrecognised);
}

type Line = { readonly currency?: string; readonly amountUnits: bigint | null };

function linesOf(of: (person: Person) => readonly Line[]): string[] {
  return EVERYBODY.flatMap((person) =>
    of(person).map(({ currency = 'unrecognised', amountUnits }) => `${person} ${currency} ${amountUnits}`),
  ).toSorted();
}

/** A block of one recorded transaction, with its info; `transaction` has the members of the node's answer. */
export function blockOfOne(transaction: Sent, info: Sent): Pair {
  const { blockNumber: number, blockTimeStamp: timestamp } = info;
  const id = (height: number) => height.toString(16).padStart(16, '0').padEnd(64, 'b');
  const header = { number, timestamp, parentHash: id(number - 1), txTrieRoot: 'a'.repeat(64) };
  const block = { blockID: id(number), block_header: { raw_data: header }, transactions: [transaction] };
  return { block, infos: [info] };
}
