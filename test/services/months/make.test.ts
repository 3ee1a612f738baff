import { expect } from 'chai';
import { lowestId } from '../../../src/domain/ids.ts';
import { makeMonthsAhead } from '../../../src/services/months/make.ts';
import { partitionOf } from '../../../src/services/months/tables.ts';
import { type Calendar, startCalendar } from './world.ts';

describe('partitions of the months ahead', function () {
  this.timeout(60_000);
  let world: Calendar;
  before(async () => {
    world = await startCalendar('2026-11-22T10:00:00Z');
  });
  after(() => world?.stop());

  const names = async (text: string, ...values: unknown[]) =>
    (await world.sql<{ name: string }>(text, values)).map(({ name }) => name);
  const months = () =>
    names(`select to_char(first_month, 'YYYY-MM') as name from partition_months order by 1`);
  const partitions = (table: string) =>
    names(
      `select relname as name from pg_class c join pg_inherits i on i.inhrelid = c.oid
        where i.inhparent = ?::regclass and relkind = 'r' order by 1`,
      table,
    );
  const refusalOf = (work: Promise<unknown>) => work.then(() => 'done', String);

  it('lie where the program and the database say alike', async () => {
    const at = new Date('2026-12-01T00:00:00.001Z');
    const [row] = await world.sql<{ id: string }>('select lowest_id(?)::text as id', [at]);
    expect(row?.id).to.equal(lowestId(at));
  });

  it('are made when a month begins, once, also by several workers, and the rows go on in them', async () => {
    expect(await makeMonthsAhead(world.deps)).to.deep.equal([]);
    await world.simulate('completed');
    world.setClock('2026-12-01T00:00:00Z');
    const made = await Promise.all(
      Array.from({ length: 4 }, () => makeMonthsAhead(world.deps).catch(() => [])),
    );
    if (made.flat().length === 0) await makeMonthsAhead(world.deps);
    expect(await months()).to.deep.equal(['2026-11', '2026-12', '2027-01', '2027-02', '2027-03']);
    expect(await makeMonthsAhead(world.deps)).to.deep.equal([]);
    await world.simulate('completed');
    for (const table of [
      'events',
      'webhook_deliveries',
      'deposit_transitions',
      'ledger_transactions',
      'ledger_entries',
    ])
      expect(Object.keys(await world.rowsByPartition(table)).sort(), table).to.deep.equal([
        partitionOf(table, '2026-11'),
        partitionOf(table, '2026-12'),
      ]);
    expect((await partitions('webhook_attempts')).at(-1)).to.equal('webhook_attempts_2027_03');
  });

  it('that nobody made for a year stop no money, and are ordered again afterwards with every row in its place', async () => {
    world.setClock('2028-02-10T10:00:00Z');
    await world.simulate('completed');
    expect(await world.rowsByPartition('events')).to.include({ events_2027_03: 3 });
    expect(await makeMonthsAhead(world.deps)).to.deep.equal(['2028-04', '2028-05']);
    await world.simulate('completed');
    world.setClock('2028-04-01T00:00:00Z');
    expect(await makeMonthsAhead(world.deps)).to.deep.equal(['2028-06', '2028-07']);
    await world.simulate('completed');
    const rows = await world.rowsByPartition('deposit_transitions');
    expect(rows).to.deep.equal({
      deposit_transitions_2026_11: 3,
      deposit_transitions_2026_12: 3,
      deposit_transitions_2027_03: 6,
      deposit_transitions_2028_04: 3,
    });
    const left = await world.sql(`select conname from pg_constraint where conname = 'months_end'`);
    expect(left).to.deep.equal([]);
  });

  it('keep the guards of their tables', async () => {
    for (const table of ['events', 'ledger_transactions', 'ledger_entries', 'deposit_transitions']) {
      const changes = (await partitions(table)).map((partition) => `truncate ${partition} cascade`);
      for (const change of [...changes, `delete from ${table}`])
        expect(await refusalOf(world.sql(change)), change).to.contain('never changed or removed');
    }
  });
});
