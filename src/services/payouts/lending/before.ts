// Energy that a stake gives, for a payout of a token: lent to the address instead of coins that are burnt.
import type { Loan } from '../../../chains/spending.ts';
import { firstRow, sql } from '../../../db/sql.ts';
import { waits } from '../../../domain/payouts/facts.ts';
import { type GasWallet, gasWalletOf } from '../settle/coins.ts';
import { hasFailedHere } from '../settle/failed-before.ts';
import type { Held } from '../settle/memory.ts';
import type { Assessing, Outgoing, Ready } from '../settle/outgoing.ts';
import { tooDear } from '../settle/too-dear.ts';
import { assessTopUp, lacksCoins, noGasWallet } from '../settle/top-up.ts';

/** What landed nowhere so often is not asked for once more: the payout burns coins. */
const MOST_ATTEMPTS = 3;
/** An endpoint may show the state of some blocks ago. */
const SHOWN_WITHIN_MS = 120_000;
const QUICK_MS = 5_000;

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
export async function beforePayout(
  deps: Assessing,
  money: Outgoing,
  { terms, freeUnits }: Has,
): Promise<Ready | Held | undefined> {
  const { lending, lends } = deps.chain.spending ?? {};
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
export async function ownLoan(deps: Assessing, { payoutId }: Outgoing) {
  const row =
    payoutId === null
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
