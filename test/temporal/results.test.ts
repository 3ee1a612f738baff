import { expect } from 'chai';
import { depositResult, linkResult, settlementResult } from '../../workflows/results.ts';

const ID = '0199d1f0-0000-7000-8000-000000000000';
const SINCE = new Date(0).toISOString();
const STEP = { since: SINCE, deliveries: [ID], note: 'why' };
const GOOD = {
  deposit: { ...STEP, state: 'confirming', sequence: 2, generation: 1, foreseen: true },
  link: { ...STEP, status: 'pending', waitMs: null },
  settlement: { kind: 'went', state: 'paying', note: 'why' },
};
/** For each kind of step, what is wrong with one member of its result. */
const WRONG: Readonly<Record<keyof typeof GOOD, readonly object[]>> = {
  deposit: [
    { state: 'gone' },
    { state: 7 },
    ...[0, -1, 1.5, '2', null].flatMap((count) => [{ sequence: count }, { generation: count }]),
    ...['never', 0, null].map((since) => ({ since })),
    ...['x', {}, ['x'], [7]].map((deliveries) => ({ deliveries })),
    { note: 7 },
    { foreseen: 'yes' },
  ],
  link: [
    { status: 'gone' },
    { since: 'never' },
    { deliveries: ['x'] },
    { note: null },
    ...[-1, 0, '5', 31 * 86_400_000].map((waitMs) => ({ waitMs })),
  ],
  settlement: [{ kind: 'gone' }, { state: 'gone' }, { state: null }, { note: 7 }],
};
const READ = { deposit: depositResult, link: linkResult, settlement: settlementResult };

describe('the result of an activity', () => {
  for (const kind of ['deposit', 'link', 'settlement'] as const)
    it(`is read for a ${kind} as what it is, and as none where a person has typed anything else`, () => {
      const read = READ[kind];
      expect(read(GOOD[kind])).to.include(GOOD[kind]);
      const nonsense = [undefined, null, true, 7, 'text', '', [], {}, [[]]];
      const wrong = [...nonsense, ...WRONG[kind].map((member) => ({ ...GOOD[kind], ...member }))];
      expect(wrong.filter((raw) => read(raw) !== undefined)).to.deep.equal([]);
    });
});
