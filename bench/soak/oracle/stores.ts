import { parseUnits } from 'ethers';
import type { SimulateAction } from '../plan.ts';
import type { Hook } from '../receivers.ts';
import type { Stage } from '../stage.ts';
import type { ChainTruth } from './chain-truth.ts';
import type { Difference } from './compare.ts';
import type { Seen } from './records.ts';

const MAX_ATTEMPTS = 5;
const DECIMALS = 18;

/** The ledger against the chain: zero in sum, every credited unit available, dust held, nothing pending, nothing invented. */
export async function compareLedger(
  stage: Stage,
  truth: ChainTruth,
  simulated: readonly { action: SimulateAction }[],
): Promise<Difference[]> {
  const rows = await stage.sql<{ mode: string; currency: string; account: string; sum: string }>(
    'select mode, currency, account, sum(amount_units)::text as sum from ledger_entries group by mode, currency, account',
  );
  const expected = new Map<string, bigint>();
  const expect = (mode: string, currency: string, account: string, units: bigint) => {
    for (const [name, amount] of [
      [account, units],
      ['chain', -units],
    ] as const)
      expected.set(`${mode} ${currency} ${name}`, (expected.get(`${mode} ${currency} ${name}`) ?? 0n) + amount);
  };
  for (const credit of truth.credits.values()) expect('live', credit.currency, credit.dust ? 'held' : 'available', credit.amountUnits);
  const accountOf = { completed: 'available', detected: 'pending', confirming: 'pending', failed: 'held', settled: 'settled' } as const;
  for (const { action } of simulated)
    if (action.outcome !== 'reorged') expect('test', action.currency, accountOf[action.outcome], parseUnits(action.amount, DECIMALS));
  const actual = new Map(rows.map((row) => [`${row.mode} ${row.currency} ${row.account}`, BigInt(row.sum)]));
  const found: Difference[] = [];
  for (const key of new Set([...expected.keys(), ...actual.keys()])) {
    const [is, must] = [actual.get(key) ?? 0n, expected.get(key) ?? 0n];
    if (is !== must) found.push({ rule: 'the ledger equals the chain', subject: key, detail: `${is} instead of ${must} units` });
  }
  for (const asset of new Set(rows.map((row) => `${row.mode} ${row.currency}`))) {
    const sum = rows.filter((row) => `${row.mode} ${row.currency}` === asset).reduce((total, row) => total + BigInt(row.sum), 0n);
    if (sum !== 0n) found.push({ rule: 'the ledger sums to zero', subject: asset, detail: `${sum} units` });
  }
  return found;
}

type DeliveryRow = {
  id: string;
  event_id: string;
  url: string;
  status: string;
  attempts: number;
  open: number;
  last_status: number | null;
};

/** Every delivery ended, within five attempts, and its end agrees with what the receiver remembers. */
export async function compareDeliveries(
  stage: Stage,
  hooks: Iterable<Hook>,
  seen: ReadonlyMap<string, ReadonlyMap<string, Seen>>,
): Promise<Difference[]> {
  const rows = await stage.sql<DeliveryRow>(
    `select d.id, d.event_id, w.url, d.status, count(a.number)::int as attempts, count(*) filter (where a.number is not null and a.finished_at is null)::int as open,
       (array_agg(a.status_code order by a.number desc))[1] as last_status
     from webhook_deliveries d join webhook_endpoints w on w.id = d.endpoint_id left join webhook_attempts a on a.delivery_id = d.id
     group by d.id, d.event_id, w.url, d.status`,
  );
  const nameOf = new Map([...hooks].map((hook) => [hook.url, hook.name]));
  const found: Difference[] = [];
  const known = new Set<string>();
  for (const row of rows) {
    const name = nameOf.get(row.url) ?? row.url;
    const subject = `${name} ${row.event_id}`;
    known.add(subject);
    const record = seen.get(name)?.get(row.event_id);
    const say = (rule: string, detail: string) => found.push({ rule, subject, detail });
    if (row.status !== 'succeeded' && row.status !== 'failed') say('every delivery ends', row.status);
    if (row.attempts > MAX_ATTEMPTS) say('at most five attempts', `${row.attempts} attempts`);
    if (row.open > 0) say('every attempt ends', `${row.open} without a result`);
    if (row.status === 'succeeded' && !record?.taken)
      say('a delivery that succeeded was taken', `the receiver has ${record ? 'refused it' : 'never seen it'}`);
    const final = row.last_status !== null && row.last_status !== 429 && row.last_status < 500;
    if (row.status === 'failed' && row.attempts < MAX_ATTEMPTS && !final)
      say('a delivery fails after five attempts or a final answer', `${row.attempts} attempts, last ${row.last_status}`);
    if (record && record.attempts.length > row.attempts)
      say('no request without an attempt', `${record.attempts.length} requests, ${row.attempts} attempts`);
  }
  for (const [name, records] of seen)
    for (const eventId of records.keys())
      if (!known.has(`${name} ${eventId}`))
        found.push({ rule: 'no request without a delivery', subject: `${name} ${eventId}`, detail: 'unknown to the gateway' });
  return found;
}

/** The order in which wallets were handed out, from the rows themselves. */
export async function compareWalletIndexes(stage: Stage): Promise<Difference[]> {
  const rows = await stage.sql<{ wallet_index: string; uses: number }>(
    'select wallet_index::text as wallet_index, count(*)::int as uses from customers group by wallet_index having count(*) > 1',
  );
  return rows.map((row) => ({
    rule: 'no wallet index is used twice',
    subject: `index ${row.wallet_index}`,
    detail: `${row.uses} customers`,
  }));
}
