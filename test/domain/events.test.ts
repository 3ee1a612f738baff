import { expect } from 'chai';
import fc from 'fast-check';
import {
  COMMON_EVENTS,
  EVENT_TYPES,
  isoSeconds,
  isSubscribed,
  NAMED_EVENTS,
  TEST_EVENT,
} from '../../src/domain/events.ts';

describe('the event types', () => {
  it('are seven that "*" stands for, in this order, and those that have to be named', () => {
    expect(EVENT_TYPES).to.deep.equal([...COMMON_EVENTS, ...NAMED_EVENTS]);
    for (const type of COMMON_EVENTS) expect(isSubscribed(['*'], type), type).to.equal(true);
    for (const type of [...NAMED_EVENTS, TEST_EVENT]) {
      expect(isSubscribed(['*'], type), type).to.equal(false);
      expect(isSubscribed(['*', type], type), type).to.equal(true);
    }
    expect(COMMON_EVENTS).to.deep.equal([
      'deposit.detected',
      'deposit.confirming',
      'deposit.completed',
      'deposit.settled',
      'deposit.failed',
      'customer.created',
      'payment.completed',
    ]);
  });
});

describe('a time on the wire', () => {
  it('is at most a second before the moment, for every moment of our era', () => {
    const moment = fc.date({
      min: new Date('1970-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(moment, (date) => {
        const text = isoSeconds(date);
        expect(text).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
        const late = date.getTime() - Date.parse(text);
        expect(late >= 0 && late < 1_000).to.equal(true);
      }),
    );
  });
});
