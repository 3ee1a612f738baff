// How fast blocks of Tron are searched for deposits, as a ratio to
// what no reader can avoid: parsing the same bytes as JSON.
import type { Row } from '../row.ts';
import { ADDRESSES, fastestMs, fillSet, GOAL_RATIO, ROUNDS } from './against-parse.ts';
import { makeTronSample, proveTronSample, readTronSample, TRON_USDT } from './tron-sample.ts';

const BLOCKS = 40;
/** One block of so many brings money to us. */
const PER_HIT = 10;

/** Measures the reading of blocks against JSON.parse of the same text. */
export async function run(): Promise<Row[]> {
  const { set, some } = fillSet();
  const samples = Array.from({ length: BLOCKS }, (_, index) =>
    makeTronSample(1_000 + index, index % PER_HIT === 0 ? some : undefined),
  );
  const rules = { token: TRON_USDT, watched: set, unrecognisedLimit: 1_000 };
  let found = 0;
  const parse = () => {
    for (const { block, infos } of samples) {
      JSON.parse(block);
      JSON.parse(infos);
    }
  };
  const scan = () => {
    for (const sample of samples) found += readTronSample(sample, rules)?.transfers.length ?? 0;
  };
  const prove = () => {
    for (const sample of samples) found += proveTronSample(sample, rules)?.transfers.length ?? 0;
  };
  const [parseMs = 0, scanMs = 0, proveMs = 0] = fastestMs([parse, scan, prove]);
  const paid = 2 * (BLOCKS / PER_HIT) * ROUNDS;
  if (found !== paid) throw new Error(`the scan found ${found} transfers, not ${paid}`);
  const ratio = parseMs / scanMs;
  const kib =
    samples.reduce((sum, { block, infos }) => sum + block.length + infos.length, 0) / 1_024 / BLOCKS;
  return [
    {
      figure: `Tron scan against JSON.parse, ${ADDRESSES} addresses, 400 transactions of ${kib.toFixed(0)} KiB`,
      value: ratio.toFixed(2),
      goal: `>= ${GOAL_RATIO}`,
      met: ratio >= GOAL_RATIO,
    },
    {
      figure: 'the same with each transaction held to its id, as a watcher reads',
      value: (parseMs / proveMs).toFixed(2),
      goal: '',
      met: true,
    },
    {
      figure: 'Tron blocks a second on one core, as a watcher reads',
      value: Math.round((BLOCKS / proveMs) * 1000).toString(),
      goal: '',
      met: true,
    },
  ];
}
