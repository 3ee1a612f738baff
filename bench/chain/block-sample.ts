// Blocks as a node of BNB Chain answers them, for benches that read very many.
import { randomBytes } from 'node:crypto';
import { decodeBlock, TRANSFER_TOPIC } from '../../src/chains/bsc/block.ts';
import { bloomOf } from '../../src/chains/bsc/bloom.ts';
import { readBlockBody, readBlockRef } from '../../src/chains/bsc/sent-block.ts';

export const USDT = '0x55d398326f99059ff775485246999027b3197955';
const TRANSACTIONS = 100;
const LOGS = 4;

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
      topics:
        at % 2 === 0
          ? [TRANSFER_TOPIC, pad(hex(20)), pad(index === 0 ? paid : hex(20))]
          : [hex(32), pad(hex(20))],
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

/** What a reader does with the two texts of one block: parses them and looks for transfers. */
export function decodeSample(
  { block, receipts }: Sample,
  rules: Parameters<typeof decodeBlock>[3],
): ReturnType<typeof decodeBlock> {
  const { result } = JSON.parse(block) as { result: unknown };
  return decodeBlock(
    readBlockRef(result),
    readBlockBody(result),
    (JSON.parse(receipts) as { result: unknown }).result,
    rules,
  );
}
