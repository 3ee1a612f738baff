import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../../dev/support/eventually.ts';
import { type FreshDatabase, migratedDatabase, tempDir } from '../../dev/support/parts.ts';
import { createSecretBox } from '../../src/base/secret-box.ts';
import { requireKeyInUse } from '../../src/services/secrets/key-in-use.ts';
import { call, startTestApi, type TestApi } from '../support/gateway.ts';
import { newUser, signIn } from '../support/sign-in.ts';
import { answer, type Env, gateway } from './support.ts';

const SECRETS_KEY = Buffer.from(Array.from({ length: 32 }, (_, index) => (index * 11) % 256)).toString(
  'base64',
);
const NAMES = {
  external_id: 'ext-4711',
  email: 'ann.secret@person.example',
  name: 'Ann Secretname',
  metadata: { iban: 'DE00-SECRET' },
};
const ORDER = { external_id: 'order-9911', description: 'a ring for Ann', metadata: { note: 'DE-ORDER' } };
const SECRETS = ['ext-4711', 'ann.secret', 'Secretname', 'DE00-SECRET', 'order-9911', 'ring for', 'DE-ORDER'];
const LIMITS_WRITTEN_EVERY_MS = 100;

describe('command line: a customer who wants to be forgotten', function () {
  this.timeout(240_000);
  let database: FreshDatabase;
  let api: TestApi;
  let env: Env;
  let cookie: string;
  let id: string;
  let neighbour: string;
  const sql = <T = Record<string, unknown>>(text: string, values: readonly unknown[] = []): Promise<T[]> =>
    api.deps.orm.em.fork().execute<T[]>(text, [...values]);
  const post = async (path: string, body: object, once?: string) => {
    const headers = {
      Cookie: cookie,
      'X-Mode': 'test',
      ...(once === undefined ? {} : { 'Idempotency-Key': once }),
    };
    const made = await call(`${api.url}${path}`, { body, headers });
    expect(made.status, made.text).to.equal(201);
    return made.body;
  };

  before(async () => {
    database = await migratedDatabase();
    api = await startTestApi({
      databaseUrl: database.url,
      deps: { secretBox: createSecretBox(Buffer.from(SECRETS_KEY, 'base64')) },
    });
    env = { DATABASE_URL: database.url, DATA_DIR: await tempDir('customers'), SECRETS_KEY };
    await requireKeyInUse(api.deps);
    // By a session, so that each step leaves an audit row as well.
    cookie = await signIn(api, await newUser(api));
    await post('/webhook-endpoints', { url: 'http://127.0.0.1:9/', events: ['*'] }, 'e');
    id = (await post('/customers', NAMES, 'c'))['id'];
    neighbour = (await post('/customers', { external_id: 'stays', email: 'stays@person.example' }, 'n'))[
      'id'
    ];
    const link = await post('/request-payment', { customer_id: id, amount_usd: 10, ...ORDER }, 'l');
    await post('/request-payment', { email: NAMES.email, amount_usd: 7, ...ORDER }, 'm');
    const paid = { customer_id: id, amount: '10', payment_token: link['token'], events: 'full' };
    await post('/test/simulate-deposit', paid, 'd');
    await post('/test/simulate-deposit', { customer_id: id, amount: '3', outcome: 'failed' }, 'f');
    await sql(
      `insert into webhook_attempts (delivery_id, round, number, started_at, finished_at, response_body)
       select d.id, 1, 1, now(), now(), 'thank you, ann.secret' from webhook_deliveries d
         join events e on e.id = d.event_id
       where e.subject_id <> ?`,
      [neighbour],
    );
    // The API writes what a client used up a moment after its answer.
    const used = () => sql('select * from rate_limits order by id');
    await eventually('the uses of the API, written down', async () => {
      const then = JSON.stringify(await used());
      await setTimeout(3 * LIMITS_WRITTEN_EVERY_MS);
      return JSON.stringify(await used()) === then;
    });
  });
  after(async () => {
    await api?.stop();
    await database?.drop();
  });

  /**
   * Every value of every table of the database as text: bytes as they would be read, what is sealed opened.
   */
  const everything = async (): Promise<string> => {
    const columns = await sql<{ name: string; column: string; type: string }>(
      `select t.table_name as name, c.column_name as column, c.data_type as type
       from information_schema.tables t
       join information_schema.columns c using (table_schema, table_name)
         where table_schema = 'public' and table_type = 'BASE TABLE'`,
    );
    const tables = Map.groupBy(columns, ({ name }) => name);
    expect(tables.size).to.be.greaterThan(30);
    const texts: string[] = [];
    for (const [name, its] of tables) {
      const values = its.map(({ column, type }) =>
        type === 'bytea' ? `encode("${column}", 'escape')` : `"${column}"::text`,
      );
      texts.push(
        JSON.stringify(
          await sql(`select '${name}' as of, concat_ws(' ', ${values.join(', ')}) as row from "${name}"`),
        ),
      );
    }
    for (const { id: row, body_sealed: sealed } of await sql<{ id: string; body_sealed: Buffer }>(
      'select * from idempotency_answers',
    ))
      texts.push(api.deps.secretBox.open(sealed, row));
    return texts.join('\n');
  };

  it('leaves no name in any table, every amount, one row that says who and why, and the neighbour alone', async () => {
    const before = await everything();
    for (const secret of SECRETS) expect(before).to.contain(secret);
    const books = async () =>
      JSON.stringify(await sql('select account, amount_units::text from ledger_entries order by 1, 2'));
    const ledger = await books();

    // Where it cannot be written down who did it, nothing changes.
    await sql(`create function no_action() returns trigger language plpgsql as $$
      begin raise exception 'no room'; end $$;
      create trigger no_action before insert on operator_actions for each row execute function no_action()`);
    const erase = ['customer', 'erase', id, '--by', 'ann', '--reason', 'request of 20 November'];
    const failed = await gateway(erase, env);
    await sql('drop function no_action() cascade');
    expect([failed.code, failed.stderr.includes('no room')]).to.deep.equal([1, true]);
    expect(await everything()).to.equal(before);

    const erased = await answer(erase, env);
    expect(Object.keys(erased)).to.deep.equal(['customer_id', 'events', 'answers']);
    expect(erased).to.deep.include({ customer_id: id, answers: 5 });
    expect(erased['events']).to.be.at.least(5);
    const after = await everything();
    for (const secret of SECRETS) expect(after, secret).to.not.contain(secret);
    expect(after).to.contain('stays@person.example').and.contain(neighbour);
    expect(await books()).to.equal(ledger);

    const { actions } = await answer<{ actions: Record<string, unknown>[] }>(
      ['audit', 'list', '--limit', '1'],
      env,
    );
    expect(actions[0]).to.include({
      action: 'customer.erase',
      by: 'ann',
      subject: id,
      merchant_id: api.merchant.id,
    });
    expect(actions[0]).to.include({ reason: 'request of 20 November', mode: 'test' });
    const again = await gateway(erase, env);
    expect([again.code, again.stderr]).to.deep.equal([0, '']);
    expect(again.stdout.replaceAll('\n', ' ')).to.match(
      /0 events and 0 stored answers were changed\. .*docs\/privacy\.md\. $/,
    );
  });
});
