// Whether the transactions of a body are those that their ids stand for. A plain transfer of TRX is told by
// its body alone: an endpoint that names another receiver under the same id would hide it, and the second
// read of a quiet block, which asks for the infos, would not show it either.
import { hash } from 'node:crypto';
import { EndpointFailure } from '../../rpc/errors.ts';
import { isPrefixed } from '../block/sent-values.ts';

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

/** A member of 21 bytes in field 2 of a `TransferContract`: its receiver. */
const RECEIVER_FIELD = '1215';
const TYPE_URL = 'type.googleapis.com/protocol.';
const typeHexes = new Map<string, string>();

/**
 * Compares each transaction of a body that the decoder has accepted with the bytes beside it: their hash is
 * the id, and they hold the type and, of a plain transfer, the receiver. Throws EndpointFailure where they
 * differ.
 */
export function checkBody(number: number, block: object): void {
  const { transactions = [] } = block as { readonly transactions?: readonly Sent[] };
  for (const sent of transactions)
    if (!isItself(sent))
      throw new EndpointFailure(`block ${number} shows a transaction as another one than its id stands for`);
}

function isItself({ txID: id, raw_data_hex: raw, raw_data: data }: Sent): boolean {
  if (typeof id !== 'string' || typeof raw !== 'string' || !/^([0-9a-f]{2})+$/i.test(raw)) return false;
  if (hash('sha256', Buffer.from(raw, 'hex'), 'hex') !== id.toLowerCase()) return false;
  const bytes = raw.toLowerCase();
  return (data?.contract ?? []).every(({ type, parameter }) => {
    if (typeof type !== 'string' || !bytes.includes(typeHex(type))) return false;
    return type !== 'TransferContract' || bytes.includes(`${RECEIVER_FIELD}${receiverOf(parameter?.value)}`);
  });
}

/** The name of a type as the bytes hold it; there are some forty, each made once. */
function typeHex(type: string): string {
  const known = typeHexes.get(type);
  if (known !== undefined) return known;
  const hex = Buffer.from(`${TYPE_URL}${type}`, 'utf8').toString('hex');
  if (typeHexes.size < 100) typeHexes.set(type, hex);
  return hex;
}

function receiverOf(value: unknown): string {
  const to = (value as { readonly to_address?: unknown } | undefined)?.to_address;
  return isPrefixed(to) ? to.toLowerCase() : 'none';
}
