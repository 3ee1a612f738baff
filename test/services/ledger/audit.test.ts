import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { tempDir } from '../../../dev/support/parts.ts';
import { type AuditDifference, auditLedger } from '../../../src/services/ledger/audit.ts';
import { rebuildTotals } from '../../../src/services/ledger/rebuild.ts';
import { gateway, oneObject } from '../../cli/support.ts';
import { keepBooks, restoreBooks, writeByHand } from './by-hand.ts';
import { CHANGES, linesOf, PAYOUTS, sent, UNPAID } from './changes.ts';
import { everyState, rowAt, UNITS } from './every-state.ts';
import { startWorld, type World } from './support.ts';

describe('the books', () => {
  let world: World;
  let addresses: ReadonlyMap<string, string>;

  before(async () => {
    world = await startWorld();
    addresses = await everyState(world);
    await keepBooks(world);
  });
  after(() => world?.stop());
  afterEach(async () => {
    await restoreBooks(world);
    expect((await auditLedger(world.deps)).total, 'everything is back').to.equal(0);
  });

  const byHand = (...statements: readonly string[]) => writeByHand(world, ...statements);
  const rowOf = (name: string) => rowAt(world, addresses.get(name));
  const differences = async (): Promise<readonly AuditDifference[]> =>
    (await auditLedger(world.deps)).differences;
  const short = (rows: readonly AuditDifference[]) =>
    rows.map(({ check, account, expected, found }) => [check, account, expected, found]);

  it('agree with deposits in every state that the use cases make', async () => {
    const states = await world.rows(
      `select distinct status || coalesce(' ' || failure_code, '') || case
       when block_hash is null then ' gone' else '' end as at
       from deposits where not simulated order by 1`,
    );
    expect(states.map(({ at }) => at)).to.have.members([
      'detected',
      'confirming',
      'completed',
      'settled',
      'failed BELOW_MINIMUM',
      'failed MONTHLY_LIMIT',
      'failed REJECTED_BY_OPERATOR',
      'failed REJECTED_BY_OPERATOR gone',
      'failed REORGED gone',
    ]);
    expect(await rowOf('credited twice by right')).to.include({ status: 'completed', generation: 2 });
    const books = await auditLedger(world.deps);
    expect(books.differences).to.deep.equal([]);
    expect(books.deposits).to.equal(addresses.size + 7);
    expect(books.lines).to.be.greaterThan(2 * books.deposits);
  });

  it('name every deposit that they do not agree with', async () => {
    for (const [name, [of, sql, ...found]] of Object.entries(CHANGES)) {
      const row = await rowOf(of);
      await byHand(sql(row['id'], row['payout_id']));
      const all = (await differences()).filter(({ depositId }) => depositId === row['id']);
      expect(short(all), name).to.have.deep.members(found);
      if (found[0]?.[0] === 'deposit')
        expect(all[0], name).to.deep.include({
          transactionHash: row['transaction_hash'],
          network: 'bsc',
          currency: 'USDT',
          since: new Date(String(row['created_at'])),
        });
      await restoreBooks(world);
    }
  });

  it('name every payout that they do not agree with', async () => {
    const { payout_id: payoutId } = await rowOf('settled');
    for (const [name, [sql, ...found]] of Object.entries(PAYOUTS)) {
      await byHand(sql(payoutId));
      const all = await differences();
      expect(short(all), name).to.have.deep.members(found);
      expect(all[0], name).to.include({ payoutId, network: 'bsc', mode: 'live', depositId: null });
      await restoreBooks(world);
    }
    await byHand(
      sent(`state = 'final', block_hash = '0x9', block_number = 9, ok = true, verified_at = now(),
        fee_units = 7, moves = '[]'`)(payoutId),
      `update payouts set state = 'failed', reason = 'test', ${UNPAID} where id = '${payoutId}'`,
    );
    expect(short(await differences()), 'failed, and paid').to.deep.include(['payout', 'chain', 0n, UNITS]);
  });

  it('name a second credit even where its sum is taken back again', async () => {
    const { id } = await rowOf('completed');
    const [credit] = await world.rows(
      `select id from ledger_transactions where deposit_id = ? and kind = 'deposit.completed'`,
      [id],
    );
    const copy = (to: string, sign: string): string[] => [
      `insert into ledger_transactions select '${to}', deposit_id, 1000, kind, sequence, created_at
        from ledger_transactions where id = '${credit?.['id']}'`,
      `insert into ledger_entries select '${to}', line, merchant_id, mode, network, currency, account,
       ${sign}amount_units from ledger_entries where transaction_id = '${credit?.['id']}'`,
    ];
    await byHand(...copy(randomUUID(), ''), ...copy(randomUUID(), '-'));
    expect(short(await differences())).to.deep.equal([['credit', null, 1n, 2n]]);
  });

  it('name lines of another merchant than their deposit, and lines without a deposit, in pages of any size', async () => {
    const [{ id, merchant_id: merchantId }, gone, headless] = [
      await rowOf('completed'),
      await rowOf('detected'),
      await rowOf('confirming'),
    ];
    const other = randomUUID();
    await byHand(
      `update ledger_entries set merchant_id = '${other}' where account = 'available' and ${linesOf(id)}`,
      `delete from deposits where id = '${gone['id']}'`,
      `update ledger_entries set transaction_id = gen_random_uuid() where ${linesOf(headless['id'])}`,
    );
    const whole = await auditLedger(world.deps, { pageRows: 100_000 });
    const found = whole.differences.filter(({ check }) => check === 'deposit');
    expect(
      found.map((row) => [row.depositId, row.merchantId, row.account, row.expected, row.found]),
    ).to.have.deep.members([
      [id, merchantId, 'available', UNITS, 0n],
      [id, other, 'available', 0n, UNITS],
      [gone['id'], merchantId, 'pending', 0n, UNITS],
      [null, merchantId, 'pending', 0n, UNITS],
      [headless['id'], merchantId, 'pending', UNITS, 0n],
    ]);
    for (const pageRows of [1, 3, 7]) {
      const told: number[] = [];
      const paged = await auditLedger(world.deps, {
        pageRows,
        progress: (what, done) => what === 'deposits' && told.push(done),
      });
      expect(paged).to.deep.equal(whole);
      expect(told.length, 'pages').to.be.greaterThan(1);
      expect(told.at(-1)).to.equal(paged.deposits);
    }
  });

  it('name a total that is not the sum of its lines, and are made right by the command that the manual names', async () => {
    await byHand(
      `update balance_totals set amount_units = amount_units + 9 where mode = 'live' and account = 'available'
        and currency = 'USDT'`,
      `delete from balance_changes`,
    );
    const found = await differences();
    expect(new Set(found.map(({ check }) => check))).to.deep.equal(new Set(['total']));
    const live = found.filter(({ mode }) => mode === 'live');
    expect(live.map((one) => [one.account, one.found - one.expected])).to.deep.equal([['available', 9n]]);
    expect(found.length, 'in test mode too').to.be.above(live.length);
    await rebuildTotals(world.deps, { reason: 'the audit named a total' });
    expect(await differences()).to.deep.equal([]);
  });

  it('are those of one moment, whatever is written while they are checked', async () => {
    const em = world.deps.orm.em.fork();
    await em.begin();
    // The last of the checks has to wait for this.
    await em.execute('lock table balance_totals in access exclusive mode');
    const checking = auditLedger(world.deps);
    await eventually('a wait for the table', async () => {
      const [waiting] = await world.rows(
        `select 1 from pg_locks where not granted and relation = 'balance_totals'::regclass`,
      );
      return waiting !== undefined;
    });
    await byHand('delete from balance_changes');
    await em.rollback();
    expect((await checking).total).to.equal(0);
    expect((await auditLedger(world.deps)).total).to.not.equal(0);
  });

  it('are checked by the command line, which ends with 1 and the next action where they differ', async () => {
    const env = {
      DATABASE_URL: world.databaseUrl,
      DATA_DIR: await tempDir('books'),
      TEMPORAL_ADDRESS: '127.0.0.1:1',
    };
    const books = ['reconcile', '--books'];
    const { id } = await rowOf('completed');
    await byHand(`update deposits set amount_units = 3000000000000000000 where id = '${id}'`);
    const told = await gateway([...books, '--json'], env);
    expect(told.code).to.equal(1);
    const { differences: found } = oneObject<{ differences: Record<string, unknown>[] }>(told.stdout);
    expect(found).to.have.length(1);
    expect(found[0]).to.include({
      check: 'deposit',
      deposit_id: id,
      state: 'completed',
      account: 'available',
      expected: '3',
      expected_raw: '3000000000000000000',
      found: '0.00000000000000004',
      found_raw: '40',
    });
    expect((await gateway(books, env)).stderr).to.match(
      /1 entry of the books differs\. .* "gateway deposit show", and go on as docs\/operations\.md says\.\n$/,
    );
  });
});
