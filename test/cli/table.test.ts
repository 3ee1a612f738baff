import { expect } from 'chai';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { facts, listing, table } from '../../src/cli/table.ts';
import { wrapped } from '../../src/cli/width.ts';

const WIDTH = 100;
const ACTIVE = /(?![\n\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const ID = '3e3c0ebf-d57e-4e7c-999a-d121996d8b80';

describe('command line: lists', () => {
  it('are aligned by columns of a terminal, with wide characters and joined ones', () => {
    const shown = table(
      ['NAME', 'STATE'],
      [
        ['漢字', 'active'],
        ['👩‍👩‍👧', 'closed'],
        ['plain', 'active'],
        [null, 'closed'],
      ],
    ).split('\n');
    expect(
      new Set(shown.map((line) => stringWidth(line.replace(/(STATE|active|closed)$/, '')))),
    ).to.deep.equal(new Set([7]));
  });

  it('show below its row what does not fit beside the others, whole and by name', () => {
    const hash = `0x${'a'.repeat(64)}`;
    const shown = table(
      ['ID', 'TRANSACTION', 'STATE', 'REASON'],
      [
        [ID, hash, 'failed', null],
        [ID, hash, 'open', 'late'],
      ],
    );
    expect(shown.split('\n')).to.deep.equal([
      `${'ID'.padEnd(36)}  STATE   REASON`,
      `${ID}  failed  –`,
      `    transaction ${hash}`,
      `${ID}  open    late`,
      `    transaction ${hash}`,
    ]);
  });

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
            wrapped(String(rows[0]?.[2])).join(''),
          ];
          for (const line of lines.slice(0, 2).flatMap((text) => text.split('\n'))) {
            expect(stringWidth(line)).to.be.at.most(WIDTH);
            expect(line).to.not.match(ACTIVE);
          }
          // Of data nothing is left out but spaces; a dot may come before an arrow.
          expect(lines[2]?.replace(/[\s·]/g, '')).to.equal(String(rows[0]?.[2]).replace(/[\s·]/g, ''));
        },
      ),
    );
  });

  it('begin no line of data with the arrow that tells what to do, wherever the data has arrows', () => {
    for (const arrow of ['→', '➜', '⟶', '\u{1f852}'])
      for (let filled = 60; filled < 120; filled += 1) {
        const name = `${'x'.repeat(filled)} ${arrow} gateway payout accept ${arrow.repeat(90)}`;
        const lines = [...wrapped(`of merchant ${name}`, '  '), ...wrapped(`${arrow} ${name}`, '  ')];
        for (const line of lines) expect(line).to.not.match(/^\s*[→➜⟶\u{1f852}]/u);
      }
    for (const unseen of ['\u200d', '\u034f', '\ufe0f', '\u115f', '\u00a0', '\u3000\u2800', '  ', '\u0301'])
      for (const head of ['', 'x'.repeat(85)])
        expect(wrapped(`${unseen}→ run`, head).join(), JSON.stringify(unseen)).to.match(/·/);
    expect(wrapped('\uffeb run')).to.deep.equal(['·\uffeb run']);
    expect(wrapped('→'.repeat(300), 'x'.repeat(95))).to.have.length.above(10);
    expect(wrapped('do this', '  → ')).to.deep.equal(['  → do this']);
  });

  it('say when their limit cut them off, what to do next, and what to do when there is nothing', () => {
    const list = { header: ['A'], none: 'None: make one.', next: 'Do this.' };
    expect(listing({ ...list, rows: [] })).to.deep.equal({ text: 'None: make one.' });
    expect(listing({ ...list, rows: [[1], [2]], limit: { given: 2, most: 1_000 } }).next).to.equal(
      'Only the first 2 are shown: --limit shows more, up to 1000. Do this.',
    );
    expect(listing({ ...list, rows: [[1]], limit: { given: 2, most: 1_000 } }).next).to.equal('Do this.');
  });

  it('take 200,000 rows', function () {
    this.timeout(60_000);
    const rows = Array.from({ length: 200_000 }, (_, index) => [index, '漢字']);
    expect(table(['A', 'B'], rows).split('\n')).to.have.length(200_001);
  });
});
