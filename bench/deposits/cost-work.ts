// The work whose cost is measured: calls of a merchant, payments in blocks, and the wait until all is done.
import { setTimeout as sleep } from 'node:timers/promises';
import { type TestChain, USDT_UNIT } from '../../dev/support/chain.ts';
import type { Json } from '../soak/api.ts';
import type { CostStage } from './cost-stage.ts';

const BLOCK_MS = 450;
const PER_BLOCK = 2;
const LIMIT_MS = 10 * 60_000;
/** A question to the whole database costs the server something too, though nothing that is counted. */
const LOOK_EVERY_MS = 1_000;
/** After the last delivery the actors end, and Temporal notes it. */
const REST_MS = 5_000;

type Paid = { readonly id: string; readonly address: string };

/**
 * One call that is answered as it should be, at the first try:
 * a repeated one would be counted as one and cost as two.
 */
export async function ask(
  { client, key }: CostStage,
  method: string,
  path: string,
  body?: Json,
): Promise<Json> {
  const calls = [...client.counts.values()].reduce((sum, count) => sum + count, 0);
  const answer = await client.call(method, path, key, body);
  const tries = [...client.counts.values()].reduce((sum, count) => sum + count, 0) - calls;
  if (answer.status >= 300)
    throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  if (tries > 1)
    throw new Error(
      `${method} ${path} took ${tries} tries; the figures would be wrong: measure on a quieter machine`,
    );
  return answer.body;
}

/** So many new customers, one after the other, each with an address on BNB Chain. */
export async function makeCustomers(stage: CostStage, name: string, count: number): Promise<Paid[]> {
  const made: Paid[] = [];
  for (let index = 0; index < count; index += 1) {
    const body = await ask(stage, 'POST', '/customers', { external_id: `${name}-${index}` });
    const addresses = body['addresses'] as { network: string; address: string }[];
    made.push({
      id: String(body['id']),
      address: addresses.find(({ network }) => network === 'bsc')?.address ?? '',
    });
  }
  return made;
}

/** So many new payment links, of these customers in turn. */
export async function makeLinks(stage: CostStage, customers: readonly Paid[], count: number): Promise<void> {
  for (let index = 0; index < count; index += 1)
    await ask(stage, 'POST', '/request-payment', {
      customer_id: customers[index % customers.length]?.id,
      amount_usd: '10.00',
    });
}

/**
 * Until everything is delivered and nothing is left to
 * start, and a rest; with `completed` deposits at their end.
 */
export async function settled({ sql }: CostStage, completed = 0): Promise<void> {
  for (const until = Date.now() + LIMIT_MS; ; await sleep(LOOK_EVERY_MS)) {
    const [row] = await sql<{ done: number; open: number }>(
      `select (select count(*)::int from deposits where status = 'completed') as done,
         (select count(*)::int from webhook_deliveries where status = 'pending')
           + (select count(*)::int from outbox) as open`,
    );
    if (row && row.done >= completed && row.open === 0) break;
    if (Date.now() > until)
      throw new Error(
        `not everything was delivered within ${LIMIT_MS / 60_000} minutes: ${JSON.stringify(row)}`,
      );
  }
  await sleep(REST_MS);
}

/** Mines as BNB Chain does; what was asked to be paid goes into the blocks, a few payments each. */
export function mineByTheClock(chain: TestChain) {
  const state: { on: boolean; left: number; customers: readonly Paid[] } = {
    on: true,
    left: 0,
    customers: [],
  };
  const turn = async (): Promise<void> => {
    while (state.on) {
      const next = Date.now() + BLOCK_MS;
      for (let index = 0; index < PER_BLOCK && state.left > 0; index += 1, state.left -= 1)
        await chain.usdt.call('transfer', [
          state.customers[state.left % state.customers.length]?.address,
          USDT_UNIT,
        ]);
      await chain.mine(1);
      await sleep(Math.max(0, next - Date.now()));
    }
  };
  const ended = turn();
  return {
    pay: (customers: readonly Paid[], count: number) => {
      Object.assign(state, { left: count, customers });
    },
    end: async () => {
      state.on = false;
      await ended;
    },
  };
}
