// The seals of rows that direct money, after a change of the key.
import { firstRow, rows, run, sql } from '../../db/sql.ts';
import {
  type AskedDestination,
  type Direction,
  readSeal,
  type SealKey,
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
  readonly seal: Buffer;
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

/** What users asked for. */
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
 * Seals again under the present key what the previous one sealed, each seal as old as it was; one that does
 * not fit its row stays as it is, for the signer to find. Returns how many it renewed.
 */
export async function resealDirections(deps: Pick<Deps, 'orm' | 'secretBox'>): Promise<number> {
  const { previous } = deps.secretBox;
  if (!previous) return 0;
  let sealed = 0;
  for (const table of [ADDRESSES, DESTINATIONS, ASKED]) sealed += await resealTable(deps, table, previous);
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

async function resealTable(
  deps: Pick<Deps, 'orm' | 'secretBox'>,
  { name, from, id, of }: Table,
  previous: SealKey,
): Promise<number> {
  const { mark } = previous;
  let sealed = 0;
  for (let after = ''; ; ) {
    const em = deps.orm.em.fork();
    const page = await rows(
      em,
      sql<Row>`select * from ${from} r where substring(seal from 1 for ${mark.length}) = ${mark}
        and id > ${after} order by id limit ${PAGE}`,
    );
    const last = page.at(-1);
    if (!last) return sealed;
    after = last.id;
    const seals = page.flatMap((row) => {
      const at = readSeal([previous], of(row), row.seal);
      const hex = (seal: Buffer): string => seal.toString('hex');
      return at
        ? { id: row.id, seal: hex(sealDirection(deps.secretBox, of(row), at)), before: hex(row.seal) }
        : [];
    });
    // What was written again meanwhile carries a seal of its own.
    sealed += await run(
      em,
      sql`update ${sql.table(name)} t set seal = decode(s.seal, 'hex')
        from jsonb_to_recordset(${JSON.stringify(seals)}::jsonb) as s (id text, seal text, before text)
        where ${id} = s.id and t.seal = decode(s.before, 'hex')`,
    );
  }
}
