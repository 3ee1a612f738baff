import type { EarlierSecret } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { firstRow, rows, run, sql } from '../../db/sql.ts';
import type { Deps } from '../deps.ts';
import { openedIfKnown } from './sealed.ts';

/** The tables that hold sealed values, each value bound to the id of its row. */
const TABLES = [
  { table: 'webhook_endpoints', column: 'secret_sealed', earlier: true },
  { table: 'users', column: 'totp_sealed', earlier: false },
  { table: 'idempotency_answers', column: 'body_sealed', earlier: false },
  { table: 'customers', column: 'page_token_sealed', earlier: false },
] as const;
type Table = (typeof TABLES)[number];

const PAGE = 200;
/** The most pages of one turn; the rest waits for the next turn. */
const MAX_PAGES = 500;
/** Sorts before every id. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

/** What a turn did: rows that it sealed again, and rows that no known key opens, which stay as they are. */
export type Resealed = { readonly resealed: number; readonly unopened: number };

/**
 * Seals everything again that is not under the present key, a page at a time: each page is
 * one transaction that locks its rows, so a turn that is cut off, repeated, or run twice at
 * once does no harm. Does nothing when no earlier key is known. Logs when nothing is left.
 */
export async function resealSecrets(deps: Deps): Promise<Resealed> {
  const done = { resealed: 0, unopened: 0 };
  if (!deps.secretBox.knowsPrevious) return done;
  for (const table of TABLES) {
    let after: string | undefined = NO_ID;
    for (let pages = 0; after !== undefined && pages < MAX_PAGES; pages += 1) {
      const page = await resealPage(deps, table, after);
      done.resealed += page.resealed;
      done.unopened += page.unopened;
      after = page.last;
    }
  }
  const left = await countLeft(deps);
  if (left === 0)
    deps.log.info(
      done,
      'nothing is left under SECRETS_KEY_PREVIOUS: remove it when every process runs with the new key',
    );
  else
    deps.log.warn(
      { ...done, left },
      'secrets are left that are not sealed under SECRETS_KEY; the next turn goes on',
    );
  return done;
}

/** How many rows hold something that is not sealed under the present key. Reads whole tables. */
export async function countLeft(deps: Pick<Deps, 'orm' | 'secretBox'>): Promise<number> {
  let left = 0;
  for (const table of TABLES) {
    const count = sql<{ left: number }>`
      select count(*)::int as left from ${sql.table(table.table)}
        where ${leftIn(table, deps.secretBox.mark)}`;
    left += (await firstRow(deps.orm.em.fork(), count))?.left ?? 0;
  }
  return left;
}

type Row = { readonly id: string; readonly sealed: Buffer; readonly earlier: EarlierSecret[] };

async function resealPage(
  deps: Deps,
  table: Table,
  after: string,
): Promise<Resealed & { readonly last: string | undefined }> {
  return await deps.orm.em.fork().transactional(async (em) => {
    const earlier = table.earlier ? sql`earlier_secrets` : sql`'[]'::jsonb`;
    const page = await rows(
      em,
      sql<Row>`select id, ${sql.ref(table.column)} as sealed, ${earlier} as earlier
        from ${sql.table(table.table)}
        where id > ${after} and ${leftIn(table, deps.secretBox.mark)} order by id limit ${PAGE}
          for no key update skip locked`,
    );
    let resealed = 0;
    for (const row of page) if (await resealRow(deps, em, table, row)) resealed += 1;
    return {
      resealed,
      unopened: page.length - resealed,
      last: page.length < PAGE ? undefined : page.at(-1)?.id,
    };
  });
}

/**
 * Whether everything that the row holds is under the present key now. One value that does not open
 * keeps no other from being sealed again; a replaced secret whose time is over is not worth keeping.
 */
async function resealRow({ secretBox, log, now }: Deps, em: Em, table: Table, row: Row): Promise<boolean> {
  let unopened = false;
  const resealed = (sealed: Buffer): Buffer => {
    if (sealed.subarray(0, secretBox.mark.length).equals(secretBox.mark)) return sealed;
    const text = openedIfKnown(secretBox, sealed, row.id);
    if (text !== undefined) return secretBox.seal(text, row.id);
    unopened = true;
    return sealed;
  };
  const running = row.earlier.filter(({ until }) => new Date(until) > now());
  const earlier = running.map((one) => ({
    ...one,
    sealed: resealed(Buffer.from(one.sealed, 'base64')).toString('base64'),
  }));
  const also = table.earlier ? sql`, earlier_secrets = ${JSON.stringify(earlier)}::jsonb` : sql``;
  await run(
    em,
    sql`update ${sql.table(table.table)} set ${sql.ref(table.column)} = ${resealed(row.sealed)}${also}
      where id = ${row.id}`,
  );
  if (unopened)
    log.warn({ table: table.table, id: row.id }, 'a stored secret opens with neither key and stays as it is');
  return !unopened;
}

function leftIn({ column, earlier }: Table, mark: Buffer) {
  const unmarked = sql<boolean>`substring(${sql.ref(column)} from 1 for ${mark.length}) <> ${mark}`;
  if (!earlier) return unmarked;
  return sql<boolean>`(${unmarked} or exists (select 1 from jsonb_array_elements(earlier_secrets) e
    where substring(decode(e ->> 'sealed', 'base64') from 1 for ${mark.length}) <> ${mark}))`;
}
