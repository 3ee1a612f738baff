// The one row in which the signer says how it is, and which journal has signed for this database.
import type { Em } from '../../db/orm.ts';
import { firstRow, rows, run, sql } from '../../db/sql.ts';
import type { SealKey } from '../../domain/payouts/direction.ts';
import type { Journal } from '../journal.ts';
import type { Bench } from './facts.ts';
import { Sealed } from './refusal.ts';

type State = {
  readonly journal: string | null;
  readonly line: number | null;
  readonly lineHash: string | null;
};

/** Says that a signer is there, and why it signs nothing, if so. */
export async function noteState(em: Em, now: Date, sealed: Sealed | undefined): Promise<void> {
  const [code, reason, since] = sealed
    ? [sealed.code, sealed.message.slice(0, 500), now]
    : [null, null, null];
  const noted = sql`insert into signer_state as s (name, seen_at, sealed_code, sealed_reason, sealed_since)
    values ('signer', ${now}, ${code}, ${reason}, ${since}::timestamptz)
    on conflict (name) do update set seen_at = excluded.seen_at, sealed_code = excluded.sealed_code,
      sealed_reason = excluded.sealed_reason, sealed_since = case when excluded.sealed_code is null then null
        else coalesce(s.sealed_since, excluded.sealed_since) end`;
  await run(em, noted);
}

/**
 * Proves that the journal knows all that was signed for this database, and takes the database over for it.
 * Throws {@link Sealed} where something was signed that it does not know: it is missing, or an older one; and
 * where the gateway seals under a key that is none of these.
 */
export async function takeOver(
  em: Em,
  { journal, keys, now }: Pick<Bench, 'keys' | 'now'> & { readonly journal: Journal },
): Promise<void> {
  await requireKeyInUse(em, keys);
  // The row is there from the first look on; that the signer is well it says when it has proven it.
  const begun = sql`insert into signer_state (name, seen_at) values ('signer', ${now})
    on conflict (name) do nothing`;
  await run(em, begun);
  await em.transactional(async (tx) => {
    requireAncestor(await lockState(tx), journal);
    for (let after: string | undefined = ''; after !== undefined; ) {
      const page: readonly { hash: string }[] = await rows(tx, signedAfter(after));
      const unknown = page.find(({ hash }) => !journal.index.ofHash(hash));
      if (unknown)
        throw new Sealed(
          'journal',
          `${unknown.hash} was signed for this database and is not in the journal ${journal.file}: restore the newest journal; without it nobody knows what was signed`,
        );
      after = page.at(-1)?.hash;
    }
    await noteLine(tx, journal);
    await noteState(tx, now, undefined);
  });
}

const signedAfter = (hash: string) =>
  sql<{ hash: string }>`select hash from sent_transactions where raw is not null and hash > ${hash}
    order by hash limit 10000`;

async function requireKeyInUse(em: Em, keys: readonly SealKey[]): Promise<void> {
  const inUse = await firstRow(em, sql<{ mark: Buffer }>`select mark from key_in_use`);
  if (!inUse || keys.some(({ mark }) => inUse.mark.equals(mark))) return;
  throw new Sealed(
    'key',
    "the gateway seals under another SECRETS_KEY than the signer's: give the signer the gateway's SECRETS_KEY, and SECRETS_KEY_PREVIOUS while it is changed",
  );
}

/**
 * Locks the row until the end of the transaction, so that of two signers one signs at a time. Throws
 * {@link Sealed} where another journal has signed since.
 */
export async function holdState(em: Em, journal: Journal): Promise<void> {
  const state = await lockState(em);
  if (state.journal !== null && state.journal !== journal.index.id)
    throw new Sealed(
      'journal',
      'another signer, with a journal of its own, took this database over: stop one of the two',
    );
  requireAncestor(state, journal);
}

/** Notes how far the journal is, in the transaction of a signature. */
export async function noteLine(em: Em, journal: Journal, signedAt: Date | null = null): Promise<void> {
  const { id, length, head } = journal.index;
  const noted = sql`update signer_state set journal = ${id}, line = ${length}, line_hash = ${head},
    signed_at = coalesce(${signedAt}::timestamptz, signed_at) where name = 'signer'`;
  await run(em, noted);
}

async function lockState(em: Em): Promise<State> {
  const row = sql<State>`select journal, line, line_hash from signer_state
    where name = 'signer' for update`;
  return (await firstRow(em, row)) ?? { journal: null, line: null, lineHash: null };
}

/** Throws {@link Sealed} where the journal has lost something since its last signature for this database. */
function requireAncestor({ journal: id, line, lineHash }: State, { index, file }: Journal): void {
  if (id !== index.id || line === null || index.hashOf(line) === lineHash) return;
  throw new Sealed(
    'journal',
    `the journal ${file} is older than what it has signed for this database, which knows ${line} lines of it: restore the newest journal`,
  );
}
