// What each recorded transaction was to its sender, were that one a wallet of ours.
import { expect } from 'chai';
import type { AddressKey } from '../../../../src/chains/address-key.ts';
import type { Move, SentByUs } from '../../../../src/chains/outgoing.ts';
import { EndpointFailure } from '../../../../src/chains/rpc/errors.ts';
import { TRON_ADDRESSES } from '../../../../src/chains/tron/addresses.ts';
import { parseTronJson } from '../../../../src/chains/tron/block/exact-json.ts';
import {
  answer,
  blockOfOne,
  EVERYBODY,
  PEOPLE,
  type Person,
  RECORDED,
  readWhole,
  type Sent,
} from '../vectors.ts';

/** By name: sender, end, fee in sun, and what left it. */
const SENT: Readonly<Record<string, string>> = {
  account_create: 'alice ok 1000000',
  account_permission_update: 'dave ok 100398000',
  batch_same_receiver_twice: 'alice ok 0 heidi USDT 2000000',
  batch_two_receivers: 'alice ok 6245800 heidi USDT 11000000, ivan USDT 22000000',
  call_value_to_nonpayable: 'alice failed 351300',
  contract_owner_pays_70_percent: 'dave ok 1178000',
  fake_transfer_event: 'alice ok 610300',
  internal_trx_existing: 'alice ok 1175800 batch TRX 3000000',
  internal_trx_then_revert: 'alice failed 1042800',
  internal_trx_two: 'alice ok 1773600 batch TRX 5000001',
  invalid_opcode: 'alice failed 3279000',
  out_of_energy: 'alice failed 2312000',
  revert_with_message: 'alice failed 303400',
  stake_cancel_all_unfreeze: 'alice ok 0',
  stake_delegate_energy: 'alice ok 0',
  stake_freeze_v2_bandwidth: 'alice ok 252000',
  stake_undelegate: 'alice ok 0',
  stake_unfreeze_v2: 'alice ok 0',
  token_approve: 'alice ok 2585100',
  token_inner_transfer_fails_outer_success: 'alice ok 545800',
  token_transferFrom_direct: 'bob ok 378000',
  token_transferFrom_no_allowance: 'bob failed 458800',
  token_transfer_failing_revert: 'carol failed 402900',
  token_transfer_low_fee_limit_zero: 'alice failed 339000',
  token_transfer_new_holder: 'alice ok 3121400 bob USDT 1234567891',
  token_transfer_no_energy_money: 'frank failed 100000',
  token_transfer_out_of_energy: 'alice failed 844000',
  token_transfer_partly_staked_energy: 'carol ok 2221500 judy USDT 1000000',
  token_transfer_to_self: 'alice ok 0',
  token_transfer_with_staked_energy: 'bob ok 345000 carol USDT 7000000',
  token_transfer_zero_value: 'dave ok 1276400',
  trc10_transfer: 'bob ok 282000',
  trx_to_payable_receive: 'alice ok 282300 batch TRX 1000000',
  trx_transfer_existing: 'bob ok 0 carol TRX 1234567',
  trx_transfer_memo: 'carol ok 1000000 bob TRX 777',
  trx_transfer_multisig: 'dave ok 1333000 bob TRX 1111',
  trx_transfer_new_account: 'alice ok 1100000 grace TRX 2000000',
  trx_transfer_permission_2: 'dave ok 268000 bob TRX 2222',
  vote_witness: 'alice ok 0',
};

type Change = (transaction: Sent, info: Sent) => unknown;
const nameOf = (address: string): string =>
  EVERYBODY.find((person) => TRON_ADDRESSES.format(PEOPLE[person] as AddressKey) === address) ?? address;
const lineOf = ({ from, ok, feeUnits, moves }: SentByUs): string => {
  const left = moves.map(({ to, currency, units }: Move) => `${nameOf(to)} ${currency} ${units}`).toSorted();
  return `${nameOf(from)} ${ok ? 'ok' : 'failed'} ${feeUnits} ${left.join(', ')}`.trim();
};
const inputOf = (transaction: Sent): Sent => transaction.raw_data.contract[0].parameter.value;

