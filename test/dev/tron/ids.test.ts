import { expect } from 'chai';
import { blockId, transactionBytes, transactionRoot } from '../../../dev/tron/ids.ts';
import { decode, encode, RAW } from '../../../dev/tron/messages.ts';
import { showRaw } from '../../../dev/tron/transactions.ts';
import type { Answer } from './asking.ts';
import { ALL, recordedAs } from './recorded.ts';

const blocks = [...ALL].flatMap(([name, { response }]) => {
  const sent: Answer[] = [response.block ?? response].flat();
  const isHex = !name.endsWith('visible');
  return isHex ? sent.filter((block) => block?.blockID).map((block) => ({ name, block })) : [];
});
/** Of these blocks, and those that were recorded by themselves. */
const transactions = [
  ...blocks.flatMap(({ block }) => (block.transactions ?? []) as Answer[]),
  ...['delegate_energy', 'delegate_energy_small', 'undelegate'].map(
    (name) => recordedAs(`wallet_gettransactionbyid__stake_${name}`).response,
  ),
];
const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? Number(one) : one)));

describe('the ids that the double makes', function () {
  this.timeout(60_000);

  it('are those of recorded blocks, from their headers', () => {
    expect(blocks).to.have.length.above(20);
    for (const { name, block } of blocks) {
      const raw = block.block_header.raw_data;
      const header = {
        number: raw.number ?? 0,
        timestampMs: raw.timestamp ?? 0,
        root: raw.txTrieRoot,
        parentHash: raw.parentHash,
        witness: raw.witness_address,
        version: raw.version ?? 0,
      };
      expect(blockId(header), name).to.equal(block.blockID);
    }
  });

  it('cover the transactions of recorded blocks', () => {
    const whole = blocks.filter(({ block }) => block.transactions);
    expect(whole).to.have.length.above(5);
    for (const { name, block } of whole) {
      const bytes = block.transactions.map(({ raw_data_hex, signature = [], ret }: Answer) =>
        transactionBytes(Buffer.from(raw_data_hex, 'hex'), signature, ret?.[0].contractRet),
      );
      expect(transactionRoot(bytes), name).to.equal(block.block_header.raw_data.txTrieRoot);
    }
  });

  it('stand for what recorded transactions say, both ways', () => {
    expect(transactions).to.have.length.above(30);
    for (const { raw_data, raw_data_hex, txID } of transactions) {
      const message = decode(RAW, Buffer.from(raw_data_hex, 'hex'));
      expect(encode(RAW, message).toString('hex'), txID).to.equal(raw_data_hex);
      expect(plain(showRaw(message, false)), txID).to.deep.equal(plain(raw_data));
    }
  });
});
