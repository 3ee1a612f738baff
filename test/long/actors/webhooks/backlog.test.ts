import { expect } from 'chai';
import { eventually } from '../../../../dev/support/eventually.ts';
import { migratedDatabase } from '../../../../dev/support/parts.ts';
import { type Receiver, startReceiver } from '../../../../dev/support/receiver.ts';
import { createCustomer, createEndpoint } from '../../../../dev/support/use-cases.ts';
import type { Mode } from '../../../../src/domain/assets.ts';
import { createMerchant } from '../../../../src/services/merchants/merchants.ts';
import { performTestOutbox } from '../../../../src/services/outbox/perform.ts';
import { type Shops, startShops } from '../../../support/shop.ts';

const BACKLOG = 200;
const LIVE = 5;
const NEXT = 5;

/** Someone who gets `customer.created` in one mode. */
type Subscriber = { readonly receiver: Receiver; announce(times: number): Promise<void> };

/** The order in which a worker takes what lies before it: fairly between merchants, and live first. */
describe('a backlog', function () {
  this.timeout(180_000);
  let shops: Shops;
  const receivers: Receiver[] = [];

  before(async () => {
    shops = await startShops((await migratedDatabase()).url);
  });
  after(async () => {
    await shops?.stop();
    await Promise.all(receivers.map((receiver) => receiver.stop()));
  });

  const newMerchant = async () =>
    (await createMerchant(shops.gateway.deps, { name: 'Shop', subscriptionActive: true })).merchantId;
  const subscribe = async (merchantId: string, mode: Mode): Promise<Subscriber> => {
    const { deps } = shops.gateway;
    const receiver = await startReceiver({ behaviour: 200 });
    receivers.push(receiver);
    await createEndpoint(deps, {
      merchantId,
      mode,
      url: receiver.url,
      events: ['customer.created'],
      description: null,
    });
    let number = 0;
    const announce = async (times: number): Promise<void> => {
      for (let left = times; left > 0; left -= 1) {
        number += 1;
        await createCustomer(deps, {
          merchantId,
          mode,
          externalId: `u-${number}`,
          email: null,
          name: null,
          metadata: {},
        });
      }
    };
    return { receiver, announce };
  };
  it('of test traffic waits for live money, of the same merchant and of another', async () => {
    const [busy, other] = [await newMerchant(), await newMerchant()];
    const drill = await subscribe(busy, 'test');
    const [own, foreign] = [await subscribe(busy, 'live'), await subscribe(other, 'live')];
    await shops.gateway.stopWorker();
    const others = await shops.actorsThatRun();
    const started = async () => (await shops.actorsThatRun()) - others;
    await drill.announce(BACKLOG / 2);
    while ((await started()) < BACKLOG / 2) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      await performTestOutbox(shops.gateway.deps);
    }
    await Promise.all([own.announce(LIVE), foreign.announce(LIVE)]);
    // A start is not awaited by who asks for it; one that comes after the
    // worker competes with work that was begun, which is another matter.
    await eventually('the live actors', async () => (await started()) === BACKLOG / 2 + 2 * LIVE, 60_000);
    await shops.gateway.startWorker();
    await Promise.all([own.receiver.waitFor(LIVE, 60_000), foreign.receiver.waitFor(LIVE, 60_000)]);
    expect(drill.receiver.requests.length, 'test webhooks that came before the last live one').to.be.below(
      BACKLOG / 4,
    );
    await drill.receiver.waitFor(BACKLOG / 2, 90_000);
  });

  it('of one merchant does not keep another one waiting: both are served in turn', async () => {
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
