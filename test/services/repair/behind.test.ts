import { expect } from 'chai';
import { type FreshDatabase, migratedDatabase } from '../../../dev/support/parts.ts';
import { countStuck, listStuck } from '../../../src/services/deposits/stuck.ts';
import type { ActorPort, Deps } from '../../../src/services/deps.ts';
import { turnOf } from '../../../src/services/repair/actors.ts';
import { repairDeposits } from '../../../src/services/repair/repair.ts';
import { testDeps } from '../../support/gateway.ts';

/** More than a list shows, and more than two pages of a repair. */
const BEFORE_IT = 1_100;
const LAST = '00000000-0000-4000-8000-00000000ffff';

/** What lies behind many rows that cannot be helped is seen and helped all the same. */
describe('behind more than a thousand rows', () => {
  let database: FreshDatabase;
  let deps: Deps;
  /** Whom Temporal was asked to tell. Where all actors run, a repair has nothing else to ask of it. */
  let told: string[] = [];
  const actors: ActorPort = {
    start: async (workflowId) => {
      told.push(workflowId);
    },
    wake: async () => undefined,
    running: async (workflowIds) => new Set(workflowIds),
    isUnresponsive: async () => false,
  };
  before(async () => {
    database = await migratedDatabase();
    deps = await testDeps(database.url, [], { actors });
    await deps.orm.em.fork().transactional(async (em) => {
      await em.execute('set local session_replication_role = replica');
      for (const sql of SEED) await em.execute(sql);
    });
  });
  after(async () => {
    await deps?.orm.close(true);
    await database?.drop();
  });
  beforeEach(() => {
    told = [];
  });

  it('a deposit whose actor does not move is counted and listed, and its actor told in a later turn of the loop', async () => {
    expect(await countStuck(deps)).to.equal(1);
    expect((await listStuck(deps)).map(({ deposit_id }) => deposit_id)).to.deep.equal([LAST]);
    const places = new Map();
    const turn = () => repairDeposits(deps, { ...turnOf(places), lookAtMost: 500 });
    await turn();
    await turn();
    expect(told).to.have.length(1_000).and.not.include(OF_LAST);
    await turn();
    expect(told)
      .to.have.length(BEFORE_IT + 1)
      .and.include(OF_LAST);
    expect(new Set(told).size, 'each once').to.equal(BEFORE_IT + 1);
    told = [];
    await turn();
    expect(told, 'another round begins with the oldest').to.have.length(500).and.not.include(OF_LAST);
  });
});

/** The last hash; the address and the currency are those of all. */
const OF_LAST = 'deposit:bsc:the-last:A:BNB';

/** All are final, read twice and old enough; only the youngest has its price. */
const SEED = [
  `insert into chain_cursors (network, first_block, scanned_number, scanned_hash, reread_number,
     anchored_number, head_number, finalized_number,
     moved_at, finalized_moved_at, polled_at, version, created_at)
   values ('bsc', 1, 9000, '0x', 9000, 9000, 9000, 9000, now(), now(), now(), 1, now())`,
  `insert into deposits (id, merchant_id, customer_id, mode, network, currency, address, address_key,
     transaction_hash, block_number, block_hash,
     amount_units, amount_usd_cents, status, state_since, generation, sequence, simulated,
       required_confirmations, posting_count, detected_at, verified_at,
     rate_units, created_at, updated_at)
   select case when n > ${BEFORE_IT} then '${LAST}' else gen_random_uuid() end, gen_random_uuid(),
     gen_random_uuid(), 'live', 'bsc', 'BNB', 'A', 'a',
     case when n > ${BEFORE_IT} then 'the-last' else md5(n::text) end, n, 'b', 1, 1,
     'confirming', at, 1, 1, false, 15, 1, at, at, case when n > ${BEFORE_IT} then 600 end, at, at
   from generate_series(1, ${BEFORE_IT + 1}) n,
     lateral (select now() - interval '30 minutes' + n * interval '1 second' as at) t`,
];
