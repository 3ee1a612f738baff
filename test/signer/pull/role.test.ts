import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { type Orm, openOrm } from '../../../src/db/orm.ts';
import { type SignerStage, startSignerStage } from './stage.ts';

/** Everything that the signer's role may write, by column. */
const on = (table: string, columns: string, ...verbs: readonly string[]): string[] =>
  verbs.flatMap((verb) => columns.split(' ').map((column) => `${verb} ${table}.${column}`));
const MAY_WRITE = [
  ...on('sent_transactions', 'nonce raw hash expires_at state refused signed_at', 'update'),
  ...on('gas_wallets', 'network address_key address created_xid created_at noted_at', 'insert', 'update'),
  ...on(
    'signer_state',
    'name journal line line_hash sealed_code sealed_reason sealed_since seen_at signed_at',
    'insert',
    'update',
  ),
];

describe("the signer's role in the database", function () {
  this.timeout(60_000);
  const role = `signer_${randomBytes(4).toString('hex')}`;
  let the: SignerStage;
  let orm: Orm;
  before(async () => {
    the = await startSignerStage();
    await the.sql(`create role ${role} login password 'test'`);
    await the.sql(`select grant_signer('${role}')`);
    const url = new URL(the.database.url);
    Object.assign(url, { username: role, password: 'test' });
    orm = await openOrm({ url: url.href, poolSize: 3, applicationName: 'signer' });
  });
  after(async () => {
    await the?.stopSigners();
    await orm?.close(true);
    await the?.sql(`drop owned by ${role}`);
    await the?.sql(`drop role ${role}`);
    await the?.stop();
  });

  it('is enough to sign with', async () => {
    await the.signer({ orm });
    for (const network of ['bsc', 'tron'] as const) {
      const payout = await the.planned(network);
      for (const purpose of ['gas', 'payout'] as const) await the.signed(await the.ask(payout, { purpose }));
    }
    expect(the.lines.filter(({ level }) => level === 'warn' || level === 'error')).to.deep.equal([]);
  });

  it('may write these columns and no other, and removes nothing', async () => {
    const may = await the.sql<{ what: string }>(
      `select verb || ' ' || c.table_name || '.' || c.column_name as what
       from information_schema.columns c cross join (values ('insert'), ('update'), ('references')) v (verb)
       where c.table_schema = 'public'
         and has_column_privilege(?, format('%I.%I', c.table_schema, c.table_name), c.column_name, verb)`,
      [role],
    );
    expect(may.map(({ what }) => what)).to.have.members(MAY_WRITE);
    const more = await the.sql<{ what: string }>(
      `select verb || ' ' || t.table_name as what from information_schema.tables t
       cross join (values ('delete'), ('truncate'), ('trigger')) v (verb)
       where t.table_schema = 'public'
         and has_table_privilege(?, format('%I.%I', t.table_schema, t.table_name), verb)`,
      [role],
    );
    expect(more).to.deep.equal([]);
    const sequences = await the.sql(
      `select sequencename as name from pg_sequences
       where has_sequence_privilege(?, format('%I.%I', schemaname, sequencename), 'usage,update')`,
      [role],
    );
    expect(sequences).to.deep.equal([]);
  });

  it('reads no secret, no name and no address of a person', async () => {
    const may = await the.sql<{ what: string }>(
      `select c.table_name || '.' || c.column_name as what from information_schema.columns c
       where c.table_schema = 'public' and c.table_name not in ('payouts', 'sent_transactions', 'gas_wallets',
           'withdraw_addresses', 'deposit_addresses', 'signer_state')
         and has_column_privilege(?, format('%I.%I', c.table_schema, c.table_name), c.column_name, 'select')`,
      [role],
    );
    expect(may.map(({ what }) => what).filter((what) => !what.startsWith('deposits.'))).to.have.members([
      'customers.id',
      'customers.merchant_id',
      'customers.mode',
      'customers.wallet_index',
      'payout_decisions.at',
      'payout_decisions.id',
      'payout_decisions.kind',
      'payout_decisions.merchant_id',
      'payout_decisions.seal',
      'key_in_use.mark',
      'key_in_use.name',
    ]);
  });
});
