// How much of what Temporal alone can do is left of the gateway when it pays out.
//
// The bare side has the very same workflows, the same workers with the same limits, and as many
// activities: the steps of a settlement, then the look and the delivery of the deposit that it settles. It
// lacks everything else: rows, the signer, the chain and its blocks, which are final a second later.
import { randomUUID } from 'node:crypto';
import { eventually } from '../../dev/support/eventually.ts';
import { keyOfHex } from '../../src/chains/address-key.ts';
import { settlementWake } from '../../src/services/payouts/wakes.ts';
import { numberOf, percentile, type Row, told } from '../bench.ts';
import { inPairs, startBareDeposit, withBareTemporal } from '../deposits/bare-workers.ts';
import { type PayoutStage, withPayouts } from './stage.ts';

const ADDRESSES = numberOf('BENCH_SETTLE_ADDRESSES', 240);
const PER_BLOCK = 40;
const LIMIT_MS = 10 * 60_000;
/** What a settlement that meets no hindrance goes through, and the look that finds nothing left. */
const STEPS = {
  BNB: ['planned', 'paying', 'paying', 'settled'],
  USDT: ['planned', 'planned', 'planned', 'paying', 'paying', 'settled'],
} as const;

type Currency = keyof typeof STEPS;

/** Pairs of runs of either currency. */
export async function run(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const currency of ['USDT', 'BNB'] as const) {
    const steps: number[] = [];
    const gateway = () => gatewayRate(currency, (asked) => void steps.push(asked));
    const sides = { bare: () => bareRate(currency), gateway };
    const goal = { pairs: 3, goal: 0.7, withinMs: Number.POSITIVE_INFINITY };
    rows.push(...(await inPairs(`payouts of ${currency}, `, sides, goal)));
    const figure = `steps of a payout of ${currency}, median (bare: ${STEPS[currency].length + 1})`;
    rows.push(told(figure, percentile(steps, 0.5)));
  }
  return rows;
}

function bareRate(currency: Currency): Promise<number> {
  return withBareTemporal(async ({ link, work }) => {
    const taken = new Map<string, number>();
    await work({
      advanceSettlement: async ({ addressKey }) => {
        const step = taken.get(addressKey) ?? 0;
        taken.set(addressKey, step + 1);
        const state = STEPS[currency][step];
        return state === undefined ? { kind: 'rest', note: '' } : { kind: 'went', state, note: '' };
      },
      advanceDeposit: async () => {
        const at = { state: 'settled', sequence: 4, generation: 1, since: new Date().toISOString() };
        return { ...at, deliveries: [randomUUID()], note: '' };
      },
      deliverWebhook: async () => ({ status: 'succeeded', message: '' }),
    });
    const began = Date.now();
    const payOut = async (_: unknown, index: number): Promise<void> => {
      const [id, message] = settlementWake({
        network: 'bsc',
        addressKey: keyOfHex(index.toString(16).padStart(40, '0')),
        address: `0x${index}`,
        merchantId: 'm',
      });
      await link.actors.start(id, message);
      await link.client.workflow.getHandle(id).result();
      // The actor of a deposit that was settled looks, and delivers.
      await startBareDeposit(link, `bare:${index}`, { state: 'settled', sequence: 0 });
    };
    await Promise.all(Array.from({ length: ADDRESSES }, payOut));
    const ends = Array.from({ length: ADDRESSES }, (_, index) => `bare:${index}`);
    await Promise.all(ends.map((id) => link.client.workflow.getHandle(id).result()));
    return ADDRESSES / ((Date.now() - began) / 1_000);
  });
}

/** One completed deposit on each of so many addresses; then the merchant says where to. */
function gatewayRate(currency: Currency, note: (steps: number) => void): Promise<number> {
  return withPayouts(async (stage) => {
    const { live, chain, count } = stage;
    const customers = await Promise.all(Array.from({ length: ADDRESSES }, () => live.newCustomer()));
    for (const [index, { address }] of customers.entries()) {
      await stage.deposit(currency, address);
      if (index % PER_BLOCK === PER_BLOCK - 1) await chain.mine(1);
    }
    await chain.mine(12);
    await stage.until(`'completed'`, ADDRESSES);
    const areTold = async (event: string) => {
      const told = `webhook_deliveries where status = 'succeeded' and event_type = '${event}'`;
      return (await count(told)) === ADDRESSES;
    };
    const ready = async () => (await areTold('deposit.completed')) && (await count('outbox')) === 0;
    await eventually('that all is told', ready, LIMIT_MS);
    const mining = stage.mining();
    const began = Date.now();
    await stage.payOut(true);
    await eventually('that all is paid out', () => areTold('deposit.settled'), LIMIT_MS);
    const perSecond = ADDRESSES / ((Date.now() - began) / 1_000);
    note(
      await stepsOf(
        stage,
        customers.map(({ address }) => address),
      ),
    );
    await mining.end();
    return perSecond;
  });
}

/** How many steps were asked for to pay out an address, each once however often it had to wait. */
async function stepsOf({ live }: PayoutStage, addresses: readonly string[]): Promise<number> {
  const { link } = live.gateway.gateway;
  if (!link) throw new Error('Temporal is not connected');
  const counts = addresses.map(async (address) => {
    const handle = link.client.workflow.getHandle(`settlement:bsc:${address.slice(2)}`);
    const { events } = await handle.fetchHistory();
    return (events ?? []).filter((event) => event.activityTaskScheduledEventAttributes).length;
  });
  return percentile(await Promise.all(counts), 0.5);
}
