import { randomBytes } from 'node:crypto';
import { MODES, type Mode } from '../../src/domain/assets.ts';
import { call, type TestApi } from './gateway.ts';
import { pay } from './payment-shop.ts';
import { newUser, signIn } from './sign-in.ts';

const KINDS = [
  ...(['customer', 'endpoint', 'event', 'delivery', 'deposit', 'link', 'token'] as const),
  ...(['email', 'external_id', 'address', 'hash', 'text', 'balance', 'once'] as const),
];
/** What a value stands for. Each tenant has some of every kind. */
export type Kind = (typeof KINDS)[number];

/** One merchant in one mode: data of its own, and two ways to call. */
export type Tenant = {
  readonly index: number;
  readonly name: string;
  readonly merchantId: string;
  readonly mode: Mode;
  readonly callers: Readonly<Record<'key' | 'session', Readonly<Record<string, string>>>>;
  readonly values: Readonly<Record<Kind, readonly string[]>>;
  /**
   * The same kinds, for requests that store what they are sent: a tenant
   * that stores a name knows it from then on.
   */
  readonly spare: Readonly<Record<'email' | 'external_id' | 'address' | 'hash', readonly string[]>>;
};

/** The body of a request that every tenant makes with an Idempotency-Key, word for word the same. */
export const ONCE_BODY = { url: 'http://127.0.0.1:9/', events: '*' };
/** The URL of a link's own receiver: nothing listens there. */
const NOWHERE = 'http://127.0.0.1:9/';
const LIVE_HASHES = 3;

/**
 * Tenants for some merchants in both modes, with some rows of every resource,
 * made by the API where it can make them.
 */
export async function makeTenants(api: TestApi, merchants: number): Promise<Tenant[]> {
  const tenants: Tenant[] = [];
  for (let number = 0; number < merchants; number += 1) {
    const merchant = await api.newMerchant();
    const cookie = await signIn(api, await newUser(api, merchant.id));
    for (const mode of MODES) {
      const session = { Cookie: cookie, ...(mode === 'test' ? { 'X-Mode': 'test' } : {}) };
      const callers = { key: { Authorization: `Bearer ${merchant.keys[mode]}` }, session };
      const data = await fill(api, callers.key, mode);
      tenants.push({
        index: tenants.length,
        name: `merchant ${number}, ${mode}`,
        merchantId: merchant.id,
        mode,
        callers,
        ...data,
      });
    }
  }
  return tenants;
}

type Filled = Pick<Tenant, 'values' | 'spare'>;
type Bodies = Record<string, string | number | Record<string, string>>;

