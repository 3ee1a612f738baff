import { expect } from 'chai';
import { createBudget } from '../../../../src/chains/tron/budget.ts';
import { createGenesis } from '../../../../src/chains/tron/genesis.ts';
import { createTronPool } from '../../../../src/chains/tron/protocol.ts';
import { HEAD, startNode, type TestNode } from './node.ts';

const { signal } = new AbortController();

describe('the heads of two endpoints of Tron', () => {
  let first: TestNode;
  let second: TestNode;
  before(async () => {
    first = await startNode();
    second = await startNode();
  });
  after(() => {
    first?.stop();
    second?.stop();
  });

  function scene() {
    const pool = createTronPool({
      name: 'tron',
      urls: [first.url, second.url],
      budget: createBudget({ perDay: 1_000, perSecond: 1_000 }),
      genesis: createGenesis({ usdtContract: 'TGQ1Rb3iQbuBUNcBV3Qo4AakT9PtQJDDmJ' }),
      probeEveryMs: 0,
    });
    /** The first endpoint shows this head; returns what is then said of the second one. */
    const headOfFirst = async (number: number) => {
      // Its own head is asked for as well.
      first.head = number;
      // Else the second one’s head may come before the first one’s.
      await pool.checkChain(signal);
      const began = performance.now();
      await pool.run(async (session) => {
        session.sawHead(number);
        return number;
      }, signal);
      while ((pool.status()[1]?.toldMsAgo ?? Number.POSITIVE_INFINITY) > performance.now() - began)
        await moment();
      const [, { headNumber, problem } = { headNumber: null, problem: null }] = pool.status();
      return { headNumber, problem };
    };
    return { headOfFirst };
  }
  const moment = () => new Promise((resolve) => setTimeout(resolve, 10));

  it('tell who lags behind', async () => {
    const { headOfFirst } = scene();
    expect(await headOfFirst(HEAD + 40)).to.deep.equal({
      headNumber: HEAD,
      problem: '40 blocks behind the best endpoint',
    });
    second.head = HEAD + 39;
    expect(await headOfFirst(HEAD + 40)).to.deep.equal({ headNumber: HEAD + 39, problem: null });
  });

  it('count only where the id of the block begins with its height', async () => {
    const { headOfFirst } = scene();
    second.head = HEAD;
    await headOfFirst(HEAD);
    const header = { raw_data: { number: 9_999 } };
    const wrong = [
      { blockID: `${'0'.repeat(15)}1${'e'.repeat(48)}`, block_header: header },
      { block_header: header },
      { blockID: `${'0'.repeat(16)}${'e'.repeat(48)}` },
      {},
      [],
    ];
    for (const json of wrong) {
      second.fault = ({ url }) => (url.includes('getnowblock') ? { json } : undefined);
      expect(await headOfFirst(HEAD)).to.deep.equal({ headNumber: HEAD, problem: null });
    }
    second.fault = undefined;
    second.head = 0;
    expect(await headOfFirst(HEAD), 'block 0 has no number').to.include({ headNumber: 0 });
  });
});
