import { expect } from 'chai';
import fc from 'fast-check';
import { EndpointFailure } from '../../../src/chains/rpc/errors.ts';
import { parseExactJson, parseTronJson } from '../../../src/chains/tron/block/exact-json.ts';
import { EVERYBODY, inputOf, PEOPLE, pairOf, read, readWhole, type Sent } from './vectors.ts';

const MAX_SUN = 2n ** 63n - 1n;
const ABOVE = '9007199254740993';

describe('amounts of Tron are exact', () => {
  it('from the text on, above 2^53 as well, and no amounts where they are written in no whole digits', () => {
    const [longest, longer] = ['1'.repeat(78), '1'.repeat(79)];
    const min = -(2n ** 63n);
    for (const [text, read] of [
      [`{"a":${ABOVE},"b": ${min},"c":[\n${longest}]}`, { a: BigInt(ABOVE), b: min, c: [BigInt(longest)] }],
      [`[9007199254740991,${longer}]`, [Number.MAX_SAFE_INTEGER, Number(longer)]],
      ['[9007199254740993.0, 1e30, 9223372036854775807e0]', [2 ** 53, 1e30, 2 ** 63]],
    ] as const)
      expect(parseExactJson(text)).to.eql(read);
  });

  it('once more from the remembered text, where ours were rounded at first', () => {
    const [sent, infos] = Object.values(pairOf('payments')).map((one) => JSON.stringify(one)) as [
      string,
      string,
    ];
    const paying = (amount: string) => sent.replace('"amount":1234567,', `"amount":${amount},`);
    const carol = (block: unknown) =>
      readWhole(block, parseTronJson(infos), ['carol']).transfers.map(({ amountUnits }) => amountUnits);
    expect(carol(parseTronJson(paying(ABOVE)))).to.eql([BigInt(ABOVE)]);
    const list = parseTronJson(`{"block":[{},${paying('1')},${paying(ABOVE)}]}`) as { block: unknown[] };
    expect([carol(list.block[1]), carol(list.block[2])]).to.eql([[1n], [BigInt(ABOVE)]]);
    expect(() => carol(JSON.parse(paying(ABOVE))), 'forgotten').to.throw('no whole number of sun');
    for (const amount of [`${ABOVE}.0`, '1e16', '9223372036854775808', `-${ABOVE}`])
      expect(() => carol(parseTronJson(paying(amount))), amount).to.throw('no whole');
    // A stranger's long numbers cost nothing: they are never looked at.
    const theirs = sent.replace('"amount":2000000,', `"amount":${ABOVE},`);
    expect(theirs).not.to.equal(sent);
    expect(carol(JSON.parse(theirs))).to.eql([1_234_567n]);
  });

  it('for whatever integer a node may write, whatever stands around it, up to the largest that is paid', () => {
    const amount = fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n });
    const space = fc.constantFrom('', ' ', '\n', '\t', '\r\n  ');
    fc.assert(
      fc.property(amount, space, space, (units, before, behind) => {
        const text = `{"x":${before}{"y":[${before}${units}${behind},${before}1]${behind}}}`;
        const [found] = (parseExactJson(text) as Sent).x.y;
        expect(BigInt(found)).to.equal(units);
      }),
      { seed: 1 },
    );
    const { block, infos } = pairOf('payments');
    inputOf(block.transactions[1]).amount = MAX_SUN;
    expect(readWhole(block, infos, ['carol']).transfers[0]?.amountUnits).to.equal(MAX_SUN);
  });
});

describe('any answer at all', () => {
  /** What is thrown that is no fault of the endpoint, or is credited. */
  const outcome = (block: unknown, infos: unknown): unknown => {
    try {
      return read(block, infos)?.transfers.length ?? 0;
    } catch (error) {
      return error instanceof EndpointFailure ? 0 : error;
    }
  };

  it('changed at any place from a right one, throws nothing but a failure of the endpoint', () => {
    /** Every place in an answer, as the way there. */
    const places = (value: Sent, way: readonly string[] = []): string[][] =>
      typeof value === 'object' && value !== null
        ? Object.keys(value).flatMap((key) => [[...way, key], ...places(value[key], [...way, key])])
        : [];
    const all = places(pairOf());
    const address = EVERYBODY.map((person) => `41${PEOPLE[person]}`);
    const odd = fc.constantFrom(undefined, Number.NaN, '', '41', ' ', 'z', '41'.repeat(21), ...address);
    const junk = fc.oneof(fc.jsonValue(), fc.bigInt(), odd);
    fc.assert(
      fc.property(fc.nat(all.length - 1), junk, (at, instead) => {
        const sent: Sent = pairOf();
        const way = [...(all[at] ?? [])];
        const last = way.pop() ?? '';
        way.reduce((node, key) => node[key], sent)[last] = instead;
        for (const [block, infos] of [
          [sent.block, sent.infos],
          [instead, sent.infos],
          [sent.block, instead],
        ])
          expect(outcome(block, infos)).not.to.be.instanceOf(Error);
      }),
      { numRuns: 500, seed: 1 },
    );
  });
});
