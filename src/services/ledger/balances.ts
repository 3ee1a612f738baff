import type { BalanceView, MerchantBalanceView } from '../../contract/balance.ts';
import { ASSETS, type Asset, CURRENCIES, type Currency, type Network } from '../../domain/assets.ts';
import type { LedgerAccount } from '../../domain/ledger.ts';
import { centsToJsonNumber, formatUnits, rateToJsonNumber, usdCents } from '../../domain/money.ts';
import type { Deps } from '../deps.ts';
import type { PageOf } from '../lists/page.ts';
import type { PageRequest } from '../lists/query.ts';
import { idFrom } from '../named-id.ts';
import { Refusal } from '../refusal.ts';
import type { Scope } from '../scope.ts';
import { type Rates, valuationRates } from './rates.ts';

type AmountsView = Pick<MerchantBalanceView, 'amount' | 'amount_usd' | 'available' | 'pending' | 'settled'>;

/**
 * A merchant's own money in one asset or currency, in
 * units of `decimals`. Held money is in none of the three.
 */
type Amounts = {
  readonly decimals: number;
  readonly available: bigint;
  readonly pending: bigint;
  readonly settled: bigint;
};

/**
 * `updatedAt` of an asset: its last posting, or the merchant's
 * creation if there is none (`moved` is false). ISO-8601, whole seconds.
 */
type AssetBalance = Amounts & {
  readonly asset: Asset;
  readonly updatedAt: string;
  readonly moved: boolean;
};

/**
 * The merchant's balances in one mode, one for each currency of the product in a fixed order, zeros
 * included. Money is exact; dollars are cents, rounded half up at the present rate. What is shown adds
 * up: the total is the sum of the currencies' `amount_usd`, and of `available_usd` and `pending_usd`.
 * A currency that has money but no price is not in the sums. All values are of one moment.
 */
export async function getBalance(deps: Deps, scope: Scope): Promise<BalanceView> {
  const assets = await readAssets(deps, scope);
  const currencies = CURRENCIES.map((currency) => ({
    currency,
    ...sumOf(assets.filter(({ asset }) => asset.currency === currency)),
  }));
  const rates = await valuationRates(deps, scope, currenciesWithMoney(assets));
  const valued = currencies.map((one) => ({ one, cents: centsOf(one, rates.get(one.currency)) }));
  const total = (pick: (cents: Cents) => bigint): number =>
    centsToJsonNumber(valued.reduce((sum, { cents }) => sum + (cents ? pick(cents) : 0n), 0n));
  return {
    is_live: scope.mode === 'live',
    currency: 'USD',
    total_usd: total((cents) => cents.amount),
    available_usd: total((cents) => cents.available),
    // Not rounded separately, so that available and pending add up to exactly the total.
    pending_usd: total((cents) => cents.amount - cents.available),
    settled_usd: total((cents) => cents.settled),
    balances: valued.map(({ one, cents }) => ({
      currency: one.currency,
      ...presentAmounts(one, cents),
      networks: ASSETS.filter(({ currency }) => currency === one.currency).map(({ network }) => network),
    })),
    updated_at: latest(assets.map(({ updatedAt }) => updatedAt)) ?? '',
  };
}

/**
 * One row for each asset of the product, in a fixed order, zeros
 * included. Throws a {@link Refusal} for a cursor that is no row's id.
 */
export async function listMerchantBalances(
  deps: Deps,
  input: Scope & { readonly page: PageRequest },
): Promise<PageOf<MerchantBalanceView>> {
  const scope: Scope = { merchantId: input.merchantId, mode: input.mode };
  const ids = ASSETS.map((asset) => rowId(scope, asset));
  const { from, to, page } = placeOf(ids, input.page);
  const all = await everyBalance(deps, scope);
  const rows = all.slice(from, to).map(({ row }) => row);
  const hasMore = input.page.endingBefore === undefined ? to < all.length : from > 0;
  return { rows, hasMore, page, limit: input.page.limit, total: all.length, totalIsAtLeast: false };
}

/** The same, all of them, each with whether money of the asset has ever moved. */
export async function everyBalance(
  deps: Deps,
  scope: Scope,
): Promise<readonly { readonly row: MerchantBalanceView; readonly moved: boolean }[]> {
  const assets = await readAssets(deps, scope);
  const rates = await valuationRates(deps, scope, currenciesWithMoney(assets));
  return assets.map((one) => ({ row: presentRow(deps, scope, one, rates), moved: one.moved }));
}

const BALANCES = {
  name: 'balances-of-merchant',
  // One statement is one snapshot: every result is the state between
  // two postings, never one in the middle of a posting or of a fold.
  text: `
    select b.network, b.currency, b.available, b.pending, b.settled, ${isoText('b.posted_at')} as posted_at,
      ${isoText('m.created_at')} as since
    from merchants m left join (
      select network, currency, ${sumText('available')}, ${sumText('pending')}, ${sumText('settled')},
        max(posted_at) as posted_at from (
        select network, currency, account, amount_units, posted_at from balance_totals
          where merchant_id = $1 and mode = $2
        union all
        select network, currency, account, amount_units, posted_at from balance_changes
          where merchant_id = $1 and mode = $2
      ) as parts group by network, currency
    ) as b on true
    where m.id = $1`,
} as const;

