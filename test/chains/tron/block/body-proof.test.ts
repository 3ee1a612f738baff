import { expect } from 'chai';
import { checkBody } from '../../../../src/chains/tron/reads/body-proof.ts';
import { answer, RECORDED, type Sent } from '../vectors.ts';

/** The recorded blocks in hexadecimal, each a new copy; of block 0 nothing is ever paid. */
function blocks(): Sent[] {
  return RECORDED.filter((name) => !name.includes('visible')).flatMap((name) => {
    const sent = answer(name);
    const list = Array.isArray(sent?.block) ? sent.block : [sent];
    return list.filter((block: Sent) => block?.block_header?.raw_data?.number && block.transactions);
  });
}
const ofType = (block: Sent, type: string): Sent[] =>
  block.transactions.filter(({ raw_data: data }: Sent) => data.contract[0].type === type);
const transfersOf = (block: Sent): Sent[] => ofType(block, 'TransferContract');
const callsOf = (block: Sent): Sent[] => ofType(block, 'TriggerSmartContract');

describe('the body of a block of Tron', () => {
  it('is what its ids stand for in every recorded block', () => {
    const found = blocks();
    expect(found.length).to.be.above(10);
    for (const block of found) checkBody(block.block_header.raw_data.number, block);
  });

  it('is refused where one transaction is another one than its id stands for', () => {
    const changes: Readonly<Record<string, (sent: Sent) => void>> = {
      'another receiver': ({ raw_data: data }) => {
        data.contract[0].parameter.value.to_address = `41${'5e'.repeat(20)}`;
      },
      'another type': ({ raw_data: data }) => {
        data.contract[0].type = 'VoteWitnessContract';
      },
      'no receiver': ({ raw_data: data }) => {
        delete data.contract[0].parameter.value.to_address;
      },
      'another sender': ({ raw_data: data }) => {
        data.contract[0].parameter.value.owner_address = `41${'5e'.repeat(20)}`;
      },
      'another amount': ({ raw_data: data }) => {
        data.contract[0].parameter.value.amount += 1;
      },
      'no amount': ({ raw_data: data }) => {
        delete data.contract[0].parameter.value.amount;
      },
      'other bytes': (sent) => {
        sent.raw_data_hex = `${sent.raw_data_hex.slice(0, -2)}00`;
      },
      'no bytes': (sent) => {
        delete sent.raw_data_hex;
      },
      'bytes that are no hex': (sent) => {
        sent.raw_data_hex = 'none';
      },
      'the id of another': (sent) => {
        sent.txID = 'ab'.repeat(32);
      },
    };
    const paid = blocks().filter((block) => transfersOf(block).length > 0);
    expect(paid.length).to.be.above(0);
    for (const [name, change] of Object.entries(changes)) {
      const block = structuredClone(paid[0]);
      change(transfersOf(block)[0]);
      expect(() => checkBody(1, block), name).to.throw('another one than its id stands for');
    }
  });

  it('is refused where a call names another owner, contract or other data than its bytes', () => {
    const [block] = blocks().filter((one) => callsOf(one).length > 0);
    for (const member of ['owner_address', 'contract_address', 'data']) {
      const changed = structuredClone(block);
      const { value } = callsOf(changed)[0].raw_data.contract[0].parameter;
      value[member] = `${value[member].slice(0, -1)}${value[member].endsWith('1') ? '2' : '1'}`;
      expect(() => checkBody(1, changed), member).to.throw('another one than its id stands for');
    }
  });
});
