import type { AddressKey } from '../../chains/address-key.ts';
import { Payout } from '../../db/entities/index.ts';
import { literals, rows, type Statement, sql } from '../../db/sql.ts';
import { NETWORKS, type Network } from '../../domain/assets.ts';
import type { DepositState } from '../../domain/deposit.ts';
import type { WaitCode } from '../../domain/payouts/waits.ts';
import { LIVING_PAYOUTS } from '../../domain/settlement.ts';
import type { Deps } from '../deps.ts';
import { isPausedSql } from '../payouts/pauses.ts';
import { IS_LOOSE } from '../payouts/settle/living.ts';
import { type SettlementPlace, settlementWake } from '../payouts/wakes.ts';
import { lookAgain, type RepairRun, startMissing, throwFailed, wholeRun } from './actors.ts';

const PAGE = 500;
const PAYABLE: DepositState = 'completed';
const TOO_LITTLE: WaitCode = 'below_minimum';
/** What was too little then is too little now, unless the settings have changed since. */
const TOO_LITTLE_FOR_MS = 6 * 60 * 60_000;
/** A payout takes its next step within minutes, or its row says why it waits: its actor is asked to look. */
const STANDS_MS = 5 * 60_000;
const FIRST_KEY = '' as AddressKey;

const LIVING = {
  from: 'payouts',
  where: sql`state in ${literals(LIVING_PAYOUTS)}`,
  by: 'state_since',
} as const;

/**
 * Repairs the actors of addresses with a payout under way, of those that were lent energy, and of those with
 * something to pay out to a merchant who has said where to: those that do not run are started, and those
 * whose payout does not move are told to look.
 */
export async function repairSettlements(deps: Deps, run: RepairRun = wholeRun()): Promise<void> {
  for (const network of NETWORKS) await startOn(deps, run, network);
  const before = new Date(deps.now().getTime() - STANDS_MS);
  await lookAgain(deps, run, { ...LIVING, kind: 'payouts', before }, async (ids) => {
    const payouts = await deps.orm.em.fork().find(Payout, { id: { $in: [...ids] } });
    return payouts.map(settlementWake);
  });
  throwFailed(run);
}

async function startOn(deps: Deps, run: RepairRun, network: Network): Promise<void> {
  const em = deps.orm.em.fork();
  const pages = [
    (after: AddressKey) => livingPage(network, after),
    (after: AddressKey) => lentPage(network, after),
    // Where this process sends nothing, nothing new is planned.
    ...(deps.settings.payouts.networks.includes(network)
      ? [
          (after: AddressKey) =>
            payablePage(network, after, new Date(deps.now().getTime() - TOO_LITTLE_FOR_MS)),
        ]
      : []),
  ];
  for (const pageSql of pages)
    for (let after: AddressKey | undefined = FIRST_KEY; after !== undefined; ) {
      const page: readonly Place[] = await rows(em, pageSql(after));
      await startMissing(deps, run, page.filter(({ due }) => due).map(settlementWake));
      after = page.length < PAGE ? undefined : page.at(-1)?.addressKey;
    }
}

type Place = SettlementPlace & { readonly due: boolean };

/** Addresses with a payout under way, behind `after`. */
export function livingPage(network: Network, after: AddressKey): Statement<Place> {
  return sql`select network, address_key, address, merchant_id, true as due from payouts
    where ${LIVING.where} and network = ${network} and address_key > ${after}
    order by network, address_key limit ${PAGE}`;
}

/**
 * Addresses that were lent energy which is not known to be with its lender again, or not any more because
 * what took it back has lost its final block, and those with signed bytes in no block, whatever their payout
 * is, behind `after`.
 */
export function lentPage(network: Network, after: AddressKey): Statement<Place> {
  return sql`
    select distinct on (p.address_key) p.network, p.address_key, p.address, p.merchant_id, true as due
    from (
      select payout_id, state, ok from sent_transactions
        where network = ${network} and to_key > ${after} and purpose = 'delegate' and reclaimed_at is null
          and state in ('signed', 'sent', 'mined', 'final')
      union all
      select lent.payout_id, lent.state, lent.ok from sent_transactions back
        join sent_transactions lent on lent.payout_id = back.payout_id and lent.purpose = 'delegate'
        where back.network = ${network} and back.to_key > ${after} and back.purpose = 'reclaim'
          and back.state in ('asked', 'signed', 'sent')
      union all
      select s.payout_id, s.state, s.ok from sent_transactions s where s.network = ${network} and ${IS_LOOSE}
    ) s join payouts p on p.id = s.payout_id
    where s.state in ('signed', 'sent', 'mined', 'final') and s.ok is distinct from false
      and p.address_key > ${after} order by p.address_key limit ${PAGE}`;
}

/**
 * Addresses with completed deposits that no payout covers, behind `after`. Not due are those whose merchant
 * has no withdraw address or is paused, and those that were found to hold too little since this time and
 * after their last deposit.
 */
export function payablePage(network: Network, after: AddressKey, lookedAt: Date): Statement<Place> {
  return sql`
    select p.*, exists (select 1 from withdraw_addresses w where w.merchant_id = p.merchant_id
        and w.network = p.network and w.address is not null) and not exists (select 1 from settlement_waits s
        where s.network = p.network and s.address_key = p.address_key and s.code = ${TOO_LITTLE}
          and s.updated_at > ${lookedAt} and s.updated_at > p.last_at)
        and not ${isPausedSql('p.merchant_id')} as due
    from (select network, address_key, min(address) as address, (min(merchant_id::text))::uuid as merchant_id,
        max(completed_at) as last_at
      from deposits where network = ${network} and address_key > ${after} and mode = 'live' and not simulated
        and status = ${sql.lit(PAYABLE)} and payout_id is null and block_hash is not null
        and verified_at is not null
      group by network, address_key order by network, address_key limit ${PAGE}) p
    order by address_key`;
}
