// A node's newest view tells of what is in no block yet as if it had happened. What a reader asks it.
import { expect } from 'chai';
import type { ChainReader } from '../../../../src/chains/reader.ts';
import { openTron } from '../../../../src/chains/tron/open.ts';
import { loadConfig } from '../../../../src/config/index.ts';
import { answer, PEOPLE, type Sent, watching } from '../vectors.ts';
import { type Answer, CONTRACT, testNodes } from './node.ts';

const { signal } = new AbortController();
const BLOCK: Sent = answer('wallet_getblockbynum__payments');
const INFOS: Sent = answer('wallet_gettransactioninfobyblocknum__payments');
const { number, parentHash, timestamp: timestampMs } = BLOCK.block_header.raw_data;
const BALANCE = { result: { result: true }, constant_result: ['6'.padStart(64, '0')] };
const HASH = 'ab'.repeat(32);
const AT = { number, hash: BLOCK.blockID, parentHash, timestampMs };
const WATCHED = watching('bob', 'carol');

const idAt = (height: number): string => height.toString(16).padStart(16, '0').padEnd(64, 'e');
const headerAt = (height: number): object => ({
  blockID: idAt(height),
  block_header: { raw_data: { number: height, timestamp: timestampMs, parentHash: idAt(height - 1) } },
});
const scan = (reader: ChainReader) => reader.scan(number, WATCHED, signal);
const balances = (reader: ChainReader) => reader.currentBalances?.([PEOPLE.bob as never], signal);

const INFOS_OF = 'gettransactioninfobyblocknum';
const WHOLE = ['walletsolidity/getblockbynum', `walletsolidity/${INFOS_OF}`];
const ADDRESS = ['getaccount', 'getblock', 'triggerconstantcontract'].map((name) => `walletsolidity/${name}`);
type Ask = (reader: ChainReader) => unknown;
/** What is asked of a reader after the head, and for what it asks a node, whose final block is `final`. */
const ASKED: Readonly<Record<string, readonly [final: number, ask: Ask, paths: readonly string[]]>> = {
  'a block that came with the head': [number - 1, scan, [`wallet/${INFOS_OF}`]],
  'a block that is not final': [
    number - 1,
    async (reader) => [await scan(reader), await scan(reader)],
    ['wallet/getblockbynum', `wallet/${INFOS_OF}`],
  ],
  'a block that is final': [number, scan, WHOLE],
  'its second reading': [number, (reader) => reader.readings?.(AT, WATCHED, signal), WHOLE],
  'the second reading of a quiet one': [
    number,
    (reader) => reader.confirm?.({ ...AT, fingerprint: HASH }, WATCHED, signal),
    WHOLE.slice(1),
  ],
  'what lies on an address': [
    number,
    async (reader) => expect((await balances(reader))?.rows).to.have.length(1),
    ADDRESS,
  ],
  'the place of a transaction': [
    number,
    async (reader) =>
      expect(await reader.locate(HASH, signal)).to.eql({ blockNumber: number, blockHash: BLOCK.blockID }),
    ['wallet/getblock', 'wallet/gettransactioninfobyid'],
  ],
};

describe('what is asked of the newest view of a node of Tron', () => {
  const nodes = testNodes(1);
  const readerOf = (finalNumber: number): ChainReader => {
    const fault = ({ url, body }: { url: string; body: string }): Answer | undefined => {
      if (url.includes('infobyblocknum')) return { json: INFOS };
      if (url.includes('infobyid')) return { json: { id: HASH, blockNumber: number } };
      if (url.includes('triggerconstantcontract')) return { json: BALANCE };
      if (url.endsWith('/getnowblock')) return { json: headerAt(finalNumber) };
      if (url.endsWith('/getblock'))
        return { json: JSON.parse(body).detail ? BLOCK : { ...BLOCK, transactions: undefined } };
      return url.includes('getblockbynum') && JSON.parse(body).num > 0 ? { json: BLOCK } : undefined;
    };
    const [node] = nodes;
    Object.assign(node ?? {}, { fault });
    const { tron } = loadConfig({
      TRON_API_URLS: node?.url ?? '',
      TRON_USDT_CONTRACT: CONTRACT,
      TRON_REQUESTS_PER_DAY: '900000',
    }).chains;
    return openTron(tron, { onEndpoint: () => undefined }).reader;
  };
  /** The paths that this asks for, but for the proof of the chain. */
  const askedBy = async (work: () => unknown): Promise<string[]> => {
    const asked = nodes[0]?.asked ?? [];
    asked.length = 0;
    await work();
    const proof = ({ url, body }: { url: string; body: string }) =>
      url.includes('getblockbynum') && !(JSON.parse(body).num > 0);
    return [...new Set(asked.filter((one) => !proof(one)).map(({ url }) => url.slice(1)))].toSorted();
  };

  for (const [name, [final, ask, paths]] of Object.entries(ASKED))
    it(`is known of ${name}`, async () => {
      const reader = readerOf(final);
      await reader.head(signal);
      expect(await askedBy(() => reader.finalized(signal))).to.eql(['walletsolidity/getnowblock']);
      expect(await askedBy(() => ask(reader))).to.eql(paths);
    });

  it('is what a token says of itself at the start, and nothing else', async () => {
    const asked = await askedBy(() => readerOf(number).checkIdentity(signal));
    expect(asked).to.eql(['wallet/triggerconstantcontract']);
  });
});
