import { expect } from 'chai';
import { USDT_UNIT } from '../../../dev/support/chain.ts';
import { eventually } from '../../../dev/support/eventually.ts';
import { type LiveMoney, startLiveMoney } from '../../../dev/support/live-money.ts';
import { type Orm, openOrm } from '../../../src/db/orm.ts';
import { type GatewayChild, startGatewayChild } from '../../support/gateway-child.ts';

const TAKEN_OVER_WITHIN_MS = 30_000;
const FROZEN_MS = 32_000;
const LOCK = 4_711;

/**
 * A host that vanishes with its connections open: here its
 * watcher is frozen by SIGSTOP inside the transaction of a block.
 */
describe('a watcher that is frozen inside its transaction', function () {
  this.timeout(180_000);
  let live: LiveMoney;
  let plant: Orm;
  const children: GatewayChild[] = [];

  before(async () => {
    live = await startLiveMoney();
    // Only the children work; the gateway of this process is kept for its services.
    await live.gateway.stopWorker();
    plant = await openOrm({ url: live.databaseUrl, poolSize: 2, applicationName: 'plant' });
    await plant.em.fork().execute(
      `create function wait_here() returns trigger language plpgsql as $$
       begin perform pg_advisory_xact_lock_shared(${LOCK}); return new; end $$;
       create trigger wait_here before insert on deposits for each row execute function wait_here();`,
    );
  });
  after(async () => {
    for (const { child } of children) {
      child.resume();
      await child.kill();
    }
    await plant?.close(true);
    await live?.stop();
  });

  const startWorker = async (): Promise<GatewayChild> => {
    const child = await startGatewayChild(live.env, 'worker');
    children.push(child);
    return child;
  };
  const sql = <T>(text: string, params: unknown[] = []) => plant.em.fork().execute<T[]>(text, params);
  const scannedTo = (block: number, limitMs: number) =>
    eventually(
      `block ${block} scanned`,
      async () => (await sql('select 1 from chain_cursors where scanned_number >= ?', [block])).length > 0,
      limitMs,
    );
  const pay = (units: bigint) => live.chain.usdt.call('transfer', [live.address, units * USDT_UNIT]);

  it('holds the chain for less than 30 s, does no harm when it is thawed, and goes on by itself where it is the only one', async () => {
    const frozen = await startWorker();
    await scannedTo(await live.chain.mine(2), 30_000);
    const other = await startWorker();
    const first = await pay(1n);
    const holder = plant.em.fork();
    await holder.begin();
    await holder.execute('select pg_advisory_xact_lock(?)', [LOCK]);
    await live.chain.mine(1);
    const [inside] = await eventually('the insert of the deposit', async () => {
      const rows = await sql<{ pid: number }>(
        `select pid from pg_stat_activity where wait_event = 'advisory' and datname = current_database()`,
      );
      return rows.length > 0 && rows;
    });
    frozen.child.pause();
    const sinceMs = Date.now();
    await holder.commit();
    const stateOf = async () =>
      (await sql<{ state: string }>('select state from pg_stat_activity where pid = ?', [inside?.pid]))[0]
        ?.state;
    await eventually(
      'its connection within a transaction',
      async () => (await stateOf()) === 'idle in transaction',
      5_000,
    );

    const second = await pay(2n);
    const head = await live.chain.mine(4);
    await scannedTo(head, TAKEN_OVER_WITHIN_MS - (Date.now() - sinceMs));
    expect(await stateOf(), 'the connection of the frozen one').to.equal(undefined);
    for (const hash of [first, second]) expect(await live.deposits(hash)).to.have.length(1);

    frozen.child.resume();
    await live.chain.mine(6);
    for (const hash of [first, second]) {
      await live.eventOf('deposit.completed', hash, 60_000);
      expect(await live.deposits(hash)).to.have.length(1);
    }
    expect(await live.ledger()).to.include({
      available: 3n * USDT_UNIT,
      pending: 0n,
      chain: -3n * USDT_UNIT,
    });
    expect(frozen.child.running(), 'the thawed one lives').to.equal(true);

    await other.child.kill();
    frozen.child.pause();
    const meanwhile = await pay(8n);
    await live.chain.mine(8);
    // Longer than a watcher is missed: its heartbeat has ten seconds, its locks in the database twenty.
    await new Promise((resolve) => setTimeout(resolve, FROZEN_MS));
    expect(await live.deposits(meanwhile), 'nobody else watches').to.deep.equal([]);
    frozen.child.resume();
    await live.eventOf('deposit.completed', meanwhile, 90_000);
    const third = await pay(4n);
    await live.chain.mine(8);
    await live.eventOf('deposit.completed', third, 60_000);
    expect(await live.ledger()).to.include({ available: 15n * USDT_UNIT, pending: 0n });
  });
});
