import { beyondLimit } from '../../db/time-limit.ts';
import type { Deps } from '../deps.ts';

const NOTE_EVERY_MS = 60_000;
const WRITE_AFTER_MS = 100;
/**
 * How many keys one process remembers. One more makes it forget the
 * key that came first, whose use may then be written a second time.
 */
const MAX_REMEMBERED = 50_000;

/** Notes that a key is used, and from which network. Returns at once and never throws. */
export type KeyUse = (keyId: string, site: string) => void;

type Use = { readonly at: Date; readonly site: string };

/**
 * Notes of use, written for all keys by one statement some moments later, and for each
 * at most once a minute whatever the number of processes. No request waits for it;
 * when the database does not answer the note is lost, and the next use makes another.
 */
export function createKeyUse(deps: Deps): KeyUse {
  const notedAt = new Map<string, number>();
  const unwritten = new Map<string, Use>();

  const write = async (): Promise<void> => {
    const uses = [...unwritten];
    unwritten.clear();
    const pool = await deps.orm.em.getConnection().getNativeClient();
    // In the order of the ids, so that two processes never wait for each other.
    await pool.query(
      `with used as (select * from unnest($1::uuid[], $2::timestamptz[], $3::text[]) as u (id, at, site)),
         due as (select k.id from api_keys k join used u on u.id = k.id
           where k.last_used_at is null or k.last_used_at <= u.at - make_interval(secs => $4) order by k.id
             for no key update of k)
       update api_keys k set last_used_at = u.at, last_used_site = u.site from used u, due d
         where k.id = u.id and k.id = d.id`,
      [
        uses.map(([id]) => id),
        uses.map(([, use]) => use.at),
        uses.map(([, use]) => use.site),
        NOTE_EVERY_MS / 1_000,
      ],
    );
  };

  return (keyId, site) => {
    const at = deps.now();
    if (at.getTime() - (notedAt.get(keyId) ?? Number.NEGATIVE_INFINITY) < NOTE_EVERY_MS) return;
    if (notedAt.size >= MAX_REMEMBERED) for (const first of notedAt.keys()) if (notedAt.delete(first)) break;
    notedAt.set(keyId, at.getTime());
    if (unwritten.size === 0) {
      const inTurn = () =>
        write().catch((error: unknown) =>
          deps.log.debug({ err: error }, 'the use of keys could not be noted'),
        );
      // The time limit of the request that happens to begin it is not the limit of the note.
      beyondLimit(() => setTimeout(() => void inTurn(), WRITE_AFTER_MS).unref());
    }
    unwritten.set(keyId, { at, site });
  };
}
