import { expect } from 'chai';
import type { Mode } from '../../../src/domain/assets.ts';
import { SLOTS_PER_ENDPOINT } from '../../../src/services/webhooks/lease.ts';
import {
  createDeliverySlots,
  SLOTS_PER_MERCHANT,
  TEST_SLOTS,
  TEST_SLOTS_PER_MERCHANT,
} from '../../../src/services/webhooks/slots.ts';

describe('the slots of deliveries', () => {
  const owner = (endpointId: string, merchantId = 'merchant', mode: Mode = 'live') => ({
    endpointId,
    merchantId,
    mode,
  });
  type Slots = ReturnType<typeof createDeliverySlots>;
  const make = () => createDeliverySlots({ nowMs: () => 1_000, waitHereMs: 50 });
  /** So many ask at once for one of each of these owners; the slots that were given. */
  const ask = async (slots: Slots, times: number, owners = [owner('a')]) => {
    const each = owners.flatMap((one) => Array.from({ length: times }, () => slots.take(one)));
    return (await Promise.all(each)).filter((taken) => taken !== undefined);
  };
  const endpoints = (count: number, merchantId: string, mode?: Mode) =>
    Array.from({ length: count }, (_, index) => owner(`${merchantId}-${mode}-${index}`, merchantId, mode));

  it('are at most ten for an endpoint, whatever comes at once, and none of another one', async () => {
    const slots = make();
    expect(await ask(slots, 200)).to.have.length(SLOTS_PER_ENDPOINT);
    expect(await slots.take(owner('b'))).to.have.property('free');
  });

  it('are limited for all endpoints of a merchant together, so that others keep theirs', async () => {
    const slots = make();
    expect(await ask(slots, 10, endpoints(30, 'merchant'))).to.have.length(SLOTS_PER_MERCHANT);
    expect(await slots.take(owner('x', 'another merchant'))).to.have.property('free');
  });

  it('of test mode take none of the live ones, neither of the same merchant nor of all of them together', async () => {
    const slots = make();
    const fill = async (merchantId: string) => await ask(slots, 3, endpoints(30, merchantId, 'test'));
    expect(await fill('merchant')).to.have.length(TEST_SLOTS_PER_MERCHANT);
    for (let index = 0; index < 10; index += 1) await fill(`m${index}`);
    const away = await slots.take(owner('other', 'yet another', 'test'));
    expect(away, `${TEST_SLOTS} are held`).to.equal(undefined);
    const live = await ask(slots, 1, endpoints(SLOTS_PER_MERCHANT, 'merchant', 'live'));
    expect(live).to.have.length(SLOTS_PER_MERCHANT);
  });
});
