import { createHash } from 'node:crypto';
import { recoverAddress, Signature } from 'ethers';
import { type AddressKey, keyOfHex } from '../../address-key.ts';
import {
  membersOf,
  readTokenTransfer,
  type SignDigest,
  type SignedTransfer,
  type Transfer,
  type TransferKind,
  type Transfers,
  type TransferTerms,
  tokenTransferData,
  WrongTerms,
  wholeUnits,
} from '../../transfer.ts';
import { TRON_ADDRESSES } from '../addresses.ts';
import type { TronSettings } from '../settings.ts';
import { decodeMessage, encodeMessage, type Member } from './protobuf.ts';

/** Whoever asks again has to wait until the one before can land no more, so nothing lives for long. */
const LONGEST_LIFE_MS = 3_600_000;
/** A node of the chain refuses what is older, so this is a mistake and no terms. */
const OLDEST_MS = 86_400_000;
/** Bandwidth that is burnt, and the activation of a receiver who is new: 1.1 TRX and some 0.3. */
const MOST_KEPT_BACK = 3_000_000n;
/** What makes a new address able to send, and bandwidth for what it sends. */
const BESIDE_ENERGY = 3_000_000n;
const TYPE_OF = {
  native: { number: 1n, url: 'type.googleapis.com/protocol.TransferContract' },
  token: { number: 31n, url: 'type.googleapis.com/protocol.TriggerSmartContract' },
  delegate: { number: 57n, url: 'type.googleapis.com/protocol.DelegateResourceContract' },
  reclaim: { number: 58n, url: 'type.googleapis.com/protocol.UnDelegateResourceContract' },
} as const satisfies Readonly<Record<TransferKind, unknown>>;
const KINDS = Object.keys(TYPE_OF) as readonly TransferKind[];
/** Of the resources that a stake gives, the one that contracts take. */
const ENERGY = 1n;
const MAX_INT64 = 2n ** 63n - 1n;
const KNOWN = ['fee_limit', 'ref_block_bytes', 'ref_block_hash', 'timestamp', 'expiration'];

type Limits = Pick<TronSettings, 'usdtContract' | 'maxFeeLimitSun'>;

/** Transfers of Tron: the messages that its nodes make, built here, under an id that is a hash of them. */
export function tronTransfers({ usdtContract, maxFeeLimitSun }: Limits): Transfers {
  const token = TRON_ADDRESSES.key(usdtContract);
  return {
    hasNonce: false,
    lends: true,
    token,
    mostTopUp: maxFeeLimitSun + BESIDE_ENERGY,
    terms: (given, kind, now) => termsOf(given, kind === 'token' ? maxFeeLimitSun : 0n, now),
    sign: (transfer, terms, sign) => signed({ token, transfer, given: terms.given }, sign),
    read: (raw) => read(raw, token),
  };
}

function termsOf(given: unknown, mostFeeLimit: bigint, now: Date): TransferTerms {
  const members = membersOf(given, KNOWN);
  const least = mostFeeLimit === 0n ? 0n : 1n;
  const feeLimit = wholeUnits('the fee limit in sun', members['fee_limit'], least, mostFeeLimit);
  const refBlock = [hexOf(members['ref_block_bytes'], 4), hexOf(members['ref_block_hash'], 16)] as const;
  const [timestamp, expiration] = [timeOf(members['timestamp']), timeOf(members['expiration'])];
  const nowMs = now.getTime();
  if (expiration <= nowMs || expiration > nowMs + LONGEST_LIFE_MS)
    throw new WrongTerms(
      'it expires in the past or later than in an hour: compare the clocks of worker and signer, and ask for it again',
    );
  if (timestamp >= expiration || timestamp < expiration - OLDEST_MS)
    throw new WrongTerms('its timestamp does not go with its expiration: ask for it again');
  return {
    given: {
      fee_limit: feeLimit.toString(),
      ref_block_bytes: refBlock[0],
      ref_block_hash: refBlock[1],
      timestamp,
      expiration,
    },
    mostUnits: feeLimit + MOST_KEPT_BACK,
    expiresAt: new Date(expiration),
    price: null,
    chainNonce: null,
  };
}

function hexOf(value: unknown, digits: number): string {
  if (typeof value === 'string' && value.length === digits && /^[0-9a-f]+$/.test(value)) return value;
  throw new WrongTerms('its reference block is not written as its chain does: ask for it again');
}

function timeOf(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
  throw new WrongTerms('its times are not whole milliseconds: ask for it again');
}

/** The room that a block counts for the result of a transaction, beside its bytes. */
const RESULT_BYTES = 64;
/** A signature with its length. */
const SIGNATURE_BYTES = 67;

/** How many bytes of bandwidth a transfer takes, signed by one key. */
export function bytesOfTransfer(
  token: AddressKey,
  transfer: Transfer,
  given: TransferTerms['given'],
): number {
  const raw = encodeMessage([{ field: 1, value: rawDataOf({ token, transfer, given }) }]);
  return raw.length + SIGNATURE_BYTES + RESULT_BYTES;
}

type Order = {
  readonly token: AddressKey;
  readonly transfer: Transfer;
  readonly given: TransferTerms['given'];
};

