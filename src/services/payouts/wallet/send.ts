import { SentTransaction } from '../../../db/entities/index.ts';
import type { Em } from '../../../db/orm.ts';
import { literals, rows, run, sql } from '../../../db/sql.ts';
import { BY_ENDPOINTS, isTaken } from '../../../domain/payouts/taken.ts';
import { decideWallet, LET_BE_PART, type Unmined } from '../../../domain/payouts/wallet.ts';
import { LIVING_PAYOUTS } from '../../../domain/settlement.ts';
import { fitted } from '../../../domain/text.ts';
import type { Deps } from '../../deps.ts';
import type { Assessing, SettlementInput } from '../settle/context.ts';
import { IS_LOOSE } from '../settle/living.ts';
import { wakeWallet } from '../wakes.ts';

/** What the column holds. */
const MAX_REFUSED = 500;

/** How many of them are looked at: the lowest nonces, for which all others wait. */
const MOST_UNMINED = 100;

export type UnminedRow = Unmined & {
  readonly payoutId: string;
  readonly hash: string;
  readonly address: string;
  readonly refused: string | null;
  /** It can land only behind those before it. */
  readonly hasNonce: boolean;
};

/** Of a transaction `s`: a block has one in its place, be it read once only. */
const HAS_LANDED = sql<boolean>`exists (select 1 from sent_transactions o where o.network = s.network
  and o.from_key = s.from_key and o.nonce = s.nonce and o.block_hash is not null)`;
/** Of a transaction `s`: no other one was asked for after it, in its place or beside it. */
const IS_NEWEST = sql<boolean>`not exists (select 1 from sent_transactions n where n.payout_id = s.payout_id
  and n.purpose = s.purpose and n.attempt > s.attempt and n.state <> 'dead')`;
/** Of a transaction `s`: one in its place may be asked for, as far as it is not for its payout to say. */
export const IS_TO_REPLACE = sql<boolean>`(${IS_LOOSE} and not ${HAS_LANDED} and ${IS_NEWEST})`;

/**
 * What a wallet signed and no block has, the lowest nonces first: of those with one nonce the newest, and a
 * loan only while its payout goes on.
 */
export async function unminedOf(
  deps: Pick<Deps, 'orm'>,
  { network, addressKey }: Pick<SettlementInput, 'network' | 'addressKey'>,
): Promise<readonly UnminedRow[]> {
  type Times = 'signedAt' | 'sentAt';
  const isLiving = sql<boolean>`p.state in ${literals(LIVING_PAYOUTS)}`;
  const found = await rows(
    deps.orm.em.fork(),
    sql<Omit<UnminedRow, Times> & { signedAt: string; sentAt: string | null }>`
      select id, payout_id, hash, address, refused, signed_at, sent_at, may_be_replaced,
        nonce is not null as has_nonce from (
        select distinct on (s.nonce, case when s.nonce is null then s.id end) s.nonce, s.id, s.payout_id,
          s.hash, s.from_address as address, s.refused, s.signed_at, s.sent_at,
          ${isLiving} and ${IS_NEWEST} as may_be_replaced
        from sent_transactions s join payouts p on p.id = s.payout_id
        where s.network = ${network} and s.from_key = ${addressKey} and s.raw is not null and ${IS_LOOSE}
          and (s.purpose <> 'delegate' or ${isLiving})
          and not ${HAS_LANDED}
        order by s.nonce, case when s.nonce is null then s.id end, s.attempt desc
      ) newest order by nonce, signed_at limit ${MOST_UNMINED}`,
  );
  return found.map((row) => ({
    ...row,
    signedAt: new Date(row.signedAt),
    sentAt: row.sentAt === null ? null : new Date(row.sentAt),
  }));
}

/**
 * Sends a transaction for the first time, and before it what its wallet has signed earlier and is to be sent:
 * it can land only behind that.
 */
export async function sendFirst(deps: Sending, id: string): Promise<void> {
  const { spending } = deps;
  const { network, fromKey: addressKey } = await deps.orm.em.fork().findOneOrFail(SentTransaction, id);
  const unmined = await unminedOf(deps, { network, addressKey });
  const at = unmined.findIndex((one) => one.id === id);
  const decided = decideWallet(unmined.slice(0, Math.max(0, at)), { now: deps.now(), ...spending });
  const before = decided.does === 'send' && unmined[at]?.hasNonce === true ? decided.ids : [];
  const late = unmined.find((one) => one.sentAt !== null && before.includes(one.id));
  // Whoever waits for one that was sent a moment ago takes it that the wallet's actor did so.
  if (late) await wakeWallet(deps.orm.em.fork(), deps, { sentId: late.id, resendMs: spending.resendMs });
  await sendSigned(deps, before);
  await sendSigned(deps, [id]);
}

type Sending = Deps & Pick<Assessing, 'spending' | 'signal'>;

/**
 * Sends signed bytes to every endpoint, the lowest nonce first. What endpoints say is logged and proves
 * nothing; where none takes it, it is kept as the reason why no block has it. That one was sent is written
 * just before, because it may be in a block a moment later, and of no other: who is killed then has called
 * nothing sent that waited. Returns how many were sent: where an endpoint hangs, which each of them waits
 * for, those of a few seconds, and the others are left to the next step.
 */
export async function sendSigned(deps: Sending, ids: readonly string[]): Promise<number> {
  const { spending, signal } = deps;
  const em = deps.orm.em.fork();
  const until = deps.now().getTime() + spending.resendMs / LET_BE_PART;
  let sent = 0;
  const due = await rows(
    em,
    sql<{ id: string; raw: Buffer; hash: string; network: string }>`
      select id, raw, hash, network from sent_transactions where id = any(${[...ids]}::uuid[])
        and state in ('signed', 'sent') and raw is not null order by nonce, signed_at`,
  );
  for (const { id, raw, hash, network } of due) {
    if (sent > 0 && deps.now().getTime() >= until) break;
    sent += 1;
    await run(
      em,
      sql`update sent_transactions set state = 'sent', sent_at = ${deps.now()}, updated_at = ${deps.now()}
        where id = ${id} and state in ('signed', 'sent')`,
    );
    const said = await spending.broadcast(raw, signal);
    await noteRefused(em, id, isTaken(said) ? null : `${BY_ENDPOINTS}${said.join('; ')}`);
    deps.log.info({ network, transaction: hash, said }, 'a transaction of ours was sent');
  }
  return sent;
}

/** Keeps, beside what was sent, why no block has it; null takes back what endpoints said before. */
export async function noteRefused(em: Em, id: string, why: string | null): Promise<void> {
  const refused = why === null ? null : fitted(why, MAX_REFUSED);
  const isOther =
    why === null ? sql`refused like ${`${BY_ENDPOINTS}%`}` : sql`refused is distinct from ${refused}`;
  await run(
    em,
    sql`update sent_transactions set refused = ${refused} where id = ${id} and state = 'sent' and ${isOther}`,
  );
}
