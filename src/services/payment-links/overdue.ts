import { PaymentLink } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { isoSeconds } from '../../domain/events.ts';
import { describeProgress } from '../../domain/payment-link.ts';
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

/** Each asks for some facts of its own; more are as many signs of the same trouble. */
const LISTED = 50;
const COUNTED = 10_000;
const OPEN_SQL = `status in ('pending', 'processing', 'partially_paid') and expires_at <= ?`;

/** How many links should have ended longer than `STUCK_AFTER` ago, at most 10,000. */
export async function countOverdueLinks(deps: Deps): Promise<number> {
  const [row] = await deps.orm.em
    .fork()
    .execute<{ n: number }[]>(`select count(*)::int as n from (select 1 from payment_links where ${OPEN_SQL} limit ${COUNTED}) l`, [
      before(deps),
    ]);
  return row?.n ?? 0;
}

/** The same links, the oldest 50, each with what holds it and what to do. */
export async function listOverdueLinks(deps: Deps): Promise<OverdueLink[]> {
  const em = deps.orm.em.fork();
  const rows = await em.execute<{ id: string }[]>(
    `select id from payment_links where ${OPEN_SQL} order by expires_at, id limit ${LISTED}`,
    [before(deps)],
  );
  const links = await em.find(PaymentLink, { id: { $in: rows.map(({ id }) => id) } }, { orderBy: { expiresAt: 'asc', id: 'asc' } });
  const found: OverdueLink[] = [];
  for (const link of links) {
    const facts = { payment_link_id: link.id, state: link.status, since: isoSeconds(link.expiresAt) };
    found.push({ ...facts, ...(await whatHolds(em, deps, link)) });
  }
  return found;
}

async function whatHolds(em: Em, deps: Deps, link: PaymentLink): Promise<Pick<OverdueLink, 'reason' | 'action'>> {
  if (link.mode === 'live') {
    const [open] = await em.execute<{ id: string }[]>(
      `select id from deposits where payment_link_id = ? and status in ('detected', 'confirming') limit 1`,
      [link.id],
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
          'see that a worker follows this chain ("doctor"); one that was switched off has to be read up to that time once more, for money may have come',
      };
  }
  return { reason: `${describeProgress(link)}; nothing holds it, and its actor does not end it`, action: 'run "repair"' };
}

function before(deps: Deps): Date {
  return new Date(deps.now().getTime() - deps.settings.stuckAfterMs);
}
