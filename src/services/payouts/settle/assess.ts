// What a payout would take now, and whether it is to be made: the chain is asked, and nothing is written.
import type { AddressKey } from '../../../chains/address-key.ts';
import { addressKeyOf } from '../../../chains/addresses.ts';
import type { Quote, SpendOrder } from '../../../chains/spending.ts';
import { assetOf, type Currency, NATIVE_CURRENCY, type Network } from '../../../domain/assets.ts';
import { formatUnits } from '../../../domain/money.ts';
import { type Wait, waits } from '../../../domain/payouts/step.ts';
import { costsTooMuch, type Priced, percentOf } from '../../../domain/payouts/worth.ts';
import { currentPrice } from '../../deposits/price.ts';
import type { Deps } from '../../deps.ts';
import type { WatchedChain } from '../../watcher/watched-chain.ts';
import { type Asks, asking } from './asking.ts';
import {
  coinsIn,
  freeCoins,
  type GasWallet,
  gasWalletOf,
  type MoneyThere,
  moneyThere,
  spokenFor,
} from './coins.ts';
import { hasFailedOfLate } from './failed-before.ts';

/** Money of one asset on one address, and where it is to go. */
export type Outgoing = {
  readonly network: Network;
  readonly addressKey: AddressKey;
  readonly address: string;
  readonly currency: Currency;
  readonly grossUnits: bigint;
  readonly destination: string;
};

/** A wait, with the coins that somebody has to send first, if so. */
export type Held = Wait & {
  readonly needs?: { readonly units: bigint; readonly address: string } | undefined;
};

type Terms = Readonly<Record<string, string | number>>;
/** The next transaction that it takes. */
export type Ready =
  | { readonly does: 'pay_out'; readonly units: bigint; readonly terms: Terms }
  | { readonly does: 'top_up'; readonly from: GasWallet; readonly units: bigint; readonly terms: Terms };

export type Assessing = Deps & {
  readonly chain: WatchedChain;
  readonly signal: AbortSignal;
  readonly asks?: Asks | undefined;
};

const QUICK_MS = 5_000;
const MINUTE_MS = 60_000;
const SLOW_MS = 10 * MINUTE_MS;
/** A stale price that is older says nothing of what a fee is worth today. */
const PRICE_AGE_MS = 60 * MINUTE_MS;
/** The names of the errors by which a chain says that no endpoint gave a whole answer. */
const NO_ANSWER: readonly string[] = ['RpcUnavailable', 'BudgetSpent'];
/** More than any top-up: what a transfer of coins costs depends on no amount. */
export const ANY_COINS: bigint = 10n ** 18n;

/**
 * What has to be signed next for a payout of this money, or why it waits: the address must hold what the
 * ledger says, the transfer must succeed when it is tried, and cost no more than the settings allow. Coins
 * for the fee of a token come from the gas wallet, and never from coins that belong to deposits. Where no
 * endpoint gives a whole answer it waits as well, so that a person is told of it if that lasts.
 */
export async function assess(deps: Assessing, money: Outgoing): Promise<Ready | Held> {
  try {
    return await assessed(deps, money);
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    if (!deps.signal.aborted && !NO_ANSWER.includes(name)) throw error;
    const why = deps.signal.aborted ? 'they take too long to answer' : message;
    return waits(
      'chain_behind',
      `the endpoints do not say what it takes: ${why}; see that they answer ("doctor")`,
      QUICK_MS,
    );
  }
}

async function assessed(deps: Assessing, money: Outgoing): Promise<Ready | Held> {
  const isToken = assetOf(money.network, money.currency).kind === 'token';
  const known = isToken ? await knownBefore(deps, money) : undefined;
  if (known) return known;
  return await asking(deps, () => askedAbout(deps, money, isToken));
}

async function askedAbout(deps: Assessing, money: Outgoing, isToken: boolean): Promise<Ready | Held> {
  const there = await moneyThere(deps, money.network, money.addressKey);
  if (!there) return notKept(money.network);
  const short = shortOf(money, there);
  if (short) return short;
  const order: SpendOrder = {
    from: money.addressKey,
    to: addressKeyOf(money.network, money.destination),
    kind: isToken ? 'token' : 'native',
    units: money.grossUnits,
  };
  const careful = await hasFailedOfLate(deps.orm.em.fork(), deps, money);
  const quote = await quoted(deps, order, careful);
  if (quote.kind === 'refused') return refusedBy(quote);
  const { units, terms, mostUnits } = quote;
  if (!isToken) return (await tooDear(deps, money, mostUnits)) ?? { does: 'pay_out', units, terms };
  const em = deps.orm.em.fork();
  // Coins of ours that somebody else took pay for nothing.
  const lostUnits = there.expectedCoinUnits - there.coinUnits;
  const missing = mostUnits - (await freeCoins(em, money)) + (lostUnits > 0n ? lostUnits : 0n);
  if (missing > 0n) return await assessTopUp(deps, money, { missing, mostUnits });
  return (await tooDear(deps, money, mostUnits)) ?? { does: 'pay_out', units: money.grossUnits, terms };
}

