import { expect } from 'chai';
import { eventually } from '../../dev/support/eventually.ts';
import { type FreshDatabase, migratedDatabase } from '../../dev/support/parts.ts';
import { startLoops } from '../../src/app/loops.ts';
import type { Deps } from '../../src/services/deps.ts';
import {
  isOverdue,
  listLoopRuns,
  noteFailedRun,
  noteGoodRun,
  registerLoops,
  takeTurn,
} from '../../src/services/loop-runs.ts';
import { testDeps } from '../support/gateway.ts';

const LOOP = { name: 'slow', everyMs: 600_000 };

describe('the background loops', function () {
  this.timeout(60_000);
  let database: FreshDatabase;
  let deps: Deps;
  let now = new Date();
  before(async () => {
    database = await migratedDatabase();
    deps = { ...(await testDeps(database.url, [])), now: () => now };
  });
  after(async () => {
    await deps?.orm.close(true);
    await database?.drop();
  });
  beforeEach(async () => {
    await deps.orm.em.fork().execute('delete from loop_runs');
    await registerLoops(deps, [LOOP]);
  });

  const turn = (first = false) => takeTurn(deps, { ...LOOP, leaseMs: 900_000, first });
  const pass = (seconds: number) => {
    now = new Date(now.getTime() + seconds * 1_000);
  };

  it('are run by one worker at a time where all would do the same, once in an interval', async () => {
    const taken = await Promise.all(Array.from({ length: 8 }, () => turn()));
    expect(taken.filter(Boolean)).to.have.length(1);
    pass(700);
    expect(await turn(), 'the other one is not over').to.equal(false);
    await noteGoodRun(deps, LOOP.name);
    expect(await turn()).to.equal(true);
    await noteFailedRun(deps, LOOP.name, 'x'.repeat(1_000));
    expect(await turn(), 'its time has not come').to.equal(false);
    expect(await turn(true), 'a worker that starts does not wait for it').to.equal(true);
    pass(901);
    expect(await turn(), 'the one that had it is gone').to.equal(true);
  });

  it('are overdue after a few turns and a minute, also one that never ran', async () => {
    const overdue = async () => (await listLoopRuns(deps)).some(isOverdue);
    pass(1_860);
    expect(await overdue()).to.equal(false);
    pass(1);
    expect(await overdue()).to.equal(true);
    await noteGoodRun(deps, LOOP.name);
    expect(await overdue()).to.equal(false);
  });

  it('tell by their rows when each ran well, and why one does not', async () => {
    const stop = new AbortController();
    await deps.orm.em.fork().execute('alter table sessions rename to elsewhere');
    const running = startLoops({ ...deps, now: () => new Date() }, new Map(), stop.signal);
    try {
      const loops = await eventually('every first run', async () => {
        const found = await listLoopRuns(deps);
        const rows = await deps.orm.em
          .fork()
          .execute<unknown[]>('select name from loop_runs where last_good_at is null and last_error is null');
        return found.length > 5 && rows.length === 0 && found;
      });
      // Without Temporal there is nothing to repair.
      const failing = loops.filter(({ fault }) => fault !== null).map(({ name }) => name);
      expect(failing).to.include('sessions').and.not.include('balances');
      expect(loops.find(({ name }) => name === 'sessions')?.fault).to.match(/sessions/);
    } finally {
      stop.abort();
      await Promise.all(running);
      await deps.orm.em.fork().execute('alter table elsewhere rename to sessions');
    }
  });
});
