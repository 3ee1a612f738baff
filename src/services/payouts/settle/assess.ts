// What a payout would take now, and whether it is to be made: the chain is asked, and nothing is written.

import { addressKeyOf } from '../../../chains/addresses.ts';
import type { Loan, SpendOrder } from '../../../chains/spending.ts';
import { firstRow, sql } from '../../../db/sql.ts';
import { assetOf } from '../../../domain/assets.ts';
import { formatUnits } from '../../../domain/money.ts';
import { waits } from '../../../domain/payouts/facts.ts';
import { type GasWallet, gasWalletOf } from '../gas.ts';
import { asking } from './asking.ts';
import { coinsBeside, type MoneyThere, moneyThere } from './coins.ts';
import type { Assessing, Held, Outgoing, Ready } from './context.ts';
import { hasFailedHere, hasFailedOfLate } from './failed-before.ts';
import { assessTopUp, lackingOf, lacksCoins, noGasWallet, notKept, refusedBy, tooDear } from './top-up.ts';

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
  const quote = await deps.spending.quote(order, { careful }, deps.signal);
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
  const { leastTokenCost } = deps.spending;
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

/** What landed nowhere so often is not asked for once more: the payout burns coins. */
const MOST_ATTEMPTS = 3;
/** An endpoint may show the state of some blocks ago. */
const SHOWN_WITHIN_MS = 120_000;

type Has = {
  /** The terms of the transfer. */
  readonly terms: Extract<Ready, { does: 'pay_out' }>['terms'];
  /** The coins on the address that belong to no deposit. */
  readonly freeUnits: bigint;
};

/**
 * What has to be signed next for a payout whose energy is lent, or why that waits. Undefined where coins are
 * to be burnt for it: nothing is lent on the chain, too little of the stake is free, a payout of the address
 * has failed of late, or the loan does not show what it should give. The transfer is asked for only while two
 * endpoints, where there are two, show the energy that it may take at most: what it took beyond would be
 * burnt out of deposits of coins on the same address.
 */
async function beforePayout(
  deps: Assessing,
  money: Outgoing,
  { terms, freeUnits }: Has,
): Promise<Ready | Held | undefined> {
  const { lending, lends } = deps.spending;
  const em = deps.orm.em.fork();
  if (!lending || lends !== true || (await hasFailedHere(em, money))) return undefined;
  const lender = await gasWalletOf(em, money.network);
  if (!lender) return noGasWallet();
  const own = await ownLoan(deps, money);
  if (!own.landedAt && own.attempts >= MOST_ATTEMPTS) return undefined;
  const parties = { lender: lender.addressKey, borrower: money.addressKey };
  const loan = await lending.look(parties, terms, deps.signal);
  if (!own.landedAt && loan.units > loan.lendable - (await askedOfStake(deps, money, lender)))
    return undefined;
  const missing = loan.coinUnits - freeUnits;
  if (missing > 0n)
    return await assessTopUp(deps, money, { missing, mostUnits: loan.coinUnits + loan.mostUnits });
  if (!loan.isKnown)
    return waits('on_its_way', 'endpoints do not know yet that the address has coins', QUICK_MS);
  if (own.landedAt) return covered(deps, money, { terms, loan, landedAt: own.landedAt });
  const dear = await tooDear(deps, money, loan.coinUnits + loan.mostUnits);
  if (dear) return dear;
  // Where nothing is burnt for it, coins are not asked about.
  const lacking =
    loan.mostUnits > 0n
      ? await lacksCoins(deps, money, lender, { units: 0n, feeUnits: loan.mostUnits })
      : undefined;
  if (lacking) return lacking;
  const asked = await lending.terms(deps.signal);
  return { does: 'lend', from: lender, units: loan.units, terms: asked };
}

function covered(
  { now }: Assessing,
  { grossUnits }: Outgoing,
  { terms, loan, landedAt }: Pick<Has, 'terms'> & { readonly loan: Loan; readonly landedAt: Date },
): Ready | Held | undefined {
  if (loan.has >= loan.needs) return { does: 'pay_out', units: grossUnits, terms };
  if (now().getTime() - landedAt.getTime() >= SHOWN_WITHIN_MS) return undefined;
  return waits('on_its_way', 'the energy that it was lent does not show on all endpoints yet', QUICK_MS);
}

/** What this payout was lent, and how often that was tried. */
async function ownLoan(deps: Assessing, { id: payoutId }: Outgoing) {
  const row =
    payoutId === undefined
      ? undefined
      : await firstRow(
          deps.orm.em.fork(),
          sql<{ attempts: number; landedAt: string | null }>`
            select count(*)::int as attempts, max(verified_at) filter (where state = 'final' and ok
              and reclaimed_at is null)::text as landed_at
            from sent_transactions where payout_id = ${payoutId} and purpose = 'delegate'`,
        );
  const landedAt = row?.landedAt == null ? undefined : new Date(row.landedAt);
  return { attempts: row?.attempts ?? 0, landedAt };
}

/**
 * What is asked of the stake beside, and is in no block that the newest view of an endpoint would show. What
 * the signer has refused may wait for hours: until then others are lent it.
 */
async function askedOfStake(
  deps: Assessing,
  { network }: Outgoing,
  { addressKey }: GasWallet,
): Promise<bigint> {
  const row = await firstRow(
    deps.orm.em.fork(),
    sql<{ units: string }>`select coalesce(sum(amount_units), 0)::text as units from sent_transactions
      where network = ${network} and from_key = ${addressKey} and purpose = 'delegate'
        and state in ('asked', 'signed', 'sent') and (state <> 'asked' or refused is null)`,
  );
  return BigInt(row?.units ?? '0');
}
