import { expect } from 'chai';
import type { Behaviour } from '../../../dev/support/receiver.ts';
import { type Bench, startDeliveries, type Target } from './support.ts';

const HOUR_MS = 3_600_000;
const [MINUTE, DAY] = [1 / 60, 24];

/** What the endpoint answers; how many hours pass before each delivery; which delivery disables it. */
const RUNS: readonly {
  what: string;
  answers: readonly Behaviour[];
  hours: readonly number[];
  disables: number | undefined;
}[] = [
  { what: '410 three times in a row within an hour', answers: [410], hours: [0, 0.5, 0.5], disables: 3 },
  { what: '410 often within less than an hour', answers: [410], hours: [0, 0, 0, 59 * MINUTE], disables: 0 },
  {
    what: '410 with a success between, which begins again',
    answers: [410, 410, 200, 410, 410, 410],
    hours: [0, 1, 1, 1, 1, 1],
    disables: 6,
  },
  { what: 'nothing good for less than five days', answers: [503], hours: [0, 5 * DAY - 0.1], disables: 0 },
  { what: 'nothing good for five days', answers: [503], hours: [0, 5 * DAY], disables: 2 },
  {
    what: 'a success at a later attempt of the delivery that comes after five days',
    answers: [404, 503, 503, 200, 503],
    hours: [0, 6 * DAY, 0, 4 * DAY],
    disables: 0,
  },
];

describe('the health of an endpoint', function () {
  this.timeout(20_000);
  let bench: Bench;
  before(async () => {
    bench = await startDeliveries();
  });
  after(() => bench?.stop());

  const enabled = async (target: Target): Promise<boolean> => (await bench.endpoint(target)).enabled;

  for (const { what, answers, hours, disables } of RUNS)
    it(`is ${disables ? `at its end with delivery ${disables}` : 'good enough'} after ${what}`, async () => {
      const target = await bench.target(answers);
      const seen: boolean[] = [];
      for (const pause of hours) {
        bench.pass(pause * HOUR_MS);
        await bench.toTheEnd(target);
        seen.push(await enabled(target));
      }
      expect(seen).to.deep.equal(hours.map((_, index) => index + 1 !== disables));
    });

  it('gets nothing more once it is disabled, and begins from nothing when it is enabled', async () => {
    const target = await bench.target(410);
    const late = await bench.make(target);
    for (let count = 0; count < 3; count += 1) {
      await bench.attempt(target);
      bench.pass(HOUR_MS);
    }
    expect(await bench.endpoint(target)).to.include({
      disabled_reason: 'it answered 410 Gone for an hour or more',
      consecutive_failures: 3,
    });
    expect(await bench.deliver(late)).to.deep.equal({
      kind: 'done',
      status: 'failed',
      message: 'the endpoint was disabled',
    });
    expect(target.receiver.requests).to.have.length(3);
    await bench.enable(target);
    const begun = { enabled: true, disabled_reason: null, consecutive_failures: 0 };
    expect(await bench.endpoint(target)).to.include(begun);
    for (const expected of [true, true, false]) {
      bench.pass(HOUR_MS);
      await bench.attempt(target);
      expect(await enabled(target)).to.equal(expected);
    }
  });
});
