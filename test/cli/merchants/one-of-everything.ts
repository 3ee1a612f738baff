// What the tests of commands have in their database.
import { randomUUID } from 'node:crypto';
import { createCustomer, createEndpoint, createPaymentLink } from '../../../dev/support/use-cases.ts';
import { NETWORKS } from '../../../src/domain/assets.ts';
import { createUser } from '../../../src/services/access/users.ts';
import type { Deps } from '../../../src/services/deps.ts';
import { createKey } from '../../../src/services/merchants/keys.ts';
import { createMerchant } from '../../../src/services/merchants/merchants.ts';
import { askWithdrawChange } from '../../../src/services/merchants/withdraw-changes.ts';
import type { TestApi } from '../../support/gateway.ts';
import { pay } from '../../support/payment-shop.ts';
import { commitAll, filled, planned } from '../../support/payout-rows.ts';

/** Everything that a terminal acts on, and wide characters: a stranger's idea of a name. */
const HOSTILE =
  '\u001b[31mred\u001b]0;title\u0007\u009b2J\r\nforged line\u202eeman\u2028\u200b漢字かな🧾👩‍👩‍👧 ';
export const BSC = '0x52908400098527886E0F7030069857D2E4169EE7';
export const TRON = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';

/** The ids of what there is, by its name. */
export type Ids = Awaited<ReturnType<typeof fill>>;

/**
 * One of everything, and then what the database lets in at
 * most in every text, with everything that a terminal acts on.
 */
export async function fill(api: TestApi) {
  const { deps, merchant } = api;
  const names = { externalId: 'user-1', email: 'a@b.example', name: 'Ann', metadata: {} };
  const { id: customer } = await createCustomer(deps, { merchantId: merchant.id, mode: 'live', ...names });
  await createEndpoint(deps, {
    merchantId: merchant.id,
    mode: 'live',
    url: 'http://127.0.0.1:9/',
    events: ['*'],
    description: null,
  });
  const completed = await pay(deps, customer, { coins: '7' });
  await pay(deps, customer, { coins: '8', state: 'detected' });
  const made = await Promise.all(
    [0, 1].map(() => createKey(deps, { merchantId: merchant.id, mode: 'live' })),
  );
  const row = async (sql: string): Promise<string> =>
    (await deps.orm.em.fork().execute<{ id: string }[]>(sql))[0]?.id ?? '';
  const payout = randomUUID();
  await commitAll(deps, planned(payout, await pay(deps, customer, { coins: '9' })));
  const delivery = await row('select id from webhook_deliveries order by id desc limit 1');
  const link = await askedOf(deps, merchant.id, customer);
  const endpoint = await row('select id from webhook_endpoints where payment_link_id is null');
  const event = await row(`select event_id as id from webhook_deliveries where id = '${delivery}'`);
  const asking = await askedFor(deps);
  const long = (most: number) => HOSTILE.repeat(40).slice(0, most);
  await deps.orm.em.fork().transactional(async (em) => {
    await em.execute('set local session_replication_role = replica');
    await em.execute('update merchants set name = ?', [long(200)]);
    await em.execute('update api_keys set label = ?', [long(200)]);
    await em.execute('update deposit_transitions set reason = ?, by_name = ?', [long(500), long(100)]);
    await em.execute('update operator_actions set by_name = ?, user_id = null, reason = ?', [
      long(100),
      long(500),
    ]);
    await em.execute(
      'update deposits set amount_units = ?, state_since = now() - interval ?, created_at = now() - interval ?',
      ['123456789012345678901234567890123456789', '10 days', '10 days'],
    );
    for (const { text, params } of filled(long, BSC)) await em.execute(text, params);
    await em.execute(
      `insert into webhook_attempts (delivery_id, round, number, started_at, finished_at, error)
        select id, 1, 1, now(), now(), ? from webhook_deliveries`,
      [long(300)],
    );
    await em.execute(
      `insert into unrecognised_transfers (id, network, transaction_hash, address, address_key,
       contract_address, amount_units, block_number, reason, created_at)
       values (gen_random_uuid(), 'bsc', ?, ?, ?, ?, ?, 99999999, ?, now())`,
      [`0x${'a'.repeat(64)}`, BSC, BSC.slice(2).toLowerCase(), BSC, '9'.repeat(78), long(300)],
    );
  });
  return {
    merchant: merchant.id,
    customer,
    completed,
    payout,
    delivery,
    takenPort: new URL(api.url).port,
    key0: made[0]?.id ?? '',
    key1: made[1]?.id ?? '',
    change0: asking[0] ?? '',
    change1: asking[1] ?? '',
    link,
    endpoint,
    event,
  };
}

/** A payment link of a customer; returns its id. */
async function askedOf(deps: Deps, merchantId: string, customerId: string): Promise<string> {
  const terms = { merchantId, mode: 'live', customerId, amountCents: 2_500n } as const;
  const texts = { externalId: HOSTILE.repeat(3), publicUrl: 'https://pay.example' };
  return (await createPaymentLink(deps, { ...terms, ...texts })).link.id;
}

/** A user of another merchant asks for a withdraw address on each network; returns the ids of the changes. */
async function askedFor(deps: Deps): Promise<string[]> {
  const { merchantId } = await createMerchant(deps, { name: 'Other', subscriptionActive: true });
  const { userId } = await createUser(deps, { merchantId, email: 'ann@b.example' });
  const acting = { ...deps, actor: { kind: 'user', userId, from: '2001:db8::/64' } } as const;
  const ids: string[] = [];
  for (const network of NETWORKS) {
    const asked = { network, address: network === 'bsc' ? BSC : TRON, contractAllowed: true };
    ids.push((await askWithdrawChange(acting, merchantId, asked)).id);
  }
  return ids;
}
