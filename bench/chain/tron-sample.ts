// Blocks as a node of Tron answers them, for benches that read very many.
import { randomBytes } from 'node:crypto';
import { exactJson } from '../../dev/tron/http/json.ts';
import type { Message } from '../../dev/tron/messages.ts';
import { buildRaw, readSigned, showRaw } from '../../dev/tron/transactions.ts';
import type { AddressKey } from '../../src/chains/address-key.ts';
import { readTronBlock, type TronBlock, type TronBlockRules } from '../../src/chains/tron/block/block.ts';
import { parseTronJson } from '../../src/chains/tron/block/exact-json.ts';
import { checkBody } from '../../src/chains/tron/reads/body-proof.ts';

export const TRON_USDT = 'a614f803b6fd780986a42c78ec9c7f77e6ded13c' as AddressKey;
const TRANSFER_TOPIC = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const FEE_LIMIT = 150_000_000n;
const TRANSACTIONS = 400;

/** The answers of a node to the two questions about a block, as text. */
export type TronSample = { readonly block: string; readonly infos: string };

const hex = (bytes: number) => randomBytes(bytes).toString('hex');
const word = (digits: string) => digits.padStart(64, '0');
const account = () => `41${hex(20)}`;

/** What a transaction says, and what a node tells of it. */
type Written = { readonly type: string; readonly value: Message; readonly info: object };

/** What main net's blocks are made of, in ten parts: tokens, plain transfers, energy lent, code that pays. */
function written(index: number, paid: string | undefined): Written {
  const [from, to] = [account(), paid === undefined ? account() : `41${paid}`];
  const kind = index % 10;
  if (kind < 5) return tokens(from, to);
  if (kind < 8)
    return {
      type: 'TransferContract',
      value: { amount: 1_234_567n, owner_address: from, to_address: to },
      info: { contractResult: [''], receipt: { net_usage: 268 } },
    };
  if (kind === 9) return code(from);
  const loan = { balance: 7_000_000_000n, resource: 'ENERGY', receiver_address: to, owner_address: from };
  const info = { contractResult: [''], fee: 345_000, receipt: { net_fee: 345_000 } };
  return { type: 'DelegateResourceContract', value: loan, info };
}

function tokens(from: string, to: string): Written {
  const amount = word(hex(5));
  const topics = [TRANSFER_TOPIC, word(from.slice(2)), word(to.slice(2))];
  const contract = `41${TRON_USDT}`;
  return {
    type: 'TriggerSmartContract',
    value: { data: `a9059cbb${topics[2]}${amount}`, owner_address: from, contract_address: contract },
    info: {
      contractResult: [word('')],
      fee: 6_428_500,
      contract_address: contract,
      receipt: { energy_fee: 6_428_500, energy_usage_total: 64_285, net_usage: 345, result: 'SUCCESS' },
      log: [{ address: TRON_USDT, topics, data: amount }],
    },
  };
}

function code(from: string): Written {
  const contract = account();
  const data = `38ed1739${hex(64)}${word('80')}${word(hex(20))}${word(hex(20))}`;
  return {
    type: 'TriggerSmartContract',
    value: { data, owner_address: from, contract_address: contract, call_value: 5_000_001n },
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

/** One block of main net's usual make-up, in which `paid` (40 hex digits), if any, receives tokens once. */
export function makeTronSample(number: number, paid: string | undefined): TronSample {
  const id = (height: number) => `${height.toString(16).padStart(16, '0')}${hex(24)}`;
  const timestamp = 1_795_257_486_000 + number * 3_000;
  const parts = Array.from({ length: TRANSACTIONS }, (_, index) => {
    const { type, value, info } = written(index, index === 0 ? paid : undefined);
    const times = { expirationMs: timestamp + 60_000, timestampMs: timestamp };
    const content = { type, value, refBlockId: hex(32), ...times };
    const isRun = type === 'TriggerSmartContract';
    const bytes = buildRaw({ ...content, ...(isRun ? { feeLimit: FEE_LIMIT } : {}) });
    const { id: txID, message } = readSigned(bytes, []);
    const transaction = {
      ret: [{ contractRet: 'SUCCESS' }],
      signature: [hex(65)],
      txID,
      raw_data: showRaw(message, false),
      raw_data_hex: bytes.toString('hex'),
    };
    return { transaction, info: { id: txID, blockNumber: number, blockTimeStamp: timestamp, ...info } };
  });
  const raw_data = {
    number,
    txTrieRoot: hex(32),
    witness_address: account(),
    parentHash: id(number - 1),
    version: 32,
    timestamp,
  };
  const block_header = { raw_data, witness_signature: hex(65) };
  const transactions = parts.map(({ transaction }) => transaction);
  return {
    block: exactJson({ blockID: id(number), block_header, transactions }),
    infos: exactJson(parts.map(({ info }) => info)),
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
