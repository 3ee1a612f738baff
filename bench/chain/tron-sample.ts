// Blocks as a node of Tron answers them, for benches that read very many.
import { hash, randomBytes } from 'node:crypto';
import { writeField } from '../../dev/tron/proto.ts';
import type { AddressKey } from '../../src/chains/address-key.ts';
import { readTronBlock, type TronBlock, type TronBlockRules } from '../../src/chains/tron/block/block.ts';
import { parseTronJson } from '../../src/chains/tron/block/exact-json.ts';
import { checkBody } from '../../src/chains/tron/reads/body-proof.ts';

export const TRON_USDT = 'a614f803b6fd780986a42c78ec9c7f77e6ded13c' as AddressKey;
const TRANSFER_TOPIC = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

const TYPE_URL = 'type.googleapis.com/protocol.';
const FEE_LIMIT = 150_000_000;

/** The answers of a node to the two questions about a block, as text. */
export type TronSample = { readonly block: string; readonly infos: string };

const hex = (bytes: number) => randomBytes(bytes).toString('hex');
const word = (digits: string) => digits.padStart(64, '0');
const account = () => `41${hex(20)}`;

type Written = {
  readonly type: string;
  /** The number of the type, and the members of the value by their numbers: what is signed. */
  readonly number: number;
  readonly members: Readonly<Record<number, string | number>>;
  readonly value: object;
  readonly info: object;
};

/** What main net's blocks are made of, in ten parts: tokens, plain transfers, energy lent, code that pays. */
function written(index: number, paid: string | undefined): Written {
  const [from, to] = [account(), paid === undefined ? account() : `41${paid}`];
  const kind = index % 10;
  if (kind < 5) return tokens(from, to);
  if (kind < 8) return plain(from, to);
  return kind === 8 ? lent(from, to) : code(from);
}

function tokens(from: string, to: string): Written {
  const amount = word(hex(5));
  const topics = [TRANSFER_TOPIC, word(from.slice(2)), word(to.slice(2))];
  const contract = `41${TRON_USDT}`;
  const data = `a9059cbb${topics[2]}${amount}`;
  return {
    type: 'TriggerSmartContract',
    number: 31,
    members: { 1: from, 2: contract, 4: data },
    value: { data, owner_address: from, contract_address: contract },
    info: {
      contractResult: [word('')],
      fee: 6_428_500,
      contract_address: contract,
      receipt: { energy_fee: 6_428_500, energy_usage_total: 64_285, net_usage: 345, result: 'SUCCESS' },
      log: [{ address: TRON_USDT, topics, data: amount }],
    },
  };
}

function plain(from: string, to: string): Written {
  return {
    type: 'TransferContract',
    number: 1,
    members: { 1: from, 2: to, 3: 1_234_567 },
    value: { amount: 1_234_567, owner_address: from, to_address: to },
    info: { contractResult: [''], receipt: { net_usage: 268 } },
  };
}

function lent(from: string, to: string): Written {
  return {
    type: 'DelegateResourceContract',
    number: 57,
    members: { 1: from, 2: 1, 3: 7_000_000_000, 4: to },
    value: { balance: 7_000_000_000, resource: 'ENERGY', receiver_address: to, owner_address: from },
    info: { contractResult: [''], fee: 345_000, receipt: { net_fee: 345_000 } },
  };
}

function code(from: string): Written {
  const contract = account();
  const data = `38ed1739${hex(64)}${word('80')}${word(hex(20))}${word(hex(20))}`;
  return {
    type: 'TriggerSmartContract',
    number: 31,
    members: { 1: from, 2: contract, 3: 5_000_001, 4: data },
    value: {
      data,
      owner_address: from,
      contract_address: contract,
      call_value: 5_000_001,
    },
    info: {
      contractResult: [''],
      contract_address: contract,
      receipt: { energy_usage: 100_000, energy_usage_total: 100_000, net_usage: 480, result: 'SUCCESS' },
      log: Array.from({ length: 3 }, () => ({
        address: hex(20),
        topics: [TRANSFER_TOPIC, word(hex(20)), word(hex(20))],
        data: word(hex(9)),
      })),
      internal_transactions: Array.from({ length: 3 }, () => ({
        hash: hex(32),
        caller_address: contract,
        transferTo_address: account(),
        callValueInfo: [{ callValue: 2_500_001 }],
        note: '63616c6c',
      })),
    },
  };
}