/** One recorded transaction, changed, as these people see it. */
const shown = (name: string, people: readonly Person[], change: Change = () => {}) => {
  const transaction = answer(`wallet_gettransactionbyid__${name}`);
  const info = answer(`wallet_gettransactioninfobyid__${name}`);
  change(transaction, info);
  const { block, infos } = blockOfOne(transaction, info);
  return readWhole(block, infos, people);
};
const linesOf = (...asked: Parameters<typeof shown>) => shown(...asked).sent?.map(lineOf);

describe('what a wallet of ours sent on Tron', () => {
  for (const [name, line] of Object.entries(SENT))
    it(`is told of ${name}`, () => {
      const sender = line.split(' ')[0] as Person;
      const { sent, touches, touching, taken } = shown(name, [sender]);
      expect([sent?.map(lineOf), taken, touches]).to.eql([[line], undefined, true]);
      expect(sent?.map(({ nonce, txHash }) => [nonce, touching.has(txHash)])).to.eql([[null, true]]);
      const others = EVERYBODY.filter((person) => person !== sender);
      expect(shown(name, others).sent, 'to anybody else').to.equal(undefined);
    });

  it('is told of every recorded transaction of every type', () => {
    const block = (kind: string) => ({
      sent: answer(`wallet_getblockbynum__${kind}`),
      infos: answer(`wallet_gettransactioninfobyblocknum__${kind}`),
    });
    for (const kind of ['payments', 'contracts', 'failures']) {
      const { sent, infos } = block(kind);
      const found = readWhole(sent, infos).sent ?? [];
      expect(found.map(({ txHash }) => txHash)).to.eql(sent.transactions.map(({ txID }: Sent) => txID));
      expect(found.map(({ feeUnits }) => Number(feeUnits))).to.eql(infos.map(({ fee = 0 }: Sent) => fee));
    }
    expect(RECORDED.length).to.be.above(100);
  });

  it('is told apart where another one’s transaction took it', () => {
    const found = shown('token_transferFrom_direct', ['alice']);
    expect(found.sent).to.equal(undefined);
    expect(found.taken?.map(({ from, to, units }) => [nameOf(from), nameOf(to), units])).to.eql([
      ['alice', 'ivan', 3_000_000n],
    ]);
    expect([found.touches, found.touching.size]).to.eql([true, 1]);
    const nothing = shown('token_transferFrom_direct', ['alice'], (_, info) =>
      Object.assign(info.log[0], { data: '0'.repeat(64) }),
    );
    expect(nothing.taken, 'anybody can move nothing').to.equal(undefined);
    const foreign = shown('token_transferFrom_direct', ['alice'], (_, info) =>
      Object.assign(info.log[0], { address: PEOPLE.token50 }),
    );
    expect(foreign.taken).to.equal(undefined);
  });

  it('is told with what it brought to a contract that it made', () => {
    const made = (value: object): Change => {
      const contract = { new_contract: { bytecode: '60', ...value }, owner_address: `41${PEOPLE.alice}` };
      return (transaction, info) => {
        const parameter = { value: contract };
        Object.assign(transaction.raw_data.contract[0], { type: 'CreateSmartContract', parameter });
        info.contract_address = `41${PEOPLE.newborn}`;
      };
    };
    const name = 'contract_owner_is_caller';
    expect(linesOf(name, ['alice'], made({ call_value: 55 }))).to.eql(['alice ok 0 newborn TRX 55']);
    expect(linesOf(name, ['alice'], made({}))).to.eql(['alice ok 0']);
  });

  it('is exact above 2^53', () => {
    const [fee, amount] = ['9007199254740993', '9223372036854775807'];
    const { block, infos } = blockOfOne(
      answer('wallet_gettransactionbyid__trx_transfer_multisig'),
      answer('wallet_gettransactioninfobyid__trx_transfer_multisig'),
    );
    const text = JSON.stringify(block).replace('"amount":1111,', `"amount":${amount},`);
    const infoText = JSON.stringify(infos).replace('"fee":1333000,', `"fee":${fee},`);
    const read = (parse: (text: string) => unknown, people: readonly Person[]) =>
      readWhole(parse(text), parse(infoText), people).sent?.map(lineOf);
    expect(read(parseTronJson, ['dave'])).to.eql([`dave ok ${fee} bob TRX ${amount}`]);
    expect(() => read(JSON.parse, ['dave'])).to.throw('no whole number of sun');
    expect(read(JSON.parse, ['carol'])).to.equal(undefined);
  });

  it('is known in capital letters too', () => {
    const capital: Change = (transaction, info) => {
      const input = inputOf(transaction);
      input.owner_address = input.owner_address.toUpperCase();
      for (const log of info.log ?? []) log.topics = log.topics.map((topic: string) => topic.toUpperCase());
    };
    for (const name of ['token_transfer_new_holder', 'trx_transfer_memo', 'stake_delegate_energy'] as const) {
      const sender = SENT[name]?.split(' ')[0] as Person;
      expect(linesOf(name, [sender], capital)).to.eql([SENT[name]]);
    }
  });

  const WRONG: Readonly<Record<string, readonly [name: string, Change]>> = {
    'an owner in base58': [
      'stake_delegate_energy',
      (sent) =>
        Object.assign(inputOf(sent), { owner_address: TRON_ADDRESSES.format(PEOPLE.alice as AddressKey) }),
    ],
    'an owner without 41': [
      'vote_witness',
      (sent) => Object.assign(inputOf(sent), { owner_address: PEOPLE.alice }),
    ],
    'less than the fee of its receipt': [
      'token_transfer_new_holder',
      (_, info) => Object.assign(info, { fee: 1 }),
    ],
    'no fee beside a receipt that has one': ['token_transfer_new_holder', (_, info) => delete info.fee],
    'a fee below zero': ['vote_witness', (_, info) => Object.assign(info, { fee: -1 })],
    'a fee in a text': ['vote_witness', (_, info) => Object.assign(info, { fee: '7' })],
    'a failure that ran no code': [
      'trx_transfer_new_account',
      (sent) => Object.assign(sent.ret[0], { contractRet: 'REVERT' }),
    ],
    'no word on how it ended': ['stake_delegate_energy', (sent) => Object.assign(sent, { ret: [{}] })],
    'two words on how it ended': [
      'token_transfer_again',
      (sent) => Object.assign(sent.ret[0], { contractRet: 'REVERT' }),
    ],
    'a value that is none': [
      'trx_to_payable_receive',
      (sent) => Object.assign(inputOf(sent), { call_value: '1' }),
    ],
    'an id in capital letters': [
      'vote_witness',
      (sent, info) => {
        sent.txID = sent.txID.toUpperCase();
        info.id = sent.txID;
      },
    ],
    'the info of another block': ['vote_witness', (_, info) => Object.assign(info, { id: 'ab'.repeat(32) })],
    'a log of the token without an amount': ['token_transfer_again', (_, info) => delete info.log[0].data],
    'a log of the token with a sender in another form': [
      'token_transfer_again',
      (_, info) => Object.assign(info.log[0].topics, [info.log[0].topics[0], `41${PEOPLE.alice}`]),
    ],
  };
  for (const [wrong, [name, change]] of Object.entries(WRONG))
    it(`is not taken from an endpoint that shows ${wrong}`, () => {
      expect(() => shown(name, ['alice'])).not.to.throw();
      expect(() => shown(name, ['alice'], change)).to.throw(EndpointFailure);
    });

  it('is read elsewhere where it calls the token and no log tells of it', () => {
    const silent: Change = (_, info) => delete info.log;
    const to = TRON_ADDRESSES.format(PEOPLE.bob as AddressKey);
    const { logless, sent, transfers } = shown('token_transfer_new_holder', ['alice'], silent);
    const [txHash] = sent?.map((one) => one.txHash) ?? [];
    expect(logless).to.eql([{ txHash, to, paysUs: false }]);
    expect([sent?.map(lineOf), transfers]).to.eql([['alice ok 3121400'], []]);
    for (const name of ['token_transfer_new_holder', 'token_approve', 'token_transfer_zero_value'])
      expect(shown(name, ['alice', 'dave']).logless, name).to.equal(undefined);
  });
});
