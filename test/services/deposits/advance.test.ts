import { expect } from 'chai';
import { createEndpoint } from '../../../dev/support/use-cases.ts';
import { type AdvanceResult, advanceDeposit, type Known } from '../../../src/services/deposits/advance.ts';
import { advancePaymentLink } from '../../../src/services/payment-links/advance.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

/** The pool of the tests' gateway. */
const POOL = 10;

/** A step of a deposit as its actor takes it, over a real database. */
describe('a step of a deposit', function () {
  this.timeout(60_000);
  let shop: Shop;
  before(async () => {
    shop = await startShop({ poolSize: POOL });
    const scope = { merchantId: shop.merchantId, mode: 'live' as const };
    await createEndpoint(shop.deps, {
      ...scope,
      url: 'http://127.0.0.1:1/hooks',
      events: ['*'],
      description: null,
    });
    await shop.scanned('bsc', shop.clock.now);
  });
  after(async () => {
    await shop?.stop();
  });

  /** The chain as the watcher last wrote it, seen from the deposit's block. */
  async function chainAt(depositId: string, above: { head: number; final?: number }): Promise<void> {
    const { blockNumber } = await shop.deposit(depositId);
    const final = blockNumber + (above.final ?? -1);
    await shop.sql(
      `update chain_cursors set head_number = ?, scanned_number = greatest(scanned_number, ?),
         finalized_number = ?, reread_number = ?,
         anchored_number = ?, anchored_hash = '0x', moved_at = ?, polled_at = ?`,
      [blockNumber + above.head, final, final, final, final, shop.clock.now, shop.clock.now],
    );
    await shop.sql('update deposits set verified_at = ? where id = ?', [
      final >= blockNumber ? shop.clock.now : null,
      depositId,
    ]);
  }
  const step = (depositId: string, known?: Known) =>
    advanceDeposit(shop.deps, { depositId, alarmed: false, ...(known ? { known } : {}) });
  const stepped = async (depositId: string, known?: Known) => {
    const result = await step(depositId, known);
    if (result.kind !== 'at') throw new Error(result.reason);
    return result;
  };
  /** The deliveries by event type, oldest first. */
  const events = async (deliveries: readonly string[]): Promise<string[]> => {
    const rows = await shop.sql<{ id: string; event_type: string }>(
      'select id, event_type from webhook_deliveries',
    );
    const types = new Map(rows.map((row) => [row.id, row.event_type]));
    return deliveries.map((id) => types.get(id) ?? 'unknown');
  };
  const detected = async (customerId?: string) =>
    await shop.pay(customerId ?? (await shop.customer()), { coins: '5', state: 'detected' });

  it('tells an actor whose last answer was lost where its deposit is, with everything that is to be sent', async () => {
    const id = await detected();
    const known = { generation: 1, sequence: 1 };
    await chainAt(id, { head: 1 });
    const lost = await stepped(id, known);
    expect(lost).to.include({ state: 'confirming', sequence: 2 });
    expect(await events(lost.deliveries)).to.deep.equal(['deposit.confirming']);
    // The chain permits nothing more, and the retry does not wait for it.
    const again = await stepped(id, known);
    expect(again).to.include({ state: 'confirming', sequence: 2, generation: 1 });
    expect(await events(again.deliveries)).to.deep.equal(['deposit.detected', 'deposit.confirming']);
    expect((await step(id, { generation: 1, sequence: 2 })).kind).to.equal('wait');
  });

  it('makes every transition that the chain permits, each with its own row, event and sequence', async () => {
    const id = await detected();
    await chainAt(id, { head: 40, final: 5 });
    const answer = await stepped(id, { generation: 1, sequence: 1 });
    expect(answer).to.include({ state: 'completed', sequence: 3 });
    expect(await events(answer.deliveries)).to.deep.equal(['deposit.confirming', 'deposit.completed']);
    const rows = await shop.sql(
      'select sequence, from_state, to_state from deposit_transitions where deposit_id = ? order by sequence',
      [id],
    );
    expect(rows).to.deep.equal([
      { sequence: 1, from_state: null, to_state: 'detected' },
      { sequence: 2, from_state: 'detected', to_state: 'confirming' },
      { sequence: 3, from_state: 'confirming', to_state: 'completed' },
    ]);
    const [sum] = await shop.sql(
      `select count(distinct t.id)::int as postings, sum(e.amount_units)
       filter (where e.account = 'available')::text as available
       from ledger_transactions t join ledger_entries e on e.transaction_id = t.id where t.deposit_id = ?`,
      [id],
    );
    expect(sum).to.deep.equal({ postings: 2, available: `${5n * 10n ** 18n}` });
  });

  it('completes nothing whose own row was not read twice, although the chain counts its block as read twice', async () => {
    const id = await detected();
    await chainAt(id, { head: 40, final: 5 });
    await shop.sql('update deposits set verified_at = null where id = ?', [id]);
    await stepped(id, { generation: 1, sequence: 1 });
    const { kind } = await step(id, { generation: 1, sequence: 2 });
    expect([kind, (await shop.deposit(id)).status]).to.deep.equal(['wait', 'confirming']);
  });

  it('says so when the deposit came back as another generation', async () => {
    const id = await shop.pay(await shop.customer(), { coins: '5', state: 'failed' });
    await shop.move(id, 'detected');
    const answer = await stepped(id, { generation: 1, sequence: 2 });
    expect(answer).to.include({ state: 'detected', generation: 2, sequence: 3 });
  });

  describe('of a customer whose row somebody holds', () => {
    /** Holds the rows of a customer until `release`. */
    async function hold(sql: string, params: unknown[]) {
      const em = shop.deps.orm.em.fork();
      await em.begin();
      await em.execute(sql, params);
      const waitSql = `select pid from pg_stat_activity where datname = current_database()
        and wait_event_type = 'Lock'`;
      return {
        release: () => em.rollback(),
        waiting: async () => (await em.execute<unknown[]>(waitSql)).length,
      };
    }
    const busy = (result: AdvanceResult) =>
      result.kind === 'wait' && /^another transaction holds a row of deposit/.test(result.reason);

    it('comes back a moment later, and keeps no connection from the steps of others', async () => {
      const customerId = await shop.customer();
      const link = await shop.link({ customerId });
      const ids: string[] = [];
      for (let count = 0; count < POOL + 2; count += 1) ids.push(await detected(customerId));
      const other = await detected();
      await chainAt(other, { head: 40, final: 5 });
      await shop.sql('update deposits set verified_at = ?', [shop.clock.now]);
      const holder = await hold('select id from customers where id = ? for no key update', [customerId]);
      const over = { yes: false };
      const waiting = Promise.all(ids.map((id) => step(id))).finally(() => {
        over.yes = true;
      });
      const last = stepped(other);
      // No connection is kept by a wait, so that of the other customer comes as soon as ever.
      while (!over.yes) expect(await holder.waiting()).to.equal(0);
      expect(await last).to.include({ state: 'completed' });
      const results = await waiting;
      expect(results.filter((result) => !busy(result))).to.deep.equal([]);
      const later = { ...shop.deps, now: () => new Date(shop.clock.now.getTime() + 2 * 3_600_000) };
      expect(await advancePaymentLink(later, { linkId: link.id }), 'an overdue link').to.deep.include({
        kind: 'wait',
        reason: `another transaction holds the row of customer ${customerId}`,
      });
      await holder.release();
      for (const id of ids) expect(await stepped(id)).to.include({ state: 'completed' });
    });
  });
});
