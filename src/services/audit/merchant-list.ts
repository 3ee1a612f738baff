// What was changed for a merchant, as people of that merchant see it.
import type { Em } from '../../db/orm.ts';
import { firstRow, rows, type Statement, sql } from '../../db/sql.ts';
import type { Mode } from '../../domain/assets.ts';
import { isUuid } from '../../domain/ids.ts';
import type { Deps } from '../deps.ts';
import type { PageOf } from '../lists/page.ts';
import { COUNTED_ROWS } from '../lists/query.ts';
import { Refusal } from '../refusal.ts';

/** A change as people of the merchant see it. */
export type MerchantAction = {
  readonly id: string;
  readonly at: Date;
  readonly action: string;
  /** An operator has no name here: it is the gateway's business who of theirs did something. */
  readonly by:
    | { readonly kind: 'operator' }
    | { readonly kind: 'key'; readonly keyId: string; readonly label: string }
    | { readonly kind: 'user'; readonly userId: string; readonly email: string | null };
  /** The network that the request of a user or a key came from. */
  readonly from: string | null;
  readonly mode: Mode | null;
  readonly subject: string;
  /** Of a change of a user of the merchant: that user's email. */
  readonly subjectEmail: string | null;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
  readonly reason: string | null;
};

type Listed = { readonly merchantId: string; readonly mode?: Mode | undefined };
type Place = {
  readonly limit: number;
  readonly startingAfter?: string | undefined;
  readonly endingBefore?: string | undefined;
};

/**
 * What operators, users and keys of this merchant changed, newest first, ties by id; with a mode, what was
 * changed in it and what belongs to neither. Walking with a cursor sees each row once. Throws a
 * {@link Refusal} for a cursor that is not in the list.
 */
export async function listMerchantActions(
  deps: Deps,
  listed: Listed,
  place: Place,
): Promise<PageOf<MerchantAction>> {
  const em = deps.orm.em.fork();
  const cursorId = place.startingAfter ?? place.endingBefore;
  const backwards = place.endingBefore !== undefined;
  if (cursorId !== undefined) await requireListed(em, listed, cursorId, backwards);
  const { limit } = place;
  const order = backwards ? sql`order by at, id` : sql`order by at desc, id desc`;
  const beyond =
    cursorId === undefined
      ? sql`true`
      : sql`(at, id) ${backwards ? sql`>` : sql`<`} (select c.at, c.id from operator_actions c
          where c.id = ${cursorId})`;
  const some = (whose: Statement<unknown>) =>
    sql`(select * from operator_actions where ${whose} and ${beyond} ${order} limit ${limit + 1})`;
  const found = await rows(
    em,
    sql<Row>`select a.id, a.at, a.action, a.by_name is not null as by_operator, a.user_id, u.email, a.key_id,
        k.label, a.origin, a.mode, a.subject, s.email as subject_email, a.before, a.after, a.reason
      from (select * from (${sql.join(partsOf(listed).map(some), sql` union all `)}) parts
        ${order} limit ${limit + 1}) a
      left join users u on u.id = a.user_id and u.merchant_id = a.merchant_id
      left join api_keys k on k.id = a.key_id and k.merchant_id = a.merchant_id
      left join users s on s.merchant_id = a.merchant_id
        and s.id = case when a.action like 'user.%' and a.subject ~ ${UUID} then a.subject::uuid end
      order by a.at ${backwards ? sql`` : sql`desc`}, a.id ${backwards ? sql`` : sql`desc`}`,
  );
  const shown = found.slice(0, limit).map(viewOf);
  return {
    rows: backwards ? shown.reverse() : shown,
    hasMore: found.length > limit,
    page: cursorId === undefined ? 1 : null,
    limit,
    ...(await count(em, listed)),
  };
}

/** The parts of the list, each of which an index holds in order. */
function partsOf({ merchantId, mode }: Listed): Statement<unknown>[] {
  const own = sql`merchant_id = ${merchantId}`;
  return mode === undefined ? [own] : [sql`${own} and mode = ${mode}`, sql`${own} and mode is null`];
}

async function count(em: Em, listed: Listed): Promise<{ total: number; totalIsAtLeast: boolean }> {
  const some = (whose: Statement<unknown>) =>
    sql`(select 1 from operator_actions where ${whose} limit ${COUNTED_ROWS + 1})`;
  const row = await firstRow(
    em,
    sql<{ total: number }>`select count(*)::int as total
      from (${sql.join(partsOf(listed).map(some), sql` union all `)}) as counted`,
  );
  const total = row?.total ?? 0;
  const totalIsAtLeast = total > COUNTED_ROWS;
  return { total: totalIsAtLeast ? COUNTED_ROWS : total, totalIsAtLeast };
}

async function requireListed(em: Em, listed: Listed, id: string, backwards: boolean): Promise<void> {
  const whose = sql.join(
    partsOf(listed).map((part) => sql`(${part})`),
    sql` or `,
  );
  const known =
    isUuid(id) && (await firstRow(em, sql`select 1 from operator_actions where id = ${id} and (${whose})`));
  if (known) return;
  const name = backwards ? 'ending_before' : 'starting_after';
  throw new Refusal('INVALID', `${name} is not the id of a row of this list.`, name);
}

const UUID = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';

type Row = Omit<MerchantAction, 'at' | 'by' | 'from'> & {
  readonly at: string;
  readonly byOperator: boolean;
  readonly userId: string | null;
  readonly email: string | null;
  readonly keyId: string | null;
  readonly label: string | null;
  readonly origin: string | null;
};

/**
 * Of an operator's change the merchant sees what it did to what is theirs. Who of the operators it was, from
 * which machine, and what they noted down for each other is written for the gateway's own audit; where a
 * reason is meant for the merchant, it stands at the deposit that was decided about.
 */
function viewOf({ byOperator, userId, email, keyId, label, origin, at, ...row }: Row): MerchantAction {
  if (!byOperator)
    return {
      ...row,
      at: new Date(at),
      by:
        keyId === null
          ? { kind: 'user', userId: userId ?? '', email }
          : { kind: 'key', keyId, label: label ?? '' },
      from: origin,
    };
  return {
    ...row,
    at: new Date(at),
    by: { kind: 'operator' },
    from: null,
    before: row.before && shownOf(row.before),
    after: row.after && shownOf(row.after),
    reason: null,
  };
}

/**
 * Facts of operators' changes that are about what belongs to the merchant. A fact that is not named here is
 * not shown: one that is added for operators stays with them until somebody decides otherwise.
 */
const SHOWN_FACT =
  /^(withdraw_[a-z]+|name|monthly_limit_usd|subscription|subscription_until|live_key|test_key|label|scopes|expires_at|revoked_at|replaced_by|networks|totp|payouts_paused|status|failure_code|network|asked_for|asked_at|counts_at|customers|endpoints|events_per_day|open_links)$/;

function shownOf(facts: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(facts).filter(([name]) => SHOWN_FACT.test(name)));
}
