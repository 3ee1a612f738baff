// The seals of rows that direct money: for rows that are older than seals, and after a change of the key.
import type { Em } from '../../db/orm.ts';
import { firstRow, rows, run, sql } from '../../db/sql.ts';
import {
  type AskedDestination,
  type Direction,
  readSeal,
  type SealKey,
  type SealOrigin,
  sealDirection,
} from '../../domain/payouts/direction.ts';
import type { Deps } from '../deps.ts';

type Row = {
  readonly id: string;
  readonly network: string;
  readonly merchantId: string;
  readonly address: string | null;
  readonly addressKey: string;
  readonly customerId: string;
  readonly mode: string;
  readonly walletIndex: number;
  readonly seal: Buffer | null;
  readonly contractAllowed: boolean;
  readonly askedBy: string;
  readonly askedFrom: string;
  readonly countsAt: string;
};
type Table = {
  readonly name: string;
  readonly from: ReturnType<typeof sql>;
  /** What tells its rows apart, in their order. */
  readonly id: ReturnType<typeof sql>;
  readonly of: (row: Row) => Direction | AskedDestination;
};

const ADDRESSES: Table = {
  name: 'deposit_addresses',
  from: sql`(select a.id::text as id, a.network, a.merchant_id, a.address, a.address_key,
      a.customer_id, a.mode, c.wallet_index, a.seal
      from deposit_addresses a join customers c on c.id = a.customer_id)`,
  id: sql`t.id::text`,
  of: ({ network, addressKey, merchantId, customerId, mode, walletIndex }) => ({
    kind: 'address',
    network,
    addressKey,
    merchantId,
    customerId,
    mode,
    walletIndex,
  }),
};
const DESTINATIONS: Table = {
  name: 'withdraw_addresses',
  from: sql`(select merchant_id::text || network as id, network, merchant_id, address, seal
    from withdraw_addresses)`,
  id: sql`t.merchant_id::text || t.network`,
  of: ({ network, merchantId, address }) => ({ kind: 'destination', network, merchantId, address }),
};

/** What users asked for; none of them is older than seals. */
const ASKED: Table = {
  name: 'withdraw_changes',
  from: sql`(select id::text as id, network, merchant_id, address, contract_allowed, asked_by, asked_from,
    counts_at, seal from withdraw_changes)`,
  id: sql`t.id::text`,
  of: ({ countsAt, address, ...row }) => ({
    kind: 'asked',
    id: row.id,
    network: row.network,
    merchantId: row.merchantId,
    address,
    contractAllowed: row.contractAllowed,
    askedBy: row.askedBy,
    askedFrom: row.askedFrom,
    countsAt: new Date(countsAt),
  }),
};

const PAGE = 1_000;

/**
 * Seals rows that carry no seal because they are older than seals, as rows that were found: a signer believes
 * those only where they were found before its journal began, so nobody gains by taking a seal away. Does
 * nothing once anything was signed. Returns how many it sealed.
 */
export async function sealFound(deps: Pick<Deps, 'orm' | 'log' | 'now' | 'secretBox'>): Promise<number> {
  let sealed = 0;
  for (const table of [ADDRESSES, DESTINATIONS]) {
    if (!(await anyUnsealed(deps.orm.em.fork(), table))) continue;
    if (await anySigned(deps.orm.em.fork())) {
      deps.log.error(
        { table: table.name },
        'rows that direct money carry no seal although transactions were signed: the signer signs nothing for them; find out who changed them, then set withdraw addresses again with "merchant set"',
      );
      continue;
    }
    const origin = { at: deps.now(), found: true };
    const renew = (row: Row) => sealDirection(deps.secretBox, table.of(row), origin);
    sealed += await eachPage(deps, table, sql`seal is null`, renew);
  }
  return sealed;
}

/**
 * Seals again under the present key what the previous one sealed, each seal as old as it was; one that does
 * not fit its row stays as it is, for the signer to find. Returns how many it renewed.
 */
export async function resealDirections(deps: Pick<Deps, 'orm' | 'secretBox'>): Promise<number> {
  const { previous } = deps.secretBox;
  if (!previous) return 0;
  const mark = previous.mark;
  let sealed = 0;
  for (const table of [ADDRESSES, DESTINATIONS, ASKED]) {
    const under = sql`substring(seal from 1 for ${mark.length}) = ${mark}`;
    sealed += await eachPage(deps, table, under, (row) =>
      renewed(deps.secretBox, previous, table.of(row), row.seal),
    );
  }
  return sealed;
}

/** How many rows carry a seal that is not under the present key. Reads whole tables. */
export async function countOldSeals(deps: Pick<Deps, 'orm' | 'secretBox'>): Promise<number> {
  const { mark } = deps.secretBox;
  let left = 0;
  for (const { name } of [ADDRESSES, DESTINATIONS, ASKED]) {
    const old = sql<{ left: number }>`select count(*)::int as left from ${sql.table(name)}
      where substring(seal from 1 for ${mark.length}) <> ${mark}`;
    left += (await firstRow(deps.orm.em.fork(), old))?.left ?? 0;
  }
  return left;
}

function renewed(
  present: SealKey,
  previous: SealKey,
  direction: Direction | AskedDestination,
  seal: Buffer | null,
) {
  const origin: SealOrigin | undefined = readSeal([previous], direction, seal);
  return origin && sealDirection(present, direction, origin);
}

async function eachPage(
  deps: Pick<Deps, 'orm'>,
  { name, from, id }: Table,
  which: ReturnType<typeof sql>,
  renew: (row: Row) => Buffer | undefined,
): Promise<number> {
  let sealed = 0;
  for (let after = ''; ; ) {
    const em = deps.orm.em.fork();
    const page = await rows(
      em,
      sql<Row>`select * from ${from} r where ${which} and id > ${after} order by id limit ${PAGE}`,
    );
    const last = page.at(-1);
    if (!last) return sealed;
    after = last.id;
    const seals = page.flatMap((row) => {
      const seal = renew(row);
      return seal
        ? { id: row.id, seal: seal.toString('hex'), before: row.seal?.toString('hex') ?? null }
        : [];
    });
    // What was written again meanwhile carries a seal of its own.
    sealed += await run(
      em,
      sql`update ${sql.table(name)} t set seal = decode(s.seal, 'hex')
        from jsonb_to_recordset(${JSON.stringify(seals)}::jsonb) as s (id text, seal text, before text)
        where ${id} = s.id and t.seal is not distinct from decode(s.before, 'hex')`,
    );
  }
}

async function anyUnsealed(em: Em, { name }: Table): Promise<boolean> {
  return (
    (await firstRow(em, sql`select 1 as one from ${sql.table(name)} where seal is null limit 1`)) !==
    undefined
  );
}

async function anySigned(em: Em): Promise<boolean> {
  return (
    (await firstRow(em, sql`select 1 as one from sent_transactions where raw is not null limit 1`)) !==
    undefined
  );
}
