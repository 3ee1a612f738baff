import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { type FreshDatabase, migratedDatabase } from '../../../dev/support/parts.ts';
import { type Receiver, startReceiver } from '../../../dev/support/receiver.ts';
import { createCustomer } from '../../../dev/support/use-cases.ts';
import { verifyWebhook } from '../../../packages/sdk/src/index.ts';
import { noticeTurn, watchDatabase } from '../../../src/app/notify/loop.ts';
import { createNotifier, type Notifier } from '../../../src/app/notify/notifier.ts';
import { createSecretBox } from '../../../src/base/secret-box.ts';
import { loadConfig } from '../../../src/config/index.ts';
import { gateway } from '../../cli/support.ts';
import { startTestApi, type TestApi } from '../../support/gateway.ts';
import { pay } from '../../support/payment-shop.ts';

const SECRET = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
const MINUTE_MS = 60_000;
const HOSTILE =
  '<!channel> @everyone `x` [a](http://evil.example) \u001b[31m\r\nforged & sk_live_ABCDEFGH https://u:hunter2@rpc.example/';
type Body = { event: string; text: string; content: string; data: Record<string, unknown> };

describe('notices', function () {
  this.timeout(60_000);
  let api: TestApi;
  let receiver: Receiver;
  let database: FreshDatabase;
  let notifier: Notifier;
  const clock = { aheadMs: 0 };
  const now = () => new Date(Date.now() + clock.aheadMs);

  const bodies = (): Body[] => receiver.requests.map(({ body }) => JSON.parse(body.toString()) as Body);
  const about = (key: string) => bodies().filter(({ data }) => data['key'] === key);
  const events = (key: string): string[] => about(key).map(({ event }) => event);
  const turn = (from = api) => noticeTurn(from.deps, { notifier, chains: new Map() });
  const pass = (ms: number) => {
    clock.aheadMs += ms;
  };
  /** So many turns, after each of which some minutes pass. */
  const turns = async (count: number, minutes = 1) => {
    for (let n = 0; n < count; n += 1) {
      await turn();
      pass(minutes * MINUTE_MS);
    }
  };
  const sql = (text: string, values: unknown[] = []) =>
    api.deps.orm.em.fork().execute<Record<string, unknown>[]>(text, values);
  /** A loop that fails, which is a condition that a test can make and end. */
  const failing = (name: string, fault = 'it does not work') =>
    sql('insert into loop_runs (name, every_ms, known_since, last_error) values (?, 1000, ?, ?)', [
      name,
      new Date(now().getTime() - 10 * MINUTE_MS),
      fault,
    ]);
  const mended = (name: string) => sql('delete from loop_runs where name = ?', [name]);

  before(async () => {
    database = await migratedDatabase();
    api = await startTestApi({ databaseUrl: database.url, deps: { now } });
  });
  beforeEach(async () => {
    for (const table of ['notices', 'loop_runs']) await sql(`delete from ${table}`);
    receiver = await startReceiver();
    const config = loadConfig({ NOTIFY_URL: receiver.url, NOTIFY_SECRET: SECRET });
    notifier = createNotifier(config, createSecretBox(Buffer.alloc(32))) as Notifier;
  });
  afterEach(() => receiver.stop());
  after(async () => {
    await api?.stop();
    await database?.drop();
  });

  it('tell of a deposit that needs an operator once when it begins and once when it ends, signed', async () => {
    const scope = { merchantId: api.merchant.id, mode: 'live' as const };
    const names = { externalId: 'u', email: null, name: null, metadata: {} };
    const { id: customer } = await createCustomer(api.deps, { ...scope, ...names });
    const deposit = await pay(api.deps, customer, { coins: '5', state: 'detected' });
    pass(120 * MINUTE_MS);
    await turns(3);
    const key = `deposit:${deposit}`;
    expect(events(key)).to.deep.equal(['notice.began']);
    const request = receiver.requests.find(({ body }) => body.toString().includes(key));
    const { body = Buffer.alloc(0), headers = {} } = request ?? {};
    expect(verifyWebhook({ rawBody: body, headers, secret: SECRET }).event).to.equal('notice.began');
    const of = `deposit ${deposit} of 5 USDT for merchant ${api.merchant.id} on bsc`;
    expect(about(key)[0]?.text).to.match(new RegExp(`^\\[critical\\] ${of} is detected since .* → `));
    await api.deps.orm.em.fork().transactional(async (em) => {
      // Past the guards: as if it had just gone on.
      await em.execute("set local session_replication_role = 'replica'");
      const since = new Date(now().getTime() + 60 * MINUTE_MS);
      await em.execute('update deposits set state_since = ? where id = ?', [since, deposit]);
    });
    await turns(5);
    expect(events(key)).to.deep.equal(['notice.began', 'notice.ended']);
    expect(about(key).at(-1)?.text).to.match(/^\[over after \d+ min\] deposit /);
  });

  it('that a receiver which is away does not take are kept, and told once each when it is back', async () => {
    receiver.setBehaviour(503);
    for (const name of ['stays', 'ends']) await failing(name);
    await turns(2);
    await mended('ends');
    await turns(4, 2);
    const tried = receiver.requests.length;
    expect(tried).to.be.greaterThan(2);
    receiver.setBehaviour(204);
    await turns(4, 20);
    const told = bodies()
      .slice(tried)
      .filter(({ data }) => /^loop:(ends|stays)$/.test(String(data['key'])));
    expect(told.map(({ event, data }) => `${data['key']} ${event}`).sort()).to.deep.equal([
      // An end whose beginning never got out is told as one notice, which says so.
      'loop:ends notice.ended',
      'loop:stays notice.began',
    ]);
    const ended = told.find(({ data }) => data['key'] === 'loop:ends');
    expect(ended?.data['beginning_told']).to.equal(false);
    expect(ended?.text).to.contain('which could not be told');
  });

  it('address nobody, break no line and hold no secret, whatever strangers wrote', async () => {
    await failing('hostile', HOSTILE.slice(0, 290));
    await turns(2);
    const [body] = about('loop:hostile');
    for (const bad of ['<!channel>', '@everyone', '\\u001b', '\\r', '\\n', ']('])
      expect(body?.text, bad).not.to.contain(bad);
    for (const secret of ['ABCDEFGH', 'hunter2']) expect(JSON.stringify(body)).not.to.contain(secret);
    expect(body?.text).to.contain('&lt;!channel&gt;').and.equal(body?.content);
  });

  it('can be tried, follow no redirect, and are signed with a secret that is derived where none is set', async () => {
    const env = { NOTIFY_URL: receiver.url, SECRETS_KEY: randomBytes(32).toString('base64') };
    receiver.setBehaviour([{ kind: 'redirect', to: `${receiver.url}/elsewhere` }, 200]);
    const refused = await gateway(['notify', 'test', '--by', 'Ann'], env);
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.match(/did not arrive at 127\.0\.0\.1:\d+: the receiver answered 302/);
    const told = await gateway(['notify', 'test', '--by', 'Ann'], env);
    const { host } = new URL(receiver.url);
    expect([told.code, told.stdout]).to.deep.equal([0, `The notice arrived at ${host}.\n`]);
    const shown = await gateway(['notify', 'secret', '--json'], env);
    const { secret } = JSON.parse(shown.stdout) as { secret: string };
    const [, { body, headers }, ...more] = receiver.requests as [unknown, Receiver['requests'][number]];
    expect(verifyWebhook({ rawBody: body, headers, secret }).event).to.equal('notice.test');
    expect(more).to.deep.equal([]);
  });

  it('tell of a database that is away, once when it lasts and once when it is back', async () => {
    const stop = new AbortController();
    let away = false;
    const probe = async () => {
      if (away) throw new Error('connection refused');
    };
    const watching = watchDatabase({ notifier, probe, awayMs: 300, lookMs: 20 }, stop.signal);
    const told = () => bodies().filter(({ data }) => data['kind'] === 'database');
    away = true;
    await eventually('the beginning', () => told().length === 1);
    expect(told()[0]?.text).to.match(/^\[critical\] the worker on .* does not reach PostgreSQL: /);
    away = false;
    await eventually('the end', () => told().length === 2);
    stop.abort();
    await watching;
    expect(told().map(({ event }) => event)).to.deep.equal(['notice.began', 'notice.ended']);
  });
});
