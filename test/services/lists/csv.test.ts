import { expect } from 'chai';
import fc from 'fast-check';
import { type CsvCell, csvOf, defused } from '../../../src/services/lists/csv.ts';

/** RFC 4180 as a reader has it: cells between separators, quoted ones with doubled quotes. */
function parse(text: string, separator = ','): string[][] {
  const rows: string[][] = [[]];
  let at = 0;
  while (at < text.length) {
    let cell = '';
    if (text[at] === '"') {
      for (at += 1; text[at] !== '"' || text[at + 1] === '"'; at += 1) {
        if (at >= text.length) throw new Error('a quote is not closed');
        if (text[at] === '"') at += 1;
        cell += text[at];
      }
      at += 1;
    } else
      for (; at < text.length && text[at] !== separator && !text.startsWith('\r\n', at); at += 1)
        cell += text[at];
    rows.at(-1)?.push(cell);
    if (text[at] === separator) {
      at += 1;
      if (at === text.length || text.startsWith('\r\n', at)) rows.at(-1)?.push('');
    }
    if (text.startsWith('\r\n', at)) {
      at += 2;
      if (at < text.length) rows.push([]);
    }
  }
  return rows;
}

/** What a spreadsheet program calculates: a text that begins so, but for a plain number. */
const isFormula = (cell: string): boolean =>
  /^["'\s\u200B-\u200F\u2060\uFEFF]*[=+\-@＝＋－＠]/.test(cell.replace(/^'.*/s, '')) &&
  !/^-\d+(\.\d+)?$/.test(cell);
/** A program that is set to another separator, or none that honours quotes, cuts there. */
const cutElsewhere = (text: string): string[] => text.split(/[;\t|\r\n]/);

const hostile = fc.string({
  unit: fc.constantFrom(...'=+-@\t\r\n,;|"\' a1.＝\uFEFF'.split('')),
  maxLength: 12,
});
const text = fc.oneof(fc.string({ unit: 'binary' }), hostile);

describe('a CSV file', () => {
  it('has a line for each row, commas, CRLF, and quotes where a cell needs them', () => {
    const rows: CsvCell[][] = [
      ['id', 'note', 'amount'],
      ['a', 'says "hi", twice', '0.000000000000000001'],
      ['b', null, 12.5],
      ['c', 'two\nlines', true],
    ];
    expect(csvOf(rows)).to.equal(
      'id,note,amount\r\na,"says ""hi"", twice",0.000000000000000001\r\nb,,12.5\r\nc,"two\nlines",true\r\n',
    );
  });

  it('gives back what was put in, of any text', () => {
    fc.assert(
      fc.property(fc.array(fc.array(text, { minLength: 2, maxLength: 4 }), { minLength: 1 }), (rows) => {
        expect(parse(csvOf(rows))).to.deep.equal(rows.map((row) => row.map(defused)));
      }),
    );
  });

  it('changes a text by apostrophes alone', () => {
    const bare = (value: string) => value.replaceAll("'", '');
    fc.assert(
      fc.property(text, (value) => {
        expect(bare(defused(value))).to.equal(bare(value));
      }),
    );
  });

  it('has no cell that begins with a formula, whatever separator the reader is set to', () => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 2, maxLength: 4 }), (row) => {
        for (const cell of row.map(defused)) {
          expect(isFormula(cell), JSON.stringify(cell)).to.equal(false);
          for (const part of cutElsewhere(cell).slice(1))
            expect(isFormula(part) || /^-\d/.test(part), JSON.stringify(cell)).to.equal(false);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('defuses each beginning of a formula, and leaves numbers below zero and other texts as they are', () => {
    for (const formula of [
      '=1+1',
      '+1',
      '-1+2',
      '@SUM(A1)',
      '\t=1',
      '\r=1',
      '\tx',
      '\rx',
      ' =1',
      '"=1"',
      '＝1',
      '-',
      '-a',
    ])
      expect(defused(formula)[0], JSON.stringify(formula)).to.equal("'");
    for (const plain of ['', '-1', '-0.5', '12.50', 'a=b', 'ann@example.com', 'two\r\nlines', 'a, -5'])
      expect(defused(plain)).to.equal(plain);
    expect(defused('a;=1')).to.equal("a;'=1");
    expect(defused('a\n@b')).to.equal("a\n'@b");
  });
});
