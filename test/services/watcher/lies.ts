// An endpoint that shows one address something else than the
// chain holds, in ways that no count and no bloom gives away.
import type { Fault } from '../../../dev/support/fault-proxy.ts';
import type { Row } from './test-watcher.ts';

export type Log = { readonly topics: readonly string[]; readonly data: string; readonly logIndex?: string };
type Receipt = { readonly logs: readonly Log[] };
type Transaction = { readonly to: string | null; readonly value: string };
type Frame = { readonly to?: string; readonly value?: string; readonly calls?: readonly Frame[] };

/** What is shown instead; what is not named is shown as it is. Amounts are in base units. */
export type Lie = {
  /** The amount of a token's Transfer to the address. */
  readonly logUnits?: (units: bigint) => bigint;
  /** The Transfer logs to the address in one transaction. */
  readonly logs?: (logs: readonly Log[]) => readonly Log[];
  /** The value of a plain transfer to the address. */
  readonly value?: (units: bigint) => bigint;
  /** The value of a transfer to the address inside a transaction. */
  readonly traced?: (units: bigint) => bigint;
};

const hex = (units: bigint): string => `0x${units.toString(16)}`;
const word = (units: bigint): string => `0x${units.toString(16).padStart(64, '0')}`;

/** The first of these logs a second time, as one of its own at a place of the block that no other has. */
export const onceMore = (logs: readonly Log[]): readonly Log[] => [
  ...logs,
  ...logs.slice(0, 1).map((log) => ({ ...log, logIndex: '0x3e7' })),
];

/** A fault that tells `lie` about everything that reaches this address (lower-case 0x). */
export function lying(address: string, lie: Lie): Fault {
  const key = address.slice(2);
  const isOurs = (log: Log): boolean => log.topics[2]?.endsWith(key) ?? false;
  const receipt = (honest: Receipt): unknown => {
    const ours = honest.logs.filter(isOurs);
    const changed = (lie.logs?.(ours) ?? ours).map((log) =>
      lie.logUnits ? { ...log, data: word(lie.logUnits(BigInt(log.data))) } : log,
    );
    return {
      ...honest,
      logs: [...honest.logs.filter((log) => !isOurs(log)), ...changed],
      logsBloom: undefined,
    };
  };
  const transaction = (honest: Transaction): unknown =>
    lie.value && honest.to === address ? { ...honest, value: hex(lie.value(BigInt(honest.value))) } : honest;
  const flat = (honest: { readonly action: Frame }): unknown => ({
    ...honest,
    action: nested(honest.action),
  });
  const nested = (frame: Frame): Frame => ({
    ...frame,
    ...(lie.traced && frame.to === address && frame.value
      ? { value: hex(lie.traced(BigInt(frame.value))) }
      : {}),
    ...(frame.calls ? { calls: frame.calls.map(nested) } : {}),
  });
  return async (call, forward) => {
    const answer = await forward();
    const result = answer.result;
    const list = Array.isArray(result) ? result : [];
    if (call.method === 'eth_getBlockReceipts') return { json: { ...answer, result: list.map(receipt) } };
    if (call.method === 'trace_block') return { json: { ...answer, result: list.map(flat) } };
    if (call.method === 'debug_traceBlockByHash')
      return {
        json: { ...answer, result: list.map((entry) => ({ ...entry, result: nested(entry.result) })) },
      };
    if (call.method !== 'eth_getBlockByNumber' || call.params[1] !== true || !result) return { json: answer };
    const block = result as { readonly transactions: readonly Transaction[] };
    return {
      json: {
        ...answer,
        result: { ...block, logsBloom: undefined, transactions: block.transactions.map(transaction) },
      },
    };
  };
}

type Forward = Parameters<Fault>[1];

/** Several faults at once, of which each changes what the ones before it say. */
export const together =
  (faults: readonly Fault[]): Fault =>
  async (call, forward) => {
    const last = faults.reduce<Forward>(
      (before, fault) => async () => {
        const answer = await fault(call, before);
        if (typeof answer !== 'object' || !('json' in answer)) return await before();
        return answer.json as Awaited<ReturnType<Forward>>;
      },
      forward,
    );
    return { json: await last() };
  };

/** A fault that says of what is final what `change` makes of it. */
export const finality =
  (change: (block: Row) => unknown): Fault =>
  async (call, forward) => {
    if (call.method !== 'eth_getBlockByNumber' || call.params[0] !== 'finalized') return undefined;
    const answer = await forward();
    return { json: { ...answer, result: await change(answer.result as Row) } };
  };
