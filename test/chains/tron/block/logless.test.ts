// A call that pays us and of which no log tells: a node may have left it out, or the token is silent.
import { expect } from 'chai';
import type { AddressKey } from '../../../../src/chains/address-key.ts';
import { TRON_ADDRESSES } from '../../../../src/chains/tron/addresses.ts';
import { answer, blockOfOne, PEOPLE, type Person, readWhole, type Sent } from '../vectors.ts';

const spelled = (person: Person): string => TRON_ADDRESSES.format(PEOPLE[person] as AddressKey);
const word = (digits: string): string => digits.padStart(64, '0');

/** Reads one recorded transaction for one person, with the logs that are given. */
const without = (name: string, person: Person, change: (input: Sent, info: Sent) => void = () => {}) => {
  const transaction = answer(`wallet_gettransactionbyid__${name}`);
  const info = { ...answer(`wallet_gettransactioninfobyid__${name}`), log: [] };
  change(transaction.raw_data.contract[0].parameter.value, info);
  const { block, infos } = blockOfOne(transaction, info);
  return readWhole(block, infos, [person]);
};

describe('a call of the token that pays us without a log', () => {
  it('is reported, credited to nobody, and holds no block', () => {
    for (const [name, person] of [
      ['token_transfer_new_holder', 'bob'],
      ['token_transfer_to_unactivated', 'frank'],
      ['token_transferFrom_direct', 'ivan'],
    ] as const) {
      const found = without(name, person);
      const [txHash] = found.touching;
      expect(found.logless, name).to.eql([{ txHash, to: spelled(person), paysUs: true }]);
      expect([found.transfers, found.touches], name).to.eql([[], true]);
    }
  });

  it('is the same where logs came that do not tell of it', () => {
    const other = answer('wallet_gettransactioninfobyid__token_approve').log;
    const logged = (person: Person) => ({
      address: PEOPLE.token,
      topics: [
        'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
        word('1'),
        word(PEOPLE[person]),
      ],
      data: word('1'),
    });
    const with_ = (log: Sent) =>
      without('token_transfer_new_holder', 'bob', (_, info) => Object.assign(info, { log })).logless?.length;
    expect(with_(other)).to.equal(1);
    expect(with_([logged('carol')])).to.equal(1);
    expect(with_([{ ...logged('bob'), address: PEOPLE.batch }])).to.equal(1);
    expect(with_([...other, logged('bob')])).to.equal(undefined);
    const capital = { ...logged('bob'), topics: logged('bob').topics.map((topic) => topic.toUpperCase()) };
    expect(with_([capital])).to.equal(undefined);
    expect(with_([{ ...logged('bob'), data: '' }]), 'known to the operator').to.equal(undefined);
  });

  it('is found whatever case and dirt its calldata has', () => {
    const data = (argument: string) => `a9059cbb${argument}${word('5')}`;
    for (const sent of [
      data(word(PEOPLE.erin)).toUpperCase(),
      data(word(`41${PEOPLE.erin}`)),
      data(PEOPLE.erin.padStart(64, 'f')),
      `${data(word(PEOPLE.erin))}00`,
    ]) {
      const found = without('token_transfer_new_holder', 'erin', (input) =>
        Object.assign(input, { data: sent }),
      );
      expect(
        found.logless?.map(({ to }) => to),
        sent,
      ).to.eql([spelled('erin')]);
    }
  });

  it('is nothing that tells of no payment: of nothing, cut, to another, or of another contract', () => {
    const change = (data: string) => (input: Sent) => Object.assign(input, { data });
    const cut = `a9059cbb${word(PEOPLE.bob)}01`;
    for (const [name, person, data, touches] of [
      ['token_transfer_new_holder', 'carol', undefined, false],
      ['token_transfer_new_holder', 'bob', cut, true],
      ['token_transfer_new_holder', 'bob', `a9059cbb${word(PEOPLE.bob)}${word('')}`, true],
      ['token_transferFrom_direct', 'alice', undefined, true],
      ['token_approve_bob', 'bob', undefined, true],
      ['contract_owner_is_caller', 'dave', undefined, true],
    ] as const) {
      const found = without(name, person, data === undefined ? undefined : change(data));
      expect([found.logless, found.touches], `${name} ${data}`).to.eql([undefined, touches]);
    }
  });

  it('is nothing where it failed', () => {
    expect(without('token_transfer_failing_revert', 'bob').logless).to.equal(undefined);
  });
});
