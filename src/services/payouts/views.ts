// A payout as operators and its merchant see it: one row, and what each of them is told of it.
import { Deposit, SentTransaction, SettlementWait } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { rows, type Statement, sql } from '../../db/sql.ts';
import {
  assetOf,
  type Currency,
  type Mode,
  NATIVE_CURRENCY,
  NETWORKS,
  type Network,
} from '../../domain/assets.ts';
import { isoSeconds } from '../../domain/events.ts';
import { isUuid } from '../../domain/ids.ts';
import { formatUnits } from '../../domain/money.ts';
import type { WaitCode } from '../../domain/payouts/waits.ts';
import { LIVING_PAYOUTS, PAYOUT_STATES, type PayoutState } from '../../domain/settlement.ts';
import type { Deps } from '../deps.ts';
import { type CreatedBetween, createdBetween, inOrder, listPage, type PageOf } from '../lists/page.ts';
import type { PageRequest } from '../lists/query.ts';
import { requireKnownMerchant } from '../merchants/known.ts';
import { notFound } from '../refusal.ts';
import type { Scope } from '../scope.ts';
import { noPayout } from './decisions.ts';
import { payoutWords, purposeWords, sentWords, waitWords } from './words.ts';

/** A payout as operators see it. */
export type PayoutView = ReturnType<typeof operatorView>;
/** An address where something lies that no payout covers yet. */
export type WaitingView = ReturnType<typeof waitingView>;
/** A payout as its merchant sees it. */
export type MerchantPayoutView = ReturnType<typeof merchantView>;
export type MerchantPayoutInFull = Awaited<ReturnType<typeof getMerchantPayout>>;

export type PayoutListFilters = CreatedBetween & {
  readonly state?: PayoutState | undefined;
  readonly network?: Network | undefined;
};

/** A payout can cover very many deposits and be tried very often: its merchant sees the first ones. */
const MAX_SHOWN = 100;

/**
 * Payouts, newest first, and (where no state is asked for) the addresses at which nothing is planned yet,
 * with why, those that wait longest first; at most `limit` of each. Throws a `Refusal` for an unknown
 * merchant.
 */
export async function listPayouts(
  deps: Deps,
  input: Omit<PayoutListFilters, keyof CreatedBetween> & {
    readonly merchant?: string | undefined;
    readonly limit: number;
  },
): Promise<{ readonly payouts: readonly PayoutView[]; readonly waiting: readonly WaitingView[] }> {
  const em = deps.orm.em.fork();
  const { merchant, state, network, limit } = input;
  await requireKnownMerchant(em, merchant);
  const which = sql<boolean>`(${merchant ?? null}::uuid is null or p.merchant_id = ${merchant ?? null})
    and (${state ?? null}::text is null or p.state = ${state ?? null})
    and (${network ?? null}::text is null or p.network = ${network ?? null})`;
  const payouts = (await payoutRows(em, which, THEIR_IDS, limit)).map(operatorView);
  if (state !== undefined) return { payouts, waiting: [] };
  const found = await em.find(
    SettlementWait,
    { payoutId: null, ...(merchant ? { merchantId: merchant } : {}), ...(network ? { network } : {}) },
    { orderBy: { since: 'asc', network: 'asc', addressKey: 'asc' }, limit },
  );
  return { payouts, waiting: found.map(waitingView) };
}

/** The payouts with these ids, as operators see them. */
export async function payoutViews(em: Em, ids: readonly string[]): Promise<readonly PayoutView[]> {
  return (await payoutRows(em, withIds(ids), THEIR_IDS, ids.length)).map(operatorView);
}

/** One payout with every transaction that was asked for it. Throws a `Refusal` where there is none. */
export async function readPayout(deps: Deps, id: string) {
  const em = deps.orm.em.fork();
  const [row] = isUuid(id) ? await payoutRows(em, withIds([id]), THEIR_IDS, 1) : [];
  if (!row) throw noPayout(id);
  const sent = await em.find(
    SentTransaction,
    { payoutId: id },
    { orderBy: { purpose: 'asc', attempt: 'asc' } },
  );
  const transactions = sent.map((one) => {
    const { purpose, attempt, refused = null } = one;
    const what = { purpose: purpose ?? 'payout', attempt: attempt ?? 1, state: stateOf(one) };
    return { ...what, ...sentFacts(one), refused };
  });
  return { ...operatorView(row), ended_because: row.endedBecause, transactions };
}

