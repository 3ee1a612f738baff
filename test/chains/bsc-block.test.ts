import { expect } from 'chai';
import { AddressSet } from '../../src/chains/address-set.ts';
import { bscToken, decodeBlock, TRANSFER_TOPIC } from '../../src/chains/bsc/block.ts';
import { bloomOf } from '../../src/chains/bsc/bloom.ts';
import { readBlockBody, readBlockRef } from '../../src/chains/bsc/sent-block.ts';
import { EndpointFailure } from '../../src/chains/rpc/errors.ts';

const hash = (byte: string) => `0x${byte.repeat(32)}`;
const address = (byte: string) => `0x${byte.repeat(20)}`;
const pad = (text: string) => `0x${text.slice(2).padStart(64, '0')}`;
const USDT = '0x55d398326f99059ff775485246999027b3197955';
const APPROVAL_TOPIC = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925';
const alice = address('a1');
const five = pad('0x05');
const watched = new AddressSet();
watched.add(alice);

type Log = { address: string; topics: string[]; data: string; removed?: boolean };
const transfer: Log = { address: USDT, topics: [TRANSFER_TOPIC, pad(address('5e')), pad(alice)], data: five };
const block = { number: '0x10', hash: hash('b1'), parentHash: hash('b0'), timestamp: '0x64' };

/** What one transaction with these logs brings, where its bloom is that of `bloomed`. */
function decode(logs: Log[], bloomed = logs) {
  const logsBloom = bloomOf(bloomed);
  const transactions = [{ hash: hash('cc'), from: address('5e'), to: USDT, value: '0x0' }];
  const sent = { ...block, logsBloom, transactions };
  const place = { transactionHash: hash('cc'), blockHash: hash('b1') };
  const placed = logs.map((log, at) => ({ logIndex: `0x${at.toString(16)}`, ...place, ...log }));
  const receipts = [{ ...place, status: '0x1', logs: placed, logsBloom }];
  const rules = { token: bscToken(USDT), chainId: 56, watched, unrecognisedLimit: 10 };
  return decodeBlock(readBlockRef(sent), readBlockBody(sent), receipts, rules);
}

describe('the decoder of blocks', () => {
  it('never credits a log that the node calls removed', () => {
    const credits = (log: Log) => decode([log]).transfers.length;
    expect([credits(transfer), credits({ ...transfer, removed: true })]).to.deep.equal([1, 0]);
  });

  it('never credits a collectible’s id as an amount', () => {
    const collectible = { ...transfer, topics: [...transfer.topics, five] };
    const { transfers, unrecognised } = decode([collectible, { ...collectible, address: address('77') }]);
    const amounts = unrecognised.map(({ amountUnits }) => amountUnits);
    expect([transfers, amounts]).to.deep.equal([[], [null, null]]);
  });

  it('takes a block whose bloom only looks like a missing transfer', () => {
    // Both the token and the Transfer topic are in the bloom, from two different logs.
    const topics = [pad(alice), pad(address('5e'))];
    const logs = [
      { address: USDT, topics: [APPROVAL_TOPIC, ...topics], data: five },
      { address: address('77'), topics: [TRANSFER_TOPIC, ...topics], data: five },
    ];
    expect(decode(logs).transfers).to.deep.equal([]);
    const missing = { ...transfer, topics: [TRANSFER_TOPIC, pad(address('99')), pad(alice)] };
    expect(() => decode(logs, [...logs, missing])).to.throw(EndpointFailure, 'logs are missing');
  });

  it('reads the milliseconds of BNB Chain’s blocks, and takes a random mixHash for none', () => {
    const msOf = (mixHash?: string) => readBlockRef({ ...block, mixHash }).timestampMs % 1_000;
    const hashes = [pad('0x1c2'), pad('0x0'), pad('0x3e8'), hash('db'), undefined];
    expect(hashes.map(msOf)).to.deep.equal([450, 0, 0, 0, 0]);
  });

  it('refuses blocks that are none', () => {
    const changes = [{ number: null }, { hash: '0x1' }, { timestamp: 100 }, { number: '0xffffffffffffffff' }];
    for (const wrong of [null, [], 'x', {}, ...changes.map((change) => ({ ...block, ...change }))])
      expect(() => readBlockRef(wrong), JSON.stringify(wrong)).to.throw(EndpointFailure);
  });
});
