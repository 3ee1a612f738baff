import { expect } from 'chai';
import fc from 'fast-check';
import type { LivingFacts } from '../../../src/domain/payouts/facts.ts';
import { describePause } from '../../../src/domain/payouts/pause.ts';
import { decideLiving } from '../../../src/domain/payouts/step.ts';
import { ago, anyFacts, does, facts, gas, NOW, sent } from './facts.ts';

describe('the next step of a payout, where people have decided about it', () => {
  const PAUSED = { paused: 'paused by Ann' };

  it('asks for nothing new while it is paused, and does everything else as if it were not', () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        const step = decideLiving({ ...given, paused: null });
        const paused = decideLiving({ ...given, ...PAUSED });
        if (step.does === 'prepare') expect(does(paused)).to.equal('paused');
        else expect(paused).to.deep.equal(step);
      }),
      { numRuns: 3_000 },
    );
  });

  const refusedAt = (ms: number, attempt = 1) => ({ attempt, refused: 'terms: bad', askedAt: ago(ms) });
  const cases: (readonly [string, LivingFacts, string])[] = [
    ['waits while it is paused', facts('planned', [], PAUSED), 'paused'],
    ['is cancelled while it is paused', facts('planned', [], { ...PAUSED, obsolete: 'x' }), 'cancel'],
    ['sends on what is signed', facts('paying', [sent('signed')], PAUSED), 'send'],
    ['sends on a top-up', facts('planned', [gas('signed')], PAUSED), 'send'],
    ['settles what is final', facts('paying', [sent('final')], PAUSED), 'settle'],
    [
      'says that the signer is paused, which goes by itself',
      facts('planned', [sent('asked', { refused: 'paused: since' })]),
      'paused',
    ],
    [
      'gives up at once what a person wants to see tried again',
      facts('planned', [sent('asked', refusedAt(2_000))], { retriedAt: ago(1_000) }),
      'give_up',
    ],
    [
      'never gives up by it what is not refused',
      facts('planned', [sent('asked', { askedAt: ago(2_000) })], { retriedAt: NOW }),
      'on_its_way',
    ],
  ];
  for (const [what, given, step] of cases)
    it(what, () => {
      expect(does(decideLiving(given))).to.equal(step);
    });

  it('says who paused it, why, and how it goes on', () => {
    const merchantId = '0192aaaa-0000-7000-8000-000000000000';
    const pause = { merchantId, byName: 'Ann', reason: 'an audit', at: NOW };
    expect(describePause(pause)).to.equal(
      `payouts of the merchant are paused by Ann since 2026-11-24T12:00:00Z: "payout resume --merchant ${merchantId}" lets them go on; what is signed already goes on; the reason given: an audit`,
    );
    expect(describePause({ ...pause, merchantId: null, reason: null })).to.equal(
      'all payouts are paused by Ann since 2026-11-24T12:00:00Z: "payout resume" lets them go on; what is signed already goes on',
    );
  });
});
