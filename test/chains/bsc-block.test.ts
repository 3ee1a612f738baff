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
const transfer = (change: Partial<Log> = {}): Log => ({
  address: USDT,
  topics: [TRANSFER_TOPIC, pad(address('5e')), pad(alice)],
  data: five,
  ...change,
});

function decode(logs: Log[], options: { bloomOf?: Log[]; upperCase?: boolean } = {}) {
  const logsBloom = bloomOf(options.bloomOf ?? logs);
  const block = {
    number: '0x10',
    hash: hash('b1'),
    parentHash: hash('b0'),
    timestamp: '0x64',
    logsBloom,
    transactions: [{ hash: hash('cc'), from: address('5e'), to: USDT, value: '0x0' }],
  };
  const receipts = [
    {
      transactionHash: hash('cc'),
      blockHash: hash('b1'),
      status: '0x1',
      logs: logs.map((log, at) => ({
        logIndex: `0x${at.toString(16)}`,
        transactionHash: hash('cc'),
        blockHash: hash('b1'),
        ...log,
      })),
      logsBloom: options.upperCase ? `0x${logsBloom.slice(2).toUpperCase()}` : logsBloom,
    },
  ];
  return decodeBlock(readBlockRef(block), readBlockBody(block), receipts, {
    token: bscToken(USDT),
    watched,
    unrecognisedLimit: 10,
  });
}

describe('the decoder of blocks', () => {
  it('credits a plain transfer, also from a node that writes hex and checksums in its own way', () => {
    expect(decode([transfer()]).transfers[0]?.amountUnits).to.equal(5n);
    const shouted = transfer({
      address: '0x55d398326f99059fF775485246999027B3197955',
      topics: [TRANSFER_TOPIC, pad(address('5e')), pad(address('A1'))],
    });
    expect(decode([shouted], { bloomOf: [transfer()], upperCase: true }).transfers[0]).to.include({
      to: alice,
      amountUnits: 5n,
    });
  });

  it('never credits a log that the node calls removed', () => {
    expect(decode([transfer({ removed: true })]).transfers).to.deep.equal([]);
  });

  it('never credits a collectible’s id as an amount', () => {
    const collectible = transfer({ topics: [...transfer().topics, five] });
    const block = decode([collectible, { ...collectible, address: address('77') }]);
    expect(block.transfers).to.deep.equal([]);
    expect(block.unrecognised.map((found) => found.amountUnits)).to.deep.equal([null, null]);
  });

  it('takes a block whose bloom only looks like a missing transfer', () => {
    // Both the token and the Transfer topic are in the bloom, from two different logs.
    const logs = [
      { address: USDT, topics: [APPROVAL_TOPIC, pad(alice), pad(address('5e'))], data: five },
      { address: address('77'), topics: [TRANSFER_TOPIC, pad(alice), pad(address('5e'))], data: five },
    ];
    expect(decode(logs).transfers).to.deep.equal([]);
    expect(decode(logs, { upperCase: true }).transfers).to.deep.equal([]);
    expect(() =>
      decode(logs, {
        bloomOf: [...logs, transfer({ topics: [TRANSFER_TOPIC, pad(address('99')), pad(alice)] })],
      }),
    ).to.throw(EndpointFailure, 'logs are missing');
  });

  it('reads the milliseconds of BNB Chain’s blocks, and takes a random mixHash for none', () => {
    const block = { number: '0x10', hash: hash('b1'), parentHash: hash('b0'), timestamp: '0x64' };
    expect(readBlockRef({ ...block, mixHash: pad('0x1c2') }).timestampMs).to.equal(100_450);
    expect(readBlockRef({ ...block, mixHash: pad('0x0') }).timestampMs).to.equal(100_000);
    expect(readBlockRef({ ...block, mixHash: pad('0x3e8') }).timestampMs).to.equal(100_000);
    expect(readBlockRef({ ...block, mixHash: hash('db') }).timestampMs).to.equal(100_000);
    expect(readBlockRef(block).timestampMs).to.equal(100_000);
  });

  it('refuses blocks that are none', () => {
    const block = { number: '0x10', hash: hash('b1'), parentHash: hash('b0'), timestamp: '0x64' };
    for (const wrong of [
      null,
      [],
      'x',
      {},
      { ...block, number: null },
      { ...block, hash: '0x1' },
      { ...block, timestamp: 100 },
      { ...block, number: '0xffffffffffffffff' },
    ]) {
      expect(() => readBlockRef(wrong), JSON.stringify(wrong)).to.throw(EndpointFailure);
    }
  });
});
