import { expect } from 'chai';
import type { ReceivedRequest } from '../../dev/support/receiver.ts';
import type { Deps } from '../../src/services/deps.ts';

export type ExpectedDeposit = { readonly transactionHash: string; readonly amountUnits: bigint };

type DepositRow = {
  id: string;
  transaction_hash: string;
  status: string;
  sequence: number;
  amount_units: string;
};

/**
 * What must hold after any fault once everything is quiet: one completed deposit for each payment and no
 * other, exactly one event for each of its states, each of them at the receiver at least once with one id and
 * one body, and a ledger that holds every amount exactly once.
 */
export async function expectWhole(
  deps: Deps,
  requests: readonly ReceivedRequest[],
  expected: readonly ExpectedDeposit[],
): Promise<void> {
  const em = deps.orm.em.fork();
  const rows = await em.execute<DepositRow[]>(
    `select id, transaction_hash, status, sequence, amount_units::text as amount_units from deposits
      where not simulated order by transaction_hash`,
  );
  const wanted = [...expected].sort((a, b) => (a.transactionHash < b.transactionHash ? -1 : 1));
  expect(rows.map((row) => [row.transaction_hash, row.status, row.amount_units])).to.deep.equal(
    wanted.map((item) => [item.transactionHash, 'completed', String(item.amountUnits)]),
  );
  for (const row of rows) {
    const events = await em.execute<{ id: string; type: string }[]>(
      'select id, type from events where subject_id = ? order by sequence',
      [row.id],
    );
    expect(events.map((event) => event.type)).to.deep.equal([
      'deposit.detected',
      'deposit.confirming',
      'deposit.completed',
    ]);
    for (const event of events) {
      const seen = requests.filter((request) => request.headers['x-webhook-id'] === event.id);
      expect(seen.length, `${event.type} of ${row.transaction_hash} at the receiver`).to.be.at.least(1);
      expect(
        new Set(seen.map((request) => request.body.toString('hex'))).size,
        'bodies of one event',
      ).to.equal(1);
    }
  }
  const sum = wanted.reduce((total, item) => total + item.amountUnits, 0n);
  const accounts = await em.execute<{ account: string; sum: string }[]>(
    'select account, sum(amount_units)::text as sum from ledger_entries where mode = ? group by account',
    ['live'],
  );
  const ledger = Object.fromEntries(accounts.map((row) => [row.account, BigInt(row.sum)]));
  expect(ledger['available'] ?? 0n, 'available').to.equal(sum);
  expect(ledger['pending'] ?? 0n, 'pending').to.equal(0n);
  expect(ledger['chain'] ?? 0n, 'chain').to.equal(-sum);
}

/** Whether every one of these payments has reached its end and nothing is left to deliver or to start. */
export async function isQuiet(deps: Deps, expected: readonly ExpectedDeposit[]): Promise<boolean> {
  const [counts] = await deps.orm.em.fork().execute<[{ completed: number; pending: number; outbox: number }]>(
    `select (select count(*)::int from deposits where status = 'completed' and not simulated) as completed,
       (select count(*)::int from webhook_deliveries where status = 'pending') as pending,
         (select count(*)::int from outbox) as outbox`,
  );
  return counts.completed >= expected.length && counts.pending === 0 && counts.outbox === 0;
}
