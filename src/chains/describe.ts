// What an operator is told of a chain, whichever it is: whether it answers, is the right one and moves.
import { bad, type Finding, good } from '../base/finding.ts';
import { reasonOf } from '../base/reason.ts';
import type { DescribeInput } from './chain.ts';
import type { ChainReader } from './reader.ts';
import { ChainMismatch } from './rpc/errors.ts';
import type { EndpointStatus } from './rpc/types.ts';

const WITHIN_MS = 12_000;
const MAX_BLOCK_AGE_MS = 5 * 60_000;

type Described = DescribeInput & {
  readonly reader: ChainReader;
  readonly endpoints: () => readonly EndpointStatus[];
  /** What is proven of the chain once its identity is, in words. */
  readonly facts: string;
};

/** Proves the chain and tells its heights; finds a fault where something needs the operator. Never throws. */
export async function describeChain(described: Described): Promise<Finding> {
  const { network, watchedBy, identifiedBy } = described.chain;
  const signal = AbortSignal.timeout(WITHIN_MS);
  try {
    await described.reader.checkIdentity(signal);
    return await describeHead(described, signal);
  } catch (error) {
    if (error instanceof ChainMismatch)
      return bad(network, reasonOf(error), `Correct ${identifiedBy}: the gateway refuses to run like this`);
    return bad(
      network,
      signal.aborted ? 'no endpoint answered in time' : reasonOf(error),
      `Check ${watchedBy}; deposits wait until one answers`,
    );
  }
}

async function describeHead(described: Described, signal: AbortSignal): Promise<Finding> {
  const { chain, reader, endpoints, facts, mustMove } = described;
  const { network, watchedBy } = chain;
  const [head, finalized] = await Promise.all([reader.head(signal), reader.finalized(signal)]);
  const away = endpoints().filter((endpoint) => endpoint.problem !== null);
  const detail = `${facts}, head ${head.number}, finalized ${finalized.number}`;
  if (away.length > 0)
    return bad(
      network,
      `${detail}; not in use: ${away.map(({ host, problem }) => `${host} (${problem})`).join(', ')}`,
      `Repair or remove these endpoints from ${watchedBy}`,
    );
  const ageMs = Date.now() - head.timestampMs;
  if (mustMove && ageMs > MAX_BLOCK_AGE_MS)
    return bad(
      network,
      `${detail}; the newest block is ${Math.round(ageMs / 60_000)} min old`,
      'Use endpoints that are in sync, or set the clock of this machine',
    );
  return good(network, detail);
}
