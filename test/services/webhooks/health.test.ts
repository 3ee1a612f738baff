import { expect } from 'chai';
import { type Bench, startDeliveries, type Target } from './support.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

describe('the health of an endpoint', function () {
  this.timeout(20_000);
  let bench: Bench;
  before(async () => {
    bench = await startDeliveries();
  });
  after(() => bench?.stop());

  const enabled = async (target: Target): Promise<boolean> => (await bench.endpoint(target)).enabled;

  describe('by 410 Gone', () => {
    it('disables with the third delivery in a row when an hour lies between the first and it', async () => {
      const target = await bench.target(410);
      await bench.attempt(target);
      bench.pass(30 * MINUTE_MS);
      await bench.attempt(target);
      expect(await enabled(target)).to.equal(true);
      bench.pass(30 * MINUTE_MS);
      await bench.attempt(target);
      const after = await bench.endpoint(target);
      expect(after).to.include({ enabled: false, last_status_code: 410, consecutive_failures: 3 });
      expect(after.disabled_reason).to.contain('410');
    });

    it('does not for many within a minute less than an hour, nor for two over a day', async () => {
      const many = await bench.target(410);
      for (let count = 0; count < 5; count += 1) await bench.attempt(many);
      bench.pass(59 * MINUTE_MS);
      await bench.attempt(many);
      expect(await enabled(many)).to.equal(true);
      const two = await bench.target(410);
      await bench.attempt(two);
      bench.pass(DAY_MS);
      await bench.attempt(two);
      expect(await enabled(two)).to.equal(true);
    });

    for (const [name, other] of [
      ['a success', 200],
      ['another final answer', 404],
    ] as const) {
      it(`begins again after ${name}`, async () => {
        const target = await bench.target([410, 410, other, 410, 410, 410]);
        for (let count = 0; count < 5; count += 1) {
          await bench.attempt(target);
          bench.pass(HOUR_MS);
        }
        expect(await enabled(target)).to.equal(true);
        await bench.attempt(target);
        expect(await enabled(target)).to.equal(false);
      });
    }

    it('counts deliveries and not attempts: one that got 503 first and 410 then is one of the three', async () => {
      const target = await bench.target([410, 503, 410, 410]);
      await bench.toTheEnd(target);
      await bench.toTheEnd(target);
      bench.pass(HOUR_MS);
      await bench.toTheEnd(target);
      expect(target.receiver.requests).to.have.length(4);
      expect(await enabled(target)).to.equal(false);
    });

    it('begins again after a delivery whose attempts were used up by other answers', async () => {
      const target = await bench.target([410, 410, 503, 503, 503, 503, 503, 410]);
      for (let count = 0; count < 3; count += 1) await bench.toTheEnd(target);
      bench.pass(HOUR_MS);
      await bench.toTheEnd(target);
      expect(await enabled(target)).to.equal(true);
    });
  });

  describe('by five days of failure', () => {
    it('disables with the first delivery that fails after five days without a success', async () => {
      const target = await bench.target([503]);
      await bench.toTheEnd(target);
      bench.pass(5 * DAY_MS - 10 * MINUTE_MS);
      await bench.toTheEnd(target);
      expect(await enabled(target)).to.equal(true);
      bench.pass(10 * MINUTE_MS);
      await bench.toTheEnd(target);
      const after = await bench.endpoint(target);
      expect(after).to.include({ enabled: false, consecutive_failures: 15 });
      expect(after.disabled_reason).to.contain('five days');
    });

    it('counts answers that are never tried again and refused connections alike', async () => {
      const target = await bench.target([404]);
      await bench.attempt(target);
      bench.pass(5 * DAY_MS);
      await target.receiver.stop();
      await bench.toTheEnd(target);
      expect(await bench.endpoint(target)).to.include({ enabled: false, last_status_code: null });
    });

    it('gives a delivery all its attempts first: a success among them is a success', async () => {
      const target = await bench.target([404, 503, 503, 200, 503]);
      await bench.attempt(target);
      bench.pass(6 * DAY_MS);
      expect(await bench.toTheEnd(target)).to.include({ status: 'succeeded' });
      expect(await bench.endpoint(target)).to.include({ enabled: true, consecutive_failures: 0 });
      await bench.attempt(target);
      bench.pass(4 * DAY_MS);
      await bench.toTheEnd(target);
      expect(await enabled(target)).to.equal(true);
    });

    it('is not set off by a success long ago and one failure now', async () => {
      const target = await bench.target([200, 503]);
      await bench.toTheEnd(target);
      bench.pass(30 * DAY_MS);
      await bench.toTheEnd(target);
      expect(await enabled(target)).to.equal(true);
    });
  });

  it('gets nothing more once it is disabled, and begins from nothing when it is enabled', async () => {
    const target = await bench.target(410);
    const late = await bench.make(target);
    for (let count = 0; count < 3; count += 1) {
      await bench.attempt(target);
      bench.pass(HOUR_MS);
    }
    expect(await bench.deliver(late)).to.deep.equal({
      kind: 'done',
      status: 'failed',
      message: 'the endpoint was disabled',
    });
    expect(target.receiver.requests).to.have.length(3);
    await bench.enable(target);
    expect(await bench.endpoint(target)).to.include({
      enabled: true,
      disabled_reason: null,
      consecutive_failures: 0,
    });
    bench.pass(HOUR_MS);
    await bench.attempt(target);
    await bench.attempt(target);
    expect(await bench.endpoint(target)).to.include({ enabled: true, consecutive_failures: 2 });
    bench.pass(HOUR_MS);
    await bench.attempt(target);
    expect(await enabled(target)).to.equal(false);
  });

  it('shows the newest answer, also of many in one second', async () => {
    const target = await bench.target([200, 200, 201, 200]);
    await bench.attempt(target);
    const first = await bench.endpoint(target);
    await bench.attempt(target);
    await bench.attempt(target);
    expect(await bench.endpoint(target)).to.include({
      last_status_code: 201,
      last_delivery_at: first.last_delivery_at,
    });
    bench.pass(1_000);
    await bench.attempt(target);
    const last = await bench.endpoint(target);
    expect(last.last_status_code).to.equal(200);
    expect(last.last_delivery_at).not.to.equal(first.last_delivery_at);
  });
});
