import { expect } from 'chai';
import { type FreshDatabase, freshDatabase } from '../../dev/support/parts.ts';
import { type Orm, openOrm } from '../../src/db/orm.ts';
import { NETWORKS } from '../../src/domain/assets.ts';

/**
 * Row triggers of the migrations. Entities cannot declare
 * them, so the ORM's comparison wants to drop exactly these.
 */
const triggers = (kind: string, ...tables: string[]) =>
  Object.fromEntries(tables.map((table) => [`${table}_${kind}`, table]));
const GUARDS: Readonly<Record<string, string>> = {
  ...triggers(
    'append_only',
    'events',
    'ledger_transactions',
    'ledger_entries',
    'deposit_transitions',
    'deposit_attributions',
    'operator_actions',
  ),
  ...triggers('counted', 'customers', 'deposits', 'ledger_entries'),
  ...triggers('guard', 'deposits', 'payment_links', 'payouts', 'deposit_transitions', 'ledger_transactions'),
  ...triggers('guard', 'late_payments'),
  ...triggers('no_delete', 'late_payments', 'withdraw_addresses'),
  ...triggers('sum_new', 'deposits'),
  ...triggers('sum_changed', 'deposits'),
  ...triggers('sums_insert', 'payment_links'),
  ...triggers('sums_update', 'payment_links'),
  ...triggers('events', 'payment_links'),
  ...triggers('times_guard', 'deposits'),
  ...triggers('volume', 'deposits'),
  deposit_decisions_append_only: 'deposit_decisions',
  payout_decisions_append_only: 'payout_decisions',
  deposit_transitions_decided: 'deposit_transitions',
  deposits_assignment_guard: 'deposits',
  deposits_posting_count_guard: 'deposits',
  ledger_entries_balanced: 'ledger_entries',
  ...triggers('asked', 'sent_transactions'),
  ...triggers('kept', 'sent_transactions', 'withdraw_changes'),
  ...triggers('terms', 'sent_transactions'),
  ...triggers('payout_guard', 'deposits'),
  ...triggers('payout_sums', 'deposits'),
  ...triggers('sums', 'payouts'),
  ...triggers('removed', 'users'),
};
/** Functions of the database that are no trigger's. */
const FUNCTIONS = [
  'lowest_id',
  'id_from',
  'id_of_event',
  'id_of_delivery',
  'id_of_posting',
  'make_months',
  'partition_bound',
  'claim_month_end',
  'prove_month_end',
  'forget_month_ends',
  'erased_event',
  'lock_for_signing',
  'grant_signer',
];
/** Checks, and indexes of which no row is refused, are told once: where the table is made. */
const ONLY_IN_MIGRATIONS = /^(drop index "\w+_index";|alter table "\w+" drop constraint "\w+_check";)$/;

describe('the migrated schema', () => {
  let database: FreshDatabase;
  let orm: Orm;
  before(async function () {
    this.timeout(60_000);
    database = await freshDatabase();
    orm = await openOrm({ url: database.url, poolSize: 2, applicationName: 'migrated-schema-test' });
    await orm.migrator.up();
  });
  after(async () => {
    await orm?.close(true);
    await database?.drop();
  });

  it('has the columns, keys and references that the entities declare, and the guards that only it knows', async () => {
    const wanted = (await orm.schema.getUpdateSchemaSQL({ wrap: false, safe: false }))
      .split('\n')
      .filter((line) => line !== '' && !ONLY_IN_MIGRATIONS.test(line));
    const dropsOfGuards = Object.entries(GUARDS).flatMap(([trigger, table]) => [
      `drop trigger if exists "${trigger}" on "${table}";`,
      `drop function if exists "${table}_${trigger}_fn"();`,
    ]);
    const dropsOfFunctions = FUNCTIONS.map((name) => `drop function if exists "${name}"`);
    expect(
      wanted.map((line) => (/^drop function .*\([^)]/.test(line) ? line.replace(/\(.*$/, '') : line)),
    ).to.have.members([...dropsOfGuards, ...dropsOfFunctions]);
  });

  it('takes addresses and links of every network there is', async () => {
    for (const check of [
      'deposit_addresses_network_check',
      'payment_links_network_check',
      'payment_links_offered_check',
    ]) {
      const [found] = await orm.em
        .fork()
        .execute<{ text: string }[]>(
          `select pg_get_constraintdef(oid) as text from pg_constraint where conname = '${check}'`,
        );
      for (const network of NETWORKS) expect(found?.text, check).to.include(`'${network}'`);
    }
  });
});
