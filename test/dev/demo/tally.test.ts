import { expect } from 'chai';
import type { Seen } from '../../../dev/demo/receiver.ts';
import { countTaken, expectedEvents, faultsIn } from '../../../dev/demo/tally.ts';

const HASHES = ['0xaa', 'bb'];
const EXPECTED = expectedEvents(HASHES.map((hash) => ({ hash })));

/** Everything that a merchant is told of a customer and two deposits, each taken once. */
function allTaken(): Seen[] {
  const once = (event: string, hash?: string): Seen => ({
    event,
    hash,
    attempts: 1,
    accepted: 1,
    verified: true,
    lastAt: 0,
  });
  const ofDeposit = (hash: string): Seen[] =>
    ['detected', 'confirming', 'completed', 'settled'].map((state) => once(`deposit.${state}`, hash));
  return [once('customer.created'), ...HASHES.flatMap(ofDeposit)];
}

function at(seen: readonly Seen[], index: number): Seen {
  const entry = seen[index];
  if (!entry) throw new Error(`no event ${index}`);
  return entry;
}

describe('the tally of the demo', () => {
  it('finds nothing where each event of each payment was taken once', () => {
    expect(countTaken(allTaken(), EXPECTED)).to.equal(9);
    expect(faultsIn(allTaken(), EXPECTED)).to.deep.equal([]);
    const again = allTaken();
    at(again, 1).attempts = 3;
    expect(faultsIn(again, EXPECTED), 'attempts that were answered with an error').to.deep.equal([]);
  });

  it('misses what did not come, although as many events came', () => {
    const seen = allTaken().filter(({ event, hash }) => event !== 'deposit.completed' || hash !== 'bb');
    const other = { ...at(seen, 7 - 1), event: 'deposit.completed', hash: '0xcc' };
    seen.push(other);
    expect(countTaken(seen, EXPECTED)).to.equal(8);
    expect(faultsIn(seen, EXPECTED)).to.deep.equal([
      'deposit.completed of bb was taken 0 times',
      'deposit.completed of 0xcc was not expected',
    ]);
  });

  it('names what was taken twice, under one id or under two, and what came with a wrong signature', () => {
    const seen = allTaken();
    at(seen, 2).accepted = 2;
    seen.push({ ...at(seen, 3) });
    at(seen, 0).verified = false;
    expect(faultsIn(seen, EXPECTED)).to.have.members([
      'customer.created came with a wrong signature',
      'deposit.confirming of 0xaa was taken 2 times',
      'deposit.completed of 0xaa was taken 2 times',
    ]);
  });
});
