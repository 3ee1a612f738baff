// How fast blocks are searched for deposits, as a ratio to
// what no reader can avoid: parsing the same bytes as JSON.
import { bscToken } from '../../src/chains/bsc/block.ts';
import type { Row } from '../row.ts';
import { ADDRESSES, fastestMs, fillSet, GOAL_RATIO, ROUNDS } from './against-parse.ts';
import { decodeSample, makeSample, USDT } from './block-sample.ts';

const BLOCKS = 40;
const GOAL_MIB = 64;

/** Measures the scan of blocks against JSON.parse of the same text, and the memory of a million addresses. */
export async function run(): Promise<Row[]> {
  const { set, some, residentMib } = fillSet();
  const samples = Array.from({ length: BLOCKS }, (_, index) => makeSample(1_000 + index, `0x${some}`));
  const rules = { token: bscToken(USDT), chainId: 56, watched: set, unrecognisedLimit: 1_000 };
  let found = 0;
  const parse = () => {
    for (const { block, receipts } of samples) {
      JSON.parse(block);
      JSON.parse(receipts);
    }
  };
  const scan = () => {
    for (const sample of samples) found += decodeSample(sample, rules).transfers.length;
  };
  const [parseMs = 0, scanMs = 0] = fastestMs([parse, scan]);
  if (found !== BLOCKS * ROUNDS) throw new Error(`the scan found ${found} transfers, not ${BLOCKS * ROUNDS}`);
  const ratio = parseMs / scanMs;
  return [
    {
      figure: `BSC scan against JSON.parse, ${ADDRESSES} addresses`,
      value: ratio.toFixed(2),
      goal: `>= ${GOAL_RATIO}`,
      met: ratio >= GOAL_RATIO,
    },
    {
      figure: 'BSC blocks a second on one core',
      value: Math.round((BLOCKS / scanMs) * 1000).toString(),
      goal: '',
      met: true,
    },
    {
      figure: `memory of ${ADDRESSES} addresses`,
      value: `${residentMib.toFixed(1)} MiB`,
      goal: `<= ${GOAL_MIB} MiB`,
      met: residentMib <= GOAL_MIB,
    },
  ];
}
