import { type Deposit, LatePayment, PaymentLink } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { rows, sql } from '../../db/sql.ts';
import { assetOf } from '../../domain/assets.ts';
import { CREDITED_STATES } from '../../domain/deposit.ts';
import {
  type IncomingMoney,
  LINK_CURRENCY,
  type LinkCandidate,
  matchLate,
  matchLink,
  toLinkUnits,
} from '../../domain/payment-link.ts';
import type { TxDeps } from '../deps.ts';
import type { Tx } from '../transact.ts';
import { wakePayment } from './actor-message.ts';
import { announceLinks } from './announce.ts';
import { linkNamed, missedLinks, openLinks } from './candidates.ts';
import { lockPayers } from './money.ts';
import { recountLink, recountLinks, refreshAmountStatus } from './recount.ts';

/** A deposit that may pay a link. `named`: the only link in question. */
export type ToAssign = { readonly deposit: Assignable; readonly named?: string | undefined };
type Assignable = Pick<
  Deposit,
  'currency' | 'customerId' | 'network' | 'amountUnits' | 'minedAt' | 'paymentLinkId'
>;

/**
 * The first half of assigning any number of deposits, in a fixed number of statements: writes into
 * each, in the order given, the link that it pays or null, as if each had been recorded before the next was
 * assigned. One that comes back after a failure still has its former link, which it pays before others. The
 * deposits need not be in the database yet. Returns the links, for {@link settleLinks} once the deposits are
 * flushed. Takes the customers' locks, which the caller should hold already.
 */
export async function chooseLinks(
  em: Em,
  deps: TxDeps,
  items: readonly ToAssign[],
): Promise<ReadonlySet<string>> {
  const coins = items.filter(({ deposit }) => deposit.currency === LINK_CURRENCY);
  const payers = await lockPayers(em, [...new Set(coins.map(({ deposit }) => deposit.customerId))]);
  const paying = coins
    .filter(({ deposit }) => payers.has(deposit.customerId))
    .map((item) => ({ ...item, money: moneyOf(deps, item.deposit) }));
  const chosen = new Set<string>();
  if (paying.length === 0) return chosen;
  const matched = paying.filter(({ named }) => named === undefined);
  const open = await openLinks(
    em,
    matched.map(({ deposit, money }) => ({
      customerId: deposit.customerId,
      money,
      former: deposit.paymentLinkId ?? undefined,
    })),
  );
  for (const { deposit, named, money } of paying) {
    const candidates =
      named === undefined ? (open.get(deposit.customerId) ?? []) : await linkNamed(em, named);
    const former = deposit.paymentLinkId ?? undefined;
    const match = matchLink(money, candidates, former);
    deposit.paymentLinkId = null;
    if (match?.kind !== 'pays') continue;
    deposit.paymentLinkId = match.linkId;
    chosen.add(match.linkId);
    take(candidates, match.linkId, money);
  }
  return chosen;
}

/**
 * The second half of {@link chooseLinks}: brings the links
 * in line with the deposits, which are in the database now.
 */
export async function settleLinks(tx: Tx, deps: TxDeps, linkIds: ReadonlySet<string>): Promise<void> {
  const [only] = linkIds;
  if (linkIds.size === 1 && only !== undefined) await recountLink(tx, deps, only);
  else await recountLinks(tx, deps, linkIds);
}

/**
 * Shows `late`, and the deposit, on the closed or overdue link that this plain deposit would have paid in
 * time, if there is one, and tells it. It is called for confirmed money: a payment that is only seen
 * may still vanish. `named` is the only link in question, `former` the one that it was sent for before it
 * failed. Takes the customer's lock, which the caller should hold already.
 */
export async function noteLate(
  tx: Tx,
  deps: TxDeps,
  deposit: Deposit,
  { named, former }: { readonly named?: string | undefined; readonly former?: string | undefined },
): Promise<void> {
  const { em } = tx;
  if (deposit.currency !== LINK_CURRENCY) return;
  if (!(await lockPayers(em, [deposit.customerId])).has(deposit.customerId)) return;
  const money = moneyOf(deps, deposit);
  const missed =
    named === undefined
      ? await missedLinks(em, { customerId: deposit.customerId, money, former })
      : await linkNamed(em, named);
  const linkId = matchLate(money, missed, former);
  if (linkId === undefined) return;
  const link = await em.findOneOrFail(PaymentLink, linkId, { refresh: true });
  link.late = true;
  link.updatedAt = deps.now();
  refreshAmountStatus(link);
  const late = { depositId: deposit.id, paymentLinkId: link.id };
  // Money that was taken out of its block and mined again comes late a second time, maybe for another link.
  const before = await em.findOne(LatePayment, { depositId: deposit.id });
  if (before) before.paymentLinkId = link.id;
  else em.create(LatePayment, { ...late, at: deps.now() });
  const told = await announceLinks(em, deps, [{ link, type: 'payment.late', late: deposit }]);
  for (const one of told) await wakePayment(tx, one);
}

/**
 * Takes `late` from the links for which these deposits, which are in the database as failed, had come too
 * late, where nothing else that came too late stands: nobody has that money any more. No event of a link
 * says so; that of the deposit does. Mined again, it is late again, pays a link, or neither.
 */
export async function clearLate(em: Em, deps: TxDeps, depositIds: readonly string[]): Promise<void> {
  if (depositIds.length === 0) return;
  const links = await rows(
    em,
    sql<{ id: string; customerId: string }>`select distinct l.id, l.customer_id from late_payments o
      join payment_links l on l.id = o.payment_link_id where o.deposit_id = any(${depositIds}) and l.late`,
  );
  if (links.length === 0) return;
  await lockPayers(em, [...new Set(links.map(({ customerId }) => customerId))]);
  const empty = await rows(
    em,
    sql<{ id: string }>`select l.id from payment_links l where l.id = any(${links.map(({ id }) => id)})
      and not exists (select 1 from late_payments o join deposits d on d.id = o.deposit_id
        where o.payment_link_id = l.id and d.payment_link_id is null and d.status = any(${CREDITED_STATES}))`,
  );
  const ids = empty.map(({ id }) => id);
  for (const link of await em.find(PaymentLink, { id: { $in: ids } }, { refresh: true })) {
    link.late = false;
    link.updatedAt = deps.now();
    refreshAmountStatus(link);
  }
  await em.flush();
}

function moneyOf(deps: TxDeps, deposit: Assignable): IncomingMoney {
  const { decimals } = assetOf(deposit.network, deposit.currency);
  return {
    amountUnits: deposit.amountUnits,
    decimals,
    network: deposit.network,
    minedAt: deposit.minedAt ?? deps.now(),
  };
}

/** Reduces what the link wants, so that the next deposit of the same block finds what this one left. */
function take(candidates: LinkCandidate[], linkId: string, money: IncomingMoney): void {
  const index = candidates.findIndex(({ id }) => id === linkId);
  const link = candidates[index];
  if (link)
    candidates[index] = {
      ...link,
      assignedUnits: link.assignedUnits + toLinkUnits(money.amountUnits, money.decimals),
    };
}