type Signed = {
  readonly ref_block_bytes: string;
  readonly ref_block_hash: string;
  readonly expiration: number;
  readonly timestamp: number;
};

/** What was signed, of which the hash is the id. */
function bytesOf({ type, number, members, value }: Written, signed: Signed): Buffer {
  const field = (at: number, member: string | number): Buffer =>
    writeField(at, typeof member === 'number' ? BigInt(member) : Buffer.from(member, 'hex'));
  const content = Object.entries(members).map(([at, member]) => field(Number(at), member));
  const parameter = [writeField(1, Buffer.from(`${TYPE_URL}${type}`)), writeField(2, Buffer.concat(content))];
  const contract = [writeField(1, BigInt(number)), writeField(2, Buffer.concat(parameter))];
  return Buffer.concat([
    field(1, signed.ref_block_bytes),
    field(4, signed.ref_block_hash),
    field(8, signed.expiration),
    writeField(11, Buffer.concat(contract)),
    field(14, signed.timestamp),
    ...('data' in value ? [field(18, FEE_LIMIT)] : []),
  ]);
}

/** One block of main net's usual make-up, in which `paid` (40 hex digits), if any, receives tokens once. */
export function makeTronSample(number: number, paid: string | undefined, count = 400): TronSample {
  const id = (height: number) => `${height.toString(16).padStart(16, '0')}${hex(24)}`;
  const timestamp = 1_795_257_486_000 + number * 3_000;
  const parts = Array.from({ length: count }, (_, index) => {
    const part = written(index, index === 0 ? paid : undefined);
    const signed = {
      ref_block_bytes: hex(2),
      ref_block_hash: hex(8),
      expiration: timestamp + 60_000,
      timestamp,
    };
    const bytes = bytesOf(part, signed);
    return { ...part, signed, bytes, txID: hash('sha256', bytes, 'hex') };
  });
  const transactions = parts.map(({ txID, type, value, signed, bytes }) => ({
    ret: [{ contractRet: 'SUCCESS' }],
    signature: [hex(65)],
    txID,
    raw_data: {
      contract: [{ parameter: { value, type_url: `${TYPE_URL}${type}` }, type }],
      ...signed,
      ...(type === 'TriggerSmartContract' ? { fee_limit: FEE_LIMIT } : {}),
    },
    raw_data_hex: bytes.toString('hex'),
  }));
  const raw = {
    number,
    txTrieRoot: hex(32),
    witness_address: account(),
    parentHash: id(number - 1),
    version: 32,
    timestamp,
  };
  const infos = parts.map(({ txID, info }) => {
    const belonging = { id: txID, blockNumber: number, blockTimeStamp: timestamp };
    return { ...belonging, ...info };
  });
  const header = { raw_data: raw, witness_signature: hex(65) };
  return {
    block: JSON.stringify({ blockID: id(number), block_header: header, transactions }),
    infos: JSON.stringify(infos),
  };
}

/** What finds transfers in the two texts of one block: they are parsed and searched. */
export function readTronSample(sample: TronSample, rules: TronBlockRules): TronBlock | undefined {
  return readTronBlock(parseTronJson(sample.block), parseTronJson(sample.infos), rules);
}

/** The same, and each transaction compared with its bytes and those with its id, as a reader does it. */
export function proveTronSample(sample: TronSample, rules: TronBlockRules): TronBlock | undefined {
  const body = parseTronJson(sample.block) as object;
  const block = readTronBlock(body, parseTronJson(sample.infos), rules);
  if (block) checkBody(block.number, body);
  return block;
}
