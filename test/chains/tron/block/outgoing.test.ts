// What each recorded transaction was to its sender, were that one a wallet of ours.
import { expect } from 'chai';
import { N } from 'ethers';
import type { Move, SentByUs } from '../../../../src/chains/outgoing.ts';
import { EndpointFailure } from '../../../../src/chains/rpc/errors.ts';
import { parseTronJson } from '../../../../src/chains/tron/block/exact-json.ts';
import {
  alone,
  type Change,
  creating,
  EVERYBODY,
  PEOPLE,
  type Person,
  readWhole,
  says,
  seenAlone,
  spelled,
  TRANSFER_TOPIC,
  told,
} from '../vectors.ts';

/** By name: sender, end, fee in sun, and what left it. */
const SENT: Readonly<Record<string, string>> = {
  batch_two_receivers: 'alice ok 6245800 heidi USDT 11000000, ivan USDT 22000000',
  fake_transfer_event: 'alice ok 610300',
  internal_trx_then_revert: 'alice failed 1042800',
  internal_trx_two: 'alice ok 1773600 batch TRX 5000001',
  token_inner_transfer_fails_outer_success: 'alice ok 545800',
  token_transferFrom_direct: 'bob ok 378000',
  token_transfer_failing_revert: 'carol failed 402900',
  token_transfer_new_holder: 'alice ok 3121400 bob USDT 1234567891',
  token_transfer_no_energy_money: 'frank failed 100000',
  token_transfer_to_self: 'alice ok 0',
  token_transfer_with_staked_energy: 'bob ok 345000 carol USDT 7000000',
  trc10_transfer: 'bob ok 282000',
  trx_transfer_existing: 'bob ok 0 carol TRX 1234567',
  trx_transfer_multisig: 'dave ok 1333000 bob TRX 1111',
  trx_transfer_new_account: 'alice ok 1100000 grace TRX 2000000',
  vote_witness: 'alice ok 0',
};

const nameOf = (address: string): string =>
  EVERYBODY.find((person) => spelled(person) === address) ?? address;
const lineOf = ({ from, ok, feeUnits, moves }: SentByUs): string => {
  const left = moves.map(({ to, currency, units }: Move) => `${nameOf(to)} ${currency} ${units}`).toSorted();
  return `${nameOf(from)} ${ok ? 'ok' : 'failed'} ${feeUnits} ${left.join(', ')}`.trim();
};

const AGAIN = 'token_transfer_again';
const LEND = 'stake_delegate_energy';
const result =
  (contractRet: string): Change =>
  (sent) =>
    Object.assign(sent.ret[0], { contractRet });
/** What an endpoint shows of a transaction of Alice's that is not taken from it. */
const WRONG: Readonly<Record<string, readonly [name: string, change: Change]>> = {
  'an owner in base58': [LEND, says({ owner_address: spelled('alice') })],
  'no signature': [AGAIN, (sent) => Object.assign(sent, { signature: [] })],
  'a signature that is none': [AGAIN, (sent) => Object.assign(sent, { signature: ['00'.repeat(65)] })],
  'less than the fee of its receipt': ['token_transfer_new_holder', told({ fee: 1 })],
  'no fee beside a receipt that has one': ['token_transfer_new_holder', (_, info) => delete info.fee],
  'a failure that ran no code': ['trx_transfer_new_account', result('REVERT')],
  'no word on how it ended': [LEND, (sent) => Object.assign(sent, { ret: [{}] })],
  'two words on how it ended': [AGAIN, result('REVERT')],
  'a value that is none': ['trx_to_payable_receive', says({ call_value: '1' })],
  'a log of the token without an amount': [AGAIN, (_, info) => delete info.log[0].data],
  'a log of the token with a sender in another form': [
    AGAIN,
    (_, info) => Object.assign(info.log[0].topics, [TRANSFER_TOPIC, `41${PEOPLE.alice}`]),
  ],
};

