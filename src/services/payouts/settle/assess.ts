// What a payout would take now, and whether it is to be made: the chain is asked, and nothing is written.
import { addressKeyOf } from '../../../chains/addresses.ts';
import type { SpendOrder } from '../../../chains/spending.ts';
import { assetOf } from '../../../domain/assets.ts';
import { formatUnits } from '../../../domain/money.ts';
import { waits } from '../../../domain/payouts/facts.ts';
import { beforePayout, ownLoan } from '../lending/before.ts';
import { asking } from './asking.ts';
import { coinsBeside, type MoneyThere, moneyThere } from './coins.ts';
import { hasFailedOfLate } from './failed-before.ts';
import type { Held } from './memory.ts';
import type { Assessing, Outgoing, Ready } from './outgoing.ts';
import { notKept, quoted, refusedBy } from './quoted.ts';
import { tooDear } from './too-dear.ts';
import { assessTopUp, lackingOf } from './top-up.ts';

const QUICK_MS = 5_000;
const SLOW_MS = 10 * 60_000;
/** The names of the errors by which a chain says that no endpoint gave a whole answer. */
const NO_ANSWER: readonly string[] = ['RpcUnavailable', 'BudgetSpent'];
/**
 * What has to be signed next for a payout of this money, or why it waits: the address must hold what the
 * ledger says, the transfer must succeed when it is tried, and cost no more than the settings allow. Coins
 * for the fee of a token, and those that failed transactions have burnt, come from the gas wallet, and never
 * from coins that belong to deposits. Where no endpoint gives a whole answer it waits as well, so that a
 * person is told of it if that lasts.
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
  // Coins of ours that somebody else took pay for nothing.
  const lostUnits = there.expectedCoinUnits - there.coinUnits;
  const beside = await coinsBeside(deps.orm.em.fork(), money);
  const freeUnits = beside.freeUnits - (lostUnits > 0n ? lostUnits : 0n);
  // What transactions that failed have burnt of deposits: coins are tried only where all of them are there.
  if (!isToken && freeUnits < 0n)
    return await assessTopUp(deps, money, { missing: -freeUnits, mostUnits: 0n });
  const order: SpendOrder = {
    from: money.addressKey,
    to: addressKeyOf(money.network, money.destination),
    kind: isToken ? 'token' : 'native',
    units: money.grossUnits + (isToken ? 0n : beside.reserveUnits),
  };
  const careful = await hasFailedOfLate(deps.orm.em.fork(), deps, money);
  const quote = await quoted(deps, order, careful);
  if (quote.kind === 'refused') return refusedBy(quote);
  const { terms, mostUnits } = quote;
  const units = quote.units < money.grossUnits ? quote.units : money.grossUnits;
  if (!isToken) return (await tooDear(deps, money, mostUnits)) ?? { does: 'pay_out', units, terms };
  const lent = await beforePayout(deps, money, { terms, freeUnits });
  if (lent) return lent;
  const missing = mostUnits - freeUnits;
  if (missing > 0n) return await assessTopUp(deps, money, { missing, mostUnits });
  return (await tooDear(deps, money, mostUnits)) ?? { does: 'pay_out', units, terms };
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
  const lacking = await lackingOf(deps, money.network);
  // What is lent already pays for it, and would be given back for nothing.
  if (!lacking || (await ownLoan(deps, money)).landedAt) return undefined;
  return (await coinsBeside(deps.orm.em.fork(), money)).freeUnits > 0n ? undefined : lacking;
}

/** Nothing is paid out of an address that holds less than the ledger says: somebody else's money would go. */
function shortOf(money: Outgoing, there: MoneyThere): Held | undefined {
  const { kind, decimals } = assetOf(money.network, money.currency);
  const [held, wanted] =
    kind === 'native'
      ? [there.coinUnits, there.expectedCoinUnits]
      : [there.tokenUnits, there.expectedTokenUnits];
  if (held >= wanted) return undefined;
  return waits(
    'address_short',
    `${money.address} holds ${formatUnits(held, decimals)} ${money.currency} at block ${there.blockNumber}, and the ledger has ${formatUnits(wanted, decimals)} there: run "reconcile", and find out where the rest went`,
    SLOW_MS,
  );
}
