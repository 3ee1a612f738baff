// What a stranger's crafted bytes cost. Nothing is measured here: what takes more than linear time for a
// megabyte never ends within the limit of a test.
import { expect } from 'chai';
import { parseTronJson } from '../../../../src/chains/tron/block/exact-json.ts';
import { EVERYBODY, inputOf, PEOPLE, pairOf, readWhole, type Sent, word } from '../vectors.ts';

const KIB = 1_024;
/** Of every crafted call. */
const SENDER = 'alice';

/** A block of calls with this data, as text; the infos say that each succeeded. */
function blockOf(calls: readonly string[]): { readonly block: string; readonly infos: string } {
  const { block, infos } = pairOf();
  const [call] = block.transactions;
  const info: Sent = { ...infos[0], log: [] };
  const ids = calls.map((_, at) => word(at.toString(16)));
  block.transactions = calls.map((data, at) => {
    const transaction = structuredClone(call);
    Object.assign(inputOf(transaction), { data });
    return { ...transaction, txID: ids[at] };
  });
  return { block: JSON.stringify(block), infos: JSON.stringify(ids.map((id) => ({ ...info, id }))) };
}

function expectPassedOver({ block, infos }: { readonly block: string; readonly infos: string }): void {
  const others = EVERYBODY.filter((person) => person !== SENDER);
  expect(readWhole(parseTronJson(block), parseTronJson(infos), others).touches).to.equal(false);
}

describe('a stranger cannot make a block of Tron slow to read', () => {
  const CRAFTED: Readonly<Record<string, string>> = {
    'zeros, where an address could begin everywhere': '0'.repeat(64),
    'an address of ours but for its last digit': word(`${PEOPLE.bob.slice(0, -1)}5`),
    'what looks like a long amount': ',"amount":12345678901234567890,',
  };
  for (const [about, piece] of Object.entries(CRAFTED))
    it(`by a megabyte, or 2,000 calls, of ${about}`, () => {
      const megabyte = piece.repeat(Math.ceil((1_024 * KIB) / piece.length));
      expectPassedOver(blockOf([`a9059cbb${megabyte}`]));
      expectPassedOver(blockOf(Array(2_000).fill(`a9059cbb${megabyte.slice(0, KIB)}`)));
    });
});
