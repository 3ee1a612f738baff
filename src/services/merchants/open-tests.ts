import type { Em } from '../../db/orm.ts';
import { firstRow, literals, sql } from '../../db/sql.ts';
import { OPEN_STATUSES } from '../../domain/payment-link.ts';
import { Refusal } from '../refusal.ts';
import type { Scope } from '../scope.ts';

/** How many waiting webhooks and open payment links one merchant may have in test mode, together. */
export const MAX_OPEN_TESTS = 1_000;

/**
 * How much more may be begun in test mode; without a limit in live mode. Throws a
 * {@link Refusal} when nothing more may. Rows are counted up to the limit and no
 * further; calls at the same moment may together go a few over it, which does no harm.
 */
export async function roomForTests(em: Em, { merchantId, mode }: Scope): Promise<number> {
  if (mode === 'live') return Number.POSITIVE_INFINITY;
  const row = await firstRow(
    em,
    sql<{ open: number }>`select (select count(*)::int from (
        select 1 from webhook_deliveries where test_merchant_id = ${merchantId} and status = 'pending'
          limit ${MAX_OPEN_TESTS}) w)
      + (select count(*)::int from (
        select 1 from payment_links where merchant_id = ${merchantId} and mode = 'test'
          and status in ${literals(OPEN_STATUSES)}
        limit ${MAX_OPEN_TESTS}) l) as open`,
  );
  const room = MAX_OPEN_TESTS - (row?.open ?? 0);
  if (room > 0) return room;
  throw new Refusal(
    'TOO_MUCH_OPEN',
    `This merchant has ${MAX_OPEN_TESTS} webhooks and payment links open in test mode, which is the most. Wait until some have ended, cancel links, or let the receivers answer.`,
  );
}
