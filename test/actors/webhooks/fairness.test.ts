import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { migratedDatabase } from '../../../dev/support/parts.ts';
import { performTestOutbox } from '../../../src/services/outbox/perform.ts';
import { type Shops, startShops } from '../../support/shop.ts';

const BACKLOG = 200;
const NEXT = 5;

/**
 * What the Temporal server is told about fairness, and the key that every actor carries, must work together.
 */
describe('a merchant with a backlog', function () {
  this.timeout(120_000);
  let shops: Shops;

  before(async () => {
    shops = await startShops((await migratedDatabase()).url);
  });
  after(() => shops?.stop());

  it('does not keep another one waiting: both are served in turn', async () => {
    const [busy, quiet] = [await shops.merchant(), await shops.merchant()];
    const [flooded, calm] = [await busy.register(200), await quiet.register(200)];
    await shops.gateway.stopWorker();
    const others = await shops.actorsThatRun();
    const actors = (count: number) =>
      eventually(
        `${count} actors`,
        async () => {
          await performTestOutbox(shops.gateway.deps);
          return (await shops.actorsThatRun()) - others >= count;
        },
        60_000,
      );
    let left = BACKLOG;
    const work = async (): Promise<void> => {
      while (left-- > 0) await busy.announce();
    };
    await Promise.all([work(), work(), work()]);
    // The whole backlog lies in the server's queue before anything
    // of the other merchant does, and all of both before the worker.
    await actors(BACKLOG);
    for (let index = 0; index < NEXT; index += 1) await quiet.announce();
    await actors(BACKLOG + NEXT);
    await shops.gateway.startWorker();
    await calm.receiver.waitFor(NEXT, 60_000);
    const served = flooded.receiver.requests.length;
    expect(served, 'of the backlog before the last of the other merchant').to.be.below(BACKLOG / 2);
    await flooded.receiver.waitFor(BACKLOG, 90_000);
  });
});
