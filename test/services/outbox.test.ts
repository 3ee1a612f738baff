import { expect } from 'chai';
import { type FreshDatabase, migratedDatabase, temporal } from '../../dev/support/parts.ts';
import { type ActorPort, ActorRefused, type Deps } from '../../src/services/deps.ts';
import { readAlarms } from '../../src/services/operations/conditions/conditions.ts';
import { insertOutbox } from '../../src/services/outbox/insert.ts';
import { performOutbox } from '../../src/services/outbox/perform.ts';
import { readOutbox } from '../../src/services/outbox/state.ts';
import { linkTemporal, type TemporalLink } from '../../src/temporal/client.ts';
import { testDeps } from '../support/gateway.ts';

/** Longer than the server lets a name be. */
const TOO_LONG = 'x'.repeat(1_001);
const REFUSED = 12;

/** A Temporal that takes all but what has no name for its type, or one that is too long. */
const taking: ActorPort = {
  start: async (_id, { workflowType }) => {
    if (['', TOO_LONG].includes(workflowType)) throw new ActorRefused('no such type');
  },
  wake: () => Promise.resolve(),
  running: () => Promise.resolve(new Set()),
  isUnresponsive: () => Promise.resolve(false),
};

describe('the outbox', function () {
  this.timeout(90_000);
  let database: FreshDatabase;
  let link: TemporalLink;
  let deps: Deps;
  let now = new Date();
  before(async () => {
    database = await migratedDatabase();
    link = linkTemporal({ address: (await temporal()).address, namespace: 'default' });
    deps = {
      ...(await testDeps(database.url, [], { actors: taking })),
      now: () => now,
    };
  });
  after(async () => {
    await deps?.orm.close(true);
    await link?.close();
    await database?.drop();
  });
  beforeEach(() => deps.orm.em.fork().execute('delete from outbox'));

  /** Messages with these ids; a type without a name, or one that is too long, is refused. */
  const put = async (ids: readonly string[], workflowType = 'nobodyRunsIt') =>
    await insertOutbox(
      deps.orm.em.fork(),
      deps,
      ids.map((workflowId) => ({
        workflowId,
        message: { workflowType, args: [], summary: 'a test' } as never,
      })),
    );
  const some = (name: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${name}-${index}-${now.getTime()}`);
  const pass = (seconds: number) => {
    now = new Date(now.getTime() + seconds * 1_000);
  };
  const left = async () =>
    (await deps.orm.em.fork().execute<{ id: string }[]>('select workflow_id as id from outbox')).map(
      ({ id }) => id,
    );

  it('performs what comes after messages that Temporal refuses, and keeps those in quarantine with an alarm', async () => {
    const bad = some('refused', REFUSED);
    await put(bad, TOO_LONG);
    await put(some('good', 1));
    pass(10);
    const real = { ...deps, actors: link.actors };
    expect(await performOutbox(real)).to.deep.equal({ performed: 1, failed: REFUSED });
    expect(await left()).to.have.members(bad);
    for (let turn = 0; turn < 9; turn += 1) {
      pass(60);
      await performOutbox(deps);
    }
    const state = await readOutbox(deps);
    expect(state.quarantined.map(({ workflowId }) => workflowId)).to.have.members(bad);
    expect(state.oldestMs).to.equal(0);
    const alarm = (await readAlarms(deps)).find(({ kind }) => kind === 'outbox');
    expect(alarm?.count).to.equal(REFUSED);
    expect(alarm?.action).to.contain('run "repair"');
    pass(60);
    expect(await performOutbox(deps), 'they are left alone for some minutes').to.deep.equal({
      performed: 0,
      failed: 0,
    });
    pass(600);
    expect((await performOutbox(deps)).failed, 'some are tried again').to.be.within(1, REFUSED);
    expect((await performOutbox(deps, { quarantined: 'all' })).failed, 'a repair tries all').to.equal(
      REFUSED,
    );
    expect(await left()).to.have.length(REFUSED);
  });

  it('performs new messages although hundreds that failed are due before them, and those as well', async () => {
    const failed = some('failed', 150);
    await put(failed);
    await deps.orm.em.fork().execute('update outbox set tries = 1');
    pass(1);
    const fresh = some('fresh', 100);
    await put(fresh);
    pass(10);
    expect((await performOutbox(deps)).failed).to.equal(0);
    const kept = await left();
    expect(kept.filter((id) => fresh.includes(id))).to.deep.equal([]);
    expect(kept.length).to.be.below(failed.length);
  });

  it('blames no message while Temporal is away', async () => {
    const away = linkTemporal({ address: '127.0.0.1:1', namespace: 'default' });
    try {
      await put(some('later', 20));
      pass(10);
      const gone: Deps = { ...deps, actors: away.actors };
      expect(await performOutbox(gone)).to.deep.equal({ performed: 0, failed: 20 });
      const rows = await deps.orm.em
        .fork()
        .execute<{ tries: number; refusals: number }[]>('select tries, refusals from outbox');
      expect(rows.filter(({ tries }) => tries === 0).length, 'was not even tried').to.be.at.least(12);
      expect(rows.filter(({ refusals }) => refusals > 0)).to.deep.equal([]);
      pass(60);
      expect(await performOutbox(deps)).to.deep.equal({ performed: 20, failed: 0 });
    } finally {
      await away.close();
    }
  });
});
