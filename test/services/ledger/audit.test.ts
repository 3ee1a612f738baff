import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { type AuditDifference, auditLedger } from '../../../src/services/ledger/audit.ts';
import { rebuildTotals } from '../../../src/services/ledger/rebuild.ts';
import { copyDeposit, keepBooks, restoreBooks, writeByHand } from './by-hand.ts';
import { everyState, rowAt, UNITS } from './every-state.ts';
import { startWorld, type World } from './support.ts';

describe('the books', function () {
  this.timeout(60_000);
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
  const linesOf = (id: unknown) =>
    `transaction_id in (select id from ledger_transactions where deposit_id = '${id}')`;

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
    const twice = await rowOf('credited twice by right');
    expect([twice['status'], twice['generation']]).to.deep.equal(['completed', 2]);
    const books = await auditLedger(world.deps);
    expect(books.differences).to.deep.equal([]);
    expect(books.deposits).to.equal(addresses.size + 7);
    expect(books.lines).to.be.greaterThan(2 * books.deposits);
  });

  for (const [name, account] of [
    ['detected', 'pending'],
    ['confirming', 'pending'],
    ['completed', 'available'],
    ['held', 'held'],
    ['below minimum', 'held'],
    ['over the limit', 'held'],
    ['released', 'available'],
  ] as const) {
    it(`name a deposit that is ${name} and whose amount is not what the ledger holds`, async () => {
      const {
        id,
        amount_units: units,
        transaction_hash: transactionHash,
        status: state,
        created_at: since,
      } = await rowOf(name);
      await byHand(`update deposits set amount_units = amount_units + 2 where id = '${id}'`);
      const found = await differences();
      expect(short(found)).to.deep.equal([
        ['deposit', account, BigInt(String(units)) + 2n, BigInt(String(units))],
      ]);
      expect(found[0]).to.deep.include({
        depositId: id,
        transactionHash,
        state,
        network: 'bsc',
        currency: 'USDT',
        since: new Date(String(since)),
      });
    });
  }

  it('name money that is held for a deposit that lost its block, or was never there', async () => {
    for (const name of ['withdrawn', 'reorged']) {
      const { id } = await rowOf(name);
      await byHand(
        `update ledger_entries set account = 'held' where account = 'chain' and amount_units > 0
          and ${linesOf(id)}`,
      );
      expect(short((await differences()).filter(({ depositId }) => depositId === id))).to.deep.equal([
        ['deposit', 'held', 0n, UNITS],
      ]);
    }
  });

  it('name a deposit that lies in a block again without its money being held', async () => {
    const { id } = await rowOf('withdrawn');
    await byHand(`update deposits set block_hash = '0x1' where id = '${id}'`);
    expect(short(await differences())).to.deep.equal([['deposit', 'held', UNITS, 0n]]);
  });

  it('name a state that was changed without its posting, and a completion without its credit', async () => {
    const [settled, completed] = [await rowOf('completed'), await rowOf('confirming')];
    await byHand(`update deposits set status = 'settled' where id = '${settled['id']}'`);
    await byHand(`update deposits set status = 'completed' where id = '${completed['id']}'`);
    const of = async (id: unknown) =>
      short((await differences()).filter(({ depositId }) => depositId === id));
    expect(await of(settled['id'])).to.have.deep.members([
      ['deposit', 'settled', UNITS, 0n],
      ['deposit', 'available', 0n, UNITS],
      ['payout', 'settled', UNITS, 0n],
    ]);
    expect(await of(completed['id'])).to.have.deep.members([
      ['deposit', 'available', UNITS, 0n],
      ['deposit', 'pending', 0n, UNITS],
      ['credit', null, 1n, 0n],
    ]);
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
       ${sign}amount_units from ledger_entries
       where transaction_id = '${credit?.['id']}'`,
    ];
    await byHand(...copy(randomUUID(), ''), ...copy(randomUUID(), '-'));
    expect(short(await differences())).to.deep.equal([['credit', null, 1n, 2n]]);
  });

  it('name a posting whose lines do not sum to zero', async () => {
    const { id } = await rowOf('detected');
    await byHand(
      `update ledger_entries set amount_units = amount_units - 1 where account = 'chain' and ${linesOf(id)}`,
    );
    const found = await differences();
    expect(short(found)).to.deep.equal([
      ['posting', null, 0n, -1n],
      ['total', 'chain', found[1]?.expected, (found[1]?.expected ?? 0n) + 1n],
    ]);
    const [{ id: transactionId } = { id: null }] = await world.rows(
      'select id from ledger_transactions where deposit_id = ?',
      [id],
    );
    expect(found[0]).to.include({ depositId: id, ledgerTransactionId: transactionId });
  });

  it('name lines of another merchant or asset than their deposit', async () => {
    const { id, merchant_id: merchantId } = await rowOf('detected');
    const other = randomUUID();
    await byHand(`update ledger_entries set merchant_id = '${other}' where ${linesOf(id)}`);
    const found = (await differences()).filter(({ check }) => check === 'deposit');
    expect(
      found.map(({ merchantId: of, expected, found: there }) => [of, expected, there]),
    ).to.have.deep.members([
      [merchantId, UNITS, 0n],
      [other, 0n, UNITS],
    ]);
  });

  it('name lines without a deposit, and a deposit without lines', async () => {
    const [gone, headless, bare] = [
      await rowOf('detected'),
      await rowOf('confirming'),
      await rowOf('completed'),
    ];
    await byHand(
      `delete from deposits where id = '${gone['id']}'`,
      `update ledger_entries set transaction_id = '${randomUUID()}' where ${linesOf(headless['id'])}`,
      `delete from ledger_entries where ${linesOf(bare['id'])}`,
    );
    const found = (await differences()).filter(({ check }) => check === 'deposit');
    expect(
      found.map(({ depositId, state, account, expected, found: there }) => [
        depositId,
        state,
        account,
        expected,
        there,
      ]),
    ).to.have.deep.members([
      [gone['id'], null, 'pending', 0n, UNITS],
      [null, null, 'pending', 0n, UNITS],
      [headless['id'], 'confirming', 'pending', UNITS, 0n],
      [bare['id'], 'completed', 'available', UNITS, 0n],
    ]);
  });

  it('are the same in pages of any size', async () => {
    const [gone, headless, twice] = [
      await rowOf('detected'),
      await rowOf('confirming'),
      await rowOf('completed'),
    ];
    await byHand(
      `delete from deposits where id = '${gone['id']}'`,
      `update ledger_entries set transaction_id = gen_random_uuid() where ${linesOf(headless['id'])}`,
      `update ledger_entries set amount_units = 2 * amount_units
        where account = 'available' and ${linesOf(twice['id'])}`,
    );
    const whole = await auditLedger(world.deps, { pageRows: 100_000 });
    expect(new Set(whole.differences.map(({ check }) => check))).to.deep.equal(
      new Set(['deposit', 'posting', 'total']),
    );
    for (const pageRows of [1, 2, 3, 7]) {
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

  it('name a total that is not the sum of its lines, and are made right from the ledger by the command that the manual names', async () => {
    await byHand(
      `update balance_totals set amount_units = amount_units + 9 where mode = 'live' and account = 'available'
        and currency = 'USDT'`,
      `delete from balance_changes`,
    );
    const found = await differences();
    expect(new Set(found.map(({ check }) => check))).to.deep.equal(new Set(['total']));
    expect(
      found
        .filter(({ mode }) => mode === 'live')
        .map(({ account, expected, found: there }) => [account, there - expected]),
    ).to.deep.equal([['available', 9n]]);
    expect(found.filter(({ mode }) => mode === 'test')).to.not.deep.equal([]);
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
      const waiting = await world.rows(
        `select 1 from pg_locks where not granted and relation = 'balance_totals'::regclass`,
      );
      return waiting.length > 0;
    });
    await byHand('delete from balance_changes');
    await em.rollback();
    expect((await checking).total).to.equal(0);
    expect((await auditLedger(world.deps)).total).to.not.equal(0);
  });

  it('list the oldest thousand of more differences', async () => {
    const { id } = await rowOf('completed');
    await copyDeposit(world, String(id), 600);
    const { total, differences: listed } = await auditLedger(world.deps);
    expect([total, listed.length]).to.deep.equal([1_200, 1_000]);
    const times = listed.map(({ since }) => since?.getTime() ?? 0);
    expect(times).to.deep.equal(times.toSorted((a, b) => a - b));
    expect(listed[0]?.transactionHash).to.equal('0x1');
  });
});
