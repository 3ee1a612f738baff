import { expect } from 'chai';
import fc from 'fast-check';
import {
  type AdvanceFacts,
  confirmationsText,
  DEPOSIT_STATES,
  decideAdvance,
  FAILURE_CODES,
  MAX_WAIT_MS,
  MIN_WAIT_MS,
  mayTransition,
  startsGeneration,
  WAITING_STATES,
  waitDelayMs,
} from '../../src/domain/deposit.ts';

/** Everything that a completion needs, so that each test takes one thing away. */
const READY: AdvanceFacts = {
  state: 'confirming',
  blockNumber: 100,
  blockHash: '0xb',
  verified: true,
  requiredConfirmations: 15,
  headNumber: 115,
  finalizedNumber: 110,
  verifiedNumber: 110,
  belowMinimum: false,
  priced: true,
  currency: 'USDT',
};

const height = fc.integer({ min: 0, max: 200 });
const facts: fc.Arbitrary<AdvanceFacts> = fc.record({
  state: fc.constantFrom(...DEPOSIT_STATES),
  blockNumber: height,
  blockHash: fc.option(fc.constant('0xb')),
  verified: fc.boolean(),
  requiredConfirmations: fc.integer({ min: 1, max: 30 }),
  headNumber: height,
  finalizedNumber: height,
  verifiedNumber: height,
  belowMinimum: fc.boolean(),
  priced: fc.boolean(),
  currency: fc.constantFrom('USDT', 'BNB', 'TRX'),
});

describe('the states of a deposit', () => {
  it('follow one another as in this table and in no other way', () => {
    const allowed = [null, ...DEPOSIT_STATES].flatMap((from) =>
      DEPOSIT_STATES.flatMap((to) =>
        [null, ...FAILURE_CODES]
          .filter((failureCode) => mayTransition({ from, to, failureCode }))
          .map((code) => `${from} ${to} ${code}`),
      ),
    );
    const anyCode = [null, ...FAILURE_CODES];
    expect(allowed).to.have.members([
      ...anyCode.map((code) => `null detected ${code}`),
      ...anyCode.map((code) => `detected confirming ${code}`),
      ...anyCode.map((code) => `confirming completed ${code}`),
      ...anyCode.map((code) => `completed settled ${code}`),
      ...['detected', 'confirming', 'completed'].flatMap((from) =>
        FAILURE_CODES.map((code) => `${from} failed ${code}`),
      ),
      'failed detected REORGED',
      'failed completed MONTHLY_LIMIT',
      'failed completed BELOW_MINIMUM',
      'failed completed REJECTED_BY_OPERATOR',
    ]);
  });

  it('begin a new generation at birth and on the way back from failed only', () => {
    expect([null, ...DEPOSIT_STATES].filter(startsGeneration)).to.deep.equal([null, 'failed']);
  });
});

