import { expect } from 'chai';
import fc from 'fast-check';
import { csvOf, defused } from '../../../src/services/lists/csv.ts';

/** What a spreadsheet program calculates: a text that begins so, but for a plain number. */
const isFormula = (cell: string): boolean =>
  /^["'\s\u200B-\u200F\u2060\uFEFF]*[=+\-@＝＋－＠]/.test(cell.replace(/^'.*/s, '')) &&
  !/^-\d+(\.\d+)?$/.test(cell);
/** A program that is set to another separator, or none that honours quotes, cuts there. */
const cutElsewhere = (text: string): string[] => text.split(/[;\t|\r\n]/);

/** RFC 4180 as a reader has it: commas, quoted cells with doubled quotes, lines that end in CRLF. */
function parse(text: string): string[][] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy)) {
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if (end !== ',') rows.push([]);
  }
  return rows.slice(0, -1);
}

describe('a CSV file', () => {
  const unit = fc.constantFrom(...'=+-@\t\r\n,;|"\' a1.＝\uFEFF'.split(''));
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit, maxLength: 12 }));
  const row = fc.array(text, { minLength: 2, maxLength: 4 });

  it('gives back what was put in, of any text, changed by apostrophes alone', () => {
    const bare = (value: string) => value.replaceAll("'", '');
    fc.assert(
      fc.property(fc.array(row, { minLength: 1 }), (rows) => {
        expect(parse(csvOf(rows))).to.deep.equal(rows.map((cells) => cells.map(defused)));
        for (const value of rows.flat()) expect(bare(defused(value))).to.equal(bare(value));
      }),
    );
  });

  it('has no cell that begins with a formula, whatever separator the reader is set to', () => {
    fc.assert(
      fc.property(row, (cells) => {
        for (const cell of cells.map(defused)) {
          expect(isFormula(cell), JSON.stringify(cell)).to.equal(false);
          for (const part of cutElsewhere(cell).slice(1))
            expect(isFormula(part) || /^-\d/.test(part), JSON.stringify(cell)).to.equal(false);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