/**
 * One page of the payouts of this merchant and mode, newest first; the total
 * is counted up to a limit. Throws a `Refusal` for a foreign cursor.
 */
export async function listMerchantPayouts(
  deps: Deps,
  input: Scope & PayoutListFilters & { readonly page: PageRequest },
): Promise<PageOf<MerchantPayoutView>> {
  const em = deps.orm.em.fork();
  const networks = input.network === undefined ? NETWORKS : [input.network];
  const states = input.state === undefined ? PAYOUT_STATES : [input.state];
  const parts = networks.flatMap((network) =>
    states.map((state) => sql`network = ${network} and state = ${state}`),
  );
  const filters = createdBetween(input);
  const page = await listPage(em, { table: 'payouts', scope: input, filters, parts, page: input.page });
  return { ...page, rows: inOrder(page.rows, await merchantPayoutViews(em, page.rows)) };
}

/** The views of payouts by their ids, in any order. The caller has made sure whose they are. */
export async function merchantPayoutViews(em: Em, ids: readonly string[]): Promise<MerchantPayoutView[]> {
  return (await payoutRows(em, withIds(ids), HOW_MANY, ids.length)).map(merchantView);
}

/** The payout with its deposits and everything that was sent for it. Throws a NOT_FOUND `Refusal`. */
export async function getMerchantPayout(
  deps: Deps,
  { id, merchantId, mode }: Scope & { readonly id: string },
) {
  const em = deps.orm.em.fork();
  const which = sql<boolean>`p.id = ${id} and p.merchant_id = ${merchantId} and p.mode = ${mode}`;
  const [row] = isUuid(id) ? await payoutRows(em, which, HOW_MANY, 1) : [];
  if (!row) throw notFound('payout');
  const { network } = row;
  const coin = NATIVE_CURRENCY[network];
  const theirs = { payoutId: id };
  const deposits = await em.find(Deposit, theirs, {
    orderBy: { createdAt: 'asc', id: 'asc' },
    limit: MAX_SHOWN,
  });
  const orderBy = { createdAt: 'asc', purpose: 'asc', attempt: 'asc' } as const;
  const sent = await em.find(SentTransaction, theirs, { orderBy, limit: MAX_SHOWN });
  return {
    ...merchantView(row),
    /** Each with its part of what was paid and of what that cost. */
    deposits: deposits.map(
      ({ id, currency, amountUnits, settledUnits, settlementFeeUnits, transactionHash }) => ({
        id,
        amount: decimal(network, currency, amountUnits),
        currency,
        settled: settledUnits == null ? null : decimal(network, currency, settledUnits),
        fee: settlementFeeUnits == null ? null : decimal(network, coin, settlementFeeUnits),
        transaction_hash: transactionHash,
      }),
    ),
    transactions: sent.map((one) => ({
      ...sentFacts(one),
      words: purposeWords(one.purpose ?? 'payout'),
      state: sentWords(stateOf(one), one.ok ?? null),
      fee_currency: coin,
    })),
  };
}

/** Why an address waits, with the coins that it needs. */
export function waitView(row: {
  readonly network: Network;
  readonly code: string;
  readonly reason: string;
  readonly needsUnits?: bigint | string | null;
  readonly needsAddress?: string | null;
}) {
  const { network, code, reason, needsUnits, needsAddress: address } = row;
  const currency = NATIVE_CURRENCY[network];
  const isShort = needsUnits != null && address != null;
  const needs = isShort ? { currency, amount: decimal(network, currency, needsUnits), address } : null;
  return { code, reason, needs };
}

const waitingView = (row: SettlementWait) => ({
  merchant_id: row.merchantId,
  network: row.network,
  currency: row.currency,
  address: row.address,
  ...waitView(row),
  since: isoSeconds(row.since),
});

/** Base units of a coin on a network as a decimal string. */
export function decimal(network: Network, currency: Currency, units: bigint | string): string {
  return formatUnits(BigInt(units), assetOf(network, currency).decimals);
}

type Texts = 'id' | 'merchantId' | 'address' | 'destination' | 'gross' | 'createdAt';
type PerhapsTexts =
  | 'endedBecause'
  | 'net'
  | 'fee'
  | 'hash'
  | 'settledAt'
  | 'reason'
  | 'since'
  | 'needsUnits'
  | 'needsAddress';
