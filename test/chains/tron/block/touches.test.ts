// What decides how a block is read again.
import { expect } from 'chai';
import type { AddressKey } from '../../../../src/chains/address-key.ts';
import { answer, blockOfOne, PEOPLE, type Person, readWhole, type Sent } from '../vectors.ts';

const transactionOf = (name: string): Sent => answer(`wallet_gettransactionbyid__${name}`);
const infoOf = (name: string): Sent => answer(`wallet_gettransactioninfobyid__${name}`);
const one = (name: string, change: (transaction: Sent, info: Sent) => void = () => {}) => {
  const [transaction, info] = [transactionOf(name), infoOf(name)];
  change(transaction, info);
  return blockOfOne(transaction, info);
};
const inputOf = (transaction: Sent): Sent => transaction.raw_data.contract[0].parameter.value;

describe('a block of Tron says of itself', () => {
  const shown = (name: string, people: readonly Person[] = [], change?: (transaction: Sent) => void) => {
    const { block, infos } = one(name, change);
    return readWhole(block, infos, people);
  };

  it('whether it shows an internal transaction, of whatever kind', () => {
    const names = [
      'batch_two_receivers',
      'internal_trx_then_revert',
      'token_inner_transfer_fails_outer_success',
    ];
    for (const name of names) expect(shown(name).showsInternals, name).to.equal(true);
    for (const name of ['token_transfer_new_holder', 'internal_trx_existing__node_without_saveInternalTx'])
      expect(shown(name).showsInternals, name).to.equal(false);
  });

  it('that it is untraced where code ran and no internal transaction is shown', () => {
    const blind = one('internal_trx_existing__node_without_saveInternalTx');
    const hash = transactionOf('internal_trx_existing__node_without_saveInternalTx').txID;
    expect(readWhole(blind.block, blind.infos).untraced).to.eql({ succeeded: new Set([hash]) });
    const plain = ['trx_transfer_existing', 'trc10_transfer', 'token_transfer_failing_revert'];
    for (const name of ['internal_trx_two', ...plain]) expect(shown(name).untraced, name).to.equal(undefined);
  });

  it('that it touches us: money moves, or a call that succeeded names a watched address', () => {
    expect(shown('trx_transfer_existing', ['carol']).touches).to.equal(true);
    expect(shown('internal_trx_two', ['bob']).touches).to.equal(true);
    expect(shown('token_approve_bob', ['bob']).touches).to.equal(true);
    expect(shown('internal_trx_failing_inner_call', ['dave']).touches).to.equal(true);
    expect(shown('token_transfer_failing_revert', ['bob', 'dave']).touches).to.equal(false);
    expect(shown('trx_transfer_existing', ['dave']).touches).to.equal(false);
    expect(shown('batch_two_receivers', ['bob']).touches).to.equal(false);
  });

  it('which transactions touch us', () => {
    const block = answer('wallet_getblockbynum__contracts');
    const infos = answer('wallet_gettransactioninfobyblocknum__contracts');
    const ids = (people: readonly Person[]) =>
      [...readWhole(block, infos, people).touching].map((id) =>
        block.transactions.findIndex(({ txID }: Sent) => txID === id),
      );
    expect(ids(['ivan']), 'paid by tokens that no calldata names').to.eql([0]);
    expect(ids(['bob']), 'paid in the one, named by others').to.have.length.above(1);
    expect(ids(['sun'])).to.eql([]);
  });

  it('that it touches us where a contract is made for a watched address', () => {
    const made = (bytecode: unknown) => (transaction: Sent) => {
      const value = { owner_address: `41${PEOPLE.alice}`, new_contract: { bytecode } };
      Object.assign(transaction.raw_data.contract[0], { type: 'CreateSmartContract', parameter: { value } });
    };
    const word = PEOPLE.erin.padStart(64, '0');
    for (const code of [`60${word}`, `6080${word}${'0'.repeat(63)}5`, `60${word.toUpperCase()}`]) {
      expect(shown('batch_two_receivers', ['erin'], made(code)).touches, code).to.equal(true);
      expect(shown('batch_two_receivers', ['frank'], made(code)).touches, code).to.equal(false);
    }
    for (const code of [undefined, '', '60'])
      expect(shown('batch_two_receivers', ['erin'], made(code)).touches).to.equal(false);
  });

  it('that it touches us however a call names the address', () => {
    const address = PEOPLE.erin;
    const word = address.padStart(64, '0');
    /** multicall(bytes) of transfer(address). */
    const packed = (argument: string) => {
      const [where, length] = [32, 36].map((bytes) => bytes.toString(16).padStart(64, '0'));
      return `ac9650d8${where}${length}a9059cbb${argument}`.padEnd(8 + 4 * 64, '0');
    };
    const forms: Readonly<Record<string, string>> = {
      'the second argument': `a9059cbb${'1'.repeat(64)}${word}`,
      'with 41 in front': `a9059cbb${`41${address}`.padStart(64, '0')}`,
      'behind dirt that old contracts ignore': `a9059cbb${address.padStart(64, 'f')}`,
      'in capital letters': `a9059cbb${word.toUpperCase()}`,
      'a call within a call': packed(word),
      'a call within a call, with 41 in front': packed(`41${address}`.padStart(64, '0')),
    };
    for (const [form, data] of Object.entries(forms)) {
      const change = (transaction: Sent) => Object.assign(inputOf(transaction), { data });
      expect(shown('batch_two_receivers', ['erin'], change).touches, form).to.equal(true);
      expect(shown('batch_two_receivers', ['frank'], change).touches, form).to.equal(false);
    }
  });

  it('which transactions name a wanted address, where that is asked for', () => {
    const { block, infos } = one('internal_trx_two');
    const naming = [PEOPLE.bob, PEOPLE.erin, PEOPLE.dave] as readonly string[] as readonly AddressKey[];
    const found = readWhole(block, infos, [], { naming }).named;
    const [txHash, calldata] = [block.transactions[0].txID, `0x${inputOf(block.transactions[0]).data}`];
    expect(found).to.eql([
      { txHash, addressKey: PEOPLE.bob, calldata },
      { txHash, addressKey: PEOPLE.dave, calldata },
    ]);
    expect(readWhole(block, infos, ['bob']).named).to.equal(undefined);
    const capital = one('internal_trx_two', (transaction) => {
      inputOf(transaction).data = inputOf(transaction).data.toUpperCase();
    });
    expect(readWhole(capital.block, capital.infos, [], { naming }).named).to.eql(found);
    const failed = one('internal_trx_then_revert');
    expect(readWhole(failed.block, failed.infos, [], { naming }).named).to.eql([]);
  });
});