/**
 * What is known of a token's transfer without a request: where requests are counted by the day, thousands of
 * addresses that wait for the same must not ask for it one by one.
 */
async function knownBefore(deps: Assessing, money: Outgoing): Promise<Held | undefined> {
  const { leastTokenCost } = deps.chain.spending ?? {};
  if (!leastTokenCost) return undefined;
  const least = leastTokenCost();
  const dear = least === undefined ? undefined : await tooDear(deps, money, least);
  if (dear) return dear;
  const lacking = LACKING.get(deps.chain);
  if (!lacking || lacking.until <= deps.now().getTime()) return undefined;
  return (await freeCoins(deps.orm.em.fork(), money)) > 0n ? undefined : lacking.wait;
}

/** That the gas wallet of a chain had too little, until it is asked for again. */
const LACKING = new WeakMap<WatchedChain, { readonly wait: Held; readonly until: number }>();

async function assessTopUp(
  deps: Assessing,
  money: Outgoing,
  { missing, mostUnits }: { readonly missing: bigint; readonly mostUnits: bigint },
): Promise<Ready | Held> {
  const em = deps.orm.em.fork();
  const from = await gasWalletOf(em, money.network);
  if (!from)
    return waits(
      'signer_away',
      'no signer has said yet which wallet pays for gas: start one ("start --role signer")',
      QUICK_MS,
    );
  const order = { from: from.addressKey, to: money.addressKey, kind: 'native', units: ANY_COINS } as const;
  const quote = await quoted(deps, order, true);
  if (quote.kind === 'refused') return refusedBy(quote);
  const { topUpMarginPercent = 0n, shortLookMs = 0 } = deps.chain.spending ?? {};
  const units = missing + (missing * topUpMarginPercent) / 100n;
  const dear = await tooDear(deps, money, mostUnits + quote.mostUnits);
  if (dear) return dear;
  const coins = await coinsIn(deps, money.network, from.addressKey);
  if (coins === undefined) return notKept(money.network);
  const free = coins - (await spokenFor(em, money.network, from.addressKey, quote.mostUnits));
  const lacking = units + quote.mostUnits - free;
  if (lacking <= 0n) {
    LACKING.delete(deps.chain);
    return { does: 'top_up', from, units, terms: quote.terms };
  }
  const coin = NATIVE_CURRENCY[money.network];
  const amount = `${formatUnits(lacking, assetOf(money.network, coin).decimals)} ${coin}`;
  const wait: Held = {
    ...waits(
      'waiting_for_gas',
      `the gas wallet has too little to pay for it: send at least ${amount} to ${from.address}`,
      shortLookMs,
    ),
    needs: { units: lacking, address: from.address },
  };
  LACKING.set(deps.chain, { wait, until: deps.now().getTime() + shortLookMs });
  return wait;
}

/** Nothing is paid out of an address that holds less than the ledger says: somebody else's money would go. */
function shortOf(money: Outgoing, there: MoneyThere): Held | undefined {
  const isCoin = assetOf(money.network, money.currency).kind === 'native';
  const { heldUnits, expectedUnits } = isCoin
    ? { heldUnits: there.coinUnits, expectedUnits: there.expectedCoinUnits }
    : { heldUnits: there.tokenUnits, expectedUnits: there.expectedTokenUnits };
  const isShort = heldUnits < expectedUnits || heldUnits < money.grossUnits;
  if (!isShort) return undefined;
  const least = heldUnits < expectedUnits ? expectedUnits : money.grossUnits;
  const { decimals } = assetOf(money.network, money.currency);
  const [held, wanted] = [heldUnits, least].map((units) => formatUnits(units, decimals));
  return waits(
    'address_short',
    `${money.address} holds ${held} ${money.currency} at block ${there.blockNumber}, and the ledger has ${wanted} there: run "reconcile", and find out where the rest went`,
    SLOW_MS,
  );
}

function notKept(network: Network): Held {
  return waits(
    'chain_behind',
    `no endpoint tells what lies on the address at the last block of ${network} that was read twice: it goes on when the reading has caught up and requests are left for it; see that the endpoints answer ("doctor")`,
    QUICK_MS,
  );
}

async function quoted({ chain, signal }: Assessing, order: SpendOrder, careful: boolean): Promise<Quote> {
  if (!chain.spending) throw new Error(`nothing is paid out on ${chain.reader.network}`);
  return await chain.spending.quote(order, { careful }, signal);
}

function refusedBy({ code, reason }: Quote & { kind: 'refused' }): Held {
  if (code === 'gas_price') return waits('gas_price', reason, MINUTE_MS / 2);
  if (code === 'requests') return waits('requests', reason, SLOW_MS);
  if (code === 'worthless') return waits('fee_too_high', reason, SLOW_MS);
  return waits('refuses', reason, SLOW_MS);
}

/** Why a cost is not to be paid for this money at present; undefined where it is. */
async function tooDear(deps: Assessing, money: Outgoing, costUnits: bigint): Promise<Held | undefined> {
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
