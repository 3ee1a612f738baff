// Transactions between bytes, JSON and what they say.
import { keyOfHex } from '../../src/chains/address-key.ts';
import { sha256 } from './ids.ts';
import { CONTRACTS, decode, encode, type Message, parse, RAW, show } from './messages.ts';
import { readFields } from './proto.ts';
import { Refusal, type Signed } from './types.ts';

const TYPE_URL = 'type.googleapis.com/protocol.';

/**
 * Reads what was signed. Throws Refusal where it holds no contract or more than
 * one, and a sentence where it is no transaction or of a type that is not known here.
 */
export function readSigned(raw: Buffer, signatures: readonly string[]): Signed {
  const message = decode(RAW, raw);
  const contracts = (message['contract'] ?? []) as readonly Message[];
  const [contract] = contracts;
  if (!contract || contracts.length > 1)
    throw new Refusal('SIGERROR', 'Validate signature error: miss sig or contract');
  const { type, value } = contentOf(contract);
  const owner = String(value['owner_address'] ?? '');
  return {
    id: sha256(raw).toString('hex'),
    raw,
    signatures,
    message,
    type,
    value,
    owner: keyOfHex(owner, 2),
  };
}

/** A whole transaction as `broadcasthex` takes it. Throws as {@link readSigned}. */
export function readWhole(bytes: Buffer): Signed {
  const fields = readFields(bytes).flatMap(({ number, value }) =>
    typeof value === 'bigint' ? [] : [{ number, value }],
  );
  const raw = fields.find(({ number }) => number === 1)?.value ?? Buffer.alloc(0);
  const signatures = fields.filter(({ number }) => number === 2).map(({ value }) => value.toString('hex'));
  return readSigned(raw, signatures);
}

function contentOf(contract: Message): { type: string; url: string; value: Message } {
  // The first type is number zero, which is not on the wire.
  const type = String(contract['type'] ?? 'AccountCreateContract');
  const schema = CONTRACTS[type];
  if (!schema) throw new Error(`the double knows no contract of type ${type}`);
  const { type_url: url = '', value = '' } = (contract['parameter'] ?? {}) as Message;
  // Only what follows the last slash tells what it is: anybody may write another address before it.
  if (!String(url).endsWith(`/protocol.${type}`))
    throw new Error('Type of the Any message does not match the given class.');
  return { type, url: String(url), value: decode(schema, Buffer.from(String(value), 'hex')) };
}

export type RawInput = {
  readonly type: string;
  readonly value: Message;
  readonly refBlockId: string;
  readonly expirationMs: number;
  readonly timestampMs: number;
  readonly feeLimit?: bigint;
  /** Hex. */
  readonly memo?: string;
  readonly permissionId?: bigint;
};

/** The bytes of a new transaction. */
export function buildRaw(input: RawInput): Buffer {
  const { type, value, refBlockId, feeLimit = 0n, memo = '', permissionId = 0n } = input;
  const schema = CONTRACTS[type];
  if (!schema) throw new Error(`the double knows no contract of type ${type}`);
  const parameter = { type_url: TYPE_URL + type, value: encode(schema, value).toString('hex') };
  return encode(RAW, {
    ref_block_bytes: refBlockId.slice(12, 16),
    ref_block_hash: refBlockId.slice(16, 32),
    expiration: BigInt(input.expirationMs),
    data: memo,
    contract: [{ type, parameter, Permission_id: permissionId }],
    timestamp: BigInt(input.timestampMs),
    fee_limit: feeLimit,
  });
}

/** `raw_data` as nodes show it. */
export function showRaw(message: Message, visible: boolean): Record<string, unknown> {
  const { contract: _, ...rest } = show(RAW, message, visible);
  const contracts = (message['contract'] ?? []) as readonly Message[];
  const contract = contracts.map((one) => {
    const { type, url, value } = contentOf(one);
    const permission = one['Permission_id'];
    const shown = CONTRACTS[type];
    return {
      parameter: { value: shown ? show(shown, value, visible) : {}, type_url: url },
      type,
      ...(permission === undefined ? {} : { Permission_id: permission }),
    };
  });
  return { contract, ...rest };
}

/** The bytes that `raw_data` stands for. Throws in the node's words for what is none. */
export function rawOfJson(json: Readonly<Record<string, unknown>>, visible: boolean): Buffer {
  const contracts = (json['contract'] as readonly Record<string, unknown>[]).map((contract) => {
    const type = String(contract['type']);
    const schema = CONTRACTS[type];
    if (!schema) throw new Error(`the double knows no contract of type ${type}`);
    const value = (contract['parameter'] as { value?: unknown } | undefined)?.value;
    const parameter = {
      type_url: TYPE_URL + type,
      value: encode(schema, parse(schema, value, visible)).toString('hex'),
    };
    return { type, parameter, Permission_id: BigInt((contract['Permission_id'] as number | undefined) ?? 0) };
  });
  const { contract: _, ...rest } = json;
  return encode(RAW, { ...parse(RAW, rest, false), contract: contracts });
}
