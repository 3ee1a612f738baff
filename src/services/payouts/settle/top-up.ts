// Why money is not sent for what that costs at present, and the coins that the gas wallet gives for it.

import type { Quote } from '../../../chains/spending.ts';
import { firstRow, sql } from '../../../db/sql.ts';
import { assetOf, type Currency, NATIVE_CURRENCY, type Network } from '../../../domain/assets.ts';
import { formatUnits } from '../../../domain/money.ts';
import { waits } from '../../../domain/payouts/facts.ts';
import { costsTooMuch, type Priced, percentOf } from '../../../domain/payouts/worth.ts';
import { currentPrice } from '../../deposits/price.ts';
import { type GasWallet, gasWalletOf } from '../gas.ts';
import { coinsIn, spokenFor } from './coins.ts';
import type { Assessing, Held, Outgoing, Ready } from './context.ts';

const QUICK_MS = 5_000;
const MINUTE_MS = 60_000;
const SLOW_MS = 10 * MINUTE_MS;
/** More than any top-up: what a transfer of coins costs depends on no amount. */
export const ANY_COINS: bigint = 10n ** 18n;

/** Why a transfer waits that is refused at present. */
export function refusedBy({ code, reason }: Quote & { kind: 'refused' }): Held {
  if (code === 'gas_price') return waits('gas_price', reason, MINUTE_MS / 2);
  if (code === 'requests') return waits('requests', reason, SLOW_MS);
  if (code === 'worthless') return waits('fee_too_high', reason, SLOW_MS);
  return waits('refuses', reason, SLOW_MS);
}

/** That nobody tells what lies on an address now. */
export function notKept(network: Network): Held {
  return waits(
    'chain_behind',
    `no endpoint tells what lies on the address at the last block of ${network} that was read twice: it goes on when the reading has caught up and requests are left for it; see that the endpoints answer ("doctor")`,
    QUICK_MS,
  );
}

/** A stale price that is older says nothing of what a fee is worth today. */
const PRICE_AGE_MS = 60 * MINUTE_MS;

/** Why a cost is not to be paid for this money at present; undefined where it is. */
export async function tooDear(
  deps: Assessing,
  money: Pick<Outgoing, 'network' | 'currency' | 'grossUnits'>,
  costUnits: bigint,
): Promise<Held | undefined> {
  const { network, currency, grossUnits } = money;
  const coin = NATIVE_CURRENCY[network];
  const { maxFeeBasisPoints } = deps.settings.payouts;
  // The same asset on both sides: no price is needed.
  const [coinUsd8, assetUsd8] =
    coin === currency ? [1n, 1n] : await Promise.all([usd8Of(deps, coin), usd8Of(deps, currency)]);
  if (coinUsd8 === undefined || assetUsd8 === undefined)
    return waits(
      'no_price',
      `no price of ${coinUsd8 === undefined ? coin : currency} of the last hour is known, so nobody can say whether the fee is worth it: see that the sources of prices answer ("doctor")`,
      MINUTE_MS / 2,
    );
  const cost: Priced = { units: costUnits, decimals: assetOf(network, coin).decimals, usd8: coinUsd8 };
  const moved: Priced = {
    units: grossUnits,
    decimals: assetOf(network, currency).decimals,
    usd8: assetUsd8,
  };
  if (!costsTooMuch(cost, moved, maxFeeBasisPoints)) return undefined;
  return waits(
    'fee_too_high',
    `it would cost up to ${formatUnits(costUnits, cost.decimals)} ${coin}, which is ${percentOf(cost, moved)} of it; SETTLE_MAX_FEE_PERCENT allows ${maxFeeBasisPoints / 100n}.${(maxFeeBasisPoints % 100n).toString().padStart(2, '0')} %: it waits for a lower price or for more deposits`,
    SLOW_MS,
  );
}

async function usd8Of(deps: Assessing, currency: Currency): Promise<bigint | undefined> {
  const price = await currentPrice(deps, currency);
  if (price === undefined || price.usd8 <= 0n) return undefined;
  return price.stale && deps.now().getTime() - price.at.getTime() > PRICE_AGE_MS ? undefined : price.usd8;
}

/**
 * Why a gas wallet pays for nothing at present, as it was seen a moment ago; undefined where it is asked, and
 * where somebody has seen more in it since.
 */
export async function lackingOf(deps: Assessing, network: Network): Promise<Held | undefined> {
  const lacking = deps.memory.lacking.get(network);
  if (!lacking || lacking.until <= deps.now().getTime()) return undefined;
  const { at, coins, wait } = lacking;
  const rose = await firstRow(
    deps.orm.em.fork(),
    sql`select 1 from gas_levels where network = ${network} and at > ${at}
      and units > ${coins.toString()}::numeric`,
  );
  return rose ? undefined : wait;
}

/**
 * Coins that an address lacks, from the gas wallet, or why they are not sent: of a fee, which may rise until
 * it is paid, somewhat more than that. `mostUnits` is what the payout itself costs at most.
 */
export async function assessTopUp(
  deps: Assessing,
  money: Outgoing,
  { missing, mostUnits }: { readonly missing: bigint; readonly mostUnits: bigint },
): Promise<Ready | Held> {
  const em = deps.orm.em.fork();
  const from = await gasWalletOf(em, money.network);
  if (!from) return noGasWallet();
  const order = { from: from.addressKey, to: money.addressKey, kind: 'native', units: ANY_COINS } as const;
  const quote = await deps.spending.quote(order, { careful: true }, deps.signal);
  if (quote.kind === 'refused') return refusedBy(quote);
  const isFee = assetOf(money.network, money.currency).kind === 'token';
  const { topUpMarginPercent } = deps.spending;
  const units = missing + (isFee ? (missing * topUpMarginPercent) / 100n : 0n);
  const dear = await tooDear(deps, money, mostUnits + quote.mostUnits);
  if (dear) return dear;
  const lacking = await lacksCoins(deps, money, from, { units, feeUnits: quote.mostUnits });
  return lacking ?? { does: 'top_up', from, units, terms: quote.terms };
}

/** That nobody has said yet which wallet pays. */
export function noGasWallet(): Held {
  return waits(
    'signer_away',
    'no signer has said yet which wallet pays for gas: start one ("start --role signer")',
    QUICK_MS,
  );
}

/** Why a gas wallet cannot send so much for this fee; undefined where it can. */
export async function lacksCoins(
  deps: Assessing,
  { network }: Outgoing,
  from: GasWallet,
  { units, feeUnits }: { readonly units: bigint; readonly feeUnits: bigint },
): Promise<Held | undefined> {
  const { shortLookMs } = deps.spending;
  const coins = await coinsIn(deps, network, from.addressKey);
  if (coins === undefined) return notKept(network);
  const free = coins - (await spokenFor(deps.orm.em.fork(), network, from.addressKey, feeUnits));
  const lacking = units + feeUnits - free;
  if (lacking <= 0n) {
    deps.memory.lacking.delete(network);
    return undefined;
  }
  const coin = NATIVE_CURRENCY[network];
  const amount = `${formatUnits(lacking, assetOf(network, coin).decimals)} ${coin}`;
  const wait: Held = {
    ...waits(
      'waiting_for_gas',
      `the gas wallet has too little to pay for it: send at least ${amount} to ${from.address}`,
      shortLookMs,
    ),
    needs: { units: lacking, address: from.address },
  };
  const at = deps.now();
  deps.memory.lacking.set(network, { wait, until: at.getTime() + shortLookMs, coins, at });
  return wait;
}
