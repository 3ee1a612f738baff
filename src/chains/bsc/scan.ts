// A block with its receipts and its trace, read in one session with
// one endpoint, and what each endpoint shows of it.
import type { BlockRef, ChainReader, ScannedBlock, TracedTransaction, Transfer } from '../reader.ts';
import { EndpointFailure } from '../rpc/errors.ts';
import { toQuantity } from '../rpc/hex.ts';
import type { RpcPool, RpcSession } from '../rpc/json-rpc.ts';
import { type DecodeRules, decodeBlock } from './block.ts';
import type { ReceiptReader } from './receipts.ts';
import { readBlockBody, readBlockRef } from './sent-block.ts';
import type { NumberedBlock } from './traces/method.ts';
import type { createMissedTraces } from './traces/missed-traces.ts';
import type { InternalTransfer } from './traces/trace.ts';
import { traceTransactionOn } from './traces/trace-transaction.ts';
import type { Tracer } from './traces/tracer.ts';

export type ScanDeps = {
  readonly rpc: RpcPool;
  readonly rules: Pick<DecodeRules, 'token' | 'chainId' | 'unrecognisedLimit'>;
  readonly receipts: ReceiptReader;
  /** Undefined where traces are never asked for. */
  readonly tracer: Tracer | undefined;
  readonly missed: Pick<ReturnType<typeof createMissedTraces>, 'note'>;
  /** True for a block whose read decides what it holds: its trace is then also asked of other endpoints. */
  readonly insistsOn: (number: number) => boolean;
};
type Scans = Required<Pick<ChainReader, 'scan' | 'traceTransaction' | 'readings'>>;

/** Makes the reads of whole blocks for a reader of BNB Chain; each promises what `ChainReader` says of it. */
export function createScans({ rpc, rules, receipts, tracer, missed, insistsOn }: ScanDeps): Scans {
  return {
    scan: (number, watched, signal, naming) => {
      const insists = insistsOn(number);
      const traces = async (session: RpcSession, block: NumberedBlock) => {
        const question = { block, watched, insists, signal };
        const shown =
          (await tracer?.read(session, question)) ??
          (insists ? await tracer?.readElsewhere(rpc, session, question) : undefined);
        if (!shown && insists && tracer?.mayCome()) missed.note(number);
        return shown;
      };
      const wanted = { ...rules, watched, naming };
      return rpc.run((session) => scanOn(session, number, wanted, { receipts, traces }), signal, {
        last: receipts.isCostly,
        block: number,
      });
    },
    traceTransaction: async (at, txHash, watched, signal) => {
      const traces = (on: RpcSession, block: NumberedBlock) => traceTransactionOn(on, block, txHash, watched);
      const shown = await onEach(rpc, at, { ...rules, watched }, { receipts, traces }, signal);
      const traced = shown.filter(({ block }) => !block.untraced);
      return agreement(
        traced.map(({ host, block }) => ({
          host,
          transfers: block.transfers.filter((one) => one.txHash === txHash),
        })),
      );
    },
    readings: async (at, watched, signal) => {
      const traces = async (on: RpcSession, block: NumberedBlock) =>
        await tracer?.read(on, { block, watched, insists: true, signal });
      return await onEach(rpc, at, { ...rules, watched }, { receipts, traces }, signal);
    },
  };
}

type Extras = {
  readonly receipts: ReceiptReader;
  readonly traces: (session: RpcSession, block: NumberedBlock) => Promise<InternalTransfer[] | undefined>;
};

async function scanOn(
  session: RpcSession,
  number: number,
  rules: Omit<DecodeRules, 'internals'>,
  { receipts, traces }: Extras,
): Promise<ScannedBlock | undefined> {
  const block = await session.call('eth_getBlockByNumber', [toQuantity(number), true]);
  if (block === null) return undefined;
  const ref = readBlockRef(block, number);
  const body = readBlockBody(block);
  const whole = { number, hash: ref.hash, transactions: body.transactions };
  const given = await receipts.read(session, whole);
  const internals = body.transactions.length === 0 ? [] : await traces(session, whole);
  try {
    return decodeBlock(ref, body, given, { ...rules, internals });
  } catch (error) {
    // The decoder trusts the shape of transactions and logs, for speed; where
    // the shape is wrong, the node is at fault.
    if (error instanceof TypeError || error instanceof SyntaxError)
      throw new EndpointFailure(`malformed block ${number}`);
    throw error;
  }
}

/** This very block as each endpoint that answers shows it. */
async function onEach(
  rpc: RpcPool,
  at: Pick<BlockRef, 'number' | 'hash'>,
  rules: Omit<DecodeRules, 'internals'>,
  extras: Extras,
  signal: AbortSignal,
): Promise<{ readonly host: string; readonly block: ScannedBlock }[]> {
  const answers = await rpc.all(async (session) => {
    const block = await scanOn(session, at.number, rules, extras);
    return block?.hash === at.hash ? { host: session.host, block } : undefined;
  }, signal);
  return answers.filter((answer) => answer !== undefined);
}

/** What every endpoint that traced a transaction shows, or the fact that they differ. */
function agreement(
  answers: readonly { readonly host: string; readonly transfers: readonly Transfer[] }[],
): TracedTransaction | undefined {
  const [first] = answers;
  if (!first) return undefined;
  const textOf = (transfers: readonly Transfer[]): string =>
    transfers
      .map(({ to, currency, amountUnits }) => `${to} ${currency} ${amountUnits}`)
      .toSorted()
      .join();
  const agreed = answers.every(({ transfers }) => textOf(transfers) === textOf(first.transfers));
  return { hosts: answers.map(({ host }) => host), agreed, transfers: first.transfers };
}