type Row<Deposits> = Record<Texts, string> &
  Record<PerhapsTexts, string | null> & {
    readonly mode: Mode;
    readonly network: Network;
    readonly currency: Currency;
    readonly state: PayoutState;
    readonly code: WaitCode | null;
    readonly deposits: Deposits;
  };

const THEIR_IDS = sql<readonly string[]>`coalesce(jsonb_agg(d.id order by d.created_at, d.id), '[]')`;
const HOW_MANY = sql<number>`count(*)::int`;

const withIds = (ids: readonly string[]): Statement<boolean> => sql`p.id = any(${[...ids]}::uuid[])`;

/** `deposits`: what is said of those that each payout covers. */
async function payoutRows<Deposits>(
  em: Em,
  where: Statement<boolean>,
  deposits: Statement<Deposits>,
  limit: number,
): Promise<readonly Row<Deposits>[]> {
  return await rows(
    em,
    sql<Row<Deposits>>`
      select p.id, p.mode, p.network, p.currency, p.address, p.destination, p.state, p.merchant_id,
        p.gross_units::text as gross, p.net_units::text as net, p.fee_units::text as fee,
        coalesce(p.transaction_hash, (select s.hash from sent_transactions s where s.payout_id = p.id
          and s.purpose = 'payout' and s.hash is not null and s.state <> 'dead'
          order by s.block_hash is not null desc, s.attempt desc limit 1)) as hash,
        p.created_at, p.settled_at, p.reason as ended_because, w.code, w.reason, w.since,
        w.needs_units::text as needs_units, w.needs_address,
        (select ${deposits} from deposits d where d.payout_id = p.id) as deposits
      from (select * from payouts p where ${where} order by p.created_at desc, p.id desc limit ${limit}) p
      left join settlement_waits w on w.payout_id = p.id order by p.created_at desc, p.id desc`,
  );
}

/** What operators and the merchant see of a payout alike; money as decimal strings. */
function factsOf(row: Row<unknown>) {
  const { id, network, currency, address, destination, state } = row;
  const coin = NATIVE_CURRENCY[network];
  return {
    id,
    network,
    currency,
    address,
    destination,
    gross: decimal(network, currency, row.gross),
    /** What the destination got and what it cost; null before it is settled. */
    net: row.net === null ? null : decimal(network, currency, row.net),
    fee: row.fee === null ? null : decimal(network, coin, row.fee),
    /** The network's own coin. */
    fee_currency: coin,
    state,
    /** False for payouts of test mode, which move no money. */
    is_live: row.mode === 'live',
    /** The transaction that paid it, or else the newest one that was signed for it and is not given up. */
    transaction_hash: row.hash,
    created_at: isoSeconds(new Date(row.createdAt)),
    settled_at: row.settledAt === null ? null : isoSeconds(new Date(row.settledAt)),
  };
}

function operatorView(row: Row<readonly string[]>) {
  const { merchantId, deposits, code, reason } = row;
  const wait = code === null || reason === null ? null : waitView({ ...row, code, reason });
  return { ...factsOf(row), merchant_id: merchantId, wait, deposits };
}

/** What is still to be taken back of a payout that is over is no wait of its merchant's. */
function merchantView(row: Row<number>) {
  const { code, since, state, deposits } = row;
  const isShown = code !== null && since !== null && LIVING_PAYOUTS.includes(state);
  const wait = isShown ? waitWords(code, since) : null;
  return { ...factsOf(row), words: payoutWords(state), wait, deposit_count: deposits };
}

/** What somebody else sent has paid a payout where it was concluded by that. */
const stateOf = ({ state }: SentTransaction) => (state === 'foreign' ? 'final' : state);

function sentFacts({
  network,
  currency,
  amountUnits,
  hash,
  feeUnits,
  blockNumber,
  createdAt,
}: SentTransaction) {
  if (currency == null || amountUnits == null) throw new Error(`${hash} is of no payout`);
  return {
    amount: decimal(network, currency, amountUnits),
    currency,
    transaction_hash: hash ?? null,
    fee: feeUnits == null ? null : decimal(network, NATIVE_CURRENCY[network], feeUnits),
    block_number: blockNumber ?? null,
    asked_at: isoSeconds(createdAt),
  };
}
