// What an operator is told of BNB Chain: whether it answers and is the right
// chain, and what each endpoint offers.
import { bad, type Finding, good } from '../../base/finding.ts';
import { reasonOf } from '../../base/reason.ts';
import type { DescribeInput } from '../chain.ts';
import { describeChain } from '../describe.ts';
import type { ChainReader } from '../reader.ts';
import type { RpcPool } from '../rpc/json-rpc.ts';
import { askAbilities, lacksOf } from './endpoint-abilities.ts';
import type { BscSettings } from './settings.ts';

const WITHIN_MS = 12_000;

type Opened = { readonly settings: BscSettings; readonly rpc: RpcPool; readonly reader: ChainReader };

/** Describes the chain, and its endpoints where it is well. Never throws. */
export async function describeBsc(opened: Opened, input: DescribeInput): Promise<readonly Finding[]> {
  const { reader, rpc, settings } = opened;
  const facts = `chain ${settings.chainId}, USDT has 18 decimals`;
  const chain = await describeChain({ ...input, reader, endpoints: () => rpc.status(), facts });
  return chain.ok ? [chain, ...(await describeEndpoints(opened))] : [chain];
}

/**
 * What each endpoint offers: the method by which it shows BNB that contracts pass on,
 * what it lacks, and how fast it was last asked.
 */
async function describeEndpoints({ rpc }: Opened): Promise<Finding[]> {
  const [ways, lacks] = ['internal_transfers', 'endpoints_bsc'];
  const again = 'Run it again; until then the reconciliation finds them';
  const signal = AbortSignal.timeout(WITHIN_MS);
  let answers: Awaited<ReturnType<typeof askAbilities>>;
  try {
    answers = await askAbilities(rpc, signal);
  } catch (error) {
    return [bad(ways, `no endpoint says whether it shows them: ${reasonOf(error)}`, again)];
  }
  const known = answers.filter((answer) => answer.problem === undefined);
  const wayOf = (method: string | null) =>
    method ? `by traces (${method})` : 'by reconciliation, every hour';
  const described = answers.map((answer) => {
    if (answer.problem !== undefined) return `${answer.host} does not say (${answer.problem})`;
    const missing = lacksOf(answer.value);
    return `${answer.host} ${missing.length > 0 ? `lacks ${missing.join(', ')}` : 'lacks nothing'}`;
  });
  const paces = rpc
    .status()
    .map(({ host, requestsPerSecond }) => `${host} ${Math.round(requestsPerSecond)}/s`);
  const detail = [...described, `asked at most ${paces.join(', ')}`].join('; ');
  const isFinalityKnown = known.some((answer) => answer.value.finalized);
  return [
    known.length > 0
      ? good(ways, known.map(({ host, value }) => `${wayOf(value.traces)} at ${host}`).join('; '))
      : bad(ways, `no endpoint says whether it shows them: ${described.join('; ')}`, again),
    isFinalityKnown
      ? good(lacks, detail)
      : bad(lacks, detail, 'Add an endpoint that tells which block is final to BSC_RPC_URLS'),
  ];
}
