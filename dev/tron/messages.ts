// Messages of Tron between their bytes and their JSON, by tables of their fields.
import { keyOfHex } from '../../src/chains/address-key.ts';
import { TRON_ADDRESSES } from '../../src/chains/tron/addresses.ts';
import { readFields, writeField, writePresent } from './proto.ts';

/**
 * What a field holds: a number, a truth, bytes shown as hex, bytes shown as text where text is asked for, an
 * address, words of UTF-8, one of a list of words, or another message.
 */
type Kind = 'int' | 'flag' | 'bytes' | 'text' | 'address' | 'words' | readonly string[] | Schema;
type Rule = { readonly number: number; readonly kind: Kind; readonly repeated?: true };
/** The fields of a message by their names, in the order in which they are written. */
export type Schema = { readonly fields: Readonly<Record<string, Rule>> };

/** A number is a bigint, bytes and addresses are hex, a zero is not there. */
export type Value = bigint | string | Message | readonly Value[];
export type Message = { readonly [name: string]: Value };

const schema = (fields: Schema['fields']): Schema => ({ fields });
const int = (number: number): Rule => ({ number, kind: 'int' });
const bytes = (number: number): Rule => ({ number, kind: 'bytes' });
const address = (number: number): Rule => ({ number, kind: 'address' });
const flag = (number: number): Rule => ({ number, kind: 'flag' });
const words = (number: number): Rule => ({ number, kind: 'words' });
const RESOURCES = ['BANDWIDTH', 'ENERGY', 'TRON_POWER'] as const;

const KEY = schema({ address: address(1), weight: int(2) });
const PERMISSION = schema({
  type: { number: 1, kind: ['Owner', 'Witness', 'Active'] },
  id: int(2),
  permission_name: words(3),
  threshold: int(4),
  parent_id: int(5),
  operations: bytes(6),
  keys: { number: 7, kind: KEY, repeated: true },
});

const PARAMETER = schema({ indexed: flag(1), name: words(2), type: words(3) });
const ENTRY_TYPES = ['UnknownEntryType', 'Constructor', 'Function', 'Event', 'Fallback', 'Receive', 'Error'];
const ENTRY = schema({
  anonymous: flag(1),
  constant: flag(2),
  name: words(3),
  inputs: { number: 4, kind: PARAMETER, repeated: true },
  outputs: { number: 5, kind: PARAMETER, repeated: true },
  type: { number: 6, kind: ENTRY_TYPES },
  payable: flag(7),
  stateMutability: {
    number: 8,
    kind: ['UnknownMutabilityType', 'Pure', 'View', 'Nonpayable', 'Payable'],
  },
});
const ABI = schema({ entrys: { number: 1, kind: ENTRY, repeated: true } });

const NEW_CONTRACT = schema({
  origin_address: address(1),
  contract_address: address(2),
  abi: { number: 3, kind: ABI },
  bytecode: bytes(4),
  call_value: int(5),
  consume_user_resource_percent: int(6),
  name: words(7),
  origin_energy_limit: int(8),
});

/** What is lent or taken back: the energy of so much stake, to whom. */
const LOAN = {
  owner_address: address(1),
  resource: { number: 2, kind: RESOURCES },
  balance: int(3),
  receiver_address: address(4),
} as const;

/** What a contract of a transaction says, by its type; `number` is the type's own. */
export const CONTRACTS: Readonly<Record<string, Schema & { readonly number: number }>> = {
  AccountCreateContract: { number: 0, fields: { owner_address: address(1), account_address: address(2) } },
  TransferContract: {
    number: 1,
    fields: { owner_address: address(1), to_address: address(2), amount: int(3) },
  },
  TransferAssetContract: {
    number: 2,
    fields: {
      asset_name: { number: 1, kind: 'text' },
      owner_address: address(2),
      to_address: address(3),
      amount: int(4),
    },
  },
  CreateSmartContract: {
    number: 30,
    fields: {
      owner_address: address(1),
      new_contract: { number: 2, kind: NEW_CONTRACT },
      call_token_value: int(3),
      token_id: int(4),
    },
  },
  TriggerSmartContract: {
    number: 31,
    fields: {
      owner_address: address(1),
      contract_address: address(2),
      call_value: int(3),
      data: bytes(4),
      call_token_value: int(5),
      token_id: int(6),
    },
  },
  AccountPermissionUpdateContract: {
    number: 46,
    fields: {
      owner_address: address(1),
      owner: { number: 2, kind: PERMISSION },
      witness: { number: 3, kind: PERMISSION },
      actives: { number: 4, kind: PERMISSION, repeated: true },
    },
  },
  FreezeBalanceV2Contract: {
    number: 54,
    fields: {
      owner_address: address(1),
      frozen_balance: int(2),
      resource: { number: 3, kind: RESOURCES },
    },
  },
  DelegateResourceContract: { number: 57, fields: { ...LOAN, lock: flag(5), lock_period: int(6) } },
  UnDelegateResourceContract: { number: 58, fields: LOAN },
};

const TYPES: string[] = [];
for (const [name, { number }] of Object.entries(CONTRACTS)) TYPES[number] = name;

const ANY = schema({ type_url: words(1), value: bytes(2) });
const CONTRACT = schema({
  type: { number: 1, kind: TYPES },
  parameter: { number: 2, kind: ANY },
  provider: bytes(3),
  ContractName: bytes(4),
  Permission_id: int(5),
});
export const RAW = schema({
  ref_block_bytes: bytes(1),
  ref_block_num: int(3),
  ref_block_hash: bytes(4),
  expiration: int(8),
  data: bytes(10),
  contract: { number: 11, kind: CONTRACT, repeated: true },
  scripts: bytes(12),
  timestamp: int(14),
  fee_limit: int(18),
});

