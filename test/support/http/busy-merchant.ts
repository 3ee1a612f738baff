import { randomBytes, randomUUID } from 'node:crypto';
import { createCustomer, createEndpoint } from '../../../dev/support/use-cases.ts';
import { decideToFail } from '../../../src/services/deposits/operator.ts';
import type { TestApi } from '../gateway.ts';
import { pay } from '../payment-shop.ts';
import { commitAll, planned, signed } from '../payout-rows.ts';

/** A text that would be markup, or turn the text around it, where it is not shown as a text. */
export const HOSTILE = '<img src=x onerror=alert(1)>\u202Egnp.exe';

/** A merchant with live money in every state, a payout in each, and an endpoint that fails; ids by name. */
export async function busyMerchant(api: TestApi, { text = HOSTILE } = {}) {
  const { id: merchantId } = await api.newMerchant();
  const sql = <Row = Record<string, unknown>>(statement: string, params: unknown[] = []) =>
    api.deps.orm.em.fork().execute<Row[]>(statement, params);
  const scope = { merchantId, mode: 'live' } as const;
  const url = 'http://127.0.0.1:9/hook';
  const endpoint = await createEndpoint(api.deps, { ...scope, url, events: ['*'], description: text });
  const customer = async (name: string) =>
    await createCustomer(api.deps, {
      ...scope,
      externalId: `${name}-${randomBytes(4).toString('hex')}`,
      email: `${name}@example.com`,
      name: text,
      metadata: {},
    });
  const { id: customerId } = await customer('ann');
  const others = await Promise.all(['bob', 'cyd'].map((name) => customer(name)));
  const [bob = '', cyd = ''] = others.map(({ id }) => id);
  const detected = await pay(api.deps, customerId, { coins: '1.5', state: 'detected' });
  const confirming = await pay(api.deps, customerId, { coins: '2', state: 'confirming', network: 'tron' });
  const settled = await pay(api.deps, bob, { coins: '40.000000000000000001', state: 'settled' });
  const completed = await pay(api.deps, customerId, { coins: '7' });
  const paying = await pay(api.deps, cyd, { coins: '9' });
  const rejected = await pay(api.deps, customerId, { coins: '3', state: 'confirming' });
  await decideToFail(api.deps, { depositId: rejected, by: 'olga', reason: `stolen card ${text}` });
  const payoutId = randomUUID();
  await commitAll(api.deps, [...planned(payoutId, paying), ...signed(payoutId)]);
  await sql(
    `insert into settlement_waits (network, address_key, merchant_id, payout_id, address, currency, code,
       reason, since, updated_at)
     select network, address_key, merchant_id, payout_id, address, currency,
       case when payout_id is null then 'no_destination' else 'waiting_for_gas' end, 'for the operator',
       now(), now() from deposits where id = any(?::uuid[])`,
    [`{${completed},${paying}}`],
  );
  await sql(
    `insert into webhook_attempts (delivery_id, round, number, started_at, finished_at, status_code, error,
       duration_ms)
     select id, 1, 1, now(), now(), case when event_type = 'deposit.detected' then 200 end,
       case when event_type <> 'deposit.detected' then ? end, 12
     from webhook_deliveries where endpoint_id = ?`,
    [`the connection was refused: ${text}`, endpoint.id],
  );
  await sql(
    `update webhook_deliveries set finished_at = now(), next_attempt_at = null,
       status = case when event_type = 'deposit.detected' then 'succeeded' else 'failed' end
     where endpoint_id = ?`,
    [endpoint.id],
  );
  await sql('update webhook_endpoints set failing_since = now(), last_status_code = 503 where id = ?', [
    endpoint.id,
  ]);
  const [paid] = await sql<{ id: string }>('select payout_id as id from deposits where id = ?', [settled]);
  const eventOf = async (subjectId: string, type: string): Promise<string> => {
    const [row] = await sql<{ id: string }>('select id from events where subject_id = ? and type = ?', [
      subjectId,
      type,
    ]);
    return row?.id ?? '';
  };
  return {
    merchantId,
    customerId,
    endpointId: endpoint.id,
    deposits: { detected, confirming, completed, settled, paying, rejected },
    payouts: { paying: payoutId, settled: paid?.id ?? '' },
    eventOf,
    sql,
  };
}
