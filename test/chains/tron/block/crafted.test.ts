// What a stranger's crafted bytes cost: a height is read in the time that its size explains.
import { expect } from 'chai';
import { parseTronJson } from '../../../../src/chains/tron/block/exact-json.ts';
import { answer, EVERYBODY, PEOPLE, readWhole, type Sent } from '../vectors.ts';

/** Far above what is measured (a few tens of milliseconds), far below what anything quadratic takes. */
const LIMIT_MS = 1_000;
const KIB = 1_024;
/** Of every crafted call. */
const SENDER = 'alice';

/** A block of calls with this data, as text; the infos say that each succeeded. */
function blockOf(calls: readonly string[]): { readonly block: string; readonly infos: string } {
  const block = answer('wallet_getblockbynum__contracts');
  const [call] = block.transactions;
  const info: Sent = { ...answer('wallet_gettransactioninfobyblocknum__contracts')[0], log: [] };
  const ids = calls.map((_, at) => at.toString(16).padStart(64, '0'));
  block.transactions = calls.map((data, at) => {
    const transaction = structuredClone(call);
    Object.assign(transaction.raw_data.contract[0].parameter.value, { data });
    return { ...transaction, txID: ids[at] };
  });
  return { block: JSON.stringify(block), infos: JSON.stringify(ids.map((id) => ({ ...info, id }))) };
}

/** The time that it takes to read the texts, which touch nobody. */
function msToRead({ block, infos }: { readonly block: string; readonly infos: string }): number {
  const began = performance.now();
  const others = EVERYBODY.filter((person) => person !== SENDER);
  expect(readWhole(parseTronJson(block), parseTronJson(infos), others).touches).to.equal(false);
  return performance.now() - began;
}

describe('a stranger cannot make a block of Tron slow to read', () => {
  const word = (digits: string) => digits.padStart(64, '0');
  const CRAFTED: Readonly<Record<string, string>> = {
    'zeros, where an address could begin everywhere': '0'.repeat(64),
    'padding in front of what is no address': `${'0'.repeat(22)}${'z'.repeat(10)}`,
    'padding that nearly ends': `${'0'.repeat(21)}1`,
    'an address of ours but for its last digit': word(`${PEOPLE.bob.slice(0, -1)}5`),
    'text that is no hex': '\u{1F600}',
    'what looks like a long amount': ',"amount":12345678901234567890,',
  };
  for (const [about, piece] of Object.entries(CRAFTED)) {
    const megabyte = piece.repeat(Math.ceil((1_024 * KIB) / piece.length));
    it(`by a megabyte of ${about}`, () => {
      expect(msToRead(blockOf([`a9059cbb${megabyte}`]))).to.be.below(LIMIT_MS);
    });
    it(`by 2,000 calls of ${about}`, () => {
      const each = `a9059cbb${megabyte.slice(0, KIB)}`;
      expect(msToRead(blockOf(Array(2_000).fill(each)))).to.be.below(LIMIT_MS);
    });
  }

  it('by ids that begin alike', () => {
    expect(msToRead(blockOf(Array(2_000).fill('')))).to.be.below(LIMIT_MS);
  });

  it('by logs and internal transactions in tens of thousands', () => {
    const { block, infos } = blockOf(['']);
    const [info] = JSON.parse(infos);
    const topics = ['ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef', word('1'), word('2')];
    info.log = Array(20_000).fill({ address: PEOPLE.batch, topics, data: word('1') });
    info.internal_transactions = Array(20_000).fill({
      transferTo_address: `41${'ab'.repeat(20)}`,
      callValueInfo: [{ callValue: 1 }],
      note: '63616c6c',
    });
    expect(msToRead({ block, infos: JSON.stringify([info]) })).to.be.below(LIMIT_MS);
  });
});
