import type { Outcomes } from '../../../chains/spending.ts';
import type { Payout } from '../../../db/entities/index.ts';
import { rows, sql } from '../../../db/sql.ts';
import { waits } from '../../../domain/payouts/facts.ts';
import type { Assessing, Held } from './context.ts';

const AGREEING = 2;
const AGAIN_MS = 30_000;

/**
 * Why a payout does not count as paid, or as failed, although blocks that were read twice show it; undefined
 * where it does. Both reads may have come from one endpoint, and neither is taken back: a merchant is told of
 * the one, and deposits of the other are paid out again. So none of the endpoints may deny what the blocks
 * show. That it failed two have to say, where there are two: of what failed or took the place, and of what is
 * in no block up to the end of its time. That it was paid waits for none that does not answer.
 */
export async function doubtOf(
  deps: Assessing,
  { id }: Payout,
  does: 'settle' | 'fail',
): Promise<Held | undefined> {
  const told = await Promise.all(
    (await endingsOf(deps, id, does)).map(async (ending) => {
      const { hash, number, block, expiresAt } = ending;
      const sought =
        number === null || block === null
          ? new Date(expiresAt ?? 0)
          : { number: Number.parseInt(number, 10), hash: block };
      const said = await deps.spending.outcomes(hash, sought, deps.signal);
      return { ...ending, ...judged(ending, does, said), asked: said.asked };
    }),
  );
  const denied = told.find(({ denying }) => denying.length > 0);
  if (denied)
    return waits(
      'contradiction',
      `the blocks that were read show that ${denied.hash} ${denied.what}, and ${say(denied.denying)} that ${denied.otherwise}: compare it with an explorer, take the endpoint out that is wrong, and let ${denied.number === null ? 'its block' : `block ${denied.number}`} be read again with "rescan"`,
      AGAIN_MS,
    );
  const isAlone = ({ agreeing, asked }: (typeof told)[number]): boolean =>
    agreeing.length < Math.min(AGREEING, asked.length);
  const alone = does === 'fail' ? told.find(isAlone) : undefined;
  if (!alone) return undefined;
  const { hash, what, asked, agreeing } = alone;
  return waits('on_its_way', `blocks show that ${hash} ${what}; ${once(asked, agreeing)}`, AGAIN_MS);
}

type Ending = {
  readonly hash: string;
  readonly isOurs: boolean;
  /** Of the final block that holds it; null where none does, and its time is to have ended it. */
  readonly number: string | null;
  readonly block: string | null;
  readonly expiresAt: string | null;
};

/** What ends it: what has paid it; or all that failed, that took the place of one, or whose time is over. */
async function endingsOf(deps: Assessing, id: string, does: 'settle' | 'fail'): Promise<readonly Ending[]> {
  const isEnd =
    does === 'settle' ? sql`state = 'final' and ok` : sql`(state = 'final' or expires_at is not null)`;
  return await rows(
    deps.orm.em.fork(),
    sql<Ending>`
      select hash, true as is_ours, block_number::text as number, block_hash as block, expires_at
      from sent_transactions
      where payout_id = ${id} and purpose = 'payout' and hash is not null and ${isEnd}
      union
      select o.hash, false, o.block_number::text, o.block_hash, null
      from sent_transactions o join sent_transactions s on s.payout_id = ${id}
        and s.purpose = 'payout' and o.network = s.network and o.from_key = s.from_key and o.nonce = s.nonce
      where ${does === 'fail'} and o.payout_id is distinct from s.payout_id and o.block_hash is not null
        and o.verified_at is not null`,
  );
}

/** What blocks show of it, and which endpoints say so or otherwise. */
function judged({ isOurs, block }: Ending, does: 'settle' | 'fail', said: Outcomes) {
  const { failed, succeeded, held, absent } = said;
  const otherwise = does === 'settle' ? 'it failed or is in no block' : 'it succeeded';
  if (does === 'settle')
    return { what: 'has paid it', otherwise, denying: [...failed, ...absent], agreeing: held };
  if (!isOurs) return { what: 'took the place of its transaction', otherwise, denying: [], agreeing: held };
  if (block !== null) return { what: 'failed', otherwise, denying: succeeded, agreeing: failed };
  const what = 'is in none of them, and its time is over';
  return { what, otherwise, denying: succeeded, agreeing: absent };
}

/** What counts once two endpoints say so: which were asked, and which says so. */
function once(asked: readonly string[], saying: readonly string[]): string {
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
