import { expect } from 'chai';
import { createDeliverySlots, SLOT_LIMITS, SLOTS_PER_ENDPOINT, type Slot } from '../../../src/services/deliveries/slots.ts';

type Taken = Slot | { readonly waitMs: number };

const isSlot = (taken: Taken): taken is Slot => 'free' in taken;
const slotOf = (taken: Taken): Slot => {
  if (!isSlot(taken)) throw new Error(`sent away for ${taken.waitMs} ms`);
  return taken;
};

describe('the slots of an endpoint', () => {
  let nowMs = 0;
  const fresh = () => {
    nowMs = 0;
    return createDeliverySlots({ nowMs: () => nowMs });
  };
  const fill = async (slots: ReturnType<typeof fresh>, endpoint = 'e') =>
    await Promise.all(Array.from({ length: SLOTS_PER_ENDPOINT }, async (_, index) => slotOf(await slots.take(endpoint, `first-${index}`))));

  it('are ten, and each endpoint has its own', async () => {
    const slots = fresh();
    await fill(slots);
    nowMs = 10_000;
    expect(isSlot(await slots.take('e', 'x'))).to.equal(false);
    expect(isSlot(await slots.take('other', 'x'))).to.equal(true);
  });

  it('are handed over at once to those who wait here, first come first served, and never become eleven', async () => {
    const slots = fresh();
    const held = await fill(slots);
    const order: string[] = [];
    const take = async (id: string): Promise<Slot> => {
      const slot = slotOf(await slots.take('e', id));
      order.push(id);
      return slot;
    };
    const a = take('a');
    held[0]?.free();
    held[0]?.free();
    // Comes at the very moment of the hand-over and must not push in.
    const b = take('b');
    const c = take('c');
    expect((await a).waited).to.equal(true);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(order).to.deep.equal(['a']);
    (await a).free();
    await b;
    expect(order).to.deep.equal(['a', 'b']);
    held[1]?.free();
    expect((await c).waited).to.equal(true);
  });

  it('are waited for here only as long as they are worth it', async () => {
    const slots = fresh();
    await fill(slots);
    const began = performance.now();
    expect(isSlot(await slots.take('e', 'x'))).to.equal(false);
    expect(performance.now() - began).to.be.within(SLOT_LIMITS.hereMs - 20, SLOT_LIMITS.hereMs + 400);
  });

  it('that are held for ten seconds send each of a long queue away to a time of its own, two minutes at most', async () => {
    const slots = fresh();
    await fill(slots);
    nowMs = 10_000;
    const waits: number[] = [];
    for (let index = 0; index < 490; index += 1) {
      const taken = await slots.take('e', `d${index}`);
      if (!isSlot(taken)) waits.push(taken.waitMs);
    }
    expect(waits).to.have.length(490);
    expect(waits.slice(0, 50)).to.deep.equal(Array.from({ length: 50 }, (_, index) => (index + 1) * 1_000));
    expect(new Set(waits.slice(120))).to.deep.equal(new Set([SLOT_LIMITS.awayMaxMs]));
  });

  it('are kept for the one whose time has come, and given to others when it does not come', async () => {
    const slots = fresh();
    const held = await fill(slots);
    nowMs = 10_000;
    expect(await slots.take('e', 'early')).to.deep.equal({ waitMs: 1_000 });
    nowMs = 11_000;
    held[0]?.free();
    expect(isSlot(await slots.take('e', 'stranger'))).to.equal(false);
    const slot = slotOf(await slots.take('e', 'early'));
    nowMs = 12_000;
    slot.free();
    // The stranger's time comes, and passes unused.
    nowMs = 60_000;
    expect(isSlot(await slots.take('e', 'another'))).to.equal(true);
  });

  it('are waited for here by the one whose turn it is', async () => {
    const slots = fresh();
    const held = await fill(slots);
    nowMs = 10_000;
    await slots.take('e', 'next');
    nowMs = 11_000;
    const turn = slots.take('e', 'next');
    expect(isSlot(await slots.take('e', 'stranger'))).to.equal(false);
    held[0]?.free();
    expect(slotOf(await turn).waited).to.equal(true);
  });

  it('that are free before the time of those who stay away are given to whoever comes', async () => {
    const slots = fresh();
    const held = await fill(slots);
    nowMs = 10_000;
    for (let index = 0; index < 100; index += 1) await slots.take('e', `d${index}`);
    for (const slot of held) slot.free();
    expect(isSlot(await slots.take('e', 'fresh'))).to.equal(true);
    expect(isSlot(await slots.take('e', 'd99'))).to.equal(true);
  });

  it('let each of a long queue to a receiver that hangs ask only now and then, and are all used', async () => {
    nowMs = 0;
    const slots = createDeliverySlots({ nowMs: () => nowMs, hereMs: 0, turnMs: 0 });
    const queue = new Map(Array.from({ length: 300 }, (_, index) => [`d${index}`, 0]));
    const busy = new Map<Slot, number>();
    let asked = 0;
    for (nowMs = 0; nowMs < 200_000; nowMs += 100) {
      for (const [slot, endsMs] of busy) {
        if (endsMs > nowMs) continue;
        busy.delete(slot);
        slot.free();
      }
      for (const [id, comesMs] of queue) {
        if (comesMs > nowMs) continue;
        asked += 1;
        const taken = await slots.take('e', id);
        if (isSlot(taken)) {
          busy.set(taken, nowMs + 10_000);
          queue.delete(id);
        } else queue.set(id, nowMs + taken.waitMs);
        expect(busy.size).to.be.at.most(SLOTS_PER_ENDPOINT);
      }
    }
    // Ten slots of ten seconds: 200 at best. Asking every three seconds would be 13,000 times.
    expect(300 - queue.size).to.be.within(180, 200);
    expect(asked).to.be.below(2_000);
  });
});
