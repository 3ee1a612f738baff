import { expect } from 'chai';
import fc from 'fast-check';
import type { SentFacts } from '../../../src/domain/payouts/facts.ts';
import { decideReclaim, type ReclaimFacts, type ReclaimStep } from '../../../src/domain/payouts/reclaim.ts';
import type { SentState } from '../../../src/domain/settlement.ts';
import { ago, anyFacts, NOW, sent } from './facts.ts';

const loan = (state: SentState = 'final', change: Partial<SentFacts> = {}): SentFacts =>
  sent(state, { purpose: 'delegate', asAsked: false, ...change });
const back = (state: SentState, change: Partial<SentFacts> = {}): SentFacts =>
  sent(state, { purpose: 'reclaim', ...change });
const given = (rows: readonly SentFacts[], change: Partial<ReclaimFacts> = {}): ReclaimFacts => ({
  loan: loan(),
  sent: rows,
  signer: { seenAt: ago(1_000), sealedReason: null },
  now: NOW,
  resendMs: 30_000,
  blockLookMs: 3_000,
  retriedAt: null,
  ...change,
});
const step = (rows: readonly SentFacts[], change?: Partial<ReclaimFacts>): ReclaimStep =>
  decideReclaim(given(rows, change));
const does = (one: ReclaimStep): string =>
  one.does === 'wait' ? `${one.code}${one.idle ? ', idle' : ''}` : one.does;

describe('energy that an address was lent for a payout which is over', () => {
  it('is asked for, signed, sent, and returned once final blocks show it', () => {
    expect(does(step([]))).to.equal('ask');
    expect(does(step([back('asked')]))).to.equal('on_its_way');
    expect(step([back('signed', { id: 'it' })])).to.deep.equal({ does: 'send', id: 'it' });
    expect(does(step([back('sent')]))).to.equal('on_its_way');
    expect(step([back('sent', { id: 'it', sentAt: ago(30_000) })])).to.include({ does: 'wait', wakes: 'it' });
    expect(does(step([back('mined')]))).to.equal('on_its_way');
    expect(does(step([back('final')]))).to.equal('returned');
  });

  it('is waited for before it is lent in a final block, and was never lent where it can land no more', () => {
    expect(does(step([], { loan: loan('sent') }))).to.equal('on_its_way');
    expect(does(step([], { loan: loan('mined') }))).to.equal('on_its_way');
    expect(does(step([], { loan: loan('sent', { expired: true }) }))).to.equal('never_lent');
  });

  it('is asked for again where its time was over, ever later, and at once when a person wants it', () => {
    const ended = (attempt: number, ms: number) => back('dead', { attempt, askedAt: ago(ms), refused: null });
    expect(does(step([back('sent', { expired: true })]))).to.equal('ask');
    expect(does(step([ended(1, 700_000)]))).to.equal('ask');
    const two = [ended(1, 900_000), ended(2, 599_999)];
    expect(does(step(two))).to.equal('failed_again, idle');
    // Nodes refuse what its sender cannot pay the bytes of.
    expect(step(two))
      .to.have.property('reason')
      .that.matches(/the gas wallet has coins for its bytes/);
    expect(does(step(two, { retriedAt: ago(1) }))).to.equal('ask');
    expect(does(step([ended(1, 900_000), ended(2, 600_000)]))).to.equal('ask');
  });

  it('waits for a signer, and gives up what that will never sign', () => {
    expect(does(step([back('asked')], { signer: { seenAt: null, sealedReason: null } }))).to.equal(
      'signer_away',
    );
    expect(does(step([back('asked')], { signer: { seenAt: NOW, sealedReason: 'no journal' } }))).to.equal(
      'sealed',
    );
    expect(does(step([back('asked', { refused: 'paused: x' })]))).to.equal('paused');
    expect(step([back('asked', { id: 'it', refused: 'payout: not lent' })])).to.deep.equal({
      does: 'give_up',
      id: 'it',
      reason: 'not lent',
    });
  });

  it('is taken back by one transaction at a time, whatever the rows say', () => {
    fc.assert(
      fc.property(anyFacts, fc.constantFrom<SentState>('final', 'sent', 'mined'), (some, state) => {
        const rows = some.sent.map((one) => ({ ...one, purpose: 'reclaim' as const }));
        const decided = step(rows, { loan: loan(state), retriedAt: some.retriedAt, signer: some.signer });
        const canLand = rows.some(
          (one) => !one.expired && ['asked', 'signed', 'sent', 'mined'].includes(one.state),
        );
        const isBack = rows.some((one) => one.state === 'final' && one.ok === true);
        if (decided.does === 'ask') expect([canLand, isBack, state]).to.deep.equal([false, false, 'final']);
        if (decided.does === 'wait' && decided.idle) expect(canLand).to.equal(false);
        if (isBack) expect(decided.does).to.equal('returned');
      }),
    );
  });
});
