import { expect } from 'chai';
import fc from 'fast-check';
import type { LivingFacts, SentFacts } from '../../../src/domain/payouts/facts.ts';
import { decideLiving } from '../../../src/domain/payouts/step.ts';
import { ago, anyFacts, does, facts, gas, NOW, sent } from './facts.ts';

describe('the next step of a payout', () => {
  const payoutsOf = (rows: readonly SentFacts[]) =>
    rows.filter(({ purpose, state }) => purpose === 'payout' && state !== 'dead');

  it('never asks for a transfer, nor gives its deposits back, while one is asked for or signed', () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        const step = decideLiving(given);
        if (step.does === 'prepare' || step.does === 'cancel')
          expect([given.state, payoutsOf(given.sent)]).to.deep.equal(['planned', []]);
      }),
      { numRuns: 3_000 },
    );
  });

  it('settles only what a final block shows to have succeeded as it was signed', () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        if (decideLiving(given).does !== 'settle') return;
        const paid = payoutsOf(given.sent).find(({ state, ok }) => state === 'final' && ok === true);
        expect(paid?.asAsked).to.equal(true);
      }),
      { numRuns: 3_000 },
    );
  });

  it('fails only what no transaction can pay any more', () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        if (decideLiving(given).does !== 'fail') return;
        expect(given.state).to.equal('paying');
        for (const one of payoutsOf(given.sent))
          expect(
            one.placeTaken || one.expired || (one.state === 'final' && one.ok !== true),
            JSON.stringify(one),
          ).to.equal(true);
      }),
      { numRuns: 3_000 },
    );
  });

  it('gives up only what the signer has refused', () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        const step = decideLiving(given);
        if (step.does !== 'give_up') return;
        const rows = given.sent.filter(({ id, refused }) => id === step.id && refused !== null);
        expect(rows.map(({ state }) => state)).to.include('asked');
      }),
      { numRuns: 3_000 },
    );
  });

  it('waits with a sentence and a time, or does something', () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        const step = decideLiving(given);
        if (step.does !== 'wait') return;
        expect(step.reason).to.match(/\S/);
        expect(step.delayMs).to.be.within(100, 600_000);
      }),
      { numRuns: 3_000 },
    );
  });

  const cases: (readonly [string, LivingFacts, string])[] = [
    ['asks for what it takes where nothing was asked for', facts('planned', []), 'prepare'],
    ['asks again after what was given up', facts('planned', [sent('dead')]), 'prepare'],
    ['waits for the signer', facts('planned', [sent('asked')]), 'on_its_way'],
    [
      'says that no signer is there',
      facts('planned', [sent('asked')], { signer: { seenAt: ago(90_000), sealedReason: null } }),
      'signer_away',
    ],
    [
      'says that the signer is sealed',
      facts('planned', [sent('asked')], { signer: { seenAt: NOW, sealedReason: 'no passphrase' } }),
      'sealed',
    ],
    [
      'gives up what is more than a limit ever allows where a part of it goes',
      facts('planned', [sent('asked', { refused: 'limit 5: full' })], { goesInPart: true }),
      'give_up',
    ],
    [
      'waits where no deposit of it is small enough',
      facts('planned', [sent('asked', { refused: 'limit 5: full' })], { goesInPart: false }),
      'limit',
    ],
    ['waits for room below a limit', facts('planned', [sent('asked', { refused: 'limit: full' })]), 'limit'],
    [
      'waits until a new destination is old enough',
      facts('planned', [sent('asked', { refused: 'new_destination: wait' })]),
      'new_destination',
    ],
    [
      'says what the signer refuses',
      facts('planned', [sent('asked', { refused: 'backup: why' })]),
      'refused',
    ],
    [
      'gives up what was asked for wrongly',
      facts('planned', [sent('asked', { refused: 'terms: bad' })]),
      'give_up',
    ],
    [
      'does not give it up in haste',
      facts('planned', [sent('asked', { refused: 'terms: bad', askedAt: ago(1_000) })]),
      'refused',
    ],
    ['cancels for another destination', facts('planned', [], { obsolete: 'another' }), 'cancel'],
    [
      'does not cancel what the signer may be signing',
      facts('planned', [sent('asked')], { obsolete: 'another' }),
      'on_its_way',
    ],
    ['sends a top-up that was signed', facts('planned', [gas('signed')]), 'send'],
    ['waits for the top-up to be final', facts('planned', [gas('mined')]), 'on_its_way'],
    ['goes on once the top-up is final', facts('planned', [gas('final')]), 'prepare'],
    [
      'goes on where another attempt of the top-up has its place',
      facts('planned', [gas('sent', { placeTaken: true }), gas('final', { attempt: 2 })]),
      'prepare',
    ],
    ['pays once it is signed', facts('planned', [sent('signed')]), 'pay'],
    [
      'pays although the destination changed after that',
      facts('planned', [sent('signed')], { obsolete: 'x' }),
      'pay',
    ],
    ['sends what was signed', facts('paying', [sent('signed')]), 'send'],
    ['lets it be for a while', facts('paying', [sent('sent')]), 'on_its_way'],
    ['wakes its wallet then', facts('paying', [sent('sent', { sentAt: ago(16_000) })]), 'wakes sent 1'],
    [
      'sends the newest attempt',
      facts('paying', [sent('sent', { sentAt: ago(90_000) }), sent('signed', { attempt: 2 })]),
      'send',
    ],
    [
      'wakes the wallet also while the signer is asked for a better one',
      facts('paying', [sent('sent', { sentAt: ago(90_000) }), sent('asked', { attempt: 2 })]),
      'wakes sent 1',
    ],
    [
      'wakes the gas wallet for a top-up while a better one is asked for',
      facts('planned', [gas('sent', { sentAt: ago(90_000) }), gas('asked', { attempt: 2 })]),
      'wakes sent 1',
    ],
    [
      'wakes the wallet of what lost the block that settled its payout',
      facts('settled', [gas('final'), sent('sent', { sentAt: ago(16_000) })]),
      'wakes sent 1',
    ],
    ['and nothing more before its time', facts('settled', [sent('sent')]), 'on_its_way'],
    [
      'but no transfer of one that failed',
      facts('failed', [sent('sent', { sentAt: ago(16_000) })]),
      'on_its_way',
    ],
    [
      'lets what is in a block be',
      facts('paying', [sent('mined', { signedAt: ago(600_000) })]),
      'on_its_way',
    ],
    ['settles what is final', facts('paying', [sent('final')]), 'settle'],
    [
      'settles by any attempt',
      facts('paying', [sent('final'), sent('sent', { attempt: 2, placeTaken: true })]),
      'settle',
    ],
    [
      'settles nothing that moved something else',
      facts('paying', [sent('final', { asAsked: false })]),
      'contradiction',
    ],
    ['fails what failed', facts('paying', [sent('final', { ok: false })]), 'fail'],
    [
      'does not fail while another attempt may land',
      facts('paying', [sent('final', { ok: false }), sent('sent', { attempt: 2 })]),
      'on_its_way',
    ],
    [
      'fails what somebody else took the place of',
      facts('paying', [sent('sent', { placeTaken: true })]),
      'fail',
    ],
  ];
  cases.push(
    ['fails what ended by its time', facts('paying', [sent('sent', { expired: true })]), 'fail'],
    [
      'does not fail what is in a block',
      facts('paying', [sent('mined'), sent('sent', { expired: true })]),
      'on_its_way',
    ],
    [
      'asks for coins again where the time of a top-up is over',
      facts('planned', [gas('sent', { expired: true })]),
      'prepare',
    ],
    [
      'does not fail while another attempt may be signed',
      facts('paying', [sent('final', { ok: false }), sent('asked', { attempt: 2 })]),
      'on_its_way',
    ],
    [
      'gives up an attempt that is refused before it fails',
      facts('paying', [
        sent('final', { ok: false }),
        sent('asked', { attempt: 2, refused: 'new_destination: wait' }),
      ]),
      'give_up',
    ],
  );
  it('wakes the wallet of coins and of a loan, each in its time, where blocks of both were replaced', () => {
    const coins = gas('sent', { id: 'coins', sentAt: ago(16_000) });
    const loan = sent('sent', { id: 'loan', purpose: 'delegate', attempt: 2, sentAt: ago(1_000) });
    const payout = sent('sent', { sentAt: ago(1_000) });
    for (const [state, rows] of [
      ['planned', [loan, coins]],
      ['paying', [loan, coins, payout]],
    ] as const) {
      expect(does(decideLiving(facts(state, rows)))).to.equal('wakes coins');
      const late = [{ ...loan, sentAt: ago(16_000) }, { ...coins, sentAt: ago(1_000) }, ...rows.slice(2)];
      expect(does(decideLiving(facts(state, late)))).to.equal('wakes loan');
    }
  });

  for (const [what, given, step] of cases)
    it(what, () => {
      expect(does(decideLiving(given))).to.equal(step);
    });
});