function isoText(column: string): string {
  return `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;
}

function sumText(account: LedgerAccount): string {
  return `coalesce(sum(amount_units) filter (where account = '${account}'), 0)::text as ${account}`;
}

/** For a merchant without a posting there is one row, in which everything but `since` is null. */
type BalanceRow = {
  readonly network: Network | null;
  readonly currency: Currency | null;
  readonly available: string | null;
  readonly pending: string | null;
  readonly settled: string | null;
  readonly posted_at: string | null;
  readonly since: string;
};

/**
 * The balances of every asset in the order of {@link ASSETS}. One
 * prepared query, no entity: merchants' dashboards ask for it all day.
 */
async function readAssets(deps: Deps, scope: Scope): Promise<AssetBalance[]> {
  const pool = await deps.orm.em.getConnection().getNativeClient();
  const { rows }: { rows: BalanceRow[] } = await pool.query({
    ...BALANCES,
    values: [scope.merchantId, scope.mode],
  });
  const since = rows[0]?.since;
  if (since === undefined) throw new Error('the balance of a merchant that does not exist was asked for');
  return ASSETS.map((asset) => {
    const own = rows.find((row) => row.network === asset.network && row.currency === asset.currency);
    const amounts = {
      available: BigInt(own?.available ?? 0),
      pending: BigInt(own?.pending ?? 0),
      settled: BigInt(own?.settled ?? 0),
    };
    const postedAt = own?.posted_at ?? undefined;
    const moved = postedAt !== undefined;
    return { asset, decimals: asset.decimals, ...amounts, updatedAt: postedAt ?? since, moved };
  });
}

/** The latest time. Times of one format sort as texts do. */
function latest(times: readonly string[]): string | undefined {
  return times.toSorted().at(-1);
}

/** One currency's amounts over its networks, in the finest of their units. */
function sumOf(assets: readonly Amounts[]): Amounts {
  const decimals = Math.max(...assets.map((one) => one.decimals));
  const sum = (pick: (one: Amounts) => bigint): bigint =>
    assets.reduce((units, one) => units + pick(one) * 10n ** BigInt(decimals - one.decimals), 0n);
  return {
    decimals,
    available: sum((one) => one.available),
    pending: sum((one) => one.pending),
    settled: sum((one) => one.settled),
  };
}

function currenciesWithMoney(assets: readonly AssetBalance[]): ReadonlySet<Currency> {
  return new Set(assets.filter(hasMoney).map(({ asset }) => asset.currency));
}

function hasMoney(amounts: Amounts): boolean {
  return amounts.available !== 0n || amounts.pending !== 0n || amounts.settled !== 0n;
}

type Cents = { readonly amount: bigint; readonly available: bigint; readonly settled: bigint };

/** Undefined when there is money but no rate for it. */
function centsOf(amounts: Amounts, rateUnits: bigint | undefined): Cents | undefined {
  if (rateUnits === undefined)
    return hasMoney(amounts) ? undefined : { amount: 0n, available: 0n, settled: 0n };
  const cents = (units: bigint): bigint => usdCents(units, amounts.decimals, rateUnits);
  return {
    amount: cents(amounts.available + amounts.pending),
    available: cents(amounts.available),
    settled: cents(amounts.settled),
  };
}

function presentAmounts(amounts: Amounts, cents: Cents | undefined): AmountsView {
  const coins = (units: bigint): string => formatUnits(units, amounts.decimals);
  return {
    amount: coins(amounts.available + amounts.pending),
    amount_usd: cents ? centsToJsonNumber(cents.amount) : null,
    available: coins(amounts.available),
    pending: coins(amounts.pending),
    settled: coins(amounts.settled),
  };
}

function presentRow(deps: Deps, scope: Scope, one: AssetBalance, rates: Rates): MerchantBalanceView {
  const { network, currency, kind, decimals } = one.asset;
  const rateUnits = rates.get(currency);
  return {
    id: rowId(scope, one.asset),
    network,
    currency,
    contract_address: kind === 'token' ? deps.settings.contracts[network] : null,
    decimals,
    ...presentAmounts(one, centsOf(one, rateUnits)),
    rate_usd: rateToJsonNumber(rateUnits ?? null),
    is_live: scope.mode === 'live',
    updated_at: one.updatedAt,
  };
}

/** The id of a row: always the same, without a database row that would have to be kept for it. */
function rowId({ merchantId, mode }: Scope, { network, currency }: Asset): string {
  return idFrom(['balance', merchantId, mode, network, currency]);
}

/** Where a page lies in a list that never grows: `page` is null with a cursor, as in every list. */
function placeOf(
  ids: readonly string[],
  request: PageRequest,
): { from: number; to: number; page: number | null } {
  const { limit, startingAfter, endingBefore } = request;
  const cursor = startingAfter ?? endingBefore;
  if (cursor === undefined) {
    const from = ((request.page ?? 1) - 1) * limit;
    return { from, to: from + limit, page: request.page ?? 1 };
  }
  const at = ids.indexOf(cursor);
  const name = startingAfter === undefined ? 'ending_before' : 'starting_after';
  if (at < 0) throw new Refusal('INVALID', `${name} is not the id of a row of this list.`, name);
  return startingAfter === undefined
    ? { from: Math.max(0, at - limit), to: at, page: null }
    : { from: at + 1, to: at + 1 + limit, page: null };
}