function signed(order: Order, sign: SignDigest): SignedTransfer {
  const rawData = rawDataOf(order);
  const hash = idOf(rawData);
  const { r, s, yParity } = sign(`0x${hash}`);
  const signature = Buffer.from(`${r.slice(2)}${s.slice(2)}${yParity === 0 ? '1b' : '1c'}`, 'hex');
  const raw = encodeMessage([
    { field: 1, value: rawData },
    { field: 2, value: signature },
  ]);
  const shown = read(raw, order.token);
  if (
    shown.transfer.from !== order.transfer.from ||
    !rawDataOf({ ...shown, token: order.token }).equals(rawData)
  )
    throw new Error('the signed bytes do not say what was ordered');
  return { raw, hash };
}

const idOf = (rawData: Uint8Array): string => createHash('sha256').update(rawData).digest('hex');
const prefixed = (key: AddressKey): Buffer => Buffer.from(`41${key}`, 'hex');

function rawDataOf({ token, transfer, given }: Order): Buffer {
  const { kind, units } = transfer;
  if (units <= 0n || units > (kind === 'token' ? 2n ** 256n - 1n : MAX_INT64))
    throw new Error('the amount does not fit into a transfer');
  const { number, url } = TYPE_OF[kind];
  const parameter = encodeMessage([
    { field: 1, value: Buffer.from(url) },
    { field: 2, value: encodeMessage(bodyOf(token, transfer)) },
  ]);
  return encodeMessage([
    { field: 1, value: Buffer.from(String(given['ref_block_bytes']), 'hex') },
    { field: 4, value: Buffer.from(String(given['ref_block_hash']), 'hex') },
    { field: 8, value: BigInt(given['expiration'] ?? 0) },
    {
      field: 11,
      value: encodeMessage([
        { field: 1, value: number },
        { field: 2, value: parameter },
      ]),
    },
    { field: 14, value: BigInt(given['timestamp'] ?? 0) },
    { field: 18, value: BigInt(given['fee_limit'] ?? 0) },
  ]);
}

function bodyOf(token: AddressKey, { from, to, units, kind }: Transfer): readonly Member[] {
  const owner = { field: 1, value: prefixed(from) };
  if (kind === 'native') return [owner, { field: 2, value: prefixed(to) }, { field: 3, value: units }];
  if (kind === 'token')
    return [
      owner,
      { field: 2, value: prefixed(token) },
      { field: 4, value: Buffer.from(tokenTransferData(to, units), 'hex') },
    ];
  return [owner, { field: 2, value: ENERGY }, { field: 3, value: units }, { field: 4, value: prefixed(to) }];
}

function read(raw: Uint8Array, token: AddressKey): ReturnType<Transfers['read']> {
  const whole = decodeMessage(raw);
  const [rawData, signature] = [bytesIn(whole, 1), bytesIn(whole, 2)];
  const data = decodeMessage(rawData);
  const contract = decodeMessage(bytesIn(data, 11));
  const parameter = decodeMessage(bytesIn(contract, 2));
  const body = decodeMessage(bytesIn(parameter, 2));
  const hash = idOf(rawData);
  const from = ownerOf(body, signature, hash);
  const kind = KINDS.find((one) => contract.get(1) === TYPE_OF[one].number);
  const given = {
    fee_limit: numberIn(data, 18).toString(),
    ref_block_bytes: bytesIn(data, 1).toString('hex'),
    ref_block_hash: bytesIn(data, 4).toString('hex'),
    timestamp: Number(numberIn(data, 14)),
    expiration: Number(numberIn(data, 8)),
  };
  const paid = kind && paidIn(kind, body);
  if (!kind || !paid) throw new Error('these bytes call something else than the token');
  const transfer = { from, to: keyOfHex(paid.to), kind, units: paid.units, nonce: null } as const;
  // Whatever else they say, it would be missing from what is written again.
  const again = encodeMessage([
    { field: 1, value: rawDataOf({ token, transfer, given }) },
    { field: 2, value: signature },
  ]);
  if (!again.equals(raw)) throw new Error('these are not the bytes of a transfer on this chain');
  return { transfer, given, hash };
}

/** To whom, and how much; undefined for a call of something else. */
function paidIn(kind: TransferKind, body: ReadonlyMap<number, bigint | Buffer>) {
  if (kind === 'token') return readTokenTransfer(bytesIn(body, 4).toString('hex'));
  const receiver = bytesIn(body, kind === 'native' ? 2 : 4);
  return { to: receiver.toString('hex').slice(2), units: numberIn(body, 3) };
}

/** Who signed it; throws where that is not whom it takes the money from. */
function ownerOf(body: ReadonlyMap<number, bigint | Buffer>, signature: Buffer, hash: string): AddressKey {
  const [r, s, v] = [signature.subarray(0, 32), signature.subarray(32, 64), signature[64]];
  if (signature.length !== 65 || (v !== 27 && v !== 28)) throw new Error('the signature has another form');
  const parts = Signature.from({
    r: `0x${r.toString('hex')}`,
    s: `0x${s.toString('hex')}`,
    v,
  });
  const signer = keyOfHex(recoverAddress(`0x${hash}`, parts), 2);
  if (bytesIn(body, 1).toString('hex') !== `41${signer}`) throw new Error('another key signed it');
  return signer;
}

function bytesIn(members: ReadonlyMap<number, bigint | Buffer>, field: number): Buffer {
  const value = members.get(field);
  if (value instanceof Buffer) return value;
  throw new Error(`member ${field} is missing`);
}

function numberIn(members: ReadonlyMap<number, bigint | Buffer>, field: number): bigint {
  const value = members.get(field) ?? 0n;
  if (typeof value === 'bigint') return value;
  throw new Error(`member ${field} is no number`);
}
