// Whoever makes something payable, or takes away what stood in the way, tells the actors in its transaction.

import type { ScannedBlock } from '../../chains/reader.ts';
import type { Deposit, Payout } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { literals, rows, run, sql } from '../../db/sql.ts';
import type { Network } from '../../domain/assets.ts';
import type { DepositState } from '../../domain/deposit.ts';
import type { WaitCode } from '../../domain/payouts/waits.ts';
import { LIVING_PAYOUTS } from '../../domain/settlement.ts';
import type { Deps, TxDeps } from '../deps.ts';
import { insertOutbox } from '../outbox/insert.ts';
import type { Tx } from '../transact.ts';
import { type SettlementPlace, settlementWake, walletWake } from './actor-message.ts';

/** What a payout may cover: money of live mode that is credited. */
const PAYABLE: DepositState = 'completed';
/**
 * One transaction wakes at most this many addresses; a repair finds those behind them
 * (`src/services/repair`).
 */
const MAX_WOKEN = 10_000;
const FOR_GAS: WaitCode = 'waiting_for_gas';
const MOST_FOR_GAS = 200;
/** The pause between two of them: what else is asked of Temporal meanwhile does not wait behind them. */
const WAKE_EVERY_MS = 20;
const WAKE_EVERY = sql`${`${WAKE_EVERY_MS} milliseconds`}::interval`;

/** Tells the actors of the addresses where deposits are completed by the caller's transaction. */
export async function wakeForDeposits(
  tx: Tx,
  { settings }: Pick<TxDeps, 'settings'>,
  deposits: readonly Deposit[],
): Promise<void> {
  const { networks } = settings.payouts;
  const payable = deposits.filter(
    ({ status, mode, simulated, network }) =>
      status === PAYABLE && mode === 'live' && !simulated && networks.includes(network),
  );
  for (const [workflowId, message] of new Map(payable.map(settlementWake)))
    await tx.enqueue(workflowId, message);
}

/**
 * Tells the actors of addresses whose transactions are final now: those that these blocks hold, which the
 * caller's transaction has read twice. What they ask of them would else be asked for again and again.
 */
export async function wakeForBlocks(
  tx: Tx,
  network: Network,
  blocks: readonly Pick<ScannedBlock, 'number' | 'sent'>[],
): Promise<void> {
  const numbers = blocks.filter(({ sent }) => sent !== undefined).map(({ number }) => number);
  if (numbers.length === 0) return;
  await wakeOfSent(
    tx,
    sql`s.network = ${network} and s.block_number = any(${numbers}::bigint[])
      and (p.state in ${literals(LIVING_PAYOUTS)} or s.purpose = 'reclaim')`,
  );
}

/**
 * Tells the actors of addresses with transactions in blocks above this one, in the caller's transaction, that
 * takes these blocks away: what was signed is sent until another block has it, whatever its payout is.
 */
export async function wakeForReplaced(tx: Tx, network: Network, blockNumber: number): Promise<void> {
  await wakeOfSent(tx, sql`s.network = ${network} and s.block_number > ${blockNumber}`);
}

/** Which transactions `s` of payouts `p`, in blocks. */
async function wakeOfSent(tx: Tx, which: ReturnType<typeof sql>): Promise<void> {
  const places = await rows(
    tx.em,
    sql<SettlementPlace>`select distinct p.network, p.address_key, p.address, p.merchant_id
      from sent_transactions s join payouts p on p.id = s.payout_id
      where ${which} and s.block_hash is not null and not p.simulated order by p.address_key`,
  );
  for (const place of places) await tx.enqueue(...settlementWake(place));
}

/**
 * Tells the actors of addresses that wait for coins of the gas wallet that more came, in the caller's
 * transaction: the first {@link MOST_FOR_GAS}. Those behind them look by themselves.
 */
export async function wakeForGas(tx: Tx, network: Network): Promise<void> {
  const places = await rows(
    tx.em,
    sql<SettlementPlace>`select network, address_key, address, merchant_id from settlement_waits
      where network = ${network} and code = ${FOR_GAS} order by since, address_key limit ${MOST_FOR_GAS}`,
  );
  for (const place of places) await tx.enqueue(...settlementWake(place));
}

/**
 * Tells the actor of an address, in the caller's transaction, that a payout of it has ended: there
 * may be more to pay out.
 */
