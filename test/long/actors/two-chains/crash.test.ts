import { MikroORM } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { eventually } from '../../../../dev/support/eventually.ts';
import { type LiveChain, type LiveChains, startLiveChains } from '../../../../dev/support/live-chains.ts';
import type { LiveMoney } from '../../../../dev/support/live-money.ts';
import { ownProductionTemporal } from '../../../../dev/support/parts.ts';
import { type GatewayChild, startGatewayChild } from '../../../support/gateway-child.ts';

/** The production server of Temporal may have to be built first, once for a user. */
const BUILD_LIMIT_MS = 20 * 60_000;

/**
 * The gateway is killed with SIGKILL at a chosen point and started again:
 * every fact must survive, and none may be doubled, on either chain.
 */
for (const network of ['tron', 'bsc'] as const)
  describe(`a gateway that is killed while it watches ${network}`, function () {
    this.timeout(120_000);
    let chains: LiveChains;
    let live: LiveMoney;
    let chain: LiveChain;
    let child: GatewayChild;
    let locker: MikroORM;

    const env = () => ({
      ...live.env,
      [network === 'bsc' ? 'TRON_API_URLS' : 'BSC_RPC_URLS']: undefined,
    });

    before(async function () {
      this.timeout(BUILD_LIMIT_MS);
      chains = await startLiveChains({ temporal: ownProductionTemporal });
      live = chains.live;
      chain = chains[network];
      // Only the child works; the gateway of this process is kept for its services.
      await live.gateway.stopWorker();
      locker = await MikroORM.init({
        clientUrl: live.databaseUrl,
        entities: [],
        discovery: { warnWhenNoEntities: false },
      });
    });
    after(async () => {
      await locker?.close(true);
      await child?.child.kill();
      await chains?.stop();
    });
    beforeEach(async () => {
      live.receiver.setBehaviour(200);
      child = await startGatewayChild(env());
      await caughtUp();
    });
    afterEach(async () => {
      await child?.child.kill();
    });

    /**
     * The watcher that was killed is missed after its heartbeat's
     * time-out; from then on the new process follows the chain.
     */
    async function caughtUp(): Promise<void> {
      const since = new Date();
      await eventually(
        'a look at the chain by the new process',
        async () =>
          (
            await live.gateway.deps.orm.em
              .fork()
              .execute('select 1 from chain_cursors where network = ? and polled_at > ?', [network, since])
          ).length > 0,
        40_000,
      );
    }

    /**
     * Every state was announced with one id and one body each,
     * there is one deposit, and the ledger holds its amount once.
     */
    async function expectWholeAndSingle(hash: string, availableBefore: bigint): Promise<void> {
      await chain.finish();
      await live.eventOf('deposit.completed', hash, 60_000);
      await live.eventOf('deposit.confirming', hash, 60_000);
      await live.eventOf('deposit.detected', hash, 60_000);
      const about = live.receiver.requests.filter((request) => request.body.includes(hash));
      expect(about.every((request) => request.verified)).to.equal(true);
      for (const name of ['deposit.detected', 'deposit.confirming', 'deposit.completed']) {
        const bodies = about.filter((request) => request.body.includes(`"event":"${name}"`));
        expect(
          new Set(bodies.map((request) => request.headers['x-webhook-id'])).size,
          `${name} ids`,
        ).to.equal(1);
        expect(new Set(bodies.map((request) => request.body.toString())).size, `${name} bodies`).to.equal(1);
      }
      expect(await live.deposits(hash)).to.have.length(1);
      expect((await live.ledger('USDT', network))['available'] ?? 0n).to.equal(
        availableBefore + chain.usdtUnit,
      );
      expect((await live.ledger('USDT', network))['pending'] ?? 0n).to.equal(0n);
    }

    const available = async (): Promise<bigint> => (await live.ledger('USDT', network))['available'] ?? 0n;
    const pay = () => chain.pay({ currency: 'USDT', units: chain.usdtUnit });
    const rowOf = (hash: string) =>
      eventually('the deposit row', async () => (await live.deposits(hash))[0], 30_000);

    it('after the deposit row and before its actor', async () => {
      const before = await available();
      live.temporal.now.pause();
      const hash = await pay();
      await chain.mine(1);
      try {
        await rowOf(hash);
        await child.child.kill();
      } finally {
        live.temporal.now.resume();
      }
      child = await startGatewayChild(env());
      await expectWholeAndSingle(hash, before);
    });

    it('between a POST and the record of its result', async () => {
      const before = await available();
      const seen = live.receiver.requests.length;
      live.receiver.setBehaviour({ kind: 'hang' });
      const hash = await pay();
      await chain.mine(1);
      await live.receiver.waitFor(seen + 1, 30_000);
      await child.child.kill();
      live.receiver.setBehaviour(200);
      child = await startGatewayChild(env());
      await expectWholeAndSingle(hash, before);
      // The server gives the lost attempt up after its start-to-close time; only then the second one is made.
      const attempts = await eventually(
        'the second attempt',
        async () => {
          const rows = await live.gateway.deps.orm.em
            .fork()
            .execute<{ number: number; error: string | null }[]>(
              `select a.number, a.error from webhook_attempts a
              join webhook_deliveries d on d.id = a.delivery_id join events e on e.id = d.event_id
       where d.event_type = 'deposit.detected' and position(? in convert_from(e.body, 'UTF8')) > 0
         order by a.number`,
              [hash],
            );
          return rows.length >= 2 && rows;
        },
        40_000,
      );
      expect(attempts.map((attempt) => attempt.number)).to.deep.equal([1, 2]);
      expect(attempts[0]?.error).to.match(/interrupted/);
    });

    it('between a change of state and its delivery', async () => {
      const before = await available();
      const hash = await pay();
      await chain.mine(1);
      await live.eventOf('deposit.detected', hash, 30_000);
      // Deliveries cannot write their attempt while this lock is held; the change of state can be written.
      const em = locker.em.fork();
      await em.begin();
      await em.execute('lock table webhook_attempts in exclusive mode');
      await chain.finish();
      await eventually(
        'the completed row',
        async () => (await live.deposits(hash))[0]?.['status'] === 'completed',
        30_000,
      );
      await child.child.kill();
      await em.rollback();
      child = await startGatewayChild(env());
      await expectWholeAndSingle(hash, before);
    });

    it('between a change of state and the moment when Temporal hears of it', async () => {
      const before = await available();
      const hash = await pay();
      await chain.mine(1);
      await live.eventOf('deposit.detected', hash, 30_000);
      const em = locker.em.fork();
      // The transition takes its time, and the server is away when it is committed.
      await em.execute(
        `create function linger() returns trigger language plpgsql as $$ begin perform pg_sleep(2); return
        new; end $$`,
      );
      await em.execute(`create trigger linger before insert on deposit_transitions for each row
      when (new.to_state = 'confirming')
      execute function linger()`);
      await chain.mine(1);
      await eventually(
        'the transition under way',
        async () =>
          (await em.execute(`select 1 from pg_stat_activity where wait_event = 'PgSleep'`)).length > 0,
        30_000,
      );
      live.temporal.now.pause();
      try {
        await eventually(
          'the row',
          async () => (await live.deposits(hash))[0]?.['status'] === 'confirming',
          15_000,
        );
        await child.child.kill();
      } finally {
        live.temporal.now.resume();
      }
      await em.execute('drop function linger cascade');
      child = await startGatewayChild(env());
      // The chain stands: nothing but this says that the deposit moved.
      await live.eventOf('deposit.confirming', hash, 45_000);
      expect(await rowOf(hash)).to.include({ status: 'confirming' });
      await expectWholeAndSingle(hash, before);
    });
  });
