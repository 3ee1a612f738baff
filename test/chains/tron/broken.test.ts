// Answers that no block may be taken from, and amounts that have to be exact.
import { expect } from 'chai';
import { EndpointFailure } from '../../../src/chains/rpc/errors.ts';
import { parseExactJson } from '../../../src/chains/tron/block/exact-json.ts';
import { readTronHeader } from '../../../src/chains/tron/block/header.ts';
import { answer, EVERYBODY, PEOPLE, read, readWhole, type Sent } from './vectors.ts';

const ZEROS = '0'.repeat(64);
type Pair = { block: Sent; infos: Sent };
const pair = (kind: 'payments' | 'contracts' | 'failures' = 'contracts'): Pair => ({
  block: answer(`wallet_getblockbynum__${kind}`),
  infos: answer(`wallet_gettransactioninfobyblocknum__${kind}`),
});

/** Whatever is thrown when the changed answers are read for everybody but the one who pays. */
const refusal = (change: (sent: Pair) => unknown, from = pair(), expected?: number): unknown => {
  change(from);
  const people = EVERYBODY.filter((person) => person !== 'alice');
  try {
    return read(from.block, from.infos, people, { expected });
  } catch (error) {
    return error;
  }
};
const raw = ({ block }: Pair): Sent => block.block_header.raw_data;
const contract = ({ block }: Pair, at = 0): Sent => block.transactions[at].raw_data.contract[0];
const payment = ({ block }: Pair): Sent => block.transactions[1].raw_data.contract[0].parameter.value;
const inner = ({ infos }: Pair): Sent => infos[1].internal_transactions[0];
const log = ({ infos }: Pair): Sent => infos[0].log[0];
const swap = (list: Sent[]): void => {
  [list[0], list[1]] = [list[1], list[0]];
};

const BROKEN: Readonly<Record<string, (sent: Pair) => unknown>> = {
  'one info too few': ({ infos }) => infos.pop(),
  'one info too many': ({ infos }) => infos.push(infos[0]),
  'infos in another order': ({ infos }) => swap(infos),
  'transactions in another order': ({ block }) => swap(block.transactions),
  'an info of another height': ({ infos }) => infos[8].blockNumber--,
  'an info of another time': ({ infos }) => infos[8].blockTimeStamp++,
  'an info without its height': ({ infos }) => delete infos[3].blockNumber,
  'an info of another transaction': ({ infos }) => Object.assign(infos[3], { id: ZEROS }),
  'an info shown twice, another left out': ({ infos }) => Object.assign(infos[3], structuredClone(infos[2])),
  'infos that are null': (sent) => Object.assign(sent, { infos: null }),
  'infos that are an error': (sent) =>
    Object.assign(sent, { infos: { Error: 'lack of computing resources' } }),
  'an info that is null': ({ infos }) => infos.fill(null, 4, 5),
  'a block that is null': (sent) => Object.assign(sent, { block: null }),
  'a block that is a list': (sent) => Object.assign(sent, { block: [sent.block] }),
  'a block that is an error': (sent) =>
    Object.assign(sent, { block: { Error: 'class java.lang.Exception' } }),
  'a transaction shown twice': ({ block, infos }) => {
    block.transactions.push(block.transactions[0]);
    infos.push(infos[0]);
  },
  'no transactions': ({ block }) => delete block.transactions,
  'no transactions and no infos': (sent) => {
    delete sent.block.transactions;
    sent.infos = [];
  },
  'transactions under the root of none': (sent) => Object.assign(raw(sent), { txTrieRoot: ZEROS }),
  'transactions under no root': (sent) => delete raw(sent).txTrieRoot,
  'another time': (sent) => raw(sent).timestamp++,
  'a transaction without its id': ({ block }) => delete block.transactions[0].txID,
  'a transaction without a result': ({ block }) => delete block.transactions[7].ret,
  'a transaction with an unknown result': ({ block }) =>
    Object.assign(block.transactions[7].ret[0], { contractRet: 1 }),
  'a transaction of two contracts': (sent) =>
    sent.block.transactions[0].raw_data.contract.push(contract(sent)),
  'a transaction without a contract': ({ block }) => delete block.transactions[0].raw_data,
  'a contract without a type': (sent) => delete contract(sent).type,
  'a call of nothing': (sent) => delete contract(sent).parameter.value.contract_address,
  'calldata that is no text': (sent) => Object.assign(contract(sent).parameter.value, { data: 7 }),
  'an info that failed where the transaction succeeded': ({ infos }) =>
    Object.assign(infos[0].receipt, { result: 'REVERT' }),
  'an info that succeeded where the transaction failed': ({ infos }) =>
    Object.assign(infos[4].receipt, { result: 'SUCCESS' }),
  'a call that does not say how it ended': ({ infos }) => delete infos[8].receipt.result,
  'a call without a receipt': ({ infos }) => delete infos[0].receipt,
  'a log that is null': ({ infos }) => infos[0].log.push(null),
  'logs that are no list': ({ infos }) => Object.assign(infos[0], { log: {} }),
  'a log of an address with 41 in front': (sent) =>
    Object.assign(log(sent), { address: `41${PEOPLE.token}` }),
  'a log of no address': (sent) => delete log(sent).address,
  'a topic cut short': (sent) => Object.assign(log(sent).topics, { 2: log(sent).topics[2].slice(1) }),
  'a topic that is a number': (sent) => Object.assign(log(sent).topics, { 0: 7 }),
  'a sender that is no address': (sent) => Object.assign(log(sent).topics, { 1: 'z'.repeat(64) }),
  'an amount in a log that is no hex': (sent) => Object.assign(log(sent), { data: 'z'.repeat(64) }),
  'an internal transaction that is null': ({ infos }) => infos[1].internal_transactions.push(null),
  'an internal transaction shown twice': (sent) => sent.infos[1].internal_transactions.push(inner(sent)),
  'an internal transaction without its hash': (sent) => delete inner(sent).hash,
  'an internal transaction to nobody': (sent) => delete inner(sent).transferTo_address,
  'an internal transaction from nobody': (sent) => delete inner(sent).caller_address,
  'an internal transaction that may be rejected': (sent) => Object.assign(inner(sent), { rejected: 'true' }),
  'an amount passed on that is a text': (sent) =>
    Object.assign(inner(sent).callValueInfo[0], { callValue: '3' }),
  'an amount passed on that is rounded': (sent) =>
    Object.assign(inner(sent).callValueInfo[0], { callValue: 2 ** 53 }),
  'an amount passed on below zero': (sent) => Object.assign(inner(sent).callValueInfo[0], { callValue: -1 }),
};

