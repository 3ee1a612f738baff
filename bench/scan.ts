// How fast blocks are searched for deposits, as a ratio to what no reader can avoid: parsing the same bytes as JSON.
import { randomBytes } from 'node:crypto';
import { AddressSet } from '../src/chain/address-set.ts';
import { bloomOf } from '../src/chain/bloom.ts';
import { bscToken, decodeBlock, readBlockBody, readBlockRef, TRANSFER_TOPIC } from '../src/chain/bsc-block.ts';

export type Row = { readonly figure: string; readonly value: string; readonly goal: string; readonly met: boolean };

const ADDRESSES = 1_000_000;
const TRANSACTIONS = 100;
const LOGS = 4;
const BLOCKS = 40;
const ROUNDS = 15;
const USDT = '0x55d398326f99059ff775485246999027b3197955';
const GOAL_RATIO = 0.8;
const GOAL_MIB = 64;

/** The answers of a node to the two questions about a block, as text. */
export type Sample = { readonly block: string; readonly receipts: string };

const hex = (bytes: number) => `0x${randomBytes(bytes).toString('hex')}`;
const pad = (address: string) => `0x${'0'.repeat(24)}${address.slice(2)}`;

/** One block of BNB Chain's usual make-up; `paid` receives one token transfer in it. */
export function makeSample(number: number, paid: string): Sample {
  const blockHash = hex(32);
  const transactions = Array.from({ length: TRANSACTIONS }, (_, index) => ({
    blockHash,
    blockNumber: `0x${number.toString(16)}`,
    from: hex(20),
    gas: '0x5208f',
    gasPrice: '0x2faf080',
    hash: hex(32),
    input: hex(68 + (index % 5) * 64),
    nonce: '0x1f',
    to: hex(20),
    transactionIndex: `0x${index.toString(16)}`,
    value: index % 3 === 0 ? `0x${randomBytes(7).toString('hex')}` : '0x0',
    type: '0x0',
    chainId: '0x38',
    v: '0x93',
    r: hex(32),
    s: hex(32),
  }));
  const receipts = transactions.map((transaction, index) => {
    const logs = Array.from({ length: LOGS }, (_, at) => ({
      address: at === 0 && index % 3 === 0 ? USDT : hex(20),
      topics: at % 2 === 0 ? [TRANSFER_TOPIC, pad(hex(20)), pad(index === 0 ? paid : hex(20))] : [hex(32), pad(hex(20))],
      data: hex(at % 2 === 0 ? 32 : 128),
      blockNumber: transaction.blockNumber,
      transactionHash: transaction.hash,
      transactionIndex: transaction.transactionIndex,
      blockHash,
      logIndex: `0x${(index * LOGS + at).toString(16)}`,
      removed: false,
    }));
    const { hash, from, to, transactionIndex, blockNumber } = transaction;
    return {
      blockHash,
      blockNumber,
      contractAddress: null,
      cumulativeGasUsed: '0x1234567',
      effectiveGasPrice: '0x2faf080',
      from,
      gasUsed: '0x1c8f5',
      logs,
      logsBloom: bloomOf(logs),
      status: '0x1',
      to,
      transactionHash: hash,
      transactionIndex,
      type: '0x0',
    };
  });
  const logsBloom = bloomOf(receipts.flatMap((receipt) => receipt.logs));
  const block = {
    hash: blockHash,
    number: `0x${number.toString(16)}`,
    parentHash: hex(32),
    timestamp: '0x691e5a00',
    mixHash: pad(hex(20)),
    logsBloom,
    transactions,
  };
  return {
    block: JSON.stringify({ jsonrpc: '2.0', id: 1, result: block }),
    receipts: JSON.stringify({ jsonrpc: '2.0', id: 2, result: receipts }),
  };
}

function fillSet(): { set: AddressSet; some: string; residentMib: number } {
  const before = process.memoryUsage().arrayBuffers;
  const set = new AddressSet(ADDRESSES);
  const bytes = randomBytes(20);
  let some = '';
  for (let i = 0; i < ADDRESSES; i++) {
    bytes.writeUInt32BE(Math.imul(i + 1, 0x9e3779b1) >>> 0, 0);
    bytes.writeUInt32BE(i, 16);
    some = `0x${bytes.toString('hex')}`;
    set.add(some);
  }
  return { set, some, residentMib: (process.memoryUsage().arrayBuffers - before) / 1_048_576 };
}

/** The fastest round of several: the one that was least disturbed. The two candidates take turns, so that both meet the same machine. */
function fastestMs(candidates: readonly (() => void)[]): number[] {
  const best = candidates.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, candidate] of candidates.entries()) {
      const start = performance.now();
      candidate();
      best[index] = Math.min(best[index] ?? 0, performance.now() - start);
    }
  }
  return best;
}

/** Measures the scan of blocks against JSON.parse of the same text, and the memory of a million addresses. */
export async function run(): Promise<Row[]> {
  const { set, some, residentMib } = fillSet();
  const samples = Array.from({ length: BLOCKS }, (_, index) => makeSample(1_000 + index, some));
  const token = bscToken(USDT);
  let found = 0;
  const parse = () => {
    for (const { block, receipts } of samples) {
      JSON.parse(block);
      JSON.parse(receipts);
    }
  };
  const scan = () => {
    for (const { block, receipts } of samples) {
      const { result } = JSON.parse(block) as { result: unknown };
      const decoded = decodeBlock(readBlockRef(result), readBlockBody(result), (JSON.parse(receipts) as { result: unknown }).result, {
        token,
        watched: set,
        unrecognisedLimit: 1_000,
      });
      found += decoded.transfers.length;
    }
  };
  const [parseMs = 0, scanMs = 0] = fastestMs([parse, scan]);
  if (found !== BLOCKS * ROUNDS) throw new Error(`the scan found ${found} transfers, not ${BLOCKS * ROUNDS}`);
  const ratio = parseMs / scanMs;
  return [
    {
      figure: `BSC scan against JSON.parse, ${ADDRESSES} addresses`,
      value: ratio.toFixed(2),
      goal: `>= ${GOAL_RATIO}`,
      met: ratio >= GOAL_RATIO,
    },
    { figure: 'BSC blocks a second on one core', value: Math.round((BLOCKS / scanMs) * 1000).toString(), goal: 'none', met: true },
    {
      figure: `memory of ${ADDRESSES} addresses`,
      value: `${residentMib.toFixed(1)} MiB`,
      goal: `<= ${GOAL_MIB} MiB`,
      met: residentMib <= GOAL_MIB,
    },
  ];
}