export async function wakeAfterPayout(em: Em, deps: Pick<Deps, 'now'>, payout: Payout): Promise<void> {
  if (payout.simulated) return;
  const [workflowId, message] = settlementWake(payout);
  await insertOutbox(em, deps, [{ workflowId, message }]);
}

/**
 * Tells the actor of the wallet that signed a transaction, which no block has. Not where an earlier one of
 * the wallet, which no block has either, was sent a moment ago: its actor runs, and thousands may wait.
 */
export async function wakeWallet(
  em: Em,
  { now }: Pick<Deps, 'now'>,
  { sentId, resendMs }: { readonly sentId: string; readonly resendMs: number },
): Promise<void> {
  const lately = new Date(now().getTime() - 2 * resendMs);
  const [wallet] = await rows(
    em,
    sql<Omit<SettlementPlace, 'merchantId'>>`select network, from_key as address_key, from_address as address
      from sent_transactions s where id = ${sentId} and not exists (select 1 from sent_transactions o
        where o.network = s.network and o.from_key = s.from_key and o.state in ('signed', 'sent')
          and o.signed_at < s.signed_at and o.sent_at > ${lately})`,
  );
  if (!wallet) return;
  const [workflowId, message] = walletWake(wallet);
  await insertOutbox(em, { now }, [{ workflowId, message }]);
}

/**
 * Tells the actors of all addresses of a merchant with something to pay out on these networks, in the
 * caller's transaction; where nothing is paid out on one by this process, its actors are left to a repair.
 * Of very many the first 10,000, one each {@link WAKE_EVERY_MS}.
 */
export async function wakeMerchant(
  em: Em,
  { settings, now }: Pick<Deps, 'settings' | 'now'>,
  { merchantId, networks }: { readonly merchantId: string; readonly networks: readonly Network[] },
): Promise<number> {
  let woken = 0;
  for (const network of networks.filter((one) => settings.payouts.networks.includes(one)))
    woken += await run(em, wakesSql({ merchantId, network, now: now() }));
  return woken;
}

/**
 * Tells the actors of the addresses of a merchant, or (null) of every merchant, that payouts go on, in the
 * caller's transaction: of those with something to pay out and of those with a payout under way. It reaches
 * as many as {@link wakeMerchant} does, and a repair those behind them.
 */
export async function wakeResumed(
  em: Em,
  { settings, now }: Pick<Deps, 'settings' | 'now'>,
  merchantId: string | null,
): Promise<number> {
  let woken = 0;
  for (const network of settings.payouts.networks)
    woken += await run(em, wakesSql({ merchantId, network, now: now(), living: true }));
  return woken;
}

/** One message for each address, as {@link settlementWake} makes it. */
function wakesSql(input: {
  readonly merchantId: string | null;
  readonly network: Network;
  readonly now: Date;
  readonly living?: boolean;
}) {
  const { merchantId, network, now, living = false } = input;
  const [prefix, message] = settlementWake({
    merchantId: '',
    network,
    addressKey: '' as never,
    address: '',
  });
  const { args: _, memo: __, summary: ___, attributes, owner, ...same } = message;
  const whose = merchantId === null ? sql`true` : sql`merchant_id = ${merchantId}`;
  const under = living
    ? sql`union all select network, address_key, address, merchant_id from payouts where ${whose}
        and network = ${network} and state in ${literals(LIVING_PAYOUTS)} and not simulated`
    : sql``;
  return sql`
    insert into outbox (kind, workflow_id, mode, message, tries, created_at, next_try_at)
    select 'signal', ${prefix} || address_key, 'live',
      ${JSON.stringify(same)}::jsonb || jsonb_build_object(
        'args', jsonb_build_array(jsonb_build_object('network', network, 'addressKey', address_key)),
        'attributes', ${JSON.stringify(attributes)}::jsonb || jsonb_build_object('MerchantId', merchant_id),
        'owner', ${JSON.stringify(owner)}::jsonb || jsonb_build_object('merchantId', merchant_id),
        'memo', jsonb_build_object('address', address),
        'summary', 'payouts of ' || address || ' on ' || network),
      0, ${now}, ${now}::timestamptz + (row_number() over (order by address_key) - 1) * ${WAKE_EVERY}
    from (select distinct on (network, address_key) network, address_key, address, merchant_id from (
        select network, address_key, address, merchant_id from deposits
          where ${whose} and network = ${network} and mode = 'live' and not simulated
            and status = ${sql.lit(PAYABLE)} and payout_id is null
        ${under}) all_places
      order by network, address_key limit ${MAX_WOKEN}) places`;
}
