import { type Row, told } from '../bench.ts';
import { type PayoutStage, withPayouts } from './stage.ts';

const DEPOSITS = [1, 5, 20];

type Currency = 'USDT' | 'BNB';
type Spent = { readonly deposits: number; readonly payouts: number; readonly gas: number };

/**
 * What it takes to pay out an address with so many deposits on it, by the gas that the chain charged: the
 * payout, and for a token the transfer that brings the coins for it.
 */
export function run(): Promise<Row[]> {
  return withPayouts(async (stage) => {
    const mining = stage.mining();
    const rows: Row[] = [];
    // The first transfer to a destination makes its balance, which costs a token 17,100 more.
    await measure(stage, 'USDT', 1);
    for (const currency of ['USDT', 'BNB'] as const) {
      let alone: number | undefined;
      for (const deposits of DEPOSITS) {
        const { gas, payouts } = await measure(stage, currency, deposits);
        const each = gas / deposits;
        alone ??= each;
        rows.push(
          told(
            `gas for one of ${deposits} ${currency} deposits on an address (payouts: ${payouts})`,
            `${each.toFixed(0)} (${(each / alone).toFixed(2)} of one alone)`,
          ),
        );
      }
    }
    await mining.end();
    return rows;
  });
}

/** All are completed before the merchant has a place to be paid out to. */
async function measure(stage: PayoutStage, currency: Currency, deposits: number): Promise<Spent> {
  const { live, chain, count } = stage;
  await stage.payOut(false);
  const { address } = await live.newCustomer();
  const completed = await count(`deposits where status in ('completed', 'settled')`);
  const settled = await count(`deposits where status = 'settled'`);
  for (let index = 0; index < deposits; index += 1) await stage.deposit(currency, address, index);
  await stage.until(`'completed', 'settled'`, completed + deposits);
  await stage.payOut(true);
  await stage.until(`'settled'`, settled + deposits);
  const sent = await stage.rows<{ hash: string; purpose: string }>(
    `select s.hash, s.purpose from sent_transactions s join payouts p on p.id = s.payout_id
     where lower(p.address) = ? and s.block_hash is not null`,
    [address],
  );
  let gas = 0;
  for (const { hash } of sent) {
    const receipt = (await chain.anvil.rpc('eth_getTransactionReceipt', [hash])) as { gasUsed: string };
    gas += Number(receipt.gasUsed);
  }
  return { deposits, gas, payouts: sent.filter(({ purpose }) => purpose === 'payout').length };
}