describe('the next step of a deposit', () => {
  it('has for people never more confirmations than it needs', () => {
    const told = [0, 18, 19, 378].map((seen) => confirmationsText(seen, 19));
    expect(told).to.deep.equal(['0 of 19', '18 of 19', '19 of 19', '19 of 19']);
  });

  it('is completed when confirmations, finality, second read and price are all there', () => {
    expect(decideAdvance(READY)).to.deep.equal({
      kind: 'move',
      to: 'completed',
      failureCode: null,
      reason: null,
    });
  });

  const MISSING: readonly [string, Partial<AdvanceFacts>, string][] = [
    ['a confirmation', { headNumber: 114 }, '14 of 15 confirmations'],
    ['finality', { finalizedNumber: 99 }, 'block 100 is not final yet: finality stands at 99'],
    [
      'the second read of the chain',
      { verifiedNumber: 99 },
      'block 100 is final and waits for its second read',
    ],
    [
      'the second read of the transfer',
      { verified: false },
      'block 100 is final and waits for its second read',
    ],
    [
      'the proof of what a trace showed',
      { verified: false, currency: 'BNB' },
      'a trace alone showed what came in block 100: it waits for the traces of two endpoints or a balance',
    ],
    ['a price', { priced: false, currency: 'BNB' }, 'no price for BNB yet'],
  ];
  for (const [what, change, reason] of MISSING)
    it(`waits for ${what} and says so`, () => {
      expect(decideAdvance({ ...READY, ...change })).to.include({ kind: 'wait', reason });
    });

  it('is never completed without all of them, whatever the facts are', () => {
    fc.assert(
      fc.property(facts, (given) => {
        const decision = decideAdvance(given);
        if (decision.kind !== 'move' || decision.to !== 'completed') return;
        expect(given.state).to.equal('confirming');
        expect(given.blockHash).to.not.equal(null);
        expect(given.headNumber - given.blockNumber).to.be.at.least(given.requiredConfirmations);
        expect(given.finalizedNumber).to.be.at.least(given.blockNumber);
        expect(given.verifiedNumber).to.be.at.least(given.blockNumber);
        expect(given.verified && given.priced && !given.belowMinimum).to.equal(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is always a step that the table allows, and never from a state at rest', () => {
    fc.assert(
      fc.property(facts, (given) => {
        const decision = decideAdvance(given);
        expect(decision.kind === 'rest').to.equal(!WAITING_STATES.includes(given.state));
        if (decision.kind === 'move')
          expect(mayTransition({ from: given.state, ...decision })).to.equal(true);
        if (decision.kind === 'wait') expect(decision.reason).to.not.equal('');
      }),
    );
  });

  it('stays permitted while the chain moves on', () => {
    fc.assert(
      fc.property(facts, height, height, height, (given, head, finalized, verified) => {
        const before = decideAdvance(given);
        const later = {
          ...given,
          headNumber: given.headNumber + head,
          finalizedNumber: given.finalizedNumber + finalized,
          verifiedNumber: given.verifiedNumber + verified,
        };
        if (before.kind === 'move') expect(decideAdvance(later)).to.deep.equal(before);
      }),
    );
  });

  it('is confirming from the first confirmation on, even where everything else is there', () => {
    expect(decideAdvance({ ...READY, state: 'detected' })).to.include({ kind: 'move', to: 'confirming' });
    expect(decideAdvance({ ...READY, state: 'detected', headNumber: 100 })).to.include({
      kind: 'wait',
      reason: '0 of 15 confirmations',
    });
    // A head behind the block (another endpoint answers) counts as none, not as a negative number.
    expect(decideAdvance({ ...READY, state: 'detected', headNumber: 90 })).to.include({
      kind: 'wait',
      reason: '0 of 15 confirmations',
    });
  });

  it('is failed for a replaced block only after finality has passed it and it was read again', () => {
    const orphaned = { ...READY, blockHash: null };
    expect(decideAdvance(orphaned)).to.include({ kind: 'move', to: 'failed', failureCode: 'REORGED' });
    for (const change of [{ finalizedNumber: 99 }, { verifiedNumber: 99 }])
      expect(decideAdvance({ ...orphaned, ...change })).to.include({ kind: 'wait', waitsFor: 'finality' });
  });

  it('is failed for an amount below the minimum, but not before it is known that the money is there', () => {
    const small = { ...READY, belowMinimum: true };
    expect(decideAdvance(small)).to.include({ kind: 'move', to: 'failed', failureCode: 'BELOW_MINIMUM' });
    expect(decideAdvance({ ...small, priced: false })).to.include({ failureCode: 'BELOW_MINIMUM' });
    for (const change of [{ headNumber: 114 }, { finalizedNumber: 99 }, { verified: false }])
      expect(decideAdvance({ ...small, ...change })).to.include({ kind: 'wait' });
  });
});

describe('the pause before the next look', () => {
  it('is half the time until the answer can change, within its limits', () => {
    expect([10_000, 3_000, 2_000, 1, 0, -5, 1e12].map(waitDelayMs)).to.deep.equal([
      5_000,
      1_500,
      MIN_WAIT_MS,
      MIN_WAIT_MS,
      MIN_WAIT_MS,
      MIN_WAIT_MS,
      MAX_WAIT_MS,
    ]);
  });
});
