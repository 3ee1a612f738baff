import { expect } from 'chai';
import fc from 'fast-check';
import { EndpointFailure } from '../../../src/chains/rpc/errors.ts';
import { parseExactJson, parseTronJson } from '../../../src/chains/tron/block/exact-json.ts';
import { answer, EVERYBODY, PEOPLE, read, readWhole, type Sent } from './vectors.ts';

const MAX_SUN = 2n ** 63n - 1n;
const pair = (): { readonly block: Sent; readonly infos: Sent } => ({
  block: answer('wallet_getblockbynum__contracts'),
  infos: answer('wallet_gettransactioninfobyblocknum__contracts'),
});
const inner = (infos: Sent, at: number): Sent => infos[3].internal_transactions[at];

describe('amounts of Tron are exact', () => {
  it('from the text on, above 2^53 as well', () => {
    const text =
      '{"a":9007199254740993,"b": -9223372036854775808,"c":[\n1234567890123456789],"d":9007199254740991}';
    expect(parseExactJson(text)).to.eql({
      a: 9_007_199_254_740_993n,
      b: -(2n ** 63n),
      c: [1_234_567_890_123_456_789n],
      d: Number.MAX_SAFE_INTEGER,
    });
  });

  it('once more from the remembered text, where ours were rounded at first', () => {
    const [sent, infos] = ['block', 'infos'].map((kind) =>
      JSON.stringify(
        answer(`wallet_${kind === 'block' ? 'getblockbynum' : 'gettransactioninfobyblocknum'}__payments`),
      ),
    ) as [string, string];
    const paying = (amount: string) => sent.replace('"amount":1234567,', `"amount":${amount},`);
    const carol = (block: unknown, list: unknown) =>
      readWhole(block, list, ['carol']).transfers.map(({ amountUnits }) => amountUnits);
    const exact = '9007199254740993';
    expect(paying(exact)).not.to.equal(sent);
    expect(carol(parseTronJson(paying(exact)), parseTronJson(infos))).to.eql([BigInt(exact)]);
    const list = parseTronJson(`{"block":[{},${paying('1')},${paying(exact)}]}`) as { block: unknown[] };
    expect(carol(list.block[1], parseTronJson(infos))).to.eql([1n]);
    expect(carol(list.block[2], parseTronJson(infos))).to.eql([BigInt(exact)]);
    const forgotten = (amount: string) => () => carol(JSON.parse(paying(amount)), parseTronJson(infos));
    expect(forgotten(exact)).to.throw('no whole number of sun');
    for (const amount of ['9007199254740993.0', '1e16', '9223372036854775808', '-9007199254740993'])
      expect(() => carol(parseTronJson(paying(amount)), parseTronJson(infos)), amount).to.throw('no whole');
    // A stranger's long numbers cost nothing: they are never looked at.
    const theirs = sent.replace('"amount":2000000,', `"amount":${exact},`);
    expect(theirs).not.to.equal(sent);
    expect(carol(JSON.parse(theirs), JSON.parse(infos))).to.eql([1_234_567n]);
  });

  it('but no longer than any amount can be', () => {
    const [longest, longer] = ['1'.repeat(78), '1'.repeat(79)];
    expect(parseExactJson(`[${longest},${longer}]`)).to.eql([BigInt(longest), Number(longer)]);
  });

  it('and stay rounded, hence no amounts, where they are written in no whole digits', () => {
    expect(parseExactJson('[9007199254740993.0, 1e30, 9223372036854775807e0]')).to.eql([
      2 ** 53,
      1e30,
      2 ** 63,
    ]);
  });

  it('while texts are left alone: ids and calldata are long digits too', () => {
    const sent = { id: '1234567890123456789', memo: 'a:1234567890123456789, [12345678901234567890', n: 5 };
    expect(parseExactJson(JSON.stringify(sent))).to.eql(sent);
    expect(parseExactJson(JSON.stringify(sent, null, 2))).to.eql(sent);
  });

  it('for whatever integer a node may write, whatever stands around it', () => {
    const amount = fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n });
    const space = fc.constantFrom('', ' ', '\n', '\t', '\r\n  ');
    fc.assert(
      fc.property(amount, space, space, (units, before, behind) => {
        const text = `{"x":${before}{"y":[${before}${units}${behind},${before}1]${behind}}}`;
        const [found] = (parseExactJson(text) as Sent).x.y;
        expect(BigInt(found)).to.equal(units);
      }),
    );
  });

  it('up to the largest that there is, paid or passed on', () => {
    const sent = answer('wallet_getblockbynum__payments');
    const infos = answer('wallet_gettransactioninfobyblocknum__payments');
    sent.transactions[1].raw_data.contract[0].parameter.value.amount = MAX_SUN;
    expect(readWhole(sent, infos, ['carol']).transfers[0]?.amountUnits).to.equal(MAX_SUN);
  });

  it('in every sum: of what is passed on, and of tokens', () => {
    const amounts = fc.array(fc.bigInt({ min: 0n, max: MAX_SUN }), { maxLength: 6 });
    const units = fc.array(fc.bigInt({ min: 0n, max: 2n ** 200n }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(amounts, units, (sun, tokens) => {
        const { block, infos } = pair();
        const [internal, log] = [inner(infos, 0), infos[0].log[0]];
        infos[3].internal_transactions = sun.map((callValue, at) => ({
          ...internal,
          callValueInfo: [{ callValue }],
          hash: at.toString(16).padStart(64, '0'),
        }));
        infos[0].log = tokens.map((each) => ({ ...log, data: each.toString(16).padStart(64, '0') }));
        // As a node writes them, and back.
        const text = JSON.stringify(infos, (_, value) => (typeof value === 'bigint' ? `#${value}#` : value));
        const again = parseExactJson(text.replaceAll(/"#(\d+)#"/g, '$1'));
        const sum = (list: readonly bigint[]) => list.reduce((left, right) => left + right, 0n);
        const of = (person: 'dave' | 'heidi', txID: string) =>
          readWhole(block, again, [person]).transfers.filter(({ txHash }) => txHash === txID);
        const [paidSun] = of('dave', block.transactions[3].txID);
        const [paidTokens] = of('heidi', block.transactions[0].txID);
        expect(paidSun?.amountUnits ?? 0n).to.equal(sum(sun));
        expect(paidTokens?.amountUnits ?? 0n).to.equal(sum(tokens));
      }),
      { numRuns: 60 },
    );
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

  it('neither credits nor throws anything but a failure of the endpoint', () => {
    const sent = pair();
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (block, infos) => {
        expect(outcome(block, infos)).to.equal(0);
        expect(outcome(sent.block, infos)).to.equal(0);
        expect(outcome(block, sent.infos)).to.equal(0);
      }),
    );
  });

  it('changed at any place from a right one, throws nothing but a failure of the endpoint', () => {
    /** Every place in an answer, as the way there. */
    const places = (value: Sent, way: readonly string[] = []): string[][] =>
      typeof value === 'object' && value !== null
        ? Object.keys(value).flatMap((key) => [[...way, key], ...places(value[key], [...way, key])])
        : [];
    const all = places(pair());
    const junk = fc.oneof(fc.jsonValue(), fc.bigInt(), fc.constantFrom(undefined, Number.NaN, '', '41', ' '));
    fc.assert(
      fc.property(fc.nat(all.length - 1), junk, (at, instead) => {
        const sent: Sent = pair();
        const way = [...(all[at] ?? [])];
        const last = way.pop() ?? '';
        way.reduce((node, key) => node[key], sent)[last] = instead;
        expect(outcome(sent.block, sent.infos)).not.to.be.instanceOf(Error);
      }),
      { numRuns: 1_500 },
    );
  });

  it('with arbitrary values of the members that decide, throws nothing else either', () => {
    const hex = fc.constantFrom(...EVERYBODY.map((person) => `41${PEOPLE[person]}`), 'z', '41'.repeat(21));
    const odd = fc.oneof(hex, fc.jsonValue(), fc.bigInt());
    const internal = fc.record(
      {
        transferTo_address: odd,
        caller_address: odd,
        note: fc.constantFrom('63616c6c', 7),
        callValueInfo: odd,
        hash: odd,
      },
      { requiredKeys: [] },
    );
    const log = fc.record({ address: odd, topics: fc.array(odd), data: odd }, { requiredKeys: [] });
    fc.assert(
      fc.property(fc.array(internal), fc.array(log), (internals, logs) => {
        const { block, infos } = pair();
        Object.assign(infos[3], { internal_transactions: internals, log: logs });
        expect(outcome(block, infos)).not.to.be.instanceOf(Error);
      }),
    );
  });
});
