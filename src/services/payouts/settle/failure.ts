import type { Outcomes } from '../../../chains/spending.ts';
import type { Payout } from '../../../db/entities/index.ts';
import { firstRow, rows, sql } from '../../../db/sql.ts';
import { waits } from '../../../domain/payouts/facts.ts';
import type { Assessing, Held } from './outgoing.ts';

const AGREEING = 2;
const AGAIN_MS = 30_000;

/**
 * Why a payout does not count as failed yet, although blocks that were read twice show it; undefined where it
 * does. Both reads may have come from one endpoint, and deposits that are given back are paid out again: so
 * two endpoints have to know the transaction that failed or took the place, or to have it in no block up to
 * the end of its time, where there are two, and none may say that one of the payout has succeeded.
 */
export async function doubtOfFailure(deps: Assessing, { id }: Payout): Promise<Held | undefined> {
  const { spending } = deps.chain;
  if (!spending) return undefined;
  const ended = await rows(
    deps.orm.em.fork(),
    sql<{ hash: string; isOurs: boolean; isShown: boolean; expiresAt: string | null }>`
      select hash, true as is_ours, state = 'final' as is_shown, expires_at from sent_transactions
      where payout_id = ${id} and purpose = 'payout' and hash is not null
      union
      select o.hash, false, true, null
      from sent_transactions o join sent_transactions s on s.payout_id = ${id}
        and s.purpose = 'payout' and o.network = s.network and o.from_key = s.from_key and o.nonce = s.nonce
      where o.payout_id is distinct from s.payout_id and o.block_hash is not null
        and o.verified_at is not null`,
  );
  const told = await Promise.all(
    ended.map(async (one) => {
      const endedAt = one.expiresAt === null ? null : new Date(one.expiresAt);
      return { ...one, said: await spending.outcomes(one.hash, endedAt, deps.signal) };
    }),
  );
  const paid = told.find(({ isOurs, said }) => isOurs && said.succeeded.length > 0);
  if (paid)
    return waits(
      'contradiction',
      `the blocks that were read show that ${paid.hash} failed, lost its place or is in none of them, and ${say(paid.said.succeeded)} that it succeeded: compare it with an explorer, take the endpoint out that is wrong, and let its block be read again with "rescan"`,
      AGAIN_MS,
    );
  const unseen = told.find(
    ({ isShown, expiresAt, said: { absent, asked } }) =>
      !isShown && expiresAt !== null && absent.length < Math.min(AGREEING, asked.length),
  );
  if (unseen)
    return waits(
      'on_its_way',
      `the time of ${unseen.hash} is over, and no block that was read has it; ${once(unseen.said, unseen.said.absent)}`,
      AGAIN_MS,
    );
  const knowing = ({ isOurs, said: { failed, succeeded } }: (typeof told)[number]) =>
    isOurs ? failed : [...failed, ...succeeded];
  const alone = told.find(
    (one) => one.isShown && knowing(one).length < Math.min(AGREEING, one.said.asked.length),
  );
  if (!alone) return undefined;
  const what = alone.isOurs ? 'failed' : 'took the place of its transaction';
  return waits(
    'on_its_way',
    `blocks show that ${alone.hash} ${what}; ${once(alone.said, knowing(alone))}`,
    AGAIN_MS,
  );
}

/**
 * Why a payout does not count as paid yet, although a block that was read twice shows it; undefined where it
 * does. Both reads may have come from one endpoint, and what a merchant was told is not taken back: so none
 * that has read as far may say that the transaction failed or is in no block. One that does not answer is not
 * waited for.
 */
export async function doubtOfSuccess(deps: Assessing, { id }: Payout): Promise<Held | undefined> {
  const paid = await firstRow(
    deps.orm.em.fork(),
    sql<{ hash: string; block: string }>`select hash, block_number::text as block from sent_transactions
      where payout_id = ${id} and purpose = 'payout' and state = 'final' and ok limit 1`,
  );
  if (!paid) return undefined;
  const block = Number.parseInt(paid.block, 10);
  const said = await deps.chain.spending?.outcomes(paid.hash, block, deps.signal);
  if (!said) return undefined;
  const denying = [...said.failed, ...said.absent];
  if (denying.length === 0) return undefined;
  return waits(
    'contradiction',
    `block ${block} shows that ${paid.hash} has paid it, and ${say(denying)} that it failed or is in no block, having read as far: compare it with an explorer, take the endpoint out that is wrong, and let that block be read again with "rescan"`,
    AGAIN_MS,
  );
}

/** What counts once two endpoints say so: which were asked, and which says so. */
function once({ asked }: Outcomes, saying: readonly string[]): string {
  const only = saying.length === 0 ? 'none' : `only ${named(saying)}`;
  return `it counts once two RPC endpoints say so; of ${named(asked)} ${only} does so far: see that they answer`;
}

const say = (hosts: readonly string[]): string =>
  hosts.length === 1 ? `the RPC endpoint ${named(hosts)} says` : `the RPC endpoints ${named(hosts)} say`;

const MOST_NAMED = 3;
/** The sentence has to fit where it is noted. */
function named(hosts: readonly string[]): string {
  const more = hosts.length - MOST_NAMED;
  return hosts.slice(0, MOST_NAMED).join(' and ') + (more > 0 ? ` and ${more} more` : '');
}
