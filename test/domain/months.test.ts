import { expect } from 'chai';
import fc from 'fast-check';
import { idsOfMoment, lowestId, timeOfId } from '../../src/domain/ids.ts';
import {
  isMonth,
  MONTHS_AHEAD,
  monthAfter,
  monthOf,
  monthsToMake,
  startOf,
} from '../../src/domain/months.ts';

const time = fc.date({
  min: new Date('2000-01-01T00:00:00Z'),
  max: new Date('2100-01-01T00:00:00Z'),
  noInvalidDate: true,
});

describe('a month', () => {
  it('begins at its first moment and ends before the next one begins', () => {
    fc.assert(
      fc.property(time, (at) => {
        const month = monthOf(at);
        expect(isMonth(month)).to.equal(true);
        expect(startOf(month) <= at && at < startOf(monthAfter(month, 1))).to.equal(true);
        expect(monthOf(new Date(startOf(month).getTime() - 1))).to.equal(monthAfter(month, -1));
      }),
    );
  });

  it('is made with partitions three months ahead, and the newest end is never within the next month', () => {
    fc.assert(
      fc.property(time, fc.integer({ min: -40, max: 10 }), (now, offset) => {
        const newest = monthAfter(monthOf(now), offset);
        const wanted = monthsToMake(newest, now);
        if (offset >= MONTHS_AHEAD) {
          expect(wanted).to.equal(undefined);
          return;
        }
        expect(wanted?.last).to.equal(monthAfter(monthOf(now), MONTHS_AHEAD));
        expect(wanted && wanted.first > newest && wanted.first > monthAfter(monthOf(now), 1)).to.equal(true);
        expect(wanted && wanted.first <= wanted.last).to.equal(true);
      }),
    );
  });
});

describe('an id that begins with a time', () => {
  it('lies in the order of the times, to the millisecond', () => {
    fc.assert(
      fc.property(time, time, (one, other) => {
        expect(timeOfId(lowestId(one)).getTime()).to.equal(one.getTime());
        expect(lowestId(one) < lowestId(other)).to.equal(one < other);
        const [lowest, highest] = idsOfMoment(lowestId(one));
        expect(lowest).to.equal(lowestId(one));
        expect(highest < lowestId(new Date(one.getTime() + 1))).to.equal(true);
      }),
    );
  });
});
