// Whatever a stranger can bring into a valid block, the chain goes on: our own money in it is found, and
// nobody can hold a height. What a stranger cannot make (a node that is wrong) is refused elsewhere.
import { expect } from 'chai';
import { EndpointFailure } from '../../../../src/chains/rpc/errors.ts';
import {
  answer,
  creditedIn,
  PEOPLE,
  read,
  readWhole,
  type Sent,
  TOKEN,
  unrecognisedIn,
  watching,
} from '../vectors.ts';

const TRANSFER = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const word = (digits: string): string => digits.padStart(64, '0');
const note = (text: string): string => Buffer.from(text).toString('hex');
type Pair = { readonly block: Sent; readonly infos: Sent };
/** Bob's transaction pays Carol TRX in second place; Frank gets tokens in seventh. */
const payments = (): Pair => ({
  block: answer('wallet_getblockbynum__payments'),
  infos: answer('wallet_gettransactioninfobyblocknum__payments'),
});
const contract = ({ block }: Pair, at: number): Sent => block.transactions[at].raw_data.contract[0];

/** What Carol and Frank get from the block when something of a stranger's is changed in it. */
const paidIn = (change: (sent: Pair) => unknown): string[] => {
  const sent = payments();
  change(sent);
  const { transfers } = readWhole(sent.block, sent.infos, ['carol', 'frank']);
  return transfers.map(({ currency, amountUnits }) => `${currency} ${amountUnits}`);
};
const EXPECTED = paidIn(() => {});

/** Everything that a block can hold and that is no transfer of TRX and no call. */
const TYPES = [
  'AccountCreateContract', 'TransferAssetContract', 'VoteAssetContract', 'VoteWitnessContract',
  'WitnessCreateContract', 'AssetIssueContract', 'WitnessUpdateContract', 'ParticipateAssetIssueContract',
  'AccountUpdateContract', 'FreezeBalanceContract', 'UnfreezeBalanceContract', 'WithdrawBalanceContract',
  'UnfreezeAssetContract', 'UpdateAssetContract', 'ProposalCreateContract', 'ProposalApproveContract',
  'ProposalDeleteContract', 'SetAccountIdContract', 'CustomContract', 'GetContract',
  'UpdateSettingContract', 'ExchangeCreateContract', 'ExchangeInjectContract', 'ExchangeWithdrawContract',
  'ExchangeTransactionContract', 'UpdateEnergyLimitContract', 'AccountPermissionUpdateContract',
  'ClearABIContract', 'UpdateBrokerageContract', 'ShieldedTransferContract', 'MarketSellAssetContract',
  'MarketCancelOrderContract', 'FreezeBalanceV2Contract', 'UnfreezeBalanceV2Contract',
  'WithdrawExpireUnfreezeContract', 'DelegateResourceContract', 'UnDelegateResourceContract',
  'CancelAllUnfreezeV2Contract', 'UNRECOGNIZED',
]; // biome-ignore format: a list of names

const ODD: Readonly<Record<string, (sent: Pair) => unknown>> = {
  'no results': ({ block }) => delete block.transactions[0].ret,
  'an empty list of results': ({ block }) => Object.assign(block.transactions[0], { ret: [] }),
  'a result that says nothing': ({ block }) => Object.assign(block.transactions[0], { ret: [{}] }),
  'a result that is a number': ({ block }) =>
    Object.assign(block.transactions[0], { ret: [{ contractRet: 1 }] }),
  'several results': ({ block }) => block.transactions[0].ret.push({ contractRet: 'REVERT' }, {}),
  'several results of a call': ({ block }) => block.transactions[3].ret.push({ contractRet: 'REVERT' }),
  'members that senders may set beside the result': ({ block }) =>
    Object.assign(block.transactions[3].ret[0], { ret: 'FAILED', fee: 7 }),
  'a permission': (sent) => Object.assign(contract(sent, 0), { Permission_id: 2 }),
  'a memo that looks like amounts': ({ block }) =>
    Object.assign(block.transactions[0].raw_data, {
      data: 'x',
      scripts: '","amount":12345678901234567890,"',
    }),
  'no amount': (sent) => delete contract(sent, 0).parameter.value.amount,
  'an amount below zero': (sent) => Object.assign(contract(sent, 0).parameter.value, { amount: -5 }),
  'an amount above 2^53': (sent) => Object.assign(contract(sent, 0).parameter.value, { amount: 2 ** 63 - 1 }),
  'a call without data': (sent) => delete contract(sent, 3).parameter.value.data,
  'a call of an odd number of digits': (sent) =>
    Object.assign(contract(sent, 3).parameter.value, { data: 'a9059cb' }),
  'logs without topics, data or address': ({ infos }) => infos[3].log.push({}, { topics: [] }),
  'a log of a contract whose address begins with zeros': ({ infos }) =>
    infos[3].log.push({ address: 'ab', topics: [TRANSFER, word('1'), word('2')], data: word('1') }),
  'a log with topics that are short': ({ infos }) =>
    infos[3].log.push(
      { address: PEOPLE.batch, topics: [TRANSFER, '01', '02'], data: '' },
      { address: PEOPLE.batch, topics: ['01'] },
    ),
  'internal transactions of every other kind': ({ infos }) => {
    infos[3].internal_transactions = ['voteWitness', 'freezeBalanceV2ForEnergy', 'withdrawReward', ''].map(
      (text) => ({
        caller_address: `41${PEOPLE.batch}`,
        callValueInfo: [{}],
        note: note(text),
        hash: word('1'),
      }),
    );
  },
  'internal transactions shown twice, of others': ({ infos }) => {
    const each = {
      transferTo_address: `41${PEOPLE.dave}`,
      callValueInfo: [{ callValue: 5 }],
      note: '63616c6c',
    };
    infos[3].internal_transactions = [each, each, { ...each, hash: 7, rejected: 'maybe' }];
  },
  'no list of results of contracts': ({ infos }) => delete infos[0].contractResult,
  'a receipt of nothing': ({ infos }) => delete infos[0].receipt,
};

