import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Row } from '../row.ts';
import { byteRows, PARTS, processorRows, shareRows, usageOf } from './cost-rows.ts';
import { type CostStage, setCostStage } from './cost-stage.ts';
import { ask, makeCustomers, makeLinks, mineByTheClock, settled } from './cost-work.ts';

const DEPOSITS = Number(process.env['BENCH_COST_DEPOSITS'] ?? 600);
const CUSTOMERS = 200;
const LINKS = 200;
const READS = 2_000;
/** What the first use of anything costs a process is no cost of a deposit. */
const WARM_UP = 60;
const IDLE_MS = 60_000;

/**
 * What one deposit with one webhook endpoint costs, by part: the gateway role by role on the
 * production Temporal server, each a process of its own, with blocks that come as on BNB Chain.
 * What the parts use and write while blocks come and nothing is paid is measured first and
 * taken off. It is time of processors, which other load on the machine changes little; only an
 * API that is too slow to answer spoils it, and then this throws. The API has no part in a
 * deposit: told are what it and the others spend on a new customer, a read and a new payment
 * link. PostgreSQL runs without fsync, which saves it waiting and no work worth counting.
 */
export async function run(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-cost-'));
  chmodSync(folder, 0o711); // PostgreSQL runs as another user where we are root
  const stage = await setCostStage(folder);
  try {
    const rows = await measure(stage);
    return rows;
  } finally {
    await stage.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(stage: CostStage): Promise<Row[]> {
  const { client, key } = stage;
  await client.call('POST', '/webhook-endpoints', key, { url: stage.receiver.url, events: ['*'] });
  const known = await makeCustomers(stage, 'warm', WARM_UP);
  const reads = async (count: number): Promise<void> => {
    for (let index = 0; index < count; index += 1)
      await ask(stage, 'GET', `/customers/${known[index % WARM_UP]?.id}`);
  };
  await reads(READS / 4);
  await makeLinks(stage, known, WARM_UP);
  const mining = mineByTheClock(stage.chain);
  mining.pay(await makeCustomers(stage, 'early', WARM_UP), WARM_UP);
  await settled(stage, WARM_UP);
  const idle = await usageOf(stage, () => sleep(IDLE_MS));
  const customers = await usageOf(stage, async () => {
    const made = await makeCustomers(stage, 'user', CUSTOMERS);
    await settled(stage);
    return made;
  });
  const read = await usageOf(stage, () => reads(READS));
  const deposits = await usageOf(stage, async () => {
    mining.pay(customers.result, DEPOSITS);
    await settled(stage, WARM_UP + DEPOSITS);
  });
  const links = await usageOf(stage, async () => {
    await makeLinks(stage, known, LINKS);
    await settled(stage);
  });
  await mining.end();
  return [
    {
      figure: `deposits, over ${(deposits.ms / 1_000).toFixed(0)} s`,
      value: String(DEPOSITS),
      goal: '',
      met: true,
    },
    ...processorRows('one deposit', PARTS, deposits, idle, DEPOSITS),
    ...processorRows('one new customer', ['api', ...PARTS], customers, idle, CUSTOMERS),
    ...processorRows('one read of a customer', ['api', 'PostgreSQL for the gateway'], read, idle, READS),
    ...processorRows('one new payment link', ['api', ...PARTS], links, idle, LINKS),
    ...shareRows(idle),
    ...byteRows('one deposit', deposits, idle, DEPOSITS),
    ...byteRows('one new customer', customers, idle, CUSTOMERS),
    ...byteRows('one new payment link', links, idle, LINKS),
  ];
}
