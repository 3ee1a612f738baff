// The signer's journal after years: how long it takes to open, what it keeps in memory, what limits cost.
import { randomBytes, randomUUID } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '../../dev/support/parts.ts';
import { type Journal, openJournal } from '../../src/signer/journal.ts';
import { hashOfLine, type JournalEntry, lineText, NO_LINE } from '../../src/signer/journal-lines.ts';
import { requireRoom } from '../../src/signer/pull/limits.ts';
import { atMost, msOf, numberOf, percentile, type Row } from '../bench.ts';
import { heldNow } from '../process-costs.ts';

const LINES = numberOf('BENCH_LINES', 200_000);
const FEW_LINES = 4_000;
/** Of either journal, how many lines are of the last day. */
const OF_THE_DAY = 1_000;
const CHECKS = 200;
const HOUR_MS = 60 * 60_000;
const GOAL_OPEN = 5;
const GOAL_BYTES = 80;
const GOAL_CHECK = 2;

/** Half of the lines bring coins for gas, half pay two deposits out. */
export async function run(): Promise<Row[]> {
  const folder = await tempDir('journal');
  const few = await measured(join(folder, 'few'), FEW_LINES);
  const many = await measured(join(folder, 'many'), LINES);
  const [opening, checking] = [many.openMs / many.hashMs, many.checkMs / few.checkMs];
  const bytes = (many.mib * 2 ** 20) / LINES;
  const limits = `the limits of one signature against those with ${FEW_LINES} lines, ${OF_THE_DAY} of the day in both`;
  return [
    atMost(
      `opening ${LINES} lines against hashing them`,
      `${opening.toFixed(1)} (${(many.openMs / 1_000).toFixed(1)} s)`,
      [opening, GOAL_OPEN],
    ),
    atMost(
      'heap and external memory for each line',
      `${bytes.toFixed(0)} B (${many.mib.toFixed(0)} MiB)`,
      [bytes, GOAL_BYTES],
      ' B',
    ),
    atMost(limits, `${checking.toFixed(1)} (${many.checkMs.toFixed(2)} ms)`, [checking, GOAL_CHECK]),
  ];
}

async function measured(file: string, lines: number) {
  const now = new Date();
  const hashMs = write(file, lines, now);
  const before = heldNow().heapMib;
  const began = performance.now();
  const journal = await openJournal({ file, now });
  const openMs = performance.now() - began;
  const mib = heldNow().heapMib - before;
  check(journal, now);
  const checks: number[] = [];
  for (let n = 0; n < CHECKS; n += 1) checks.push(await msOf(async () => check(journal, now)));
  await journal.close();
  return { hashMs, openMs, mib, checkMs: percentile(checks, 0.5) };
}

function check({ index }: Journal, now: Date): void {
  const much = () => 10n ** 30n;
  const asked = { network: 'bsc', currency: 'USDT', payout_id: 'x', purpose: 'payout' } as const;
  const moving = { ...asked, merchant_id: 'x', attempt: 1, amount: 1n, nonce: 1 };
  requireRoom({ limits: { perHour: much, perDay: much }, index, now }, moving);
}

/** Returns how long its lines take to hash. */
function write(file: string, lines: number, now: Date): number {
  const fd = openSync(file, 'w', 0o600);
  let previous = NO_LINE;
  let hashMs = 0;
  for (let n = 1; n <= lines; n += 1) {
    const hoursAgo = n > lines - OF_THE_DAY ? 2 : 1_000;
    const entry: JournalEntry = n === 1 ? { kind: 'begun', journal: randomUUID() } : signed(n);
    const text = lineText(entry, { n, at: new Date(now.getTime() - hoursAgo * HOUR_MS), previous });
    const began = performance.now();
    previous = hashOfLine(text);
    hashMs += performance.now() - began;
    writeSync(fd, `${text}\n`);
  }
  closeSync(fd);
  return hashMs;
}

function signed(n: number): JournalEntry {
  const isGas = n % 2 === 0;
  const hex = randomBytes(242).toString('hex');
  return {
    kind: 'signed',
    network: 'bsc',
    purpose: isGas ? 'gas' : 'payout',
    payout_id: randomUUID(),
    attempt: 1,
    merchant_id: randomUUID(),
    deposits: isGas ? [] : [randomUUID(), randomUUID()],
    from: hex.slice(0, 40),
    to: hex.slice(40, 80),
    currency: isGas ? 'BNB' : 'USDT',
    amount: '1000000000000000000',
    price: '1000000000',
    nonce: n,
    expires_at: null,
    hash: `0x${hex.slice(80, 144)}`,
    raw: hex.slice(144),
  };
}
