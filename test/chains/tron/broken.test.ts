// Answers that no block may be taken from.
import { expect } from 'chai';
import { EndpointFailure } from '../../../src/chains/rpc/errors.ts';
import { parseExactJson } from '../../../src/chains/tron/block/exact-json.ts';
import { readTronHeader } from '../../../src/chains/tron/block/header.ts';
import {
  EVERYBODY,
  inputOf,
  type Pair,
  PEOPLE,
  type Person,
  pairOf,
  read,
  readWhole,
  type Sent,
} from './vectors.ts';

const ZEROS = '0'.repeat(64);
type Alter = (sent: Pair) => unknown;
type At = (sent: Pair) => Sent;
const set =
  (at: At, more: object): Alter =>
  (sent) =>
    Object.assign(at(sent), more);
const no =
  (at: At, member: string): Alter =>
  (sent) =>
    delete at(sent)[member];

const all: At = (sent) => sent;
const raw: At = ({ block }) => block.block_header.raw_data;
const transaction =
  (at: number): At =>
  ({ block }) =>
    block.transactions[at];
const payment: At = ({ block }) => inputOf(block.transactions[1]);
const info =
  (at: number): At =>
  ({ infos }) =>
    infos[at];
const receipt =
  (at: number): At =>
  ({ infos }) =>
    infos[at].receipt;
const log: At = ({ infos }) => infos[0].log[0];
const inner: At = ({ infos }) => infos[1].internal_transactions[0];
const passedOn: At = (sent) => inner(sent).callValueInfo[0];
const swap = (list: Sent[]): void => {
  [list[0], list[1]] = [list[1], list[0]];
};

/** Of a block of calls, read for everybody but Alice, who pays. */
const BROKEN: Readonly<Record<string, Alter>> = {
  'one info too few': ({ infos }) => infos.pop(),
  'infos in another order': ({ infos }) => swap(infos),
  'an info of another height': ({ infos }) => infos[8].blockNumber--,
  'an info of another transaction': set(info(3), { id: ZEROS }),
  'an info shown twice, another left out': ({ infos }) => Object.assign(infos[3], structuredClone(infos[2])),
  'infos that are an error': set(all, { infos: { Error: 'lack of computing resources' } }),
  'a block that is an error': set(all, { block: { Error: 'class java.lang.Exception' } }),
  'a transaction shown twice': ({ block, infos }) => {
    block.transactions.push(block.transactions[0]);
    infos.push(infos[0]);
  },
  'no transactions': no(({ block }) => block, 'transactions'),
  'transactions under the root of none': set(raw, { txTrieRoot: ZEROS }),
  'another time': (sent) => raw(sent).timestamp++,
  'a transaction without its id': no(transaction(0), 'txID'),
  'a transaction without a result': no(transaction(7), 'ret'),
  'a transaction without a contract': no(transaction(0), 'raw_data'),
  'an info that failed where the transaction succeeded': set(receipt(0), { result: 'REVERT' }),
  'an info that succeeded where the transaction failed': set(receipt(4), { result: 'SUCCESS' }),
  'a call that does not say how it ended': no(receipt(8), 'result'),
  'a call without a receipt': no(info(0), 'receipt'),
  'a log of an address with 41 in front': set(log, { address: `41${PEOPLE.token}` }),
  'a topic cut short': (sent) => Object.assign(log(sent).topics, { 2: log(sent).topics[2].slice(1) }),
  'an amount in a log that is no hex': set(log, { data: 'z'.repeat(64) }),
  'an internal transaction shown twice': (sent) => sent.infos[1].internal_transactions.push(inner(sent)),
  'an internal transaction without its hash': no(inner, 'hash'),
  'an amount passed on that is rounded': set(passedOn, { callValue: 2 ** 53 }),
  'an amount passed on below zero': set(passedOn, { callValue: -1 }),
};

/** Of the header alone: whether a block is ours to read is asked before its infos are there. */
const BROKEN_HEADERS: Readonly<Record<string, Alter>> = {
  'another height': (sent) => raw(sent).number++,
  'a time that no clock has': set(raw, { timestamp: Number.MAX_SAFE_INTEGER }),
  'an id of another height': ({ block }) =>
    Object.assign(block, { blockID: block.blockID.replace('4e', '4f') }),
  'no id': no(({ block }) => block, 'blockID'),
  'a parent of another height': (sent) => Object.assign(raw(sent), { parentHash: sent.block.blockID }),
};

/** Of plain transfers of TRX and of tokens; Bob pays Carol there, so he is no customer. */
const BROKEN_PAYMENTS: Readonly<Record<string, Alter>> = {
  'a receiver without 41': set(payment, { to_address: PEOPLE.carol }),
  'a sender of another network': set(payment, { owner_address: `a0${PEOPLE.bob}` }),
  'no result': set(transaction(1), { ret: [{}] }),
  'an info that failed': set(info(1), { result: 'FAILED' }),
  'logs where no code ran': ({ infos }) => Object.assign(infos[1], { log: infos[3].log }),
  'its id in capitals': ({ block, infos }) => {
    for (const at of [1, 3]) {
      block.transactions[at].txID = block.transactions[at].txID.toUpperCase();
      infos[at].id = infos[at].id.toUpperCase();
    }
  },
};
const AMOUNTS = [-1, 0.5, 2 ** 53, 1e300, 2n ** 63n, '777', null];

describe('an answer of a node of Tron is refused', () => {
  const refused = (sent: Pair, people: readonly Person[]): void => {
    expect(() => read(sent.block, sent.infos, people)).to.throw(EndpointFailure);
  };
  const others = EVERYBODY.filter((person) => person !== 'alice');
  const cases = [
    ...Object.entries(BROKEN).map((one) => [...one, pairOf(), others] as const),
    ...Object.entries(BROKEN_HEADERS).map((one) => [...one, pairOf(), others] as const),
    ...Object.entries(BROKEN_PAYMENTS).map(
      (one) => [...one, pairOf('payments'), ['carol', 'frank']] as const,
    ),
  ];
  for (const [fault, alter, sent, people] of cases)
    it(`for ${fault}`, () => {
      alter(sent);
      if (fault in BROKEN_HEADERS) expect(() => readTronHeader(sent.block)).to.throw(EndpointFailure);
      refused(sent, people as readonly Person[]);
    });

  it('for an amount that is none, unless it is of no concern', () => {
    for (const amount of AMOUNTS) {
      const sent = pairOf('payments');
      Object.assign(payment(sent), { amount });
      expect(() => read(sent.block, sent.infos, ['carol']), String(amount)).to.throw(
        'no whole number of sun',
      );
      expect(readWhole(sent.block, sent.infos, ['grace']).transfers).to.have.length(1);
    }
  });

  it('for another height than the one that was asked for, and wherever it is cut', () => {
    const { block, infos } = pairOf();
    expect(() => read(block, infos, others, { expected: 77 })).to.throw(EndpointFailure);
    expect(read(block, infos, others, { expected: 78 })).to.include({ number: 78 });
    const text = JSON.stringify(pairOf('payments').infos);
    for (let at = 1; at < text.length; at += 97)
      expect(() => parseExactJson(text.slice(0, at))).to.throw(SyntaxError);
  });
});
