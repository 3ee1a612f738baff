// Whether the transactions of a body are those that their ids stand for. A plain transfer of TRX is told by
// its body alone, and so is who sent anything: an endpoint that names another sender, receiver or amount
// under the same id would hide it, and the second read of a quiet block, which asks for the infos, would not
// show it.
import { hash } from 'node:crypto';
import { EndpointFailure } from '../../rpc/errors.ts';
import { membersOnWire, type Part, type WireValue } from './wire.ts';

/** What a node sends beside the decoded members: the bytes that the id is the hash of. */
type Sent = {
  readonly txID?: unknown;
  readonly raw_data_hex?: unknown;
  readonly raw_data?: {
    readonly contract?: readonly {
      readonly type?: unknown;
      readonly parameter?: { readonly value?: unknown };
    }[];
  };
};

const numberTag = (member: number): number => 8 * member;
const bytesTag = (member: number): number => 8 * member + 2;
/** Where the bytes of a transaction hold its only contract, and that holds its type and what it says. */
const CONTRACT = [bytesTag(11)];
const TYPE_AND_PARAMETER = [numberTag(1), bytesTag(2)];
const VALUE = [bytesTag(2)];

/** What money is read from: the numbers of these types, and the members that decide with their tags. */
type Read = { readonly type: number; readonly names: readonly string[]; readonly tags: readonly number[] };
const READ: Readonly<Record<string, Read>> = {
  TransferContract: {
    type: 1,
    names: ['owner_address', 'to_address', 'amount'],
    tags: [bytesTag(1), bytesTag(2), numberTag(3)],
  },
  CreateSmartContract: { type: 30, names: ['owner_address'], tags: [bytesTag(1)] },
  TriggerSmartContract: {
    type: 31,
    names: ['owner_address', 'contract_address', 'data'],
    tags: [bytesTag(1), bytesTag(2), bytesTag(4)],
  },
};
const READ_TYPES = new Set(Object.values(READ).map(({ type }) => type));

/**
 * Compares each transaction of a body that the decoder has accepted with the bytes beside it: their hash is
 * the id, and they hold the type, the sender of what moves money, of a plain transfer the receiver and
 * amount, and of a call the contract and its data. Throws EndpointFailure where they differ.
 */
export function checkBody(number: number, block: object): void {
  const { transactions = [] } = block as { readonly transactions?: readonly Sent[] };
  for (const sent of transactions)
    if (!isItself(sent))
      throw new EndpointFailure(`block ${number} shows a transaction as another one than its id stands for`);
}

function isItself({ txID: id, raw_data_hex: raw, raw_data: data }: Sent): boolean {
  if (typeof id !== 'string' || typeof raw !== 'string' || raw === '') return false;
  // Whatever is no hex ends the bytes early.
  const bytes = Buffer.from(raw, 'hex');
  if (2 * bytes.length !== raw.length || hash('sha256', bytes, 'hex') !== id.toLowerCase()) return false;
  const [contract] = membersIn(bytes, { from: 0, to: bytes.length }, CONTRACT) ?? [];
  const [type = 0, parameter] = membersIn(bytes, contract, TYPE_AND_PARAMETER) ?? [Number.NaN];
  const value = membersIn(bytes, parameter, VALUE);
  const [shown] = data?.contract ?? [];
  if (!value || typeof shown?.type !== 'string') return false;
  const number = Number(type);
  const read = READ[shown.type];
  // What the type is called is compared where money is read from it; the others bring none.
  if (read?.type !== number) return !read && !READ_TYPES.has(number) && !Number.isNaN(number);
  const members = membersIn(bytes, value[0], read.tags);
  const said = (shown.parameter?.value ?? {}) as Readonly<Record<string, unknown>>;
  return members !== undefined && read.names.every((name, at) => isSame(raw, members[at], said[name]));
}

const NOTHING: Part = { from: 0, to: 0 };

/** A member that is not there holds nothing. */
function membersIn(
  bytes: Buffer,
  part: WireValue = NOTHING,
  tags: readonly number[],
): ReturnType<typeof membersOnWire> {
  return typeof part === 'object' ? membersOnWire(bytes, part, tags) : undefined;
}

/** Nodes leave out zeros and what is empty. A large number may have been rounded, and both are then. */
function isSame(raw: string, value: WireValue | undefined, shown: unknown): boolean {
  if (typeof value !== 'object' && typeof shown !== 'string')
    return Number(value ?? 0) === Number(shown ?? 0);
  const { from, to } = typeof value === 'object' ? value : NOTHING;
  const digits = shown ?? '';
  if (typeof digits !== 'string' || digits.length !== 2 * (to - from)) return false;
  // Nodes write both in lower case: nearly always nothing has to be copied.
  if (raw.startsWith(digits, 2 * from)) return true;
  return raw.slice(2 * from, 2 * to).toLowerCase() === digits.toLowerCase();
}
