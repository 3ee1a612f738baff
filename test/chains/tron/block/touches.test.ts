// What decides how a block is read again.
import { expect } from 'chai';
import type { AddressKey } from '../../../../src/chains/address-key.ts';
import {
  alone,
  type Change,
  creating,
  inputOf,
  PEOPLE,
  type Person,
  pairOf,
  readWhole,
  type Sent,
  says,
  seenAlone,
  word,
} from '../vectors.ts';

const BATCH = 'batch_two_receivers';
const BLIND = 'internal_trx_existing__node_without_saveInternalTx';
const TWO = 'internal_trx_two';
const NEW_HOLDER = 'token_transfer_new_holder';

const called = (data: string): Change => says({ data });
const made = (bytecode: unknown): Change =>
  creating({ owner_address: `41${PEOPLE.alice}`, new_contract: { bytecode } });
const erin = word(PEOPLE.erin);
const erin41 = word(`41${PEOPLE.erin}`);
const dirty = PEOPLE.erin.padStart(64, 'f');
/** multicall(bytes) of transfer(address). */
const packed = (argument: string) => {
  const [where, length] = [32, 36].map((bytes) => word(bytes.toString(16)));
  return called(`ac9650d8${where}${length}a9059cbb${argument}`.padEnd(8 + 4 * 64, '0'));
};
/** How a transaction names Erin. */
const NAMED: Readonly<Record<string, Change>> = {
  'as the second argument': called(`a9059cbb${'1'.repeat(64)}${erin}`),
  'with 41 in front': called(`a9059cbb${erin41}`),
  'behind dirt that old contracts ignore': called(`a9059cbb${dirty}`),
  'in capital letters': called(`a9059cbb${erin.toUpperCase()}`),
  'in a call within a call, with 41 in front': packed(erin41),
  'in the code of a contract that is made': made(`60${erin}`),
};

describe('a block of Tron says of itself', () => {
  it('whether it shows an internal transaction, of whatever kind, and where code ran that shows none', () => {
    for (const [name, showsInternals, blind] of [
      [BATCH, true, 0],
      [TWO, true, 0],
      ['internal_trx_then_revert', true, 0],
      ['token_inner_transfer_fails_outer_success', true, 0],
      ['trx_transfer_existing', false, 0],
      ['token_transfer_failing_revert', false, 0],
      [BLIND, false, 1],
      [NEW_HOLDER, false, 1],
    ] as const) {
      const { block, infos } = alone(name);
      const succeeded = blind ? new Set([block.transactions[0].txID]) : undefined;
      const found = readWhole(block, infos);
      expect([found.showsInternals, found.untraced?.succeeded], name).to.eql([showsInternals, succeeded]);
    }
  });

  for (const [name, people, touches] of [
    ['trx_transfer_existing', ['carol'], true],
    [TWO, ['bob'], true],
    ['token_approve_bob', ['bob'], true],
    ['internal_trx_failing_inner_call', ['dave'], true],
    ['token_transfer_failing_revert', ['bob', 'dave'], false],
    ['trx_transfer_existing', ['dave'], false],
    [BATCH, ['bob'], false],
  ] as const)
    it(`that it ${touches ? 'touches' : 'does not touch'} us: ${name} of ${people.join()}`, () => {
      expect(seenAlone(name, people).touches).to.equal(touches);
    });

  it('which transactions touch us', () => {
    const { block, infos } = pairOf();
    const places = (person: Person) =>
      [...readWhole(block, infos, [person]).touching].map((id) =>
        block.transactions.findIndex(({ txID }: Sent) => txID === id),
      );
    expect(places('ivan'), 'paid by tokens that no calldata names').to.eql([0]);
    expect(places('bob'), 'paid in the one, named by others').to.have.length.above(1);
    expect(places('sun')).to.eql([]);
  });

  for (const [how, change] of Object.entries(NAMED))
    it(`that it touches whom it names ${how}, and nobody else`, () => {
      const touches = (person: Person) => seenAlone(BATCH, [person], change).touches;
      expect([touches('erin'), touches('frank')]).to.eql([true, false]);
    });

  it('which transactions name a wanted address, where that is asked for', () => {
    const naming = [PEOPLE.bob, PEOPLE.erin, PEOPLE.dave] as readonly string[] as readonly AddressKey[];
    const namedIn = (name: string, change?: Change) => {
      const { block, infos } = alone(name, change);
      return readWhole(block, infos, [], { naming }).named;
    };
    const { txID: txHash, ...transaction } = alone(TWO).block.transactions[0];
    const { data } = inputOf(transaction);
    const found = [PEOPLE.bob, PEOPLE.dave].map((addressKey) => ({
      txHash,
      addressKey,
      calldata: `0x${data}`,
    }));
    expect([namedIn(TWO), namedIn(TWO, called(data.toUpperCase()))]).to.eql([found, found]);
    expect(namedIn('internal_trx_then_revert')).to.eql([]);
    expect(seenAlone(TWO, ['bob']).named).to.equal(undefined);
  });
});
