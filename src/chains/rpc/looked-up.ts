import type { SeenTransaction } from '../seen.ts';
import { RpcUnavailable } from './errors.ts';
import type { EachResponse } from './types.ts';

/** So many movements of a transaction are shown to a person. */
export const MOVES_SHOWN = 50;
/** What one endpoint may take for it. */
export const LOOK_WITHIN_MS = 5_000;

/**
 * What is told of a transaction when each endpoint was asked: one in a block comes before one that waits, and
 * that before nothing. Throws RpcUnavailable, with what each said, where none answered.
 */
export function bestSeen(
  name: string,
  answers: readonly EachResponse<SeenTransaction | null>[],
): SeenTransaction | undefined {
  const heard = answers.filter((answer) => answer.problem === undefined);
  if (heard.length === 0)
    throw new RpcUnavailable(
      `no endpoint of ${name} answers: ${answers.map(({ host, problem }) => `${host}: ${problem}`).join('; ')}`,
      name,
    );
  const seen = heard.flatMap(({ value }) => value ?? []);
  return seen.find(({ blockNumber }) => blockNumber !== null) ?? seen[0];
}
