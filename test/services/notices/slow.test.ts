import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type FreshDatabase, migratedDatabase } from '../../../dev/support/parts.ts';
import { type Receiver, startReceiver } from '../../../dev/support/receiver.ts';
import { noticeTurn } from '../../../src/app/notify/loop.ts';
import { createNotifier, type Notifier } from '../../../src/app/notify/notifier.ts';
import { createSecretBox } from '../../../src/base/secret-box.ts';
import { loadConfig } from '../../../src/config/index.ts';
import { noteTold, noteUntold, takeDue } from '../../../src/services/notices/rows.ts';
import { startTestApi, type TestApi } from '../../support/gateway.ts';

const MINUTE_MS = 60_000;
const KEYS = ['one', 'two', 'three', 'late'];

describe('notices to a receiver that is slow', function () {
  this.timeout(60_000);
  let api: TestApi;
  let database: FreshDatabase;
  let receiver: Receiver;
  let notifier: Notifier;
  const clock = { aheadMs: 0 };
  const now = () => new Date(Date.now() + clock.aheadMs);
  const sql = (text: string, values: unknown[] = []) =>
    api.deps.orm.em.fork().execute<Record<string, unknown>[]>(text, values);
  const turn = (tellMs?: number) =>
    noticeTurn(api.deps, { notifier, chains: new Map(), ...(tellMs === undefined ? {} : { tellMs }) });
  /** What began a minute ago and was not told yet. */
  const begun = async (...keys: string[]) => {
    for (const key of keys)
      await sql(
        `insert into notices (id, key, kind, severity, reason, action, seen_at, last_seen_at, began_at, next_try_at)
         values (?, ?, 'loop', 'warning', 'it fails', 'see', ?, ?, ?, ?)`,
        [randomUUID(), key, now(), now(), now(), now()],
      );
  };
  const heard = () =>
    receiver.requests
      .map(({ body }) => JSON.parse(body.toString()) as { event: string; data: { key: string } })
      .filter(({ data }) => KEYS.includes(data.key))
      .map(({ event, data }) => `${data.key} ${event}`);

  before(async () => {
    database = await migratedDatabase();
    api = await startTestApi({ databaseUrl: database.url, deps: { now } });
  });
  beforeEach(async () => {
    await sql('delete from notices');
    receiver = await startReceiver();
    notifier = createNotifier(
      loadConfig({ NOTIFY_URL: receiver.url }),
      createSecretBox(Buffer.alloc(32)),
    ) as Notifier;
  });
  afterEach(() => receiver.stop());
  after(async () => {
    await api?.stop();
    await database?.drop();
  });

  it('come once each, where another worker takes over what the first had no time for', async () => {
    await begun('one', 'two', 'three');
    receiver.setBehaviour({ kind: 'answer', status: 200, delayMs: 500 });
    const slow = turn();
    await receiver.waitFor(1);
    clock.aheadMs += MINUTE_MS + 1_000;
    receiver.setBehaviour(200);
    await turn();
    await slow;
    const told = heard();
    // What is on its way when its minute is over may come again, under its id.
    expect(told.slice(1).sort()).to.deep.equal(['one', 'three', 'two'].map((key) => `${key} notice.began`));
  });

  it('end a turn in time, so that somebody looks what holds', async () => {
    await begun('one', 'two', 'three');
    receiver.setBehaviour(503);
    await turn(0);
    expect(heard()).to.have.length(1);
    await turn(0);
    expect(new Set(heard()).size).to.equal(2);
  });

  it('are not told again for what came too late about what another worker has told', async () => {
    await begun('late');
    const late = await takeDue(api.deps);
    clock.aheadMs += MINUTE_MS + 1_000;
    await sql('update notices set ended_at = ?, next_try_at = ?', [now(), now()]);
    await turn();
    expect(heard()).to.deep.equal(['late notice.ended']);
    if (!late) throw new Error('nothing was due');
    expect(late.what).to.equal('began');
    for (const note of [() => noteUntold(api.deps, late, 'no answer'), () => noteTold(api.deps, late)]) {
      await note();
      clock.aheadMs += 30 * MINUTE_MS;
      await turn();
    }
    expect(heard()).to.deep.equal(['late notice.ended']);
  });
});
