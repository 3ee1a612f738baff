// Payouts and what waits to become one, as operators see them.

import { SettlementWait } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { firstRow, rows, sql } from '../../db/sql.ts';
import { type Currency, NATIVE_CURRENCY, type Network } from '../../domain/assets.ts';
import { isoSeconds } from '../../domain/events.ts';
import { isUuid } from '../../domain/ids.ts';
import type { SentPurpose } from '../../domain/payouts/purpose.ts';
import type { PayoutState } from '../../domain/settlement.ts';
import type { Deps } from '../deps.ts';
import { requireKnownMerchant } from '../merchants/known.ts';
import { Refusal } from '../refusal.ts';
import { AS_SENT, decimal, type FactRow, factColumns, type PayoutFacts, presentFacts } from './present.ts';

/** Coins that somebody has to send, and where to. */
export type Needs = { readonly currency: Currency; readonly amount: string; readonly address: string };

/** Why something is not paid out at present. */
export type WaitView = { readonly code: string; readonly reason: string; readonly needs: Needs | null };

/** A payout as operators see it. */
export type PayoutView = PayoutFacts & {
  readonly merchant_id: string;
  readonly wait: WaitView | null;
  readonly deposits: readonly string[];
};

/** An address where something lies that no payout covers yet. */
export type WaitingView = WaitView & {
  readonly merchant_id: string;
  readonly network: Network;
  readonly currency: Currency;
  readonly address: string;
  readonly since: string;
};

export type PayoutFilters = {
  readonly merchant?: string | undefined;
  readonly state?: PayoutState | undefined;
  readonly network?: Network | undefined;
  readonly limit: number;
};

/**
 * Payouts, newest first, and (where no state is asked for) the addresses at which nothing is planned yet,
 * with why, those that wait longest first; at most `limit` of each. Throws a `Refusal` for an unknown
 * merchant.
 */
export async function listPayouts(
  deps: Deps,
  { merchant, state, network, limit }: PayoutFilters,
): Promise<{ readonly payouts: readonly PayoutView[]; readonly waiting: readonly WaitingView[] }> {
  const em = deps.orm.em.fork();
  await requireKnownMerchant(em, merchant);
  const payouts = await views(
    em,
    sql`(${merchant ?? null}::uuid is null or p.merchant_id = ${merchant ?? null}::uuid)
      and (${state ?? null}::text is null or p.state = ${state ?? null})
      and (${network ?? null}::text is null or p.network = ${network ?? null})`,
    limit,
  );
  if (state !== undefined) return { payouts, waiting: [] };
  const found = await em.find(
    SettlementWait,
    { payoutId: null, ...(merchant ? { merchantId: merchant } : {}), ...(network ? { network } : {}) },
    { orderBy: { since: 'asc', network: 'asc', addressKey: 'asc' }, limit },
  );
  return { payouts, waiting: found.map(waitingView) };
}

/** The payouts with these ids. */
export async function payoutViews(em: Em, ids: readonly string[]): Promise<readonly PayoutView[]> {
  return await views(em, sql`p.id = any(${ids}::uuid[])`, ids.length);
}

/** One payout with every transaction that was asked for it. Throws a `Refusal` where there is none. */
export async function readPayout(deps: Deps, id: string) {
  const em = deps.orm.em.fork();
  const [payout] = isUuid(id) ? await payoutViews(em, [id]) : [];
  if (!payout) throw noPayout(id);
  const { network } = payout;
  const sent = await rows(
    em,
    sql<SentRow>`select ${AS_SENT}, currency, amount_units::text as amount, hash, nonce, refused,
        fee_units::text as fee, block_number::float8 as block_number, created_at
      from sent_transactions where payout_id = ${id}::uuid order by purpose, attempt`,
  );
  const row = await firstRow(
    em,
    sql<{ reason: string | null }>`select reason from payouts where id = ${id}::uuid`,
  );
  const coin = NATIVE_CURRENCY[network];
  const transactions = sent.map((one) => ({
    purpose: one.purpose,
    attempt: one.attempt,
    state: one.state,
    amount: decimal(network, one.currency, one.amount),
    currency: one.currency,
    transaction_hash: one.hash,
    refused: one.refused,
    fee: one.fee === null ? null : decimal(network, coin, one.fee),
    block_number: one.blockNumber,
    asked_at: isoSeconds(new Date(one.createdAt)),
  }));
  return { ...payout, ended_because: row?.reason ?? null, transactions };
}

/** The refusal of an id that no payout has. */
export function noPayout(id: string): Refusal {
  return new Refusal(
    'NOT_FOUND',
    `There is no payout ${id.slice(0, 100)}. List the payouts with "payout list".`,
  );
}

/** Why an address waits, with the coins that it needs. */
export function waitView(row: {
  readonly network: Network;
  readonly code: string;
  readonly reason: string;
  readonly needsUnits?: bigint | string | null;
  readonly needsAddress?: string | null;
}): WaitView {
  const { network, code, reason, needsUnits, needsAddress } = row;
  const currency = NATIVE_CURRENCY[network];
  const needs =
    needsUnits == null || needsAddress == null
      ? null
      : { currency, amount: decimal(network, currency, needsUnits), address: needsAddress };
  return { code, reason, needs };
}

type SentRow = {
  readonly purpose: SentPurpose;
  readonly attempt: number;
  readonly state: string;
  readonly currency: Currency;
  readonly amount: string;
  readonly hash: string | null;
  readonly refused: string | null;
  readonly fee: string | null;
  readonly blockNumber: number | null;
  readonly createdAt: string;
};

type Row = FactRow & {
  readonly merchantId: string;
  readonly deposits: readonly string[];
  readonly code: string | null;
  readonly reason: string | null;
  readonly needsUnits: string | null;
  readonly needsAddress: string | null;
};

async function views(
  em: Em,
  where: ReturnType<typeof sql<boolean>>,
  limit: number,
): Promise<readonly PayoutView[]> {
  const found = await rows(
    em,
    sql<Row>`
      select ${factColumns()}, p.merchant_id, w.code, w.reason, w.needs_units::text as needs_units,
        w.needs_address,
        (select coalesce(jsonb_agg(d.id order by d.created_at, d.id), '[]') from deposits d
          where d.payout_id = p.id) as deposits
      from (select * from payouts p where ${where} order by p.created_at desc, p.id desc limit ${limit}) p
      left join settlement_waits w on w.payout_id = p.id order by p.created_at desc, p.id desc`,
  );
  return found.map(view);
}

function view(row: Row): PayoutView {
  const { merchantId, deposits, code, reason } = row;
  const wait = code === null || reason === null ? null : waitView({ ...row, code, reason });
  return { ...presentFacts(row), merchant_id: merchantId, wait, deposits };
}

function waitingView(row: SettlementWait): WaitingView {
  const { merchantId, network, currency, address, since } = row;
  return { merchant_id: merchantId, network, currency, address, ...waitView(row), since: isoSeconds(since) };
}
