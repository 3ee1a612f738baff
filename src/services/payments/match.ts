import { type Deposit, PaymentLink } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { assetOf } from '../../domain/assets.ts';
import { LINK_CURRENCY, type LinkCandidate, type LinkStatus, type Match, matchLink } from '../../domain/payment-link.ts';
import type { Deps } from '../deps.ts';
import type { Tx } from '../transact.ts';
import { ASSIGNED_SQL, lockPayers } from './money.ts';
import { recountLink, refreshAmountStatus } from './recount.ts';

/** Open links of one customer that are looked at, oldest first, and closed ones that late money may belong to, newest first. */
const MAX_OPEN = 500;
const MAX_CLOSED = 50;

/**
 * Assigns a deposit, which the caller's transaction has just recorded, revived or released (and flushed), to the link that it pays, and
 * brings that link up to date. `named`: the only link in question. Money that no open link takes stays a plain deposit. Takes the
 * customer's lock, which the caller should hold already.
 */
export async function assignDeposit(tx: Tx, deps: Deps, deposit: Deposit, named?: string): Promise<void> {
  const match = await matchOf(tx.em, deps, deposit, named);
  if (match?.kind !== 'pays') return;
  deposit.paymentLinkId = match.linkId;
  await tx.em.flush();
  await recountLink(tx, deps, match.linkId);
}

/**
 * Shows `late` on the closed or overdue link that this plain deposit would have paid in time, if there is one. For money that is confirmed:
 * a payment that is only seen may still vanish. Takes the customer's lock, which the caller should hold already.
 */
export async function noteLate(tx: Tx, deps: Deps, deposit: Deposit): Promise<void> {
  const match = await matchOf(tx.em, deps, deposit);
  if (match?.kind === 'late') await markLate(tx.em, deps, match.linkId);
}

async function matchOf(em: Em, deps: Deps, deposit: Deposit, named?: string): Promise<Match> {
  if (deposit.currency !== LINK_CURRENCY) return undefined;
  if (!(await lockPayers(em, [deposit.customerId])).has(deposit.customerId)) return undefined;
  const links = await candidatesOf(em, deposit, named);
  const { decimals } = assetOf(deposit.network, deposit.currency);
  const minedAt = deposit.minedAt ?? deps.now();
  return matchLink({ amountUnits: deposit.amountUnits, decimals, network: deposit.network, minedAt }, links);
}

async function markLate(em: Em, deps: Deps, linkId: string): Promise<void> {
  const link = await em.findOneOrFail(PaymentLink, linkId, { refresh: true });
  link.late = true;
  link.updatedAt = deps.now();
  refreshAmountStatus(link);
  await em.flush();
}

type Row = {
  id: string;
  status: LinkStatus;
  amount_units: string;
  least_units: string;
  assigned_units: string;
  network: string | null;
  created_at: string | Date;
  expires_at: string | Date;
};

async function candidatesOf(em: Em, deposit: Deposit, named: string | undefined): Promise<LinkCandidate[]> {
  const only = named === undefined ? '' : 'and id = ?';
  const values = named === undefined ? [deposit.customerId] : [deposit.customerId, named];
  const rows = await em.execute<Row[]>(
    `with candidate as (
       (select * from payment_links where customer_id = ? ${only} and status in ('pending', 'processing', 'partially_paid')
        order by created_at, id limit ${MAX_OPEN})
       union all
       (select * from payment_links where customer_id = ? ${only} and status in ('expired', 'cancelled')
        order by created_at desc, id desc limit ${MAX_CLOSED})
     )
     select l.id, l.status, l.amount_units::text as amount_units, l.least_units::text as least_units, l.network, l.created_at, l.expires_at,
       ${ASSIGNED_SQL} as assigned_units
     from candidate l order by l.created_at, l.id`,
    [...values, ...values],
  );
  return rows.map((row) => ({
    ...{ id: row.id, status: row.status, network: row.network },
    ...{ amountUnits: BigInt(row.amount_units), leastUnits: BigInt(row.least_units), assignedUnits: BigInt(row.assigned_units) },
    ...{ createdAt: new Date(row.created_at), expiresAt: new Date(row.expires_at) },
  }));
}