describe('a stranger cannot hold the chain of Tron', () => {
  for (const [oddity, change] of Object.entries(ODD))
    it(`by ${oddity}`, () => {
      expect(EXPECTED).to.have.length(2);
      expect(paidIn(change)).to.eql(EXPECTED);
    });

  it('by a transaction of any type, with or without what it says', () => {
    for (const type of TYPES)
      for (const value of [undefined, null, {}, { amount: -1, to_address: 7, data: 7 }, []]) {
        const change = (sent: Pair) => {
          Object.assign(contract(sent, 0), { type, parameter: { value } });
          Object.assign(sent.block.transactions[0], { ret: [{ contractRet: 'SUCCESS' }] });
        };
        expect(paidIn(change), type).to.eql(EXPECTED);
      }
  });

  it('by a parameter that its node cannot print', () => {
    for (const parameter of [undefined, null, 'x'])
      expect(paidIn((sent) => Object.assign(contract(sent, 0), { type: 'UNRECOGNIZED', parameter }))).to.eql(
        EXPECTED,
      );
  });

  it('but one to us that does not say how it ended is not passed over', () => {
    const sent = payments();
    sent.block.transactions[1].ret = [{}];
    expect(() => read(sent.block, sent.infos, ['carol'])).to.throw(EndpointFailure);
  });

  it('by a token whose address begins with zeros: it is kept for the operator', () => {
    const change = (sent: Pair, address: string) =>
      sent.infos[3].log.push({ address, topics: [TRANSFER, word('1'), word(PEOPLE.judy)], data: word('9') });
    const sent = payments();
    change(sent, 'ab');
    expect(unrecognisedIn(sent.block, sent.infos)).to.eql(['judy unrecognised 9']);
    const short = payments();
    const token = word('ab').slice(-40) as typeof TOKEN;
    change(short, 'AB');
    const rules = { token, watched: watching('judy') };
    expect(readWhole(short.block, short.infos, [], rules).transfers.map((each) => each.amountUnits)).to.eql([
      9n,
    ]);
  });
});

describe('the token itself', () => {
  it('is refused where its topics have another form, since its transfers would be passed over', () => {
    for (const topics of [
      [`0x${TRANSFER}`, word('1'), word('2')],
      ['01'],
      [TRANSFER, word('1'), '02'],
      [7],
    ]) {
      const sent = payments();
      sent.infos[3].log.push({ address: TOKEN.toUpperCase(), topics, data: word('1') });
      expect(() => read(sent.block, sent.infos, ['carol']), String(topics)).to.throw('malformed');
    }
  });
});

describe('a contract that ends itself', () => {
  it('passes on once what it had and what it had unfrozen, which nodes show twice', () => {
    const sent: Pair = {
      block: answer('wallet_getblockbynum__contracts'),
      infos: answer('wallet_gettransactioninfobyblocknum__contracts'),
    };
    const hash = (at: number) => word(String(at));
    const [caller_address, transferTo_address] = [`41${PEOPLE.batch}`, `41${PEOPLE.zion}`];
    // The first one's value holds that of the second one.
    sent.infos[1].internal_transactions = [
      {
        hash: hash(1),
        caller_address,
        transferTo_address,
        note: note('suicide'),
        callValueInfo: [{ callValue: 12 }, { tokenId: '1000001', callValue: 99 }],
      },
      {
        hash: hash(2),
        caller_address,
        transferTo_address,
        callValueInfo: [{ callValue: 5 }],
        note: note('withdrawExpireUnfreezeWhileSuiciding'),
      },
    ];
    expect(creditedIn(sent.block, sent.infos).filter((line) => line.startsWith('zion'))).to.eql([
      'zion TRX 12',
    ]);
  });
});