async function fill(api: TestApi, headers: Record<string, string>, mode: Mode): Promise<Filled> {
  const send = async (path: string, body?: Bodies, more: Record<string, string> = {}) => {
    const answer = await call(api.url + path, {
      method: 'POST',
      headers: { ...headers, ...more },
      ...(body ? { body } : {}),
    });
    if (answer.status > 201) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  const values = Object.fromEntries(KINDS.map((kind) => [kind, [] as string[]])) as Record<Kind, string[]>;
  const spare = {
    email: [] as string[],
    external_id: [] as string[],
    address: [] as string[],
    hash: [] as string[],
  };
  const once = `once-${newMarker()}`;
  values.once.push(once);
  await send('/webhook-endpoints', ONCE_BODY, { 'Idempotency-Key': once });
  for (const into of [values, values, spare]) {
    const marker = newMarker();
    const isSpare = into === spare;
    const endpoint = await send('/webhook-endpoints', {
      url: `${NOWHERE}${marker}`,
      events: '*',
      description: marker,
    });
    const event = await send(`/webhook-endpoints/${endpoint['id']}/test`, undefined, {
      'Idempotency-Key': once,
    });
    const [externalId, email] = [`${marker}-user`, `user@${marker}.example`];
    const customer = await send('/customers', {
      external_id: externalId,
      email,
      name: marker,
      metadata: { note: marker },
    });
    const terms = {
      amount_usd: 50,
      description: marker,
      external_id: marker,
      metadata: { note: marker },
      webhook_url: `${NOWHERE}${marker}`,
    };
    const link = await send('/request-payment', { customer_id: customer['id'], ...terms });
    const deposits = await deposit(api, send, { mode, customerId: customer['id'] });
    into.email.push(email);
    into.external_id.push(externalId);
    into.address.push(...customer['addresses'].map((row: { address: string }) => row.address));
    into.hash.push(...deposits.map(({ hash }) => hash));
    if (isSpare) continue;
    values.text.push(marker);
    values.endpoint.push(endpoint['id']);
    values.event.push(event['id']);
    values.delivery.push(event['deliveries'][0].id);
    values.customer.push(customer['id']);
    values.link.push(link['id']);
    values.token.push(link['token']);
    values.deposit.push(...deposits.map(({ id }) => id));
  }
  const balances = await call(`${api.url}/merchant-balances`, { headers });
  values.balance.push(...balances.body['data'].map((row: { id: string }) => row.id));
  return { values, spare };
}

type Send = (path: string, body?: Bodies) => Promise<Record<string, ReturnType<typeof JSON.parse>>>;

/** Deposits in several states: simulated in test mode, as the watcher records them in live mode. */
async function deposit(api: TestApi, send: Send, { mode, customerId }: { mode: Mode; customerId: string }) {
  const made: { id: string; hash: string }[] = [];
  for (const state of (['detected', 'confirming', 'completed'] as const).slice(0, LIVE_HASHES)) {
    const hash = `0x${randomBytes(32).toString('hex')}`;
    const id =
      mode === 'live'
        ? await pay(api.deps, customerId, { coins: '7', state, hash })
        : String(
            (
              await send('/test/simulate-deposit', {
                customer_id: customerId,
                amount: '7',
                transaction_hash: hash,
                outcome: state,
              })
            )['id'],
          );
    made.push({ id, hash });
  }
  return made;
}

const newMarker = (): string => `mk${randomBytes(8).toString('hex')}`;

/**
 * Everything in a text that could belong to somebody: ids,
 * tokens, hashes, addresses, secrets and our markers.
 */
const NEEDLE =
  /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|0x[0-9a-fA-F]{64}|0x[0-9a-fA-F]{40}|\bT[1-9A-HJ-NP-Za-km-z]{33}\b|pl_[\w-]{16,}|whsec_[\w+/=-]+|mk[0-9a-f]{16}/g;

/** Every needle in a text, once. */
export function needlesIn(text: string): Set<string> {
  return new Set(text.match(NEEDLE));
}

/**
 * How to find the owner of rows that do not name a merchant themselves, and
 * the tables whose rows belong to nobody.
 */
const OWNER_OF: Readonly<Record<string, string>> = {
  webhook_deliveries: 'join webhook_endpoints o on o.id = t.endpoint_id',
  webhook_attempts:
    'join webhook_deliveries d on d.id = t.delivery_id join webhook_endpoints o on o.id = d.endpoint_id',
  deposit_transitions: 'join deposits o on o.id = t.deposit_id',
  deposit_attributions: 'join deposits o on o.id = t.deposit_id',
  deposit_decisions: 'join deposits o on o.id = t.deposit_id',
  late_payments: 'join deposits o on o.id = t.deposit_id',
  ledger_transactions: 'join deposits o on o.id = t.deposit_id',
};
/** `sessions` change with every request of their user; this test is about what they are allowed to see. */
const OF_NOBODY: ReadonlySet<string> = new Set(
  `merchants sessions user_sites password_links login_budgets rate_limits
    webhook_slots outbox schema_migrations chain_cursors chain_requests chain_blocks gas_levels
    gas_wallets key_in_use sent_transactions signer_state unrecognised_transfers balance_rounds
    balance_differences notices restores loop_runs partition_months unrecognised_days`.split(/\s+/),
);

/** Noted some moments after a request, whoever is asking by then. */
const AFTERWARDS = "'{last_used_at,last_used_site}'";

/**
 * For each tenant its rows in every table, as one text for each table. Throws
 * for a table whose rows have no known owner.
 */
export async function rowsOf(api: TestApi, tenants: readonly Tenant[]): Promise<Record<string, string>[]> {
  const em = api.deps.orm.em.fork();
  const tables = await em.execute<{ name: string; columns: string[] }[]>(
    `select t.table_name as name, array_agg(c.column_name::text) as columns from information_schema.tables t
     join information_schema.columns c using (table_schema, table_name)
     where table_schema = 'public' and table_type = 'BASE TABLE'
       and not exists (select 1 from pg_class p where p.relname = t.table_name and p.relispartition)
         group by 1 order by 1`,
  );
  const all: Record<string, string>[] = tenants.map(() => ({}));
  for (const { name, columns } of tables) {
    const join = OWNER_OF[name];
    if (OF_NOBODY.has(name)) continue;
    if (!columns.includes('merchant_id') && join === undefined)
      throw new Error(`whose rows are in the table ${name}?`);
    const owner = join === undefined ? 't' : 'o';
    const byMode = join !== undefined || columns.includes('mode');
    for (const tenant of tenants) {
      const rows = await em.execute<{ text: string | null }[]>(
        `select string_agg(r.text, E'\\n' order by r.text) as text from ${name} t ${join ?? ''}
           cross join lateral (select (to_jsonb(t) - ${AFTERWARDS}::text[])::text as text) r
         where ${owner}.merchant_id = ? ${byMode ? `and ${owner}.mode = ?` : ''}`,
        [tenant.merchantId, ...(byMode ? [tenant.mode] : [])],
      );
      // What a merchant has in both modes is compared for other merchants only.
      const table = byMode ? name : `${name} of the merchant`;
      const found = all[tenant.index];
      if (found) found[table] = rows[0]?.text ?? '';
    }
  }
  return all;
}
