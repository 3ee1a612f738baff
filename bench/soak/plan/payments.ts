import type { Random } from '../../../dev/random.ts';
import type { Currency } from '../../../src/domain/assets.ts';
import { minimumUnits } from './amounts.ts';
import type { ChainPlan } from './networks.ts';
import { OWN_WALLET, type PayAction, type RebornAction, SENDERS } from './plan.ts';

type At<T> = T & { readonly atMs: number };

/** What is added to whole multiples of the smallest deposit, so that no two amounts are alike. */
const MAX_ODD_UNITS = 2 ** 31;
const LONELY_SENDER = SENDERS;
const MINUTE_MS = 60_000;
/** Of twelve payments in a row so many come together. */
const [BURST, OF] = [5, 12];

/** One payment to customers of these; `test` are those of test mode. */
export function planPayment(
  chain: ChainPlan,
  draws: Random,
  live: readonly number[],
  test: readonly number[],
): PayAction {
  const shape = draws.weighted(chain.shapes);
  const count = shape.endsWith('_batch') ? draws.int(2, 5) : 1;
  const others = live.filter((number) => number !== OWN_WALLET);
  const customers = shape === 'to_test_address' ? [draws.pick(test)] : draws.shuffle(others).slice(0, count);
  const transfers = isDouble(shape) ? 2 : customers.length;
  const amounts = Array.from({ length: transfers }, (_, index) => planAmount(chain, draws, shape, index));
  const transactionType = draws.pick([0, 1, 2, 4] as const);
  const { network } = chain;
  const sender = draws.int(0, SENDERS - 1);
  return { kind: 'pay', network, shape, sender, customers, amounts, transactionType };
}

/** Two transfers to one customer. */
const isDouble = (shape: string): boolean => shape.includes('_twice_') || shape.endsWith('_and_usdt');

/** What the wallet that the run spends from is given first. */
export function provisions({ network, coin }: ChainPlan, draws: Random): At<PayAction>[] {
  const give = (shape: string, currency: Currency) => ({
    kind: 'pay' as const,
    network,
    shape,
    sender: draws.int(0, SENDERS - 1),
    customers: [OWN_WALLET],
    transactionType: 2 as const,
    amounts: [String(minimumUnits(network, currency) * 5_000n)],
    atMs: 500,
  });
  return [give('usdt', 'USDT'), give(coin.toLowerCase(), coin)];
}

/** So many, evenly, and none so late that its second life would not be seen. */
export function planReborn(
  chain: ChainPlan,
  draws: Random,
  { count, minutes, live }: { count: number; minutes: number; live: (atMs: number) => number[] },
): At<RebornAction>[] {
  const everyMs = (minutes * MINUTE_MS * 0.8) / count;
  return Array.from({ length: count }, (_, index) => {
    const atMs = Math.round(2_000 + everyMs * (index + draws.next() * 0.7));
    const shape = draws.pick(chain.rebornShapes);
    const customers = [draws.pick(live(atMs).filter((number) => number !== OWN_WALLET))];
    const transfers = isDouble(shape) ? [0, 1] : [0];
    const payment = {
      kind: 'pay' as const,
      network: chain.network,
      shape,
      sender: LONELY_SENDER,
      customers,
      amounts: transfers.map((transfer) => planAmount(chain, draws, shape, transfer)),
      transactionType: 2 as const,
    };
    return { kind: 'reborn', network: chain.network, payment, atMs };
  });
}

/** Base units of one transfer. Where coin and token go together the first is the coin. */
function planAmount({ network, coin }: ChainPlan, draws: Random, shape: string, index: number): string {
  const name = coin.toLowerCase();
  const isCoin = shape.startsWith(name) && (index === 0 || !shape.endsWith('_and_usdt'));
  const minimum = minimumUnits(network, isCoin ? coin : 'USDT');
  const odd = Number(minimum > MAX_ODD_UNITS ? BigInt(MAX_ODD_UNITS) : minimum - 1n);
  if (shape.endsWith('_zero')) return '0';
  // Down to the single base unit, and up to one below the minimum.
  if (shape.endsWith('_dust')) return String(draws.chance(0.3) ? minimum - 1n : BigInt(draws.int(1, odd)));
  if (draws.chance(0.08) || shape.endsWith('from_own_wallet')) return String(minimum);
  return String(minimum * BigInt(draws.int(1, 400)) + BigInt(draws.int(0, odd)));
}

/** Every sixth payment comes together with the four before it. */
export function bursts(payments: readonly At<PayAction>[]): At<PayAction>[] {
  const sorted = [...payments].sort((a, b) => a.atMs - b.atMs);
  return sorted.map((payment, index) => ({
    ...payment,
    atMs: index % OF < BURST ? (sorted[index - (index % OF) + BURST - 1] ?? payment).atMs : payment.atMs,
  }));
}

/** Payments here to the very customers, and at the very moment, of one of each burst elsewhere. */
export function twins(chain: ChainPlan, draws: Random, elsewhere: readonly At<PayAction>[]): At<PayAction>[] {
  const firsts = elsewhere.filter((_, index) => index % OF === 0);
  return firsts
    .filter(({ shape }) => shape !== 'to_test_address')
    .map(({ customers: [customer = OWN_WALLET], atMs }) => {
      const shape = draws.pick(['usdt', chain.coin.toLowerCase()]);
      const amounts = [planAmount(chain, draws, shape, 0)];
      const sender = draws.int(0, SENDERS - 1);
      const { network } = chain;
      return {
        kind: 'pay',
        network,
        shape,
        sender,
        customers: [customer],
        amounts,
        transactionType: 2,
        atMs,
      };
    });
}
