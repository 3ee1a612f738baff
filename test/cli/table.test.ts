import { expect } from 'chai';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { facts, listing, plain, table } from '../../src/cli/table.ts';
import { wrapped } from '../../src/cli/width.ts';

const WIDTH = 100;
const ACTIVE = /(?!\n)\p{Cc}/u;

describe('command line: lists', () => {
  it('fit and are harmless whatever is in them', () => {
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

  it('say when their limit cut them off, what to do next, and what to do when there is nothing', () => {
    const list = { header: ['A'], none: 'None: make one.', next: 'Do this.' };
    expect(listing({ ...list, rows: [] })).to.deep.equal({ text: 'None: make one.' });
    expect(listing({ ...list, rows: [[1], [2]], limit: { given: 2, most: 1_000 } }).next).to.equal(
      'Only the first 2 are shown: --limit shows more, up to 1000. Do this.',
    );
    expect(listing({ ...list, rows: [[1]], limit: { given: 2, most: 1_000 } }).next).to.equal('Do this.');
  });
});
