// The EVM node behind the double: one unit of its coin is one sun, and nothing on it costs anything.

import type { Print } from '../../../src/base/processes.ts';
import { type AddressKey, hexAddress } from '../../../src/chains/address-key.ts';
import { type Anvil, startAnvil } from '../../anvil.ts';
import { type Frame, type Run, readRun } from './frames.ts';

/** The chain id that contracts on Tron's main net see. */
const CHAIN_ID = 728_126_428;
/** Below what one transaction of the EVM may have, and far above what any here takes. */
const GAS = '0xe00000';
const TRACER = { tracer: 'callTracer', tracerConfig: { withLog: true } };

/** A height, or the newest block with everything that waits for the next one. */
export type At = number | 'pending';
export type EvmCall = {
  readonly from: AddressKey;
  /** Undefined makes a contract. */
  readonly to?: AddressKey | undefined;
  readonly sun?: bigint;
  /** Hex without 0x. */
  readonly data?: string;
};

export type Evm = {
  readonly anvil: Anvil;
  balance(key: AddressKey, at: At): Promise<bigint>;
  /** Hex without 0x; empty where there is no contract. */
  code(key: AddressKey, at: At): Promise<string>;
  /** Runs a call and leaves nothing behind. */
  run(call: EvmCall, at: At): Promise<Run>;
  /** Puts a call into the next block and returns its hash. */
  send(call: EvmCall): Promise<string>;
  mine(blocks: number): Promise<void>;
  /** The transactions of a block that failed and those that succeeded, by their hashes. */
  results(height: number): Promise<ReadonlyMap<string, boolean>>;
  /** Takes the newest blocks away and forgets everything that waits. */
  rollback(blocks: number): Promise<void>;
  /** Forgets everything that waits. */
  clear(): Promise<void>;
  /** Gives an account this much, outside of every block. */
  fund(key: AddressKey, sun: bigint): Promise<void>;
};

/** Starts a node on which any sender may send; its blocks are as far apart as those of Tron. */
export async function startEvm(startMs: number, log: Print, dataDir?: string): Promise<Evm> {
  const flags = ['--order', 'fifo', '--gas-price', '0', '--base-fee', '0', '--disable-block-gas-limit'];
  flags.push('--auto-impersonate', '--timestamp', String(Math.floor(startMs / 1_000)));
  const anvil = await startAnvil({
    chainId: CHAIN_ID,
    flags,
    log,
    ...(dataDir === undefined ? {} : { dataDir }),
  });
  await anvil.rpc('anvil_setBlockTimestampInterval', [3]);
  return {
    anvil,
    balance: async (key, at) =>
      BigInt((await anvil.rpc('eth_getBalance', [hexAddress(key), tag(at)])) as string),
    code: async (key, at) =>
      ((await anvil.rpc('eth_getCode', [hexAddress(key), tag(at)])) as string).slice(2),
    run: async (call, at) =>
      readRun((await anvil.rpc('debug_traceCall', [written(call), tag(at), TRACER])) as Frame),
    send: async (call) => (await anvil.rpc('eth_sendTransaction', [written(call)])) as string,
    mine: (blocks) => anvil.mine(blocks),
    results: async (height) => {
      const receipts = (await anvil.rpc('eth_getBlockReceipts', [hex(height)])) as {
        transactionHash: string;
        status: string;
      }[];
      return new Map(receipts.map(({ transactionHash, status }) => [transactionHash, status === '0x1']));
    },
    rollback: async (blocks) => {
      await anvil.rpc('anvil_dropAllTransactions');
      await anvil.rpc('anvil_rollback', [blocks]);
    },
    clear: async () => void (await anvil.rpc('anvil_dropAllTransactions')),
    fund: async (key, sun) => void (await anvil.rpc('anvil_setBalance', [hexAddress(key), hex(sun)])),
  };
}

const hex = (number: number | bigint): string => `0x${number.toString(16)}`;
const tag = (at: At): string => (at === 'pending' ? at : hex(at));

function written({ from, to, sun = 0n, data = '' }: EvmCall): object {
  return {
    from: hexAddress(from),
    ...(to === undefined ? {} : { to: hexAddress(to) }),
    value: hex(sun),
    data: `0x${data}`,
    gas: GAS,
    gasPrice: '0x0',
  };
}
