import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { type FreshDatabase, freshDatabase } from '../../../dev/support/parts.ts';
import { type Receiver, startReceiver } from '../../../dev/support/receiver.ts';
import { createCustomer } from '../../../dev/support/use-cases.ts';
import { verifyWebhook } from '../../../packages/sdk/src/index.ts';
import { noticeBody } from '../../../src/app/notify/body.ts';
import { noticeTurn, watchDatabase } from '../../../src/app/notify/loop.ts';
import { createNotifier, type Notifier, testNotice } from '../../../src/app/notify/notifier.ts';
import { createSecretBox } from '../../../src/base/secret-box.ts';
import { loadConfig } from '../../../src/config/index.ts';
import { openOrm } from '../../../src/db/orm.ts';
import { run, sql as statement } from '../../../src/db/sql.ts';
import { gateway } from '../../cli/support.ts';
import { startTestApi, type TestApi } from '../../support/gateway.ts';
import { startGate } from '../../support/http/gate.ts';
import { pay } from '../../support/payment-shop.ts';

const SECRET = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
const MINUTE_MS = 60_000;
const HOSTILE =
  '<!channel> @everyone `x` [a](http://evil.example) \u202e\u001b[31m\r\nforged & sk_live_ABCDEFGH https://u:hunter2@rpc.example/';
type Body = { event: string; text: string; content: string; data: Record<string, unknown> };

