// What an operator is told of Tron: whether it answers and is the right chain, what is read twice, whether
// its endpoints save what contracts pass on, and what the day has cost.
import { bad, type Finding, good } from '../../base/finding.ts';
import { reasonOf } from '../../base/reason.ts';
import type { DescribeInput } from '../chain.ts';
import { describeChain } from '../describe.ts';
import type { ChainReader } from '../reader.ts';
import { listOf, membersOf } from './block/sent-block.ts';
import type { Budget } from './budget.ts';
import { readWithin } from './pace.ts';
import type { TronPool, TronSession } from './protocol.ts';
import type { TronSettings } from './settings.ts';

const WITHIN_MS = 12_000;
/**
 * Blocks of the head in which an internal transaction is looked for: on main net nearly every one holds some.
 */
const LOOKED_AT = 3;
/** The chain names a block as final about 19 after it. */
const MAX_SOLID_LAG = 60;

type Opened = {
  readonly settings: TronSettings;
  readonly pool: TronPool;
  readonly reader: ChainReader;
  readonly budget: Budget;
};

/** Describes the chain, and its endpoints where it is well. Never throws. */
export async function describeTron(opened: Opened, input: DescribeInput): Promise<readonly Finding[]> {
  const { reader, pool } = opened;
  const facts = 'the genesis block is the right one, USDT has 6 decimals';
  const chain = await describeChain({ ...input, reader, endpoints: () => pool.status(), facts });
  if (!chain.ok) return [chain, describeRequests(opened)];
  return [chain, await describeFinality(reader), await describeInternals(pool), describeRequests(opened)];
}

async function describeFinality(reader: ChainReader): Promise<Finding> {
  const name = 'finality_tron';
  try {
    const signal = AbortSignal.timeout(WITHIN_MS);
    const [head, final] = await Promise.all([reader.head(signal), reader.finalized(signal)]);
    const lag = head.number - final.number;
    if (lag <= MAX_SOLID_LAG) return good(name, `the solidified block is ${lag} behind the head`);
    return bad(
      name,
      `the solidified block is ${lag} behind the head`,
      'Compare it with an explorer; deposits complete once it moves. With a node of your own, check TRON_SOLIDITY_URLS',
    );
  } catch (error) {
    return bad(name, reasonOf(error), 'Run it again; deposits wait until the solidified block is told');
  }
}

async function describeInternals(pool: TronPool): Promise<Finding> {
  const name = 'internal_transfers_tron';
  const answers = await pool.each(showsInternals, AbortSignal.timeout(WITHIN_MS)).catch(() => []);
  const said = answers.map(({ host, value, problem }) => {
    if (problem !== undefined) return `${host} does not say (${problem})`;
    return value ? `${host} shows them` : `${host} showed none in its newest ${LOOKED_AT} blocks`;
  });
  const detail = said.join('; ') || 'no endpoint says';
  // A quiet private chain has none to show, so their absence alone is no fault.
  return good(
    name,
    answers.some(({ value }) => value)
      ? detail
      : `${detail}: TRX that contracts pass on is found by the comparison of balances; a node of your own needs vm.saveInternalTx`,
  );
}

async function showsInternals(session: TronSession): Promise<boolean> {
  const head = membersOf(await session.call('wallet/getblock', { detail: false }));
  const number = Number(membersOf(membersOf(head['block_header'])['raw_data'])['number'] ?? 0);
  for (let back = 0; back < LOOKED_AT; back += 1) {
    const infos = await session.call('wallet/gettransactioninfobyblocknum', { num: number - back });
    if (!Array.isArray(infos)) return false;
    if (infos.some((info) => listOf(membersOf(info)['internal_transactions']).length > 0)) return true;
  }
  return false;
}

function describeRequests({ settings, budget }: Opened): Finding {
  const { limit } = budget.today();
  const { allows, problem } = readWithin(limit);
  const name = 'requests_tron';
  const most = `at most ${settings.requestsPerSecond} a second and ${limit.toLocaleString('en-US')} a day`;
  if (problem === undefined) return good(name, `${most}: ${allows}`);
  return bad(
    name,
    `${most}: ${problem}; ${allows}`,
    'Raise TRON_REQUESTS_PER_DAY where the key allows more, or use a node of your own, which counts nothing',
  );
}
