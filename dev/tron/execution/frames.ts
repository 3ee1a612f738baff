// What a call did, from the frames that an EVM node traces to what a node of Tron tells of it.
import { type AddressKey, keyOfHex } from '../../../src/chains/address-key.ts';
import type { Result } from '../ids.ts';
import type { Internal, Log } from '../types.ts';

/** One frame of the call tracer. */
export type Frame = {
  readonly type: string;
  readonly from: string;
  readonly to?: string;
  readonly value?: string;
  readonly input?: string;
  readonly output?: string;
  readonly gasUsed: string;
  readonly error?: string;
  readonly calls?: readonly Frame[];
  readonly logs?: readonly { address: string; topics: string[]; data: string; index?: string }[];
};

export type Run = {
  readonly result: Result;
  /** Hex without 0x, as everything here. */
  readonly output: string;
  readonly energy: bigint;
  readonly logs: readonly Log[];
  readonly internals: readonly Internal[];
  readonly created: AddressKey | undefined;
};

/** What every transaction of the EVM takes before its code runs; Tron takes bandwidth for it instead. */
const BASE_GAS = 21_000n;
const CREATE_GAS = 32_000n;

/** Reads a whole call; what failed has no logs, and its inner calls are rejected. */
export function readRun(top: Frame): Run {
  const isCreate = top.type.startsWith('CREATE');
  const internals = (top.calls ?? []).flatMap((frame) => internalsOf(frame, top.error !== undefined));
  // To pay oneself is no payment on Tron: it ends the whole transaction.
  const paysItself = internals.some(({ caller, to, sun }) => sun > 0n && caller === to);
  const result = paysItself ? 'TRANSFER_FAILED' : resultOf(top.error);
  const isGood = result === 'SUCCESS';
  const energy = BigInt(top.gasUsed) - BASE_GAS - (isCreate ? CREATE_GAS : 0n) - inputGas(top.input ?? '0x');
  return {
    result,
    output: paysItself || isCreate ? '' : (top.output ?? '0x').slice(2),
    energy: energy > 0n ? energy : 1n,
    logs: isGood ? logsOf(top) : [],
    internals: isGood ? internals : internals.map((one) => ({ ...one, rejected: true })),
    created: isCreate && isGood && top.to !== undefined ? keyOfHex(top.to, 2) : undefined,
  };
}

function inputGas(input: string): bigint {
  const bytes = Buffer.from(input.slice(2), 'hex');
  return bytes.reduce((gas, byte) => gas + (byte === 0 ? 4n : 16n), 0n);
}

function resultOf(error: string | undefined): Result {
  if (error === undefined) return 'SUCCESS';
  if (/revert/i.test(error)) return 'REVERT';
  return /gas/i.test(error) ? 'OUT_OF_ENERGY' : 'ILLEGAL_OPERATION';
}

function logsOf(top: Frame): Log[] {
  const found: { at: number; log: Log }[] = [];
  const walk = ({ logs = [], calls = [], error }: Frame): void => {
    if (error !== undefined) return;
    for (const { address, topics, data, index = '0x0' } of logs)
      found.push({
        at: Number.parseInt(index, 16),
        log: {
          address: keyOfHex(address, 2),
          topics: topics.map((topic) => topic.slice(2)),
          data: data.slice(2),
        },
      });
    for (const call of calls) walk(call);
  };
  walk(top);
  return found.toSorted((one, other) => one.at - other.at).map(({ log }) => log);
}

/** A call of one of these runs no contract and is listed nowhere. */
function isPrecompiled(address: string): boolean {
  return /^0x0{36}/.test(address);
}

function internalsOf(frame: Frame, within: boolean): Internal[] {
  const { type, from, to = from, error, calls = [] } = frame;
  if (isPrecompiled(to) && type !== 'SELFDESTRUCT') return [];
  // A call for more than the caller has is never made.
  if (/funds|balance/i.test(error ?? '')) return [];
  const rejected = within || error !== undefined;
  const stays = type === 'DELEGATECALL' || type === 'CALLCODE';
  const sun = type === 'DELEGATECALL' || type === 'STATICCALL' ? 0n : BigInt(frame.value ?? '0x0');
  const note = type === 'SELFDESTRUCT' ? 'suicide' : type.startsWith('CREATE') ? 'create' : 'call';
  const own: Internal = {
    caller: keyOfHex(from, 2),
    to: keyOfHex(stays ? from : to, 2),
    sun,
    note,
    rejected,
  };
  return [own, ...calls.flatMap((call) => internalsOf(call, rejected))];
}