/** Of the header alone: whether a block is ours to read is asked before its infos are there. */
const BROKEN_HEADERS: Readonly<Record<string, (sent: Pair) => unknown>> = {
  'another height': (sent) => raw(sent).number++,
  'no height': (sent) => delete raw(sent).number,
  'a height as text': (sent) => Object.assign(raw(sent), { number: '78' }),
  'no time': (sent) => delete raw(sent).timestamp,
  'a time that no clock has': (sent) => Object.assign(raw(sent), { timestamp: Number.MAX_SAFE_INTEGER }),
  'an id of another height': ({ block }) =>
    Object.assign(block, { blockID: block.blockID.replace('4e', '4f') }),
  'an id cut short': ({ block }) => Object.assign(block, { blockID: block.blockID.slice(0, -1) }),
  'no id': ({ block }) => delete block.blockID,
  'a parent of another height': (sent) => Object.assign(raw(sent), { parentHash: sent.block.blockID }),
  'no parent': (sent) => delete raw(sent).parentHash,
};

/** The same of plain transfers of TRX. */
const BROKEN_PAYMENTS: Readonly<Record<string, (sent: Pair) => unknown>> = {
  'a receiver in base58': (sent) =>
    Object.assign(payment(sent), { to_address: 'TFixnXPzqzQphbLqDkwCHvuTJPhv97fa6X' }),
  'a receiver without 41': (sent) => Object.assign(payment(sent), { to_address: PEOPLE.carol }),
  'no receiver': (sent) => delete payment(sent).to_address,
  'a sender of another network': (sent) => Object.assign(payment(sent), { owner_address: `a0${PEOPLE.bob}` }),
  'no sender': (sent) => delete payment(sent).owner_address,
  'a result that is no text': ({ block }) => Object.assign(block.transactions[1].ret[0], { contractRet: 1 }),
  'no result': ({ block }) => Object.assign(block.transactions[1], { ret: [{}] }),
  'an info that failed': ({ infos }) => Object.assign(infos[1], { result: 'FAILED' }),
  'logs where no code ran': ({ infos }) => Object.assign(infos[1], { log: infos[3].log }),
  'its id in capitals': ({ block, infos }) => {
    for (const at of [1, 3]) {
      block.transactions[at].txID = block.transactions[at].txID.toUpperCase();
      infos[at].id = infos[at].id.toUpperCase();
    }
  },
};
const AMOUNTS: readonly unknown[] = [
  -1,
  0.5,
  2 ** 53,
  1e300,
  -(2n ** 63n),
  2n ** 63n,
  '777',
  null,
  [1],
  {},
  true,
];

describe('an answer of a node of Tron is refused', () => {
  for (const [fault, change] of Object.entries(BROKEN))
    it(`for ${fault}`, () => expect(refusal(change)).to.be.instanceOf(EndpointFailure));

  for (const [fault, change] of Object.entries(BROKEN_HEADERS))
    it(`for ${fault} in its header`, () => {
      const sent = pair();
      change(sent);
      expect(() => readTronHeader(sent.block)).to.throw(EndpointFailure);
      expect(refusal(change)).to.be.instanceOf(EndpointFailure);
    });

  for (const [fault, change] of Object.entries(BROKEN_PAYMENTS))
    it(`for ${fault}, in a plain transfer or one of tokens`, () => {
      // Bob pays Carol here, so he is no customer.
      const sent = pair('payments');
      change(sent);
      expect(() => read(sent.block, sent.infos, ['carol', 'frank'])).to.throw(EndpointFailure);
    });

  for (const amount of AMOUNTS)
    it(`for an amount of ${typeof amount} ${String(amount)}`, () => {
      const sent = pair('payments');
      payment(sent).amount = amount;
      expect(() => read(sent.block, sent.infos, ['carol'])).to.throw('no whole number of sun');
      expect(readWhole(sent.block, sent.infos, ['grace']).transfers, 'of no concern').to.have.length(1);
    });

  it('for another height than the one that was asked for', () => {
    expect(refusal(() => {}, pair(), 77)).to.be.instanceOf(EndpointFailure);
    expect(refusal(() => {}, pair(), 78)).to.include({ number: 78 });
  });

  it('wherever it is cut', () => {
    const text = JSON.stringify(pair('payments').infos);
    for (let at = 1; at < text.length; at += 97)
      expect(() => parseExactJson(text.slice(0, at))).to.throw(SyntaxError);
  });
});