/** Reads a message; fields that the table does not name are passed over. Throws a sentence for bad bytes. */
export function decode({ fields }: Schema, from: Buffer): Message {
  const rules = new Map(Object.entries(fields).map(([name, rule]) => [rule.number, { name, rule }]));
  const message: Record<string, Value> = {};
  for (const { number, value } of readFields(from)) {
    const known = rules.get(number);
    if (!known) continue;
    const { name, rule } = known;
    const read = readValue(rule.kind, value);
    if (rule.repeated) message[name] = [...listOf(message[name]), read];
    else if (read !== 0n && read !== '') message[name] = read;
  }
  return message;
}

function readValue(kind: Kind, value: bigint | Buffer): Value {
  if (kind === 'int' || kind === 'flag') return typeof value === 'bigint' ? value : 0n;
  if (isWords(kind)) return (typeof value === 'bigint' ? kind[Number(value)] : undefined) ?? String(value);
  const from = typeof value === 'bigint' ? Buffer.alloc(0) : value;
  if (typeof kind === 'object') return decode(kind, from);
  return from.toString(kind === 'words' ? 'utf8' : 'hex');
}

/** Writes a message as the node itself does: its fields in order of their numbers. */
export function encode({ fields }: Schema, message: Message): Buffer {
  const written = Object.entries(fields)
    .toSorted(([, one], [, other]) => one.number - other.number)
    .flatMap(([name, { number, kind, repeated }]) => {
      const value = message[name];
      if (value === undefined) return [];
      if (repeated) return listOf(value).map((item) => writePresent(number, writtenValue(kind, item)));
      return [
        typeof kind === 'object' && !isWords(kind)
          ? writePresent(number, writtenValue(kind, value))
          : writeField(number, writtenValue(kind, value)),
      ];
    });
  return Buffer.concat(written);
}

function writtenValue(kind: Kind, value: Value): bigint | Buffer {
  if (isWords(kind)) return BigInt(Math.max(0, kind.indexOf(String(value))));
  if (typeof value === 'bigint') return value;
  if (typeof kind === 'object') return encode(kind, value as Message);
  return Buffer.from(value as string, kind === 'words' ? 'utf8' : 'hex');
}

/** The message as JSON; `visible` spells addresses in base58 and shows names as text. */
export function show({ fields }: Schema, message: Message, visible: boolean): Record<string, unknown> {
  const shown = Object.entries(message).map(([name, value]) => {
    const kind = fields[name]?.kind ?? 'bytes';
    const one = (item: Value): unknown => {
      if (typeof kind === 'object' && !isWords(kind)) return show(kind, item as Message, visible);
      if (kind === 'address') return showAddress(item as string, visible);
      if (kind === 'flag') return item !== 0n;
      return kind === 'text' && visible ? Buffer.from(item as string, 'hex').toString('utf8') : item;
    };
    return [name, Array.isArray(value) ? value.map(one) : one(value)];
  });
  return Object.fromEntries(shown) as Record<string, unknown>;
}

/**
 * The message that JSON says, of which only members of the table count. Throws a
 * sentence in the node's own words for an address or bytes that are none.
 */
export function parse({ fields }: Schema, json: unknown, visible: boolean): Message {
  const message: Record<string, Value> = {};
  const members = typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : {};
  for (const [name, { kind, repeated }] of Object.entries(fields)) {
    const sent = members[name];
    if (sent === undefined || sent === null) continue;
    if (repeated) message[name] = listOf(sent).map((item) => parseValue(kind, item, visible));
    else {
      const value = parseValue(kind, sent, visible);
      if (value !== 0n && value !== '') message[name] = value;
    }
  }
  return message;
}

function parseValue(kind: Kind, sent: unknown, visible: boolean): Value {
  if (isWords(kind)) return wordOf(kind, sent);
  if (typeof kind === 'object') return parse(kind, sent, visible);
  if (kind === 'int' || kind === 'flag') return BigInt(sent as number | boolean);
  const text = String(sent);
  if (kind === 'words') return text;
  if (kind === 'address') return parseAddress(text, visible);
  return kind === 'text' && visible ? Buffer.from(text, 'utf8').toString('hex') : hexOf(text);
}

/** Wallets write some of them in lower case. */
function wordOf(kind: readonly string[], sent: unknown): string {
  if (typeof sent === 'number') return kind[sent] ?? '';
  return kind.find((word) => word.toLowerCase() === String(sent).toLowerCase()) ?? String(sent);
}

/** `41…` as it is sent: in base58 where it is an address and that is asked for. */
export function showAddress(hex: string, visible: boolean): string {
  return visible && hex.length === 42 ? TRON_ADDRESSES.format(keyOfHex(hex, 2)) : hex;
}

/** The address in hex with 41. Throws a sentence for one in another spelling than was announced. */
export function parseAddress(text: string, visible: boolean): string {
  if (!visible) return hexOf(text);
  const key = TRON_ADDRESSES.parse(text);
  if (key === undefined) throw new Error('INVALID base58 String');
  return `41${key}`;
}

function hexOf(text: string): string {
  if (!/^(?:[0-9a-f]{2})*$/i.test(text)) throw new Error('INVALID hex String');
  return text.toLowerCase();
}

function isWords(kind: Kind): kind is readonly string[] {
  return Array.isArray(kind);
}

function listOf(value: unknown): Value[] {
  return Array.isArray(value) ? value : [];
}
