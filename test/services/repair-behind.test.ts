import { expect } from 'chai';
import { countStuck, listStuck } from '../../src/services/deposits/stuck.ts';
import { ActorRefused, type Deps } from '../../src/services/deps.ts';
import { repairDeposits } from '../../src/services/repair.ts';
import { turnOf, wholeRun } from '../../src/services/repair-actors.ts';
import { linkTemporal, type TemporalLink } from '../../src/temporal/client.ts';
import { ensureSearchAttributes } from '../../src/temporal/search-attributes.ts';
import { eventually } from '../support/eventually.ts';
import { testDeps } from '../support/gateway.ts';
import { type FreshDatabase, freshDatabase, ownTemporal } from '../support/parts.ts';

/** More than a list shows. */
const BEFORE_IT = 1_100;
/** More than one page of a repair, and few enough to start their actors. */
const REPAIRED = 510;
const LAST = '00000000-0000-4000-8000-00000000ffff';

/** What lies behind many rows that cannot be helped is seen and helped all the same. */
describe('behind more than a thousand rows', function () {
  this.timeout(180_000);
  let database: FreshDatabase;
  let temporal: Awaited<ReturnType<typeof ownTemporal>>;
  let link: TemporalLink;
  let deps: Deps;
  before(async () => {
    [database, temporal] = await Promise.all([freshDatabase(), ownTemporal()]);
    link = linkTemporal({ address: temporal.now.address, namespace: 'default' });
    await ensureSearchAttributes(link, 'default');
    deps = await testDeps(database.url, [], { actors: link.actors });
    await deps.orm.migrator.up();
    await deps.orm.em.fork().transactional(async (em) => {
      await em.execute('set local session_replication_role = replica');
      for (const sql of SEED) await em.execute(sql);
    });
  });
  after(async () => {
    await deps?.orm.close(true);
    await link?.close();
    await temporal?.stop();
    await database?.drop();
  });

  it('that wait for a price, a deposit whose actor does not move is counted and listed', async () => {
    expect(await countStuck(deps)).to.equal(1);
    expect((await listStuck(deps)).map(({ deposit_id }) => deposit_id)).to.deep.equal([LAST]);
  });

  it('its actor is told in the next turn of the loop, where one turn does not reach it', async () => {
    await deps.orm.em.fork().transactional(async (em) => {
      await em.execute('set local session_replication_role = replica');
      await em.execute('delete from deposits where block_number between ? and ?', [REPAIRED + 1, BEFORE_IT]);
    });
    await repairDeposits(deps);
    const target = await workflowId();
    await eventually('the list of actors to show it', async () => (await link.actors.running([target])).has(target));
    const places = new Map();
    const turn = () => repairDeposits(deps, { ...turnOf(places), lookAtMost: 500 });
    const before = await told();
    for (let turns = 1; turns <= 2; turns += 1) await turn();
    expect(await told()).to.equal(before + 1);
    await turn();
    expect(await told(), 'another round begins with the oldest').to.equal(before + 1);
  });

  it('that Temporal refuses to be told, its actor is told', async () => {
    const [target, before] = [await workflowId(), await told()];
    const start: typeof link.actors.start = async (id, ...more) => {
      if (id !== target) throw new ActorRefused('not this one');
      await link.actors.start(id, ...more);
    };
    const run = wholeRun();
    const error = await repairDeposits({ ...deps, actors: { ...link.actors, start } }, run).catch((reason: Error) => reason);
    expect(error?.message).to.match(new RegExp(`^${REPAIRED} actors could not be started, the first deposit:bsc:.*: not this one$`));
    expect(await told()).to.equal(before + 1);
  });

  const workflowId = async () => {
    const [row] = await deps.orm.em
      .fork()
      .execute<{ hash: string }[]>('select transaction_hash as hash from deposits where id = ?', [LAST]);
    return `deposit:bsc:${row?.hash}:A:BNB`;
  };
  /** How often the last deposit's actor was told to look at its row. */
  async function told(): Promise<number> {
    const { events } = await link.client.workflow.getHandle(await workflowId()).fetchHistory();
    return (events ?? []).filter((event) => event.workflowExecutionSignaledEventAttributes).length;
  }
});

/** All are final, read twice and old enough; only the youngest has its price. */
const SEED = [
  `insert into chain_cursors (network, first_block, scanned_number, scanned_hash, reread_number, anchored_number, head_number, finalized_number,
     moved_at, finalized_moved_at, polled_at, version, created_at)
   values ('bsc', 1, 9000, '0x', 9000, 9000, 9000, 9000, now(), now(), now(), 1, now())`,
  `insert into deposits (id, merchant_id, customer_id, mode, network, currency, address, address_key, transaction_hash, block_number, block_hash,
     amount_units, amount_usd_cents, status, state_since, generation, sequence, simulated, required_confirmations, posting_count, detected_at, verified_at,
     rate_units, created_at, updated_at)
   select case when n > ${BEFORE_IT} then '${LAST}' else gen_random_uuid() end, gen_random_uuid(), gen_random_uuid(), 'live', 'bsc', 'BNB', 'A', 'a', md5(n::text), n, 'b', 1, 1,
     'confirming', at, 1, 1, false, 15, 1, at, at, case when n > ${BEFORE_IT} then 600 end, at, at
   from generate_series(1, ${BEFORE_IT + 1}) n, lateral (select now() - interval '30 minutes' + n * interval '1 second' as at) t`,
];
