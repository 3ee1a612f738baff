import { USDT_UNIT } from '../../dev/support/chain.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { stopParts } from '../../dev/support/parts.ts';
import type { Row } from '../row.ts';
import { mineByTheClock, type PayoutStage, startPayoutStage } from './stage.ts';

const DEPOSITS = [1, 5, 20];
const CURRENCIES = ['USDT', 'BNB'] as const;
const LIMIT_MS = 5 * 60_000;

type Currency = (typeof CURRENCIES)[number];
type Spent = { readonly deposits: number; readonly payouts: number; readonly gas: number };

/**
 * What it takes to pay out an address with so many deposits on it, by the gas that the chain charged: the
 * payout, and for a token the transfer that brings the coins for it.
 */
export async function run(): Promise<Row[]> {
  const stage = await startPayoutStage();
  const mining = mineByTheClock(stage);
  const rows: Row[] = [];
  // The first transfer to a destination makes its balance, which costs a token 17,100 more.
  await measure(stage, 'USDT', 1);
  for (const currency of CURRENCIES) {
    const spent: Spent[] = [];
    for (const deposits of DEPOSITS) spent.push(await measure(stage, currency, deposits));
    rows.push(...spent.map((one) => rowOf(currency, one, spent[0] ?? one)));
  }
  await mining.end();
  await stage.stop();
  await stopParts();
  return rows;
}

function rowOf(currency: Currency, { deposits, payouts, gas }: Spent, first: Spent): Row {
  const each = gas / deposits;
  const share = each / (first.gas / first.deposits);
  return {
    figure: `gas for one of ${deposits} ${currency} deposits on an address (payouts: ${payouts})`,
    value: `${each.toFixed(0)} (${share.toFixed(2)} of one alone)`,
    goal: '',
    met: true,
  };
}

/** All are completed before the merchant has a place to be paid out to. */
async function measure(stage: PayoutStage, currency: Currency, deposits: number): Promise<Spent> {
  const { live, chain } = stage;
  await stage.payOut(false);
  const { address } = await live.newCustomer();
  const before = {
    completed: await stage.count(`deposits where status in ('completed', 'settled')`),
    settled: await stage.count(`deposits where status = 'settled'`),
  };
  for (let index = 0; index < deposits; index += 1)
    await (currency === 'USDT'
      ? chain.usdt.call('transfer', [address, 10n * USDT_UNIT + BigInt(index)])
      : chain.send({ to: address, valueUnits: USDT_UNIT / 10n + BigInt(index) }));
  await eventually(
    'deposits that are completed',
    async () =>
      (await stage.count(`deposits where status in ('completed', 'settled')`)) >= before.completed + deposits,
    LIMIT_MS,
  );
  await stage.payOut(true);
  await stage.until('settled', before.settled + deposits);
  const sent = await stage.rows<{ hash: string; purpose: string }>(
    `select s.hash, s.purpose from sent_transactions s join payouts p on p.id = s.payout_id
     where lower(p.address) = ? and s.block_hash is not null`,
    [address],
  );
  let gas = 0;
  for (const { hash } of sent) {
    const receipt = (await chain.anvil.rpc('eth_getTransactionReceipt', [hash])) as { gasUsed: string };
    gas += Number.parseInt(receipt.gasUsed, 16);
  }
  return { deposits, gas, payouts: sent.filter(({ purpose }) => purpose === 'payout').length };
}
