import { expect } from 'chai';
import { blockOf, GENESIS } from '../endpoints/node.ts';
import type { Sent } from '../vectors.ts';
import { API_KEY, answer, SOLID_MS, type SpendingStage, startSpendingStage } from './stage.ts';

const { signal } = new AbortController();
const RAW = Buffer.from('0a0200', 'hex');
const HASH = 'ab'.repeat(32);
const ENDED = new Date(SOLID_MS);
const NOT_ENDED = new Date(SOLID_MS + 1);

describe('what is sent on Tron', () => {
  let the: SpendingStage;
  before(async () => {
    the = await startSpendingStage(2);
  });
  beforeEach(() => {
    for (const at of [0, 1]) the.answers(at, {});
  });
  after(() => the?.stop());

  it('goes to every endpoint as the bytes that were signed, and what they say is a line for a log', async () => {
    the.answers(1, { broadcasthex: answer('wallet_broadcasttransaction__dup_in_block') });
    const said = await the.spending().broadcast(RAW, signal);
    expect(said).to.deep.equal([
      `${the.nodes[0]?.host}: takes it`,
      `${the.nodes[1]?.host}: does not take it: DUP_TRANSACTION_ERROR Dup transaction.`,
    ]);
    for (const node of the.nodes)
      expect(JSON.parse(node.asked.findLast(({ url }) => url.endsWith('broadcasthex'))?.body ?? '{}')).to.eql(
        {
          transaction: RAW.toString('hex'),
        },
      );
  });

  it('may be refused, left without an answer or answered with anything: nothing throws, no secret is told', async () => {
    const words = Buffer.from(`the key ${API_KEY} is wrong`).toString('hex');
    const answers: readonly Sent[] = [
      { code: 'SIGERROR', message: words },
      { Error: 'class java.lang.NullPointerException' },
      [],
      {},
      { result: 'true' },
      { result: false, code: 7, message: 7 },
    ];
    for (const broadcasthex of answers) {
      for (const at of [0, 1]) the.answers(at, { broadcasthex });
      const said = await the.spending().broadcast(RAW, signal);
      expect(said).to.have.length(2);
      expect(said.join()).not.to.include('takes it,').and.not.to.include(API_KEY);
    }
    for (const node of the.nodes)
      node.fault = (asked) => (asked.url.includes('broadcast') ? 'reset' : undefined);
    expect(await the.spending().broadcast(RAW, signal)).to.have.length(2);
  });

  it('has succeeded, failed, or is absent by the word of each endpoint in final blocks', async () => {
    const outcomes = (changed: Sent, endedAt: Date) => {
      the.answers(0, { gettransactioninfobyid: changed });
      return the.spending().outcomes(HASH, endedAt, signal);
    };
    const hosts = the.nodes.map(({ host }) => host);
    const [first, other] = hosts.map((host) => [host]);
    const none = { failed: [], succeeded: [], held: [], absent: [], asked: hosts };
    expect(await outcomes({}, NOT_ENDED)).to.eql(none);
    expect(await outcomes({}, ENDED)).to.eql({ ...none, absent: hosts });
    const trx = { id: HASH, blockNumber: 72 };
    expect(await outcomes(trx, ENDED)).to.eql({ ...none, absent: other, succeeded: first, held: first });
    const ran = { ...trx, receipt: { result: 'SUCCESS' } };
    expect(await outcomes(ran, ENDED)).to.eql({ ...none, absent: other, succeeded: first, held: first });
    for (const failed of [
      { ...trx, receipt: { result: 'OUT_OF_ENERGY' }, result: 'FAILED' },
      { ...trx, receipt: { result: 'REVERT' } },
      { ...trx, result: 'FAILED' },
    ])
      expect(await outcomes(failed, ENDED)).to.eql({ ...none, absent: other, failed: first, held: first });
    // The info of another transaction says nothing of this one.
    expect(await outcomes({ id: 'cd'.repeat(32) }, ENDED)).to.eql({ ...none, absent: other });
    const paths = the.nodes.flatMap(({ asked }) => asked.map(({ url }) => url));
    expect(
      paths.filter((url) => /infobyid|gettransactionbyid/.test(url) && !url.includes('solidity')),
    ).to.eql([]);
  });

  it('is in a block, or denied, by that block of the chain that an endpoint keeps, whatever its index has', async () => {
    const whole = answer('wallet_getblockbynum__failures');
    const [number, id] = [whole.block_header.raw_data.number, whole.blockID];
    const hashes: Record<string, string> = {};
    for (const { txID, ret } of whole.transactions) hashes[ret[0].contractRet] ??= txID;
    const said = async (hash: string, block = id, first: Sent = whole) => {
      const shows = (answer: Sent) => ({
        getblockbynum: ({ body }: { body: string }) =>
          JSON.parse(body).num === number ? answer : blockOf(0, GENESIS),
      });
      the.answers(0, shows(first));
      the.answers(1, shows({}));
      const { asked: _, ...rest } = await the.spending().outcomes(hash, { number, hash: block }, signal);
      return Object.entries(rest).flatMap(([word, by]) => (by.length > 0 ? [word] : []));
    };
    expect(await said(hashes['SUCCESS'] ?? '')).to.eql(['succeeded', 'held']);
    expect(await said(hashes['REVERT'] ?? '')).to.eql(['failed', 'held']);
    expect(await said(HASH), 'the block without it').to.eql(['absent']);
    expect(await said(hashes['SUCCESS'] ?? '', 'ee'.repeat(32)), 'another block').to.eql(['absent']);
    expect(await said(hashes['SUCCESS'] ?? '', id, {}), 'no such block (any more)').to.eql([]);
  });

  it('counts an endpoint that does not answer as asked', async () => {
    the.nodes[1]?.stop();
    const { absent, asked } = await the.spending().outcomes(HASH, ENDED, signal);
    const [first, away] = the.nodes.map(({ host }) => host);
    expect({ absent, asked }).to.eql({ absent: [first], asked: [first, away] });
  });
});
