import { expect } from 'chai';
import fc from 'fast-check';
import stringWidth from 'string-width';
import {
  facts,
  listed,
  plain,
  table,
  type ViewColumn,
  viewOf,
  viewText,
  wrapped,
} from '../../src/cli/print.ts';

const WIDTH = 100;
const ACTIVE = /(?!\n)\p{Cc}/u;

describe('command line: what is printed', () => {
  it('fits and is harmless whatever is in it', () => {
    const cell = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.constant(null),
      fc.bigInt(),
      fc.string({ minLength: 90, maxLength: 300 }),
    );
    fc.assert(
      fc.property(
        fc.array(fc.array(cell, { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 5 }),
        (rows) => {
          const lines = [
            table(['ONE', 'TWO', 'THREE'], rows),
            facts({ one: rows[0]?.[0], another: rows[0]?.[1] }),
            wrapped(plain(rows[0]?.[2])).join(''),
          ];
          for (const line of lines.slice(0, 2).flatMap((text) => text.split('\n'))) {
            expect(stringWidth(line)).to.be.at.most(WIDTH);
            expect(line).to.not.match(ACTIVE);
          }
          // Of data nothing is left out but spaces; accents are put together.
          const whole = (text = '') => text.replace(/\s/g, '').normalize();
          expect(whole(lines[2])).to.equal(whole(plain(rows[0]?.[2])));
        },
      ),
    );
  });

  it('is of a list its columns, what to do next, when a limit cut it off, and what to do when it is empty', () => {
    const texts = { none: 'None: make one.', next: 'Do this.' };
    expect(listed([], texts)).to.deep.equal({ text: 'None: make one.' });
    const rows = [
      { id: 1, is_live: true, made_at: 'now', of: ['a', 'b'], own: { x: 1 } },
      { id: 2, is_live: false, made_at: null, of: [], own: { x: 1 } },
    ];
    expect(listed(rows, { ...texts, limit: 2 })).to.deep.equal({
      text: 'ID  MODE  MADE  OF\n1   live  now   a b\n2   test  –     –',
      next: 'Only the first 2 are shown: --limit shows more, up to 1000. Do this.',
    });
    const columns: ViewColumn[] = ['is_live', ['BOTH', 'id made_at'], ['ITS', ({ id }) => `number ${id}`]];
    expect(listed(rows, { ...texts, columns, limit: 3 })).to.deep.equal({
      text: 'MODE  BOTH   ITS\nlive  1 now  number 1\ntest  2      number 2',
      next: 'Do this.',
    });
  });

  it('is of a thing its fields, and tables of the lists in it', () => {
    const row = { merchantId: 'm', madeAt: new Date('2026-11-20T09:30:00.900Z'), bytes: 5n, none: null };
    const view = viewOf(row);
    expect(view).to.deep.equal({ merchant_id: 'm', made_at: '2026-11-20T09:30:00Z', bytes: '5', none: null });
    expect(viewText({ ...view, parts: [{ a: 1 }] }, { parts: ['a'] })).to.equal(
      'merchant_id  m\nmade_at      2026-11-20T09:30:00Z\nbytes        5\n\nparts:\nA\n1',
    );
  });
});
