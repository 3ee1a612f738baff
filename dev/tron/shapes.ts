// Blocks, transactions and what became of them, as nodes show them: a zero is not there.
import type { AddressKey } from '../../src/chains/address-key.ts';
import { sha256 } from './ids.ts';
import { showAddress } from './messages.ts';
import { showRaw } from './transactions.ts';
import type { Block, Executed, Internal, Log, Outcome, Signed } from './types.ts';

type Json = Record<string, unknown>;

const hexOf = (text: string): string => Buffer.from(text, 'utf8').toString('hex');

/** An address as nodes show it. */
export function address(key: AddressKey, visible: boolean): string {
  return showAddress(`41${key}`, visible);
}

/** These members without the zeros among them. */
export function present(members: Json): Json {
  const there = Object.entries(members).filter(
    ([, value]) => value !== undefined && value !== 0n && value !== 0,
  );
  return Object.fromEntries(there);
}

/** A block, whole or only its header. */
export function showBlock(block: Block, visible: boolean, whole = true): Json {
  const { header, id, transactions } = block;
  const signature = block.signature();
  return {
    blockID: id,
    block_header: {
      raw_data: present({
        number: header.number,
        txTrieRoot: header.root,
        witness_address: showAddress(header.witness, visible),
        parentHash: header.parentHash,
        version: header.version,
        timestamp: header.timestampMs,
      }),
      ...(signature === '' ? {} : { witness_signature: signature }),
    },
    ...(whole && transactions.length > 0
      ? { transactions: transactions.map((executed) => showTransaction(executed, visible)) }
      : {}),
  };
}

/** A transaction that was executed, in a block or while it waits. */
export function showTransaction({ signed, outcome }: Executed, visible: boolean): Json {
  const isGenesis = outcome.result === 'DEFAULT';
  return {
    ...(isGenesis ? {} : { ret: [{ contractRet: outcome.result }], signature: signed.signatures }),
    ...showContent(signed, visible),
  };
}

/** What was signed. */
export function showContent(
  { id, message, raw }: Pick<Signed, 'id' | 'message' | 'raw'>,
  visible: boolean,
): Json {
  return { txID: id, raw_data: showRaw(message, visible), raw_data_hex: raw.toString('hex') };
}

export type InfoOptions = { readonly visible: boolean; readonly savesInternals: boolean };

/** What became of a transaction in a block. */
export function showInfo({ signed, outcome }: Executed, { header }: Block, options: InfoOptions): Json {
  const { visible, savesInternals } = options;
  const { contract, output, logs, internals, isCall, result, reason } = outcome;
  const failed = result !== 'SUCCESS';
  return {
    id: signed.id,
    ...present({ fee: outcome.netFee + outcome.energyFee + outcome.systemFee }),
    blockNumber: header.number,
    blockTimeStamp: header.timestampMs,
    contractResult: [output],
    ...(contract === undefined ? {} : { contract_address: address(contract, visible) }),
    receipt: receiptOf(outcome),
    ...(logs.length > 0 ? { log: logs.map((log) => showLog(log, visible)) } : {}),
    ...(failed && isCall
      ? { result: 'FAILED', resMessage: visible ? (reason ?? '') : hexOf(reason ?? '') }
      : {}),
    ...(savesInternals && internals.length > 0
      ? { internal_transactions: internals.map((one, at) => showInternal(one, signed.id, at, visible)) }
      : {}),
  };
}

function receiptOf(outcome: Outcome): Json {
  const { energy, energyUsage, energyFee, netUsage, netFee, isCall, result } = outcome;
  return {
    ...present({
      energy_usage: energyUsage,
      energy_fee: energyFee,
      energy_usage_total: energy,
      net_usage: netUsage,
      net_fee: netFee,
    }),
    ...(isCall ? { result } : {}),
  };
}

/** A log; its address has no 41 in front. */
export function showLog({ address: key, topics, data }: Log, visible: boolean): Json {
  return {
    address: visible ? address(key, true) : key,
    ...(topics.length > 0 ? { topics } : {}),
    ...(data === '' ? {} : { data }),
  };
}

function showInternal(
  { caller, to, sun, note, rejected }: Internal,
  id: string,
  at: number,
  visible: boolean,
): Json {
  return {
    hash: sha256(Buffer.from(id, 'hex'), Buffer.of(at >> 8, at & 255)).toString('hex'),
    caller_address: address(caller, visible),
    transferTo_address: address(to, visible),
    callValueInfo: [present({ callValue: sun })],
    note: hexOf(note),
    ...(rejected ? { rejected: true } : {}),
  };
}
