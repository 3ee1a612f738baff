// Whatever a stranger can bring into a valid block, the chain goes on: our own money in it is found, and
// nobody can hold a height. What a stranger cannot make (a node that is wrong) is refused elsewhere.
import { expect } from 'chai';
import { EndpointFailure } from '../../../../src/chains/rpc/errors.ts';
import {
  creditedIn,
  inputOf,
  type Pair,
  PEOPLE,
  pairOf,
  read,
  readWhole,
  type Sent,
  TOKEN,
  TRANSFER_TOPIC,
  word,
} from '../vectors.ts';

const note = (text: string): string => Buffer.from(text).toString('hex');
const contract = ({ block }: Pair, at: number): Sent => block.transactions[at].raw_data.contract[0];
/** What the first one says, who is a stranger, and how it ended; what the call in the fourth place says. */
const said =
  (more: object) =>
  ({ block }: Pair) =>
    Object.assign(inputOf(block.transactions[0]), more);
const ended =
  (ret: unknown) =>
  ({ block }: Pair) =>
    Object.assign(block.transactions[0], { ret });

/**
 * What Carol and Frank get when something of a stranger's is changed: the second transaction pays
 * Carol TRX, the seventh Frank tokens.
 */
const paidIn = (change: (sent: Pair) => unknown): string[] => {
  const sent = pairOf('payments');
  change(sent);
  const { transfers } = readWhole(sent.block, sent.infos, ['carol', 'frank']);
  return transfers.map(({ currency, amountUnits }) => `${currency} ${amountUnits}`);
};
const EXPECTED = ['TRX 1234567', 'USDT 2000000'];

/** Some of what a block can hold and that is no transfer of TRX and no call: none is known by its name. */
const TYPES = ['AccountCreateContract', 'DelegateResourceContract', 'UNRECOGNIZED', ''];

const ODD: Readonly<Record<string, (sent: Pair) => unknown>> = {
  'no results': ended(undefined),
  'several results': ended([{ contractRet: 'SUCCESS' }, { contractRet: 'REVERT' }, {}]),
  'an amount above 2^53': said({ amount: 2 ** 63 - 1 }),
  'a call of an odd number of digits': (sent) =>
    Object.assign(contract(sent, 3).parameter.value, { data: 'a9059cb' }),
  'a log of a contract whose address begins with zeros': ({ infos }) =>
    infos[3].log.push({ address: 'ab', topics: [TRANSFER_TOPIC, word('1'), word('2')], data: word('1') }),
  'internal transactions shown twice, of others': ({ infos }) => {
    const each = {
      transferTo_address: `41${PEOPLE.dave}`,
      callValueInfo: [{ callValue: 5 }],
      note: '63616c6c',
    };
    infos[3].internal_transactions = [each, each, { ...each, hash: 7, rejected: 'maybe' }];
  },
};

describe('a stranger cannot hold the chain of Tron', () => {
  for (const [oddity, change] of Object.entries(ODD))
    it(`by ${oddity}`, () => expect(paidIn(change)).to.eql(EXPECTED));

  it('by a transaction of any type, with or without what it says', () => {
    for (const type of TYPES)
      for (const value of [undefined, null, { amount: -1, to_address: 7, data: 7 }, []]) {
        const change = (sent: Pair) => {
          Object.assign(contract(sent, 0), { type, parameter: { value } });
          Object.assign(sent.block.transactions[0], { ret: [{ contractRet: 'SUCCESS' }] });
        };
        expect(paidIn(change), type).to.eql(EXPECTED);
      }
  });

  it('but one to us that does not say how it ended is not passed over', () => {
    const { block, infos } = pairOf('payments');
    block.transactions[1].ret = [{}];
    expect(() => read(block, infos, ['carol'])).to.throw(EndpointFailure);
  });
});

describe('the token itself', () => {
  for (const topics of [
    [`0x${TRANSFER_TOPIC}`, word('1'), word('2')],
    ['01'],
    [TRANSFER_TOPIC, word('1'), '02'],
    [7],
  ])
    it(`is refused with the topics ${topics}, since its transfers would be passed over`, () => {
      const { block, infos } = pairOf('payments');
      infos[3].log.push({ address: TOKEN.toUpperCase(), topics, data: word('1') });
      expect(() => read(block, infos, ['carol'])).to.throw('malformed');
    });
});

describe('a contract that ends itself', () => {
  it('passes on once what it had and what it had unfrozen, which nodes show twice', () => {
    const { block, infos } = pairOf();
    const ways = { caller_address: `41${PEOPLE.batch}`, transferTo_address: `41${PEOPLE.zion}` };
    const passed = (hash: string, why: string, ...callValueInfo: object[]) => ({
      ...ways,
      hash: word(hash),
      note: note(why),
      callValueInfo,
    });
    // The first one's value holds that of the second one.
    infos[1].internal_transactions = [
      passed('1', 'suicide', { callValue: 12 }, { tokenId: '1000001', callValue: 99 }),
      passed('2', 'withdrawExpireUnfreezeWhileSuiciding', { callValue: 5 }),
    ];
    const zion = creditedIn(block, infos).filter((line) => line.startsWith('zion'));
    expect(zion).to.eql(['zion TRX 12']);
  });
});
