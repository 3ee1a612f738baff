import { chainOf } from '../../chains/index.ts';
import type { Em } from '../../db/orm.ts';
import { literals, rows, type Statement, sql } from '../../db/sql.ts';
import { NETWORKS, type Network } from '../../domain/assets.ts';
import { normaliseEmail } from '../access/users.ts';
import type { Given } from './given.ts';

/** What can be looked up by its id, and in which table it is. */
const TABLES = {
  deposit: 'deposits',
  payout: 'payouts',
  transaction: 'sent_transactions',
  transfer: 'unrecognised_transfers',
  customer: 'customers',
  payment_link: 'payment_links',
  endpoint: 'webhook_endpoints',
  event: 'events',
  delivery: 'webhook_deliveries',
  merchant: 'merchants',
  api_key: 'api_keys',
  user: 'users',
} as const;
type InTable = keyof typeof TABLES;
export type FoundKind = InTable | 'address' | 'gas_wallet' | 'withdraw_address';

/** That something is what was typed. Of an address `id` is that of its owner, of a gas wallet the address. */
export type Named = { readonly kind: FoundKind; readonly id: string; readonly network: Network | null };

/** So many rows of a kind are looked at and listed. */
export const LISTED = 20;
const MAX_NAME = 255;

/**
 * What a text stands for, in both modes and of every merchant: at most 20 of each kind, the newest. Each part
 * of the statement uses an index of its own.
 */
export async function lookUp(em: Em, given: Given): Promise<Named[]> {
  const ways = [...byHash(given), ...byAddress(given), ...byEmail(given), ...byId(given), ...byName(given)];
  if (ways.length === 0) return [];
  const placed = ways.map((way, place) => sql`select ${place}::int as place, way.* from (${way}) way`);
  const found = await rows(
    em,
    sql<Named>`select kind, id, network from (${sql.join(placed, sql` union all `)}) found
      order by place, created_at desc, id desc`,
  );
  // An external id may be a UUID or a hash, too.
  return [...new Map(found.map((one) => [`${one.kind} ${one.id}`, one])).values()];
}

/** The newest rows of a kind for which a condition on `t` holds. */
function newest(kind: InTable, condition: Statement<unknown>): Statement<unknown> {
  return sql`select ${kind}::text as kind, t.id::text as id, null::text as network, t.created_at
    from ${sql.table(TABLES[kind])} t where ${condition}
    order by t.created_at desc, t.id desc limit ${LISTED}`;
}

/** Of addresses, which have no id. */
function placed(kind: FoundKind, table: string, id: string, condition: Statement<unknown>) {
  return sql`select ${kind}::text as kind, ${sql.ref(id)}::text as id, t.network, now() as created_at
    from ${sql.table(table)} t where ${condition} limit ${LISTED}`;
}

/** A column that has a value in the spelling of the row's network. */
function onOne(column: string, values: readonly (readonly [Network, string])[]): Statement<unknown> {
  const each = values.map(
    ([network, value]) => sql`t.network = ${network} and ${sql.ref(column)} = ${value}`,
  );
  return sql`(${sql.join(each, sql` or `)})`;
}

function byHash({ hashes }: Given): Statement<unknown>[] {
  if (hashes.length === 0) return [];
  const has = sql`transaction_hash = any(${hashes.map(({ hash }) => hash)})`;
  const places = hashes.map(({ network, hash }) => [network, hash] as const);
  return [
    newest('deposit', has),
    newest('payout', has),
    // What paid out is told by its payout already.
    newest(
      'transaction',
      sql`${onOne('t.hash', places)} and not exists (select from payouts where id = t.payout_id and ${has})`,
    ),
    newest('transfer', onOne('t.transaction_hash', places)),
  ];
}

function byAddress({ addressKey }: Given): Statement<unknown>[] {
  if (addressKey === undefined) return [];
  const at = sql`t.network in ${literals(NETWORKS)} and t.address_key = ${addressKey}`;
  const spelled = NETWORKS.map(
    (network) => [network, chainOf(network).addresses.format(addressKey)] as const,
  );
  return [
    placed('address', 'deposit_addresses', 't.customer_id', at),
    placed('gas_wallet', 'gas_wallets', 't.address', at),
    placed('withdraw_address', 'withdraw_addresses', 't.merchant_id', onOne('t.address', spelled)),
    newest('deposit', at),
    newest('transfer', at),
    newest('payout', onOne('t.destination', spelled)),
  ];
}

function byEmail({ email }: Given): Statement<unknown>[] {
  if (email === undefined) return [];
  return [
    newest('customer', sql`lower(t.email) = ${email}`),
    newest('user', sql`t.email = ${normaliseEmail(email)} and t.removed_at is null`),
  ];
}

function byId({ id }: Given): Statement<unknown>[] {
  if (id === undefined) return [];
  return (Object.keys(TABLES) as InTable[]).map((kind) => newest(kind, sql`t.id = ${id}::uuid`));
}

/** By the token of a link, what merchants call customers and links, and what lists show of a key. */
function byName({ text, keyHint }: Given): Statement<unknown>[] {
  if (text === '' || text.length > MAX_NAME) return [];
  const { prefix, last4 } = keyHint ?? {};
  const shown = [...(prefix ? [sql`t.prefix = ${prefix}`] : []), ...(last4 ? [sql`t.last4 = ${last4}`] : [])];
  return [
    newest('payment_link', sql`t.token = ${text}`),
    newest('customer', sql`t.external_id = ${text}`),
    newest('payment_link', sql`t.external_id = ${text}`),
    ...(shown.length > 0 ? [newest('api_key', sql.join(shown, sql` and `))] : []),
  ];
}
