import type { Spending } from '../../../chains/spending.ts';
import type { Em } from '../../../db/orm.ts';
import { rows, run, sql } from '../../../db/sql.ts';
import { BY_ENDPOINTS, isTaken } from '../../../domain/payouts/taken.ts';
import { fitted } from '../../../domain/text.ts';
import type { Deps } from '../../deps.ts';

/** What the column holds. */
const MAX_REFUSED = 500;

/**
 * Sends signed bytes to every endpoint, the lowest nonce first. What endpoints say is logged and proves
 * nothing; where none takes it, it is kept as the reason why no block has it. That one was sent is written
 * just before, because it may be in a block a moment later, and of no other: who is killed then has called
 * nothing sent that waited.
 */
export async function sendSigned(
  deps: Deps,
  {
    ids,
    spending,
    signal,
  }: { readonly ids: readonly string[]; readonly spending: Spending; readonly signal: AbortSignal },
): Promise<void> {
  const em = deps.orm.em.fork();
  const due = await rows(
    em,
    sql<{ id: string; raw: Buffer; hash: string; network: string }>`
      select id, raw, hash, network from sent_transactions where id = any(${[...ids]}::uuid[])
        and state in ('signed', 'sent') and raw is not null order by nonce`,
  );
  for (const { id, raw, hash, network } of due) {
    await run(
      em,
      sql`update sent_transactions set state = 'sent', sent_at = ${deps.now()}, updated_at = ${deps.now()}
        where id = ${id} and state in ('signed', 'sent')`,
    );
    const said = await spending.broadcast(raw, signal);
    await noteRefused(em, id, isTaken(said) ? null : `${BY_ENDPOINTS}${said.join('; ')}`);
    deps.log.info({ network, transaction: hash, said }, 'a transaction of ours was sent');
  }
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
