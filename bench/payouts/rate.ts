// How much of what Temporal alone can do is left of the gateway when it pays out.
//
// The bare side has the very same workflows, the same workers with the same limits, and as many
// activities: the steps of a settlement, then the look and the delivery of the deposit that it settles. It
// lacks everything else: rows, the signer, the chain and its blocks, which are final a second later.
import { randomUUID } from 'node:crypto';
import { USDT_UNIT } from '../../dev/support/chain.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { stopParts } from '../../dev/support/parts.ts';
import { keyOfHex } from '../../src/chains/address-key.ts';
import { settlementWake } from '../../src/services/payouts/wakes.ts';
import type { TemporalLink } from '../../src/temporal/client.ts';
import { startBareTemporal } from '../deposits/bare-workers.ts';
import { percentile } from '../percentile.ts';
import type { Row } from '../row.ts';
import { mineByTheClock, type PayoutStage, startPayoutStage } from './stage.ts';

const PAIRS = Number(process.env['BENCH_PAIRS'] ?? 3);
const ADDRESSES = Number(process.env['BENCH_SETTLE_ADDRESSES'] ?? 240);
const PER_BLOCK = 40;
const LIMIT_MS = 10 * 60_000;
/** What a settlement that meets no hindrance goes through, and the look that finds nothing left. */
const STEPS = {
  BNB: ['planned', 'paying', 'paying', 'settled'],
  USDT: ['planned', 'planned', 'planned', 'paying', 'paying', 'settled'],
} as const;

type Currency = keyof typeof STEPS;
type Pair = { readonly gateway: number; readonly bare: number; readonly steps: number };

/** Pairs of runs, each side first in turn. A ratio is taken within a pair, and their median counts. */
export async function run(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const currency of ['USDT', 'BNB'] as const) {
    const pairs: Pair[] = [];
    while (pairs.length < PAIRS) {
      pairs.push(await measurePair(currency, pairs.length % 2 === 0));
      process.stderr.write(
        `  ${currency}, pair ${pairs.length} of ${PAIRS}: ${textOf(pairs.at(-1) as Pair)}\n`,
      );
    }
    rows.push(...rowsOf(currency, pairs));
  }
  await stopParts();
  return rows;
}

const ratioOf = ({ gateway, bare }: Pair): number => gateway / bare;
const textOf = (pair: Pair): string =>
  `${ratioOf(pair).toFixed(2)} (${pair.gateway.toFixed(1)}/s of ${pair.bare.toFixed(1)}/s)`;

function rowsOf(currency: Currency, pairs: readonly Pair[]): Row[] {
  const median = percentile(pairs.map(ratioOf), 0.5);
  const told = (figure: string, value: string): Row => ({ figure, value, goal: '', met: true });
  return [
    ...pairs.map((pair, index) =>
      told(`payouts of ${currency}, gateway / bare, pair ${index + 1}`, textOf(pair)),
    ),
    told(
      `steps of a payout of ${currency}, median (bare: ${STEPS[currency].length + 1})`,
      String(
        percentile(
          pairs.map(({ steps }) => steps),
          0.5,
        ),
      ),
    ),
    {
      figure: `payouts of ${currency}, gateway / bare, median of ${pairs.length}`,
      value: median.toFixed(2),
      goal: '>= 0.7',
      met: median >= 0.7,
    },
  ];
}

async function measurePair(currency: Currency, bareFirst: boolean): Promise<Pair> {
  if (bareFirst) {
    const bare = await bareRate(currency);
    return { bare, ...(await gatewayRate(currency)) };
  }
  const gateway = await gatewayRate(currency);
  return { ...gateway, bare: await bareRate(currency) };
}

async function bareRate(currency: Currency): Promise<number> {
  const temporal = await startBareTemporal();
  const { link } = temporal;
  const taken = new Map<string, number>();
  await temporal.work({
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
  const ids = await Promise.all(
    Array.from({ length: ADDRESSES }, async (_, index) => {
      const [id, message] = settlementWake({
        network: 'bsc',
        addressKey: keyOfHex(index.toString(16).padStart(40, '0')),
        address: `0x${index}`,
        merchantId: 'm',
      });
      await link.actors.start(id, message);
      await link.client.workflow.getHandle(id).result();
      await startDeposit(link, `bare:${index}`);
      return `bare:${index}`;
    }),
  );
  await Promise.all(ids.map((id) => link.client.workflow.getHandle(id).result()));
  const perSecond = ADDRESSES / ((Date.now() - began) / 1_000);
  await temporal.stop();
  return perSecond;
}

/** The actor of a deposit that was settled: it looks, and delivers. */
function startDeposit(link: TemporalLink, id: string): Promise<void> {
  const depositId = randomUUID();
  const knows = { state: 'settled', sequence: 0, generation: 1, rests: false, deliveries: [] };
  return link.actors.start(id, {
    workflowType: 'deposit',
    args: [{ depositId, ...knows }],
    attributes: { MerchantId: 'm', Network: 'bsc', DepositStage: 'settled', NeedsOperator: false },
    memo: { deposit_id: depositId, transaction_hash: depositId, address: depositId, amount: '1 USDT' },
    summary: 'bare',
    owner: { merchantId: 'm', mode: 'live' },
  });
}

/** One completed deposit on each of so many addresses; then the merchant says where to. */
async function gatewayRate(currency: Currency): Promise<Omit<Pair, 'bare'>> {
  const stage = await startPayoutStage();
  const { live, chain, count } = stage;
  const addresses = await Promise.all(Array.from({ length: ADDRESSES }, () => live.newCustomer()));
  for (const [index, { address }] of addresses.entries()) {
    await (currency === 'USDT'
      ? chain.usdt.call('transfer', [address, 10n * USDT_UNIT])
      : chain.send({ to: address, valueUnits: USDT_UNIT / 10n }));
    if (index % PER_BLOCK === PER_BLOCK - 1) await chain.mine(1);
  }
  await chain.mine(12);
  await stage.until('completed', ADDRESSES);
  const told = (event: string) =>
    count(`webhook_deliveries where status = 'succeeded' and event_type = '${event}'`);
  await eventually(
    'that all is told',
    async () => (await told('deposit.completed')) === ADDRESSES && (await count('outbox')) === 0,
    LIMIT_MS,
  );
  const mining = mineByTheClock(stage);
  const began = Date.now();
  await stage.payOut(true);
  await eventually(
    'that all is paid out',
    async () => (await told('deposit.settled')) === ADDRESSES,
    LIMIT_MS,
  );
  const gateway = ADDRESSES / ((Date.now() - began) / 1_000);
  const steps = await stepsOf(
    stage,
    addresses.map(({ address }) => address),
  );
  await mining.end();
  await stage.stop();
  return { gateway, steps };
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
