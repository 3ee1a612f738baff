import { expect } from 'chai';
import { parseExactJson, parseTronJson } from '../../../src/chains/tron/block/exact-json.ts';
import { pairOf, readWhole } from './vectors.ts';

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
});
