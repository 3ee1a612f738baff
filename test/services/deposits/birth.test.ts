import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { type FreshDatabase, migratedDatabase } from '../../../dev/support/parts.ts';
import { createEndpoint } from '../../../dev/support/use-cases.ts';
import { Deposit, DepositAddress } from '../../../src/db/entities/index.ts';
import { parseUnits } from '../../../src/domain/money.ts';
import { decideToFail, releaseDeposit } from '../../../src/services/deposits/operator.ts';
import { type IncomingTransfer, recordDeposits } from '../../../src/services/deposits/record.ts';
import { applyTransitions } from '../../../src/services/deposits/transition.ts';
import { auditLedger } from '../../../src/services/ledger/audit.ts';
import { linkDifferences, lockPayers } from '../../../src/services/payment-links/money.ts';
import { transact } from '../../../src/services/transact.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

type Client = { query(...args: unknown[]): unknown };
const hashOf = (name: string): string => `0x${createHash('sha256').update(name).digest('hex')}`;

const MONEY = [
  'deposits',
  'deposit_transitions',
  'ledger_transactions',
  'ledger_entries',
  'payment_links',
].concat(['monthly_changes', 'late_payments', 'events', 'webhook_deliveries', 'outbox']);

describe('deposits that are written', function () {
  this.timeout(180_000);
  let shop: Shop;
  let database: FreshDatabase;
  let customerId: string;
  let address: DepositAddress;
  let sent = 0;
  let failAt = 0;
  let tables: readonly string[];

  before(async () => {
    database = await migratedDatabase();
    shop = await startShop({ databaseUrl: database.url, statementTimeoutMs: 10_000 });
    const scope = { merchantId: shop.merchantId, mode: 'live' as const };
    const url = 'http://127.0.0.1:1/hooks';
    await createEndpoint(shop.deps, { ...scope, url, events: ['*'], description: null });
    customerId = await shop.customer();
    address = await shop.deps.orm.em.fork().findOneOrFail(DepositAddress, { customerId, network: 'bsc' });
    const found = await shop.sql<{ name: string }>(
      `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = 'public' and c.relkind in ('r', 'p') and not c.relispartition order by 1`,
    );
    tables = found.map(({ name }) => name);
    const heard = new WeakSet<object>();
    const pool = await shop.deps.orm.em.getConnection().getNativeClient();
    pool.on('acquire', (client: Client) => {
      if (heard.has(client)) return;
      heard.add(client);
      const query = client.query.bind(client);
      client.query = (text, ...rest) => {
        sent += 1;
        return sent === failAt ? query('select 1 / 0') : query(text, ...rest);
      };
    });
  });
  after(async () => {
    // Connections whose statement failed may have stayed with what had them.
    await database?.drop();
    await shop?.stop();
  });

  const incoming = (name: string, coins: string, block: string): IncomingTransfer => ({
    mode: 'live',
    merchantId: shop.merchantId,
    customerId,
    network: 'bsc',
    currency: 'USDT',
    address: address.address,
    addressKey: address.addressKey,
    fromAddress: null,
    transactionHash: hashOf(name),
    amountUnits: parseUnits(coins, 18),
    blockNumber: 7,
    blockHash: hashOf(block),
    minedAt: shop.clock.now,
    headNumber: 7,
    price: { usd8: 100_000_000n, source: 'test', at: shop.clock.now, stale: false },
    simulated: false,
  });
  const idOf = async (name: string): Promise<string> =>
    (await shop.deps.orm.em.fork().findOneOrFail(Deposit, { transactionHash: hashOf(name) })).id;
  const records = (...transfers: IncomingTransfer[]) =>
    transact(shop.deps, (tx) => recordDeposits(tx, shop.deps, transfers));
  const moves = (names: readonly string[], to: 'detected' | 'confirming' | 'completed' | 'failed') =>
    transact(shop.deps, async (tx) => {
      await lockPayers(tx.em, [customerId]);
      const steps: { deposit: Deposit; to: typeof to; failureCode: 'REORGED'; headNumber: null }[] = [];
      for (const name of names) {
        const deposit = await tx.em.findOneOrFail(Deposit, await idOf(name));
        if (to === 'failed') deposit.blockHash = null;
        steps.push({ deposit, to, failureCode: 'REORGED', headNumber: null });
      }
      return await applyTransitions(tx, shop.deps, steps);
    });

  /** Everything that the database holds, as one text for each table. */
  async function whole(names = tables): Promise<Record<string, string>> {
    const held = names.map(
      (name) => `select '${name}' as name, count(*) || ' ' ||
        md5(coalesce(string_agg(t::text, ',' order by t::text), '')) as held from "${name}" t`,
    );
    const rows = await shop.sql<{ name: string; held: string }>(held.join(' union all '));
    return Object.fromEntries(rows.map((row) => [row.name, row.held]));
  }

  /** Lets each statement of the step fail in turn, then lets all succeed. */
  async function everywhere(step: () => Promise<unknown>): Promise<void> {
    const before = await whole();
    for (let place = 1; ; place += 1) {
      sent = 0;
      failAt = place;
      const failed = await step().then(
        () => false,
        (error: Error) => /division by zero/.test(error.message) || Promise.reject(error),
      );
      failAt = 0;
      if (!failed) {
        expect(place, 'statements').to.be.greaterThan(4);
        return;
      }
      // What stays behind stays, so that the tables which no step is about need not be looked at each time.
      const after = await whole(place % 6 === 1 ? tables : MONEY);
      expect({ ...before, ...after }, `after statement ${place}`).to.deep.equal(before);
    }
  }

  it('have each its state, one audit row, one posting of its amount and one event with its delivery', async () => {
    const recorded = await records(
      ...['3', '5', '8'].map((coins) => incoming(`born ${coins}`, coins, 'zero')),
    );
    const outcomes = recorded.map(({ outcome, deliveries }) => `${outcome} ${deliveries.length}`);
    expect(outcomes).to.deep.equal(Array(3).fill('created 1'));
    for (const { deposit } of recorded) {
      const rows = async (text: string) => await shop.sql(text, [deposit.id]);
      const { detectedAt, stateSince, createdAt, amountUnits, ...row } = await shop.deposit(deposit.id);
      expect(row).to.include({ status: 'detected', generation: 1, sequence: 1, postingCount: 1 });
      expect([detectedAt, stateSince]).to.deep.equal([createdAt, createdAt]);
      expect(
        await rows('select from_state, to_state, sequence from deposit_transitions where deposit_id = ?'),
      ).to.deep.equal([{ from_state: null, to_state: 'detected', sequence: 1 }]);
      const lines = `select t.kind, l.account, l.amount_units::text as units from ledger_transactions t
        join ledger_entries l on l.transaction_id = t.id where t.deposit_id = ? order by l.line`;
      expect(await rows(lines)).to.deep.equal([
        { kind: 'deposit.detected', account: 'chain', units: `-${amountUnits}` },
        { kind: 'deposit.detected', account: 'pending', units: `${amountUnits}` },
      ]);
      expect(await rows('select type, sequence from events where subject_id = ?')).to.deep.equal([
        { type: 'deposit.detected', sequence: 1 },
      ]);
    }
    const again = await moves(['born 3'], 'detected').catch((error: Error) => error.name);
    expect(again, 'born into it again').to.equal('IllegalTransition');
    expect((await auditLedger(shop.deps)).differences).to.deep.equal([]);
  });

  /** The database fails at the worst moment: whichever statement it is, all or nothing of a step is there. */
  it('leave nothing behind, whichever statement fails, and are written whole by the next try', async () => {
    const link = await shop.link({ customerId, usd: '12' });
    shop.pass(1);
    const other = await shop.link({ customerId, usd: '30' });
    shop.pass(61);
    const block = [incoming('a', '5', 'one'), incoming('b', '7', 'one'), incoming('c', '3', 'one')];
    await everywhere(() => records(...block));
    await everywhere(() => moves(['a', 'b'], 'confirming'));
    await everywhere(() => moves(['c'], 'failed'));
    const again = [incoming('d', '1', 'two'), incoming('c', '4', 'two'), incoming('a', '6', 'two')];
    await everywhere(() => records(...again));
    await everywhere(() => moves(['a', 'b'], 'completed'));
    expect((await shop.row(link.id)).status).to.equal('completed');
    expect(await shop.completions(link.id)).to.have.length(1);
    const toFail = { depositId: await idOf('d'), by: 'somebody', reason: 'so' };
    await decideToFail(shop.deps, toFail);
    await everywhere(() => records(incoming('d', '2', 'three')));
    await shop.scanned('bsc', shop.clock.now);
    await shop.sql('update chain_cursors set reread_number = 9, anchored_number = 9');
    await shop.sql('update deposits set verified_at = ? where id = ?', [shop.clock.now, toFail.depositId]);
    await everywhere(() => releaseDeposit(shop.deps, toFail));
    expect(await shop.linkOf(toFail.depositId)).to.equal(other.id);
    expect((await auditLedger(shop.deps)).differences).to.deep.equal([]);
    const start = { afterId: '00000000-0000-0000-0000-000000000000', limit: 100 };
    expect((await linkDifferences(shop.deps.orm.em.fork(), start)).differences).to.deep.equal([]);
  });

  it('are moved none where one of them may not go there', async () => {
    await records(incoming('e', '2', 'four'), incoming('f', '2', 'four'));
    await moves(['f'], 'confirming');
    const before = await whole();
    const refused = await moves(['e', 'f'], 'confirming').catch((error: Error) => error.name);
    expect(refused).to.equal('IllegalTransition');
    expect(await whole()).to.deep.equal(before);
  });
});
