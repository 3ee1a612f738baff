import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { QUICK, randomHash } from '../../../dev/support/live-gateway.ts';
import { migratedDatabase } from '../../../dev/support/parts.ts';
import {
  type Behaviour,
  type ReceivedRequest,
  type Receiver,
  startReceiver,
} from '../../../dev/support/receiver.ts';
import { createCustomer, createEndpoint, simulateDeposit } from '../../../dev/support/use-cases.ts';
import { type Shops, startShops } from '../../support/shop.ts';

const STATES = ['detected', 'confirming', 'completed', 'settled'];

describe('the order of a deposit’s events at one endpoint', function () {
  this.timeout(90_000);
  let shops: Shops;
  const receivers: Receiver[] = [];
  before(async () => {
    shops = await startShops((await migratedDatabase()).url, QUICK);
  });
  after(async () => {
    await shops?.stop();
    await Promise.all(receivers.map((receiver) => receiver.stop()));
  });

  /** A customer of a new merchant, and a receiver of everything that happens to their deposits. */
  async function shop(behaviour: (request: ReceivedRequest) => Behaviour) {
    const { deps } = shops.gateway;
    const { scope } = await shops.merchant();
    const receiver = await startReceiver({ behaviour: (_, request) => behaviour(request) });
    receivers.push(receiver);
    const events = STATES.map((state) => `deposit.${state}`);
    const { secret } = await createEndpoint(deps, { ...scope, url: receiver.url, events, description: null });
    receiver.setSecret(secret);
    const names = { externalId: 'user-2', email: null, name: null, metadata: {} };
    const customerId = (await createCustomer(deps, { ...scope, ...names })).id;
    const simulate = async (more: Partial<Parameters<typeof simulateDeposit>[1]> = {}) =>
      await simulateDeposit(deps, {
        merchantId: scope.merchantId,
        customerId,
        network: 'bsc',
        currency: 'USDT',
        amountUnits: 10n ** 19n,
        transactionHash: randomHash(),
        outcome: 'settled',
        events: 'full',
        ...more,
      });
    return { receiver, simulate };
  }
  const stateOf = ({ body }: ReceivedRequest): string =>
    (JSON.parse(body.toString('utf8')) as { data: { status: string } }).data.status;
  const subjectOf = ({ body }: ReceivedRequest): string =>
    (JSON.parse(body.toString('utf8')) as { data: { id: string } }).data.id;
  const isFirst = ({ headers }: ReceivedRequest): boolean => headers['x-webhook-attempt'] === '1';

  const firstsOf = async (receiver: Receiver) =>
    await eventually(
      'four first attempts',
      () => {
        const firsts = receiver.requests.filter(isFirst);
        return firsts.length === STATES.length && firsts;
      },
      40_000,
    );

  it('is that in which they happened, for several deposits at once, and none waits for another deposit', async () => {
    const { receiver, simulate } = await shop(() => ({ kind: 'answer', status: 200, delayMs: 120 }));
    await Promise.all(Array.from({ length: 6 }, simulate));
    const requests = await receiver.waitFor(24, 60_000);
    expect(requests.every(({ verified }) => verified === true)).to.equal(true);
    const subjects = new Set(requests.map(subjectOf));
    expect(subjects.size).to.equal(6);
    for (const subject of subjects)
      expect(requests.filter((one) => subjectOf(one) === subject).map(stateOf)).to.deep.equal(STATES);
  });

  it('is left when one fails: the next goes out after its first attempt, not after its last', async () => {
    const { receiver, simulate } = await shop((request) => (stateOf(request) === 'detected' ? 503 : 200));
    await simulate();
    const firsts = await firstsOf(receiver);
    expect(firsts.map(stateOf)).to.deep.equal(STATES);
    // Its second attempt is due a tenth of a second after its first.
    await eventually('its second attempt', () => receiver.requests.some((one) => !isFirst(one)));
  });
});
