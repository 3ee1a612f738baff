// A node's newest view tells of what is in no block as if it had happened. What a reader asks it.
import { expect } from 'chai';
import type { ChainReader } from '../../../../src/chains/reader.ts';
import { openTron } from '../../../../src/chains/tron/open.ts';
import { loadConfig } from '../../../../src/config/index.ts';
import { answer, PEOPLE, type Sent, watching } from '../vectors.ts';
import { type Answer, startNode, type TestNode } from './node.ts';

const { signal } = new AbortController();
const BLOCK: Sent = answer('wallet_getblockbynum__payments');
const INFOS: Sent = answer('wallet_gettransactioninfobyblocknum__payments');
const { number, parentHash, timestamp: timestampMs } = BLOCK.block_header.raw_data;
const HEADER = { ...BLOCK, transactions: undefined };
const BALANCE = { result: { result: true }, constant_result: ['6'.padStart(64, '0')] };
const HASH = 'ab'.repeat(32);

const idAt = (height: number): string => height.toString(16).padStart(16, '0').padEnd(64, 'e');
const headerAt = (height: number): object => ({
  blockID: idAt(height),
  block_header: { raw_data: { number: height, timestamp: timestampMs, parentHash: idAt(height - 1) } },
});

/** The block that the node has, as its head, and named as final or one block too late for that. */
describe('what is asked of the newest view of a node of Tron', () => {
  let node: TestNode;
  before(async () => {
    node = await startNode();
  });
  after(() => node?.stop());

  const readerOf = (finalNumber: number): ChainReader => {
    node.fault = ({ url, body }): Answer | undefined => {
      if (url.includes('infobyblocknum')) return { json: INFOS };
      if (url.includes('infobyid')) return { json: { id: HASH, blockNumber: number } };
      if (url.includes('triggerconstantcontract')) return { json: BALANCE };
      if (url.endsWith('/getnowblock')) return { json: headerAt(finalNumber) };
      if (url.endsWith('/getblock')) return { json: JSON.parse(body).detail ? BLOCK : HEADER };
      return url.includes('getblockbynum') && JSON.parse(body).num > 0 ? { json: BLOCK } : undefined;
    };
    const settings = {
      TRON_USDT_CONTRACT: 'TGQ1Rb3iQbuBUNcBV3Qo4AakT9PtQJDDmJ',
      TRON_REQUESTS_PER_DAY: '900000',
    };
    const { tron } = loadConfig({ TRON_API_URLS: node.url, ...settings }).chains;
    return openTron(tron, { onEndpoint: () => undefined }).reader;
  };
  const watched = watching('bob', 'carol');
  /** The paths that this asks for, but for the proof of the chain. */
  const askedBy = async (work: () => Promise<unknown>): Promise<string[]> => {
    node.asked.length = 0;
    await work();
    const asked = node.asked.filter(
      ({ url, body }) => !url.includes('getblockbynum') || JSON.parse(body).num > 0,
    );
    return [...new Set(asked.map(({ url }) => url.slice(1)))].toSorted();
  };

  it('is a block with its infos, where it is not final yet', async () => {
    const reader = readerOf(number - 1);
    await reader.head(signal);
    await reader.finalized(signal);
    const paths = ['wallet/gettransactioninfobyblocknum'];
    expect(await askedBy(() => reader.scan(number, watched, signal)), 'the body came with the head').to.eql(
      paths,
    );
    expect(await askedBy(() => reader.scan(number, watched, signal))).to.eql([
      'wallet/getblockbynum',
      ...paths,
    ]);
  });

  it('is nothing of a block that is final', async () => {
    const reader = readerOf(number);
    await reader.head(signal);
    expect(await askedBy(() => reader.finalized(signal))).to.eql(['walletsolidity/getnowblock']);
    const infos = 'walletsolidity/gettransactioninfobyblocknum';
    const whole = ['walletsolidity/getblockbynum', infos];
    expect(await askedBy(() => reader.scan(number, watched, signal))).to.eql(whole);
    const at = { number, hash: BLOCK.blockID, parentHash, timestampMs };
    expect(await askedBy(async () => reader.readings?.(at, watched, signal))).to.eql(whole);
    const quiet = { ...at, fingerprint: HASH };
    expect(await askedBy(async () => reader.confirm?.(quiet, watched, signal))).to.eql([infos]);
  });

  it('is nothing of what lies on an address', async () => {
    const reader = readerOf(number);
    await reader.head(signal);
    const asked = await askedBy(async () => {
      const balances = await reader.currentBalances?.([PEOPLE.bob as never], signal);
      expect(balances?.rows).to.have.length(1);
    });
    const names = ['getaccount', 'getblock', 'triggerconstantcontract'];
    expect(asked).to.eql(names.map((name) => `walletsolidity/${name}`));
  });

  it('is the block of a transaction, never the transaction itself', async () => {
    const reader = readerOf(number);
    await reader.head(signal);
    const place = { blockNumber: number, blockHash: BLOCK.blockID };
    const asked = await askedBy(async () => expect(await reader.locate(HASH, signal)).to.eql(place));
    expect(asked).to.eql(['wallet/getblock', 'wallet/gettransactioninfobyid']);
  });

  it('is what a token says of itself at the start, and nothing else', async () => {
    const asked = await askedBy(() => readerOf(number).checkIdentity(signal));
    expect(asked).to.eql(['wallet/triggerconstantcontract']);
  });
});
