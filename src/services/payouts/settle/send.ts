import type { Spending } from '../../../chains/spending.ts';
import { rows, run, sql } from '../../../db/sql.ts';
import { BY_ENDPOINTS, isTaken } from '../../../domain/payouts/taken.ts';
import { fitted } from '../../../domain/text.ts';
import type { Deps } from '../../deps.ts';
import { HAS_FAILED } from './living.ts';

/** How many earlier ones are sent along: the lowest, for which all others wait. */
const MOST_BEFORE = 20;
/** What the column holds. */
const MAX_REFUSED = 500;

/**
 * Sends signed bytes to every endpoint, those that it has to follow first: a wallet's transactions land in
 * their order, so an earlier one that no node has keeps all later ones waiting, whatever became of its
 * payout, but for the transfer of one that failed, whose deposits another one pays. Of the attempts in one
 * place the newest goes. Those that were sent a moment ago are on their way. What endpoints say is logged and
 * proves nothing; where none takes it, it is kept as the reason why no block has it. That one was sent is
 * written just before, because it may be in a block a moment later, and of no other: who is killed then has
 * called nothing sent that waited.
 */
export async function sendSigned(
  deps: Deps,
  {
    id,
    spending,
    signal,
  }: { readonly id: string; readonly spending: Spending; readonly signal: AbortSignal },
): Promise<void> {
  const em = deps.orm.em.fork();
  const nowMs = deps.now().getTime();
  const [before, after] = [new Date(nowMs - spending.resendMs), new Date(nowMs + spending.resendMs)];
  const due = await rows(
    em,
    sql<{ id: string; raw: Buffer; hash: string; network: string }>`
      select id, raw, hash, network from (
        (select * from (
            select distinct on (s.nonce) s.* from sent_transactions s
            join sent_transactions last on last.id = ${id}
            where s.network = last.network and s.from_key = last.from_key and s.nonce < last.nonce
              and s.state in ('signed', 'sent') and s.raw is not null
              and not ${HAS_FAILED} order by s.nonce, s.attempt desc) newest
          where sent_at is null or sent_at <= ${before} or sent_at >= ${after}
          order by nonce limit ${MOST_BEFORE})
        union all
        select * from sent_transactions where id = ${id} and state in ('signed', 'sent') and raw is not null
      ) due order by nonce`,
  );
  for (const { id: next, raw, hash, network } of due) {
    await run(
      em,
      sql`update sent_transactions set state = 'sent', sent_at = ${deps.now()}, updated_at = ${deps.now()}
        where id = ${next} and state in ('signed', 'sent')`,
    );
    const said = await spending.broadcast(raw, signal);
    const refused = isTaken(said) ? null : fitted(`${BY_ENDPOINTS}${said.join('; ')}`, MAX_REFUSED);
    await run(
      em,
      sql`update sent_transactions set refused = ${refused}
        where id = ${next} and state = 'sent' and refused is distinct from ${refused}`,
    );
    deps.log.info({ network, transaction: hash, said }, 'a transaction of ours was sent');
  }
}