describe('notices', function () {
  this.timeout(60_000);
  let api: TestApi;
  let receiver: Receiver;
  let database: FreshDatabase;
  const clock = { aheadMs: 0 };
  let notifier: Notifier;

  let from = 0;
  const heard = () => receiver.requests.slice(from);
  const forget = (): void => {
    from = receiver.requests.length;
  };
  const bodies = (): Body[] => heard().map(({ body }) => JSON.parse(body.toString()) as Body);
  const events = (key: string): string[] =>
    bodies()
      .filter(({ data }) => data['key'] === key)
      .map(({ event }) => event);
  const turn = (from = api, by = notifier) => noticeTurn(from.deps, { notifier: by, chains: new Map() });
  const pass = (ms: number) => {
    clock.aheadMs += ms;
  };
  const sql = (text: string, values: unknown[] = []) =>
    api.deps.orm.em.fork().execute<Record<string, unknown>[]>(text, values);
  const notifierTo = (url: string) =>
    createNotifier(
      loadConfig({ NOTIFY_URL: url, NOTIFY_SECRET: SECRET }),
      createSecretBox(Buffer.alloc(32)),
    ) as Notifier;
  /** A loop that fails, which is a condition that a test can make and end. */
  const failing = (name: string, fault = 'it does not work') =>
    sql('insert into loop_runs (name, every_ms, known_since, last_error) values (?, 1000, ?, ?)', [
      name,
      new Date(Date.now() + clock.aheadMs - 10 * MINUTE_MS),
      fault,
    ]);
  const mended = (name: string) => sql('delete from loop_runs where name = ?', [name]);

  before(async () => {
    database = await freshDatabase();
    api = await startTestApi({
      databaseUrl: database.url,
      deps: { now: () => new Date(Date.now() + clock.aheadMs) },
    });
    receiver = await startReceiver();
    notifier = notifierTo(receiver.url);
  });
  beforeEach(() => {
    forget();
    receiver.setBehaviour(200);
  });
  after(async () => {
    await receiver?.stop();
    await api?.stop();
    await database?.drop();
  });

  it('tells of a deposit that needs an operator once when it begins and once when it ends, signed', async () => {
    const { id: customer } = await createCustomer(api.deps, {
      merchantId: api.merchant.id,
      mode: 'live',
      externalId: 'u',
      email: null,
      name: null,
      metadata: {},
    });
    const deposit = await pay(api.deps, customer, { coins: '5', state: 'detected' });
    pass(2 * 60 * MINUTE_MS);
    for (let n = 0; n < 3; n += 1) {
      await turn();
      pass(MINUTE_MS);
    }
    const key = `deposit:${deposit}`;
    expect(events(key)).to.deep.equal(['notice.began']);
    const [first] = heard().filter(({ body }) => body.toString().includes(key));
    const verified = verifyWebhook({
      rawBody: first?.body ?? Buffer.alloc(0),
      headers: first?.headers ?? {},
      secret: SECRET,
    });
    expect(verified.event).to.equal('notice.began');
    expect(bodies().find(({ data }) => data['key'] === key)?.text).to.match(
      new RegExp(
        `^\\[critical\\] deposit ${deposit} of 5 USDT for merchant ${api.merchant.id} on bsc is detected since .* → `,
      ),
    );
    await api.deps.orm.em.fork().transactional(async (em) => {
      // Past the guards: as if it had just gone on.
      await em.execute("set local session_replication_role = 'replica'");
      const since = new Date(Date.now() + clock.aheadMs + 60 * MINUTE_MS);
      await em.execute('update deposits set state_since = ? where id = ?', [since, deposit]);
    });
    for (let n = 0; n < 5; n += 1) {
      await turn();
      pass(MINUTE_MS);
    }
    expect(events(key)).to.deep.equal(['notice.began', 'notice.ended']);
    expect(bodies().findLast(({ data }) => data['key'] === key)?.text).to.match(
      /^\[over after \d+ min\] deposit /,
    );
  });

  it('tells nothing of what comes and goes', async () => {
    for (let n = 0; n < 4; n += 1) {
      await failing('flaps');
      await turn();
      pass(15_000);
      await mended('flaps');
      await turn();
      pass(3 * MINUTE_MS);
      await turn();
    }
    expect(events('loop:flaps')).to.deep.equal([]);
    // One that began does not end for a moment's quiet, and does not begin again.
    await failing('lasts');
    await turn();
    pass(MINUTE_MS);
    await turn();
    await mended('lasts');
    await turn();
    pass(MINUTE_MS);
    await failing('lasts');
    await turn();
    pass(MINUTE_MS);
    await turn();
    expect(events('loop:lasts')).to.deep.equal(['notice.began']);
    await mended('lasts');
    for (let n = 0; n < 3; n += 1) {
      pass(2 * MINUTE_MS);
      await turn();
    }
    expect(events('loop:lasts')).to.deep.equal(['notice.began', 'notice.ended']);
  });

  it('keeps what a receiver that is away does not take, and tells each once when it is back', async () => {
    receiver.setBehaviour(503);
    for (const name of ['stays', 'ends']) await failing(name);
    await turn();
    pass(MINUTE_MS);
    await turn();
    await mended('ends');
    for (let n = 0; n < 4; n += 1) {
      pass(2 * MINUTE_MS);
      await turn();
    }
    const tries = heard().length;
    expect(tries).to.be.greaterThan(2);
    const { stdout } = await gateway(['doctor', '--json'], {
      DATABASE_URL: database.url,
      NOTIFY_URL: receiver.url,
    });
    expect(stdout).to.match(
      /"name":"notices","ok":false,"detail":"\d+ could not be told: the receiver answered 503/,
    );
    forget();
    receiver.setBehaviour(204);
    for (let n = 0; n < 3; n += 1) {
      pass(20 * MINUTE_MS);
      await turn();
    }
    expect(events('loop:stays')).to.deep.equal(['notice.began']);
    // An end whose beginning never got out is told as one notice, which says so.
    expect(events('loop:ends')).to.deep.equal(['notice.ended']);
    const ended = bodies().find(({ data }) => data['key'] === 'loop:ends');
    expect(ended?.data['beginning_told']).to.equal(false);
    expect(ended?.text).to.contain('which could not be told');
    await mended('stays');
    pass(5 * MINUTE_MS);
    await turn();
  });

  it('is told by one of several workers, each time', async () => {
    const other = await startTestApi({
      databaseUrl: database.url,
      deps: { now: () => new Date(Date.now() + clock.aheadMs) },
    });
    await failing('both');
    for (let n = 0; n < 3; n += 1) {
      await Promise.all([turn(), turn(other), turn(), turn(other)]);
      pass(MINUTE_MS);
    }
    await mended('both');
    for (let n = 0; n < 4; n += 1) {
      await Promise.all([turn(), turn(other), turn(), turn(other)]);
      pass(MINUTE_MS);
    }
    await other.stop();
    expect(events('loop:both')).to.deep.equal(['notice.began', 'notice.ended']);
  });

  it('addresses nobody, breaks no line and holds no secret, whatever strangers wrote', async () => {
    await failing('hostile', HOSTILE.slice(0, 290));
    await turn();
    pass(MINUTE_MS);
    await turn();
    const body = bodies().find(({ data }) => data['key'] === 'loop:hostile');
    const whole = JSON.stringify(body);
    for (const bad of ['<!channel>', '@everyone', '\u202e', '\\u001b', '\\r', '\\n', 'ABCDEFGH', 'hunter2'])
      expect(body?.text, bad).not.to.contain(bad);
    for (const secret of ['ABCDEFGH', 'hunter2']) expect(whole).not.to.contain(secret);
    expect(body?.text).to.contain('&lt;!channel&gt;').and.equal(body?.content);
    expect(body?.text).to.not.contain('](');
    await mended('hostile');
  });

  it('are as short as chat tools take them, whatever they have to write of a text', () => {
    const told = { ...testNotice('&'.repeat(1_000)), reason: '<&>'.repeat(330), what: 'began' as const };
    const body = noticeBody(told, { publicUrl: undefined, now: new Date() }).toString();
    expect((JSON.parse(body) as Body).content)
      .to.have.length.below(2_000)
      .and.not.match(/&[a-z]*$/);
  });

  it('follows no redirect', async () => {
    receiver.setBehaviour({ kind: 'redirect', to: `${receiver.url}/elsewhere` });
    const told = await gateway(['notify', 'test', '--by', 'Ann'], {
      NOTIFY_URL: receiver.url,
      NOTIFY_SECRET: SECRET,
    });
    expect(told.code).to.equal(1);
    expect(told.stderr).to.match(/did not arrive at 127\.0\.0\.1:\d+: the receiver answered 302/);
    expect(heard()).to.have.length(1);
  });

  it('can be tried, and its secret shown: derived where none is set', async () => {
    const env = { NOTIFY_URL: receiver.url, SECRETS_KEY: randomBytes(32).toString('base64') };
    const told = await gateway(['notify', 'test', '--by', 'Ann'], env);
    expect([told.code, told.stdout]).to.deep.equal([
      0,
      `The notice arrived at ${new URL(receiver.url).host}.\n`,
    ]);
    const shown = await gateway(['notify', 'secret', '--json'], env);
    const { secret } = JSON.parse(shown.stdout) as { secret: string };
    const [request] = heard();
    expect(
      verifyWebhook({ rawBody: request?.body ?? Buffer.alloc(0), headers: request?.headers ?? {}, secret })
        .event,
    ).to.equal('notice.test');
    expect((await gateway(['notify', 'test'], {})).stderr).to.match(/NOTIFY_URL is not set/);
  });

  it('tells of a database that is away, once when it lasts and once when it is back', async () => {
    const gate = await startGate();
    const watched = new URL(database.url);
    gate.target(watched.href);
    watched.port = new URL(gate.url).port;
    const orm = await openOrm({ url: watched.href, poolSize: 1, applicationName: 'watched' });
    const stop = new AbortController();
    const probe = () => run(orm.em.fork(), statement`select 1`);
    const watching = watchDatabase({ notifier, probe, awayMs: 300, lookMs: 50 }, stop.signal);
    const told = () => bodies().filter(({ data }) => data['kind'] === 'database');
    // A moment is no outage.
    await gate.close();
    await gate.open();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(told()).to.deep.equal([]);
    await gate.close();
    await eventually('the beginning', () => told().some(({ event }) => event === 'notice.began'));
    expect(told()[0]?.text).to.match(/^\[critical\] the worker on .* does not reach PostgreSQL: /);
    await new Promise((resolve) => setTimeout(resolve, 500));
    await gate.open();
    await eventually('the end', () => told().some(({ event }) => event === 'notice.ended'));
    stop.abort();
    await watching;
    await orm.close(true);
    await gate.close();
    expect(told().map(({ event }) => event)).to.deep.equal(['notice.began', 'notice.ended']);
  });
});
