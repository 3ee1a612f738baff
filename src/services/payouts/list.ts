// Payouts and what waits to become one, as operators see them.

import { type Payout, SettlementWait } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { firstRow, rows, sql } from '../../db/sql.ts';
import { assetOf, type Currency, NATIVE_CURRENCY, type Network } from '../../domain/assets.ts';
import { isoSeconds } from '../../domain/events.ts';
import { isUuid } from '../../domain/ids.ts';
import { formatUnits } from '../../domain/money.ts';
import type { SentPurpose } from '../../domain/payouts/purpose.ts';
import type { PayoutState } from '../../domain/settlement.ts';
import type { Deps } from '../deps.ts';
import { requireKnownMerchant } from '../merchants/known.ts';
import { Refusal } from '../refusal.ts';

/** Coins that somebody has to send, and where to. */
export type Needs = { readonly currency: Currency; readonly amount: string; readonly address: string };

/** Why something is not paid out at present. */
export type WaitView = { readonly code: string; readonly reason: string; readonly needs: Needs | null };

/** A payout; money as decimal strings, the fee in the network's own coin. */
export type PayoutView = {
  readonly id: string;
  readonly merchant_id: string;
  readonly network: Network;
  readonly currency: Currency;
  readonly address: string;
  readonly destination: string;
  readonly gross: string;
  /** What the destination got and what it cost; null before it is settled. */
  readonly net: string | null;
  readonly fee: string | null;
  readonly fee_currency: Currency;
  readonly state: PayoutState;
  /** False for payouts of test mode, which move no money. */
  readonly is_live: boolean;
  readonly wait: WaitView | null;
  /** The transaction that paid it, or else the newest one that was signed for it. */
  readonly transaction_hash: string | null;
  readonly deposits: readonly string[];
  readonly created_at: string;
  readonly settled_at: string | null;
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

/** One payout with every transaction that was asked for it. Throws a `Refusal` where there is none. */
export async function readPayout(deps: Deps, id: string) {
  const em = deps.orm.em.fork();
  const [payout] = isUuid(id) ? await views(em, sql`p.id = ${id}::uuid`, 1) : [];
  if (!payout) throw noPayout(id);
  const { network } = payout;
  const sent = await rows(
    em,
    sql<SentRow>`select purpose, attempt, state, currency, amount_units::text as amount, hash, nonce, refused,
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

type Row = Pick<
  Payout,
  'id' | 'merchantId' | 'mode' | 'network' | 'currency' | 'address' | 'destination' | 'state'
> & {
  readonly gross: string;
  readonly net: string | null;
  readonly fee: string | null;
  readonly hash: string | null;
  readonly createdAt: string;
  readonly settledAt: string | null;
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
      select p.id, p.merchant_id, p.mode, p.network, p.currency, p.address, p.destination, p.state,
        p.gross_units::text as gross, p.net_units::text as net, p.fee_units::text as fee,
        coalesce(p.transaction_hash, (select s.hash from sent_transactions s where s.payout_id = p.id
          and s.purpose = 'payout' and s.hash is not null
          order by s.block_hash is not null desc, s.attempt desc limit 1)) as hash,
        p.created_at, p.settled_at, w.code, w.reason, w.needs_units::text as needs_units, w.needs_address,
        (select coalesce(jsonb_agg(d.id order by d.created_at, d.id), '[]') from deposits d
          where d.payout_id = p.id) as deposits
      from (select * from payouts p where ${where} order by p.created_at desc, p.id desc limit ${limit}) p
      left join settlement_waits w on w.payout_id = p.id order by p.created_at desc, p.id desc`,
  );
  return found.map(view);
}

function view(row: Row): PayoutView {
  const { id, merchantId, network, currency, address, destination, state, deposits, code, reason } = row;
  const coin = NATIVE_CURRENCY[network];
  return {
    id,
    merchant_id: merchantId,
    network,
    currency,
    address,
    destination,
    gross: decimal(network, currency, row.gross),
    net: row.net === null ? null : decimal(network, currency, row.net),
    fee: row.fee === null ? null : decimal(network, coin, row.fee),
    fee_currency: coin,
    state,
    is_live: row.mode === 'live',
    wait: code === null || reason === null ? null : waitView({ ...row, code, reason }),
    transaction_hash: row.hash,
    deposits,
    created_at: isoSeconds(new Date(row.createdAt)),
    settled_at: row.settledAt === null ? null : isoSeconds(new Date(row.settledAt)),
  };
}

function waitingView(row: SettlementWait): WaitingView {
  const { merchantId, network, currency, address, since } = row;
  return { merchant_id: merchantId, network, currency, address, ...waitView(row), since: isoSeconds(since) };
}

const decimal = (network: Network, currency: Currency, units: bigint | string): string =>
  formatUnits(BigInt(units), assetOf(network, currency).decimals);