describe('what a wallet of ours sent on Tron', () => {
  for (const [name, line] of Object.entries(SENT))
    it(`is told of ${name}`, () => {
      const sender = line.split(' ')[0] as Person;
      const { sent, touches, touching } = seenAlone(name, [sender]);
      expect([sent?.map(lineOf), touches]).to.eql([[line], true]);
      expect(sent?.map(({ nonce, txHash }) => [nonce, touching.has(txHash)])).to.eql([[null, true]]);
      const others = EVERYBODY.filter((person) => person !== sender);
      expect(seenAlone(name, others).sent, 'to anybody else').to.equal(undefined);
    });

  it('is told of what it puts into a contract that it makes', () => {
    const value = { owner_address: `41${PEOPLE.alice}`, new_contract: { call_value: 66 } };
    const { sent } = seenAlone('internal_trx_two', ['alice'], creating(value));
    expect(sent?.map(lineOf)).to.eql(['alice ok 1773600 batch TRX 66']);
  });

  it('is the approval by which another one’s transaction takes its tokens, and not that transaction', () => {
    expect(seenAlone('token_approve', ['alice']).sent?.map(lineOf)).to.eql(['alice ok 2585100']);
    expect(seenAlone('token_transferFrom_direct', ['alice']).sent).to.equal(undefined);
  });

  it('is nothing that other keys alone have signed: that takes permissions which its own has given', () => {
    expect(seenAlone('account_permission_update', ['dave']).sent?.map(lineOf)).to.eql(['dave ok 100398000']);
    expect(seenAlone('trx_transfer_permission_2', ['dave']).sent).to.equal(undefined);
  });

  it('is proven by either spelling of the signature, which anybody who passes it on may choose', () => {
    const rewritten: Change = (sent) => {
      const [one = ''] = sent.signature as unknown as string[];
      const s = (N - BigInt(`0x${one.slice(64, 128)}`)).toString(16).padStart(64, '0');
      Object.assign(sent, { signature: [`${one.slice(0, 64)}${s}${one.endsWith('1b') ? '01' : '00'}`] });
    };
    expect(seenAlone(AGAIN, ['alice'], rewritten).sent).to.have.length(1);
  });

  it('is exact above 2^53', () => {
    const [fee, amount] = ['9007199254740993', '9223372036854775807'];
    const { block, infos } = alone('trx_transfer_multisig');
    const text = JSON.stringify(block).replace('"amount":1111,', `"amount":${amount},`);
    const infoText = JSON.stringify(infos).replace('"fee":1333000,', `"fee":${fee},`);
    const read = (parse: (text: string) => unknown, people: readonly Person[]) =>
      readWhole(parse(text), parse(infoText), people).sent?.map(lineOf);
    expect(read(parseTronJson, ['dave'])).to.eql([`dave ok ${fee} bob TRX ${amount}`]);
    expect(() => read(JSON.parse, ['dave'])).to.throw('no whole number of sun');
    expect(read(JSON.parse, ['carol'])).to.equal(undefined);
  });

  for (const [wrong, [name, change]] of Object.entries(WRONG))
    it(`is not taken from an endpoint that shows ${wrong}`, () => {
      expect(() => seenAlone(name, ['alice'])).not.to.throw();
      expect(() => seenAlone(name, ['alice'], change)).to.throw(EndpointFailure);
    });

  it('is read elsewhere where it calls the token and no log tells of it', () => {
    const silent: Change = (_, info) => delete info.log;
    const { logless, sent, transfers } = seenAlone('token_transfer_new_holder', ['alice'], silent);
    const [txHash] = sent?.map((one) => one.txHash) ?? [];
    expect(logless).to.eql([{ txHash, to: spelled('bob'), paysUs: false }]);
    expect([sent?.map(lineOf), transfers]).to.eql([['alice ok 3121400'], []]);
    for (const name of ['token_transfer_new_holder', 'token_approve', 'token_transfer_zero_value'])
      expect(seenAlone(name, ['alice', 'dave']).logless, name).to.equal(undefined);
  });
});
