import { PaymentLink } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { firstRow, literals, rows, sql } from '../../db/sql.ts';
import { WAITING_STATES } from '../../domain/deposit.ts';
import { isoSeconds } from '../../domain/events.ts';
import { describeProgress, isOpenLink, type LinkStatus, OPEN_STATUSES } from '../../domain/payment-link.ts';
import type { Deps } from '../deps.ts';
import { chainBehind } from './advance.ts';

/** A payment link whose time is long over and that is still open, as `deposit stuck` prints it. */
export type OverdueLink = {
  readonly payment_link_id: string;
  readonly state: string;
  readonly reason: string;
  readonly since: string;
  readonly action: string;
};

/**
 * Each listed link asks for some facts of its own; more links would only be more signs of the same trouble.
 */
const LISTED = 50;
const COUNTED = 10_000;

/** How many links should have ended longer than `STUCK_AFTER` ago, at most 10,000. */
export async function countOverdueLinks(deps: Deps): Promise<number> {
  const row = await firstRow(
    deps.orm.em.fork(),
    sql<{
      n: number;
    }>`select count(*)::int as n
      from (select 1 from payment_links where ${isOverdue(deps)} limit ${COUNTED}) l`,
  );
  return row?.n ?? 0;
}

/** The same links, the oldest 50, each with what holds it and what to do. */
export async function listOverdueLinks(deps: Deps): Promise<OverdueLink[]> {
  const em = deps.orm.em.fork();
  const overdue = await rows(
    em,
    sql<{
      id: string;
    }>`select id from payment_links where ${isOverdue(deps)} order by expires_at, id limit ${LISTED}`,
  );
  const links = await em.find(
    PaymentLink,
    { id: { $in: overdue.map(({ id }) => id) } },
    { orderBy: { expiresAt: 'asc', id: 'asc' } },
  );
  const found: OverdueLink[] = [];
  for (const link of links) {
    const facts = { payment_link_id: link.id, state: link.status, since: isoSeconds(link.expiresAt) };
    found.push({ ...facts, ...(await whatHolds(em, deps, link)) });
  }
  return found;
}

/** Why a link is where it is, and what to do: in the words of {@link listOverdueLinks} for what it lists. */
export async function describeLink(
  em: Em,
  deps: Deps,
  link: PaymentLink,
): Promise<{ readonly why: string; readonly action: string }> {
  const { status, expiresAt } = link;
  if (!isOpenLink(status))
    return {
      why: link.late ? 'money came for it after its end: the merchant was told' : (ENDED[status] ?? status),
      action: 'nothing to do',
    };
  if (expiresAt > deps.now())
    return {
      why:
        status === 'processing'
          ? 'what was paid waits for the chain'
          : `waits for ${status === 'pending' ? 'the payer' : 'the rest'}`,
      action: 'nothing to do: it ends by itself',
    };
  const { reason, action } = await whatHolds(em, deps, link);
  const isLate = expiresAt.getTime() <= deps.now().getTime() - deps.settings.stuckAfterMs;
  return { why: `its time is over: ${reason}`, action: isLate ? action : 'nothing to do: it ends by itself' };
}

const ENDED: Readonly<Partial<Record<LinkStatus, string>>> = {
  completed: 'it was paid',
  expired: 'its time was over before enough had come',
  cancelled: 'the merchant cancelled it',
};

async function whatHolds(
  em: Em,
  deps: Deps,
  link: PaymentLink,
): Promise<Pick<OverdueLink, 'reason' | 'action'>> {
  if (link.mode === 'live') {
    const open = await firstRow(
      em,
      sql<{
        id: string;
      }>`select id from deposits where payment_link_id = ${link.id} and status = any(${WAITING_STATES})
        limit 1`,
    );
    if (open)
      return {
        reason: `${describeProgress(link)}; its deposit ${open.id} is still open`,
        action: `see "deposit show ${open.id}": the link ends with it`,
      };
    const behind = await chainBehind(em, deps, link);
    if (behind)
      return {
        reason: behind.reason,
        action:
          'see that a worker watches this chain ("doctor"); one that was switched off has to be read up to that time once more, for money may have come',
      };
  }
  return {
    reason: `${describeProgress(link)}; nothing holds it, and its actor does not end it`,
    action: 'run "repair"',
  };
}

function isOverdue(deps: Deps) {
  const before = new Date(deps.now().getTime() - deps.settings.stuckAfterMs);
  return sql`status in ${literals(OPEN_STATUSES)} and expires_at <= ${before}`;
}
