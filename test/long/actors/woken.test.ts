import { USDT_UNIT } from '../../../dev/support/chain.ts';
import { eventually } from '../../../dev/support/eventually.ts';
import { type LiveMoney, startLiveMoney } from '../../../dev/support/live-money.ts';
import { waitLongForLocks } from '../../../dev/support/locks.ts';
import { repairActors } from '../../../src/services/repair/repair.ts';
import { depositsOf } from '../../actors/support/deposits.ts';

/** By itself it would sleep for minutes. */
describe('a deposit that sleeps on a chain that stood still', function () {
  this.timeout(240_000);
  let live: LiveMoney;
  before(async () => {
    live = await startLiveMoney();
  });
  after(() => live?.stop());
  const { pay, putToSleep } = depositsOf(() => live);

  it('is woken again where a wake met a look that was under way, which the server then forgets', async () => {
    const { deps } = live.gateway;
    const { hash, actor } = await pay(5n * USDT_UNIT);
    await putToSleep(hash, actor);
    await actor.terminate('begins anew, so that its first look is the one that is met');
    await waitLongForLocks(deps.orm);
    const em = deps.orm.em.fork();
    await em.begin();
    try {
      await em.execute('select id from deposits where transaction_hash = ? for update', [hash]);
      // Asked on the very connection that holds the row: one that is silent for long is taken for dead.
      const blocked = async (): Promise<number> => {
        await em.execute('select pg_stat_clear_snapshot()');
        const waiting = `wait_event_type = 'Lock' and query like '%update deposits set wake_at%' and datname = current_database()`;
        return (await em.execute<unknown[]>(`select pid from pg_stat_activity where ${waiting}`)).length;
      };
      await eventually(
        'the new actor',
        async () => (await blocked()) === 0 && (await repairActors(deps)).deposits > 0,
        60_000,
      );
      await eventually('the look that is about to sleep', async () => (await blocked()) === 1, 60_000);
      await live.chain.mine();
      await eventually('the wake', async () => (await blocked()) === 2, 60_000);
    } finally {
      await em.rollback();
    }
    await live.eventOf('deposit.confirming', hash);
  });
});
