import { expect } from 'chai';
import { checkBody } from '../../../../src/chains/tron/reads/body-proof.ts';
import { answer, type Change, inputOf, RECORDED, type Sent, says } from '../vectors.ts';

/** The recorded blocks in hexadecimal, each a new copy; of block 0 nothing is ever paid. */
function blocks(): Sent[] {
  return RECORDED.filter((name) => !name.includes('visible')).flatMap((name) => {
    const sent = answer(name);
    const list = Array.isArray(sent?.block) ? sent.block : [sent];
    return list.filter((block: Sent) => block?.block_header?.raw_data?.number && block.transactions);
  });
}
const isOf =
  (type: string) =>
  ({ raw_data: data }: Sent): boolean =>
    data.contract[0].type === type;

const PAYMENT = 'TransferContract';
const CALL = 'TriggerSmartContract';
const turned = (member: string) => (sent: Sent) => {
  const value: string = inputOf(sent)[member];
  inputOf(sent)[member] = `${value.slice(0, -1)}${value.endsWith('1') ? '2' : '1'}`;
};
const OTHER = `41${'5e'.repeat(20)}`;

/** What makes a transaction another one than its id stands for. */
const CHANGES: Readonly<Record<string, readonly [type: string, change: Change]>> = {
  'another receiver': [PAYMENT, says({ to_address: OTHER })],
  'another sender': [PAYMENT, says({ owner_address: OTHER })],
  'another amount': [PAYMENT, (sent) => inputOf(sent).amount++],
  'another type': [
    PAYMENT,
    (sent) => Object.assign(sent.raw_data.contract[0], { type: 'VoteWitnessContract' }),
  ],
  'other bytes': [
    PAYMENT,
    (sent) => Object.assign(sent, { raw_data_hex: `${sent.raw_data_hex.slice(0, -2)}00` }),
  ],
  'no bytes': [PAYMENT, (sent) => delete sent.raw_data_hex],
  'the id of another': [PAYMENT, (sent) => Object.assign(sent, { txID: 'ab'.repeat(32) })],
  'a call by another owner': [CALL, turned('owner_address')],
  'a call with other data': [CALL, turned('data')],
};

describe('the body of a block of Tron', () => {
  it('is what its ids stand for in every recorded block', () => {
    const found = blocks();
    expect(found.length).to.be.above(10);
    for (const block of found) checkBody(block.block_header.raw_data.number, block);
  });

  for (const [name, [type, change]] of Object.entries(CHANGES))
    it(`is refused for ${name}`, () => {
      const block = blocks().find(({ transactions }) => transactions.some(isOf(type)));
      change(block.transactions.find(isOf(type)), {});
      expect(() => checkBody(1, block)).to.throw('another one than its id stands for');
    });
});
