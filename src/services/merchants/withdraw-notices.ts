// What of changed withdraw addresses people are told.
import { byNetwork } from '../../chains/index.ts';
import { WithdrawAddress, type WithdrawOutcome } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { rows, type Statement, sql } from '../../db/sql.ts';
import type { Network } from '../../domain/assets.ts';
import type { Deps } from '../deps.ts';
import { requireKnownMerchant } from './known.ts';

/** A change of a withdraw address that somebody asked for. */
export type WithdrawChangeView = {
  readonly id: string;
  readonly merchantId: string;
  readonly network: Network;
  /** What is asked for; null takes the present one away. */
  readonly address: string | null;
  /** What counts at present, whatever becomes of the change. */
  readonly present: string | null;
  readonly contractAllowed: boolean;
  readonly askedBy: { readonly userId: string; readonly email: string | null };
  readonly askedFrom: string;
  readonly askedAt: Date;
  readonly countsAt: Date;
  readonly endedAt: Date | null;
  readonly outcome: WithdrawOutcome | null;
  /** Of one that was refused when it was due. */
  readonly reason: string | null;
};

/** What every page of a merchant says. */
export type WithdrawNotices = {
  readonly pending: readonly WithdrawChangeView[];
  /** Those of the last week that could not count when they were due, while nothing newer was asked for. */
  readonly refused: readonly WithdrawChangeView[];
};

const REFUSED_SHOWN_MS = 7 * 86_400_000;
const MAX_REFUSED = 20;
const MAX_LISTED = 1_000;

/** What of a merchant's withdraw addresses waits or could not count; one statement, for every page. */
export async function pendingWithdrawChanges(deps: Deps, merchantId: string): Promise<WithdrawNotices> {
  const since = new Date(deps.now().getTime() - REFUSED_SHOWN_MS);
  const found = await viewsOf(
    deps.orm.em.fork(),
    sql`(select * from withdraw_changes where merchant_id = ${merchantId} and ended_at is null)
      union all (select * from withdraw_changes c where c.merchant_id = ${merchantId}
        and c.outcome = 'refused' and c.ended_at > ${since} and not exists (
          select 1 from withdraw_changes newer where newer.merchant_id = c.merchant_id
            and newer.network = c.network and newer.asked_at > c.asked_at)
        order by c.ended_at desc limit ${MAX_REFUSED})`,
  );
  return {
    pending: found.filter(({ outcome }) => outcome === null),
    refused: found.filter(({ outcome }) => outcome !== null),
  };
}

/**
 * Every change that waits, of one merchant or of all, those that count first at the head, at most 1,000.
 * Throws a `Refusal` for an unknown merchant.
 */
export async function listPendingWithdrawChanges(
  deps: Deps,
  { merchantId }: { readonly merchantId?: string | undefined } = {},
): Promise<WithdrawChangeView[]> {
  const em = deps.orm.em.fork();
  await requireKnownMerchant(em, merchantId);
  const whose = merchantId === undefined ? sql`true` : sql`merchant_id = ${merchantId}`;
  return await viewsOf(
    em,
    sql`select * from withdraw_changes where ended_at is null and ${whose}
      order by counts_at, id limit ${MAX_LISTED}`,
  );
}

/** One change, in the caller's transaction. Throws where there is none: the caller has just seen it. */
export async function readWithdrawChange(em: Em, id: string): Promise<WithdrawChangeView> {
  const [view] = await viewsOf(em, sql`select * from withdraw_changes where id = ${id}`);
  if (!view) throw new Error('a change of a withdraw address is never removed');
  return view;
}

/** Where payouts of a merchant go at present. */
export async function withdrawAddresses(
  deps: Deps,
  merchantId: string,
): Promise<Readonly<Record<Network, string | null>>> {
  const found = await deps.orm.em.fork().find(WithdrawAddress, { merchantId });
  return byNetwork(({ network }) => found.find((row) => row.network === network)?.address ?? null);
}

type Row = Omit<WithdrawChangeView, 'askedBy' | 'askedAt' | 'countsAt' | 'endedAt'> & {
  readonly askedBy: string;
  readonly email: string | null;
  readonly askedAt: string;
  readonly countsAt: string;
  readonly endedAt: string | null;
};

async function viewsOf(em: Em, which: Statement<unknown>): Promise<WithdrawChangeView[]> {
  const found = await rows(
    em,
    sql<Row>`select c.id, c.merchant_id, c.network, c.address, w.address as present, c.contract_allowed,
        c.asked_by, u.email, c.asked_from, c.asked_at, c.counts_at, c.ended_at, c.outcome, c.reason
      from (${which}) c left join users u on u.id = c.asked_by
        left join withdraw_addresses w on w.merchant_id = c.merchant_id and w.network = c.network
      order by c.counts_at, c.id`,
  );
  return found.map(({ askedBy: userId, email, askedAt, countsAt, endedAt, ...row }) => ({
    ...row,
    askedBy: { userId, email },
    askedAt: new Date(askedAt),
    countsAt: new Date(countsAt),
    endedAt: endedAt === null ? null : new Date(endedAt),
  }));
}
