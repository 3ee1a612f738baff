// A call that pays us and of which no log tells: a node may have left it out, or the token is silent.
import { expect } from 'chai';
import {
  answer,
  inputOf,
  PEOPLE,
  type Person,
  type Sent,
  seenAlone,
  spelled,
  TRANSFER_TOPIC,
  word,
} from '../vectors.ts';

const NEW = 'token_transfer_new_holder';
const paying = (argument: string) => `a9059cbb${argument}${word('5')}`;
const { erin, bob } = PEOPLE;
const log = (person: Person, more: object = {}) => ({
  address: PEOPLE.token,
  topics: [TRANSFER_TOPIC, word('1'), word(PEOPLE[person])],
  data: word('1'),
  ...more,
});
const approval: Sent[] = answer('wallet_gettransactioninfobyid__token_approve').log;
const capital = log('bob').topics.map((topic) => topic.toUpperCase());

type Altered = { readonly data?: string; readonly logs?: readonly Sent[] };
/** Whom a recorded call is read for, how it is altered, and whether it is told of. */
const CALLS: Readonly<Record<string, readonly [name: string, person: Person, isTold: boolean, Altered?]>> = {
  'of a new holder': [NEW, 'bob', true],
  'by transferFrom': ['token_transferFrom_direct', 'ivan', true],
  'in capital letters': [NEW, 'erin', true, { data: paying(word(erin)).toUpperCase() }],
  'with 41 in front': [NEW, 'erin', true, { data: paying(word(`41${erin}`)) }],
  'behind dirt': [NEW, 'erin', true, { data: paying(erin.padStart(64, 'f')) }],
  'beside a log of another event': [NEW, 'bob', true, { logs: approval }],
  'beside a log of a payment to another': [NEW, 'bob', true, { logs: [log('carol')] }],
  'of which a log tells, beside others': [NEW, 'bob', false, { logs: [...approval, log('bob')] }],
  'of which a log tells in capitals': [NEW, 'bob', false, { logs: [log('bob', { topics: capital })] }],
  'that pays another': [NEW, 'carol', false],
  'that is cut': [NEW, 'bob', false, { data: `a9059cbb${word(bob)}01` }],
  'that pays nothing': [NEW, 'bob', false, { data: `a9059cbb${word(bob)}${word('')}` }],
  'that takes from us': ['token_transferFrom_direct', 'alice', false],
  'that allows us': ['token_approve_bob', 'bob', false],
  'of another contract': ['contract_owner_is_caller', 'dave', false],
  'that failed': ['token_transfer_failing_revert', 'bob', false],
};

describe('a call of the token that pays us without a log', () => {
  for (const [which, [name, person, isTold, { data, logs = [] } = {}]] of Object.entries(CALLS))
    it(`is ${isTold ? 'told of, credited to nobody, and holds no block' : 'none'}: one ${which}`, () => {
      const { logless, transfers, touches, touching } = seenAlone(name, [person], (transaction, info) => {
        Object.assign(info, { log: logs });
        if (data !== undefined) inputOf(transaction).data = data;
      });
      const [txHash] = touching;
      expect(logless).to.eql(isTold ? [{ txHash, to: spelled(person), paysUs: true }] : undefined);
      if (isTold) expect([transfers, touches]).to.eql([[], true]);
    });
});
