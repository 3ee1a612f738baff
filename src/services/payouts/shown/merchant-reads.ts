import type { Em } from '../../../db/orm.ts';
import { rows, sql } from '../../../db/sql.ts';
import { type Currency, NETWORKS, type Network } from '../../../domain/assets.ts';
import { isoSeconds } from '../../../domain/events.ts';
import { isUuid } from '../../../domain/ids.ts';
import type { SentPurpose } from '../../../domain/payouts/purpose.ts';
import type { WaitCode } from '../../../domain/payouts/waits.ts';
import { PAYOUT_STATES, type PayoutState, type SentState } from '../../../domain/settlement.ts';
import type { Deps } from '../../deps.ts';
import { type CreatedBetween, createdBetween, inOrder, listPage, type PageOf } from '../../lists/page.ts';
import type { PageRequest } from '../../lists/query.ts';
import { notFound } from '../../refusal.ts';
import type { Scope } from '../../scope.ts';
import { AS_SENT, decimal, type FactRow, factColumns, type PayoutFacts, presentFacts } from '../present.ts';
import { payoutWords, purposeWords, sentWords, type WaitWords, waitWords } from './words.ts';

export type PayoutListFilters = CreatedBetween & {
  readonly state?: PayoutState | undefined;
  readonly network?: Network | undefined;
};

/** A payout as its merchant sees it. */
export type MerchantPayoutView = PayoutFacts & {
  readonly words: string;
  readonly wait: WaitWords | null;
  readonly deposit_count: number;
};

export type MerchantPayoutInFull = MerchantPayoutView & {
  readonly deposits: readonly PaidDeposit[];
  readonly transactions: readonly PayoutTransaction[];
};

/** A deposit that a payout covers, and its part of what was paid and of what that cost. */
export type PaidDeposit = {
  readonly id: string;
  readonly amount: string;
  readonly currency: Currency;
  readonly settled: string | null;
  readonly fee: string | null;
  readonly transaction_hash: string;
};

/** A transaction that was asked for a payout. */
export type PayoutTransaction = {
  readonly words: string;
  readonly state: string;
  readonly amount: string;
  readonly currency: Currency;
  readonly transaction_hash: string | null;
  readonly fee: string | null;
  readonly fee_currency: Currency;
  readonly block_number: number | null;
  readonly asked_at: string;
};

/** A payout can cover very many deposits, and be tried very often: the first ones of each are shown. */
const MAX_SHOWN = 100;

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
  return { ...page, rows: inOrder(page.rows, await payoutViews(em, page.rows)) };
}

/** The payout with its deposits and everything that was sent for it. Throws a NOT_FOUND `Refusal`. */
export async function getMerchantPayout(
  deps: Deps,
  { id, merchantId, mode }: Scope & { readonly id: string },
): Promise<MerchantPayoutInFull> {
  const em = deps.orm.em.fork();
  const known = isUuid(id)
    ? await rows(
        em,
        sql<{ id: string }>`select id from payouts
          where id = ${id} and merchant_id = ${merchantId} and mode = ${mode}`,
      )
    : [];
  const [view] = await payoutViews(
    em,
    known.map((row) => row.id),
  );
  if (!view) throw notFound('payout');
  return { ...view, deposits: await depositsOf(em, view), transactions: await transactionsOf(em, view) };
}

type Row = FactRow & {
  readonly code: WaitCode | null;
  readonly since: string | null;
  readonly deposits: number;
};

/** The views of payouts by their ids, in any order. The caller has made sure whose they are. */
export async function payoutViews(em: Em, ids: readonly string[]): Promise<MerchantPayoutView[]> {
  if (ids.length === 0) return [];
  const found = await rows(
    em,
    sql<Row>`
      select ${factColumns(sql`s.state <> 'dead'`)}, w.code, w.since,
        (select count(*)::int from deposits d where d.payout_id = p.id) as deposits
      from payouts p left join settlement_waits w on w.payout_id = p.id and p.state in ('planned', 'paying')
      where p.id = any(${ids})`,
  );
  return found.map(view);
}

function view(row: Row): MerchantPayoutView {
  const facts = presentFacts(row);
  const wait = row.code === null || row.since === null ? null : waitWords(row.code, row.since);
  return { ...facts, words: payoutWords(facts.state), wait, deposit_count: row.deposits };
}

async function depositsOf(
  em: Em,
  { id, network, fee_currency: coin }: MerchantPayoutView,
): Promise<PaidDeposit[]> {
  const found = await rows(
    em,
    sql<{
      id: string;
      currency: Currency;
      amount: string;
      settled: string | null;
      fee: string | null;
      transactionHash: string;
    }>`
      select id, currency, amount_units::text as amount, settled_units::text as settled,
        settlement_fee_units::text as fee, transaction_hash
      from deposits where payout_id = ${id} order by created_at, id limit ${MAX_SHOWN}`,
  );
  return found.map((row) => ({
    id: row.id,
    amount: decimal(network, row.currency, row.amount),
    currency: row.currency,
    settled: row.settled === null ? null : decimal(network, row.currency, row.settled),
    fee: row.fee === null ? null : decimal(network, coin, row.fee),
    transaction_hash: row.transactionHash,
  }));
}

type SentRow = {
  readonly purpose: SentPurpose;
  readonly state: SentState;
  readonly ok: boolean | null;
  readonly currency: Currency;
  readonly amount: string;
  readonly hash: string | null;
  readonly fee: string | null;
  readonly blockNumber: number | null;
  readonly createdAt: string;
};

async function transactionsOf(
  em: Em,
  { id, network, fee_currency: coin }: MerchantPayoutView,
): Promise<PayoutTransaction[]> {
  const found = await rows(
    em,
    sql<SentRow>`select ${AS_SENT}, ok, currency, amount_units::text as amount, hash,
        fee_units::text as fee, block_number::float8 as block_number, created_at
      from sent_transactions where payout_id = ${id}
      order by created_at, purpose, attempt limit ${MAX_SHOWN}`,
  );
  return found.map((row) => ({
    words: purposeWords(row.purpose),
    state: sentWords(row.state, row.ok),
    amount: decimal(network, row.currency, row.amount),
    currency: row.currency,
    transaction_hash: row.hash,
    fee: row.fee === null ? null : decimal(network, coin, row.fee),
    fee_currency: coin,
    block_number: row.blockNumber,
    asked_at: isoSeconds(new Date(row.createdAt)),
  }));
}
