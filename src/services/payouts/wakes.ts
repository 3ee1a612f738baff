// Whoever makes something payable, or takes away what stood in the way, tells the actors in its transaction.
import type { AddressKey } from '../../chains/address-key.ts';
import type { ScannedBlock } from '../../chains/reader.ts';
import { type Deposit, WithdrawAddress } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { literals, rows, run, type Statement, sql } from '../../db/sql.ts';
import type { ActorMessage, SettlementActorInput, WalletActorInput } from '../../domain/actor-message.ts';
import type { Network } from '../../domain/assets.ts';
import type { DepositState } from '../../domain/deposit.ts';
import { ROW_CHANGED, settlementWorkflowId, walletWorkflowId } from '../../domain/ids.ts';
import type { WaitCode } from '../../domain/payouts/waits.ts';
import { LIVING_PAYOUTS } from '../../domain/settlement.ts';
import type { Deps, TxDeps } from '../deps.ts';
import { insertOutbox } from '../outbox/insert.ts';
import type { Tx } from '../transact.ts';

/** What a payout may cover: money of live mode that is credited. */
const PAYABLE: DepositState = 'completed';
/**
 * One transaction wakes at most this many addresses; a repair finds those behind them
 * (`src/services/repair`).
 */
const MAX_WOKEN = 10_000;
const FOR_GAS: WaitCode = 'waiting_for_gas';
const MOST_FOR_GAS = 200;
/** The pause between two of many: what else is asked of Temporal meanwhile does not wait behind them. */
const WAKE_EVERY_MS = 20;

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
  await wakeAll(
    tx,
    sql`select distinct p.network, p.address_key, p.address, p.merchant_id
      from sent_transactions s join payouts p on p.id = s.payout_id
      where ${which} and s.block_hash is not null and not p.simulated order by p.address_key`,
  );
}

/**
 * Tells the actors of addresses that wait for coins of the gas wallet that more came, in the caller's
 * transaction: the first {@link MOST_FOR_GAS}. Those behind them look by themselves.
 */
export async function wakeForGas(tx: Tx, network: Network): Promise<void> {
  await wakeAll(
    tx,
    sql`select network, address_key, address, merchant_id from settlement_waits
      where network = ${network} and code = ${FOR_GAS} order by since, address_key limit ${MOST_FOR_GAS}`,
  );
}

async function wakeAll(tx: Tx, places: Statement<SettlementPlace>): Promise<void> {
  for (const place of await rows(tx.em, places)) await tx.enqueue(...settlementWake(place));
}

/** Tells the actor of an address, in the caller's transaction, that there may be more to do there. */
export async function wakeAddress(em: Em, deps: Pick<Deps, 'now'>, place: SettlementPlace): Promise<void> {
  const [workflowId, message] = settlementWake(place);
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
 * Tells the actors of the addresses of a merchant, or (null) of every merchant, with something to pay out or
 * a payout under way, in the caller's transaction: another withdraw address counts, or payouts go on. Where
 * nothing is paid out on a network by this process, its actors are left to a repair. Of very many the first
 * 10,000 of each network, one each {@link WAKE_EVERY_MS}. Returns how many were told.
 */
export async function wakePayable(
  em: Em,
  { settings, now }: Pick<Deps, 'settings' | 'now'>,
  merchantId: string | null,
  networks: readonly Network[] = settings.payouts.networks,
): Promise<number> {
  const at = now();
  const whose = merchantId === null ? sql`true` : sql`merchant_id = ${merchantId}`;
  let woken = 0;
  for (const network of networks.filter((one) => settings.payouts.networks.includes(one))) {
    const places = await rows(
      em,
      sql<SettlementPlace>`
        select distinct on (address_key) network, address_key, address, merchant_id from (
          select network, address_key, address, merchant_id from deposits
            where ${whose} and network = ${network} and mode = 'live' and not simulated
              and status = ${sql.lit(PAYABLE)} and payout_id is null
          union all select network, address_key, address, merchant_id from payouts
            where ${whose} and network = ${network} and state in ${literals(LIVING_PAYOUTS)} and not simulated
        ) places order by address_key limit ${MAX_WOKEN}`,
    );
    const messages = places.map(settlementWake).map(([workflow_id, message], place) => {
      return { workflow_id, message, due: new Date(at.getTime() + place * WAKE_EVERY_MS) };
    });
    woken += await run(
      em,
      sql`insert into outbox (kind, workflow_id, mode, message, tries, created_at, next_try_at)
        select 'signal', workflow_id, 'live', message, 0, ${at}::timestamptz, due
        from jsonb_to_recordset(${JSON.stringify(messages)}::jsonb)
          as r (workflow_id text, message jsonb, due timestamptz)`,
    );
  }
  return woken;
}

/** One of our addresses, and whose money lies there. */
export type SettlementPlace = {
  readonly network: Network;
  readonly addressKey: AddressKey;
  readonly address: string;
  readonly merchantId: string;
};

/** An actor, and what makes it look at its rows or starts it. */
type SettlementWake = readonly [workflowId: string, message: ActorMessage];

/**
 * Tells the actor that pays out an address to look; one that does not run is started. However often it is
 * told, there is one for each address.
 */
export function settlementWake(place: SettlementPlace): SettlementWake {
  const { network, addressKey, address, merchantId } = place;
  const input: SettlementActorInput = { network, addressKey };
  return [
    settlementWorkflowId(network, addressKey),
    {
      workflowType: 'settlement',
      args: [input],
      attributes: { MerchantId: merchantId, Network: network, NeedsOperator: false },
      memo: { address },
      summary: `payouts of ${address} on ${network}`,
      owner: { merchantId, mode: 'live' },
      signal: { name: ROW_CHANGED, args: [] },
    },
  ];
}

/** Tells the actor of a wallet that no block has what it sent; one that does not run is started. */
export function walletWake({
  network,
  addressKey,
  address,
}: Omit<SettlementPlace, 'merchantId'>): SettlementWake {
  const input: WalletActorInput = { network, addressKey };
  return [
    walletWorkflowId(network, addressKey),
    {
      workflowType: 'wallet',
      args: [input],
      attributes: { Network: network, NeedsOperator: false },
      memo: { address },
      summary: `what ${address} signed on ${network} and no block has`,
      signal: { name: ROW_CHANGED, args: [] },
    },
  ];
}

/**
 * Whether a deposit is completed and will be paid out, as far as is known: it is live money, payouts are made
 * on its network, and its merchant has said where to. Whatever becomes of it, its payout's end is told.
 */
export async function isPayoutForeseen(
  { settings }: Pick<TxDeps, 'settings'>,
  em: Em,
  { status, mode, simulated, merchantId, network }: Deposit,
): Promise<boolean> {
  if (status !== 'completed' || mode !== 'live' || simulated) return false;
  if (!settings.payouts.networks.includes(network)) return false;
  return (await em.count(WithdrawAddress, { merchantId, network, address: { $ne: null } })) > 0;
}
