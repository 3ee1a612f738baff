import { expect } from 'chai';
import { ChainMismatch } from '../../../../src/chains/rpc/errors.ts';
import { createGenesis } from '../../../../src/chains/tron/genesis.ts';
import type { TronPool, TronPoolOptions } from '../../../../src/chains/tron/protocol.ts';
import { failureOf } from '../../conformance/scene.ts';
import { CONTRACT, GENESIS, madeUpClock, OTHER_GENESIS, poolOf, type TestNode, testNodes } from './node.ts';

const { signal } = new AbortController();
const MAIN_NET_CONTRACT = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const MAIN_NET_GENESIS = '00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc';
const privateNet = (known?: string) => createGenesis({ usdtContract: CONTRACT, known });

describe('which Tron chain an endpoint serves', () => {
  const nodes = testNodes(2);
  let first: TestNode;
  let second: TestNode;
  let clock: ReturnType<typeof madeUpClock>;
  beforeEach(() => {
    [first, second] = nodes as [TestNode, TestNode];
    clock = madeUpClock();
  });
  const both = (options: Partial<TronPoolOptions> = {}) => poolOf(nodes, { ...clock, ...options });
  const alone = (options: Partial<TronPoolOptions> = {}) => poolOf([first], { ...clock, ...options });
  const hostOfHead = (pool: TronPool) =>
    pool.run(async (session) => {
      await session.call('wallet/getnowblock', {});
      return session.host;
    }, signal);
  const mismatch = async (work: Promise<unknown>): Promise<string> => {
    const failure = await failureOf(work);
    expect(failure).to.be.instanceOf(ChainMismatch);
    return (failure as Error).message;
  };

  it('is main net or Nile where the contract is one of theirs, whatever all endpoints agree on', async () => {
    const genesisOf = (known?: string) => createGenesis({ usdtContract: MAIN_NET_CONTRACT, known });
    const pool = both({ genesis: genesisOf() });
    expect(await mismatch(pool.checkChain(signal))).to.equal(
      `tron: ${first.host} serves genesis block ${GENESIS} instead of ${MAIN_NET_GENESIS} (main net): correct the RPC URL or the USDT contract`,
    );
    await mismatch(hostOfHead(pool));
    first.genesis = MAIN_NET_GENESIS;
    const genesis = genesisOf(MAIN_NET_GENESIS);
    expect(await hostOfHead(both({ genesis }))).to.equal(first.host);
    expect(genesis.id()).to.equal(MAIN_NET_GENESIS);
    const nile = { usdtContract: 'TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf' };
    expect(createGenesis(nile).id()).to.match(/^0{16}d698d4192c56cb6be724a558448e2684802de4d6cd8690dc$/);
    expect(createGenesis(nile).differs(MAIN_NET_GENESIS)).to.match(/instead of 0+d698\w+ \(Nile\)$/);
    expect(() => createGenesis({ ...nile, known: MAIN_NET_GENESIS })).to.throw(ChainMismatch, /that of Nile/);
  });

  it('is the one that was read so far, also where the first endpoint serves another', async () => {
    first.genesis = OTHER_GENESIS;
    const pool = both({ genesis: privateNet(GENESIS) });
    expect(await hostOfHead(pool)).to.equal(second.host);
    expect(first.count('getnowblock'), 'nothing was read of another chain').to.equal(0);
    first.genesis = GENESIS;
    await clock.pause(61_000);
    expect(await hostOfHead(pool), 'the endpoint was repaired').to.equal(first.host);
  });

  it('is the first that is named where none is known, and then all have to agree', async () => {
    const genesis = privateNet();
    expect(genesis.id()).to.equal(undefined);
    await both({ genesis }).checkChain(signal);
    expect(genesis.id()).to.equal(GENESIS);
    second.genesis = OTHER_GENESIS;
    expect(await mismatch(both().checkChain(signal))).to.match(
      /^tron: 127\.0\.0\.1:\d+ serves genesis block 0{16}\w+ instead of 0{16}\w+, which another endpoint named before:/,
    );
  });

  it('is the one that was read so far, also where an endpoint of another was asked before that was known', async () => {
    first.genesis = OTHER_GENESIS;
    second.fault = () => ({ status: 503, text: '' });
    const genesis = privateNet();
    const pool = both({ genesis });
    expect(await hostOfHead(pool)).to.equal(first.host);
    genesis.expect(GENESIS);
    expect(genesis.id()).to.equal(GENESIS);
    second.fault = undefined;
    await clock.pause(60_000);
    first.asked.length = 0;
    expect(await hostOfHead(pool)).to.equal(second.host);
    expect(first.count('getnowblock'), 'nothing more is read of it').to.equal(0);
    expect(pool.status()[0]?.problem).to.match(
      /^genesis block 0+cd\w+ instead of 0+ab\w+, which was read so far$/,
    );
    genesis.expect(OTHER_GENESIS);
    expect(genesis.id(), 'known once').to.equal(GENESIS);
  });

  describe('at a solidity address of its own', () => {
    const PATH = 'walletsolidity/getnowblock';
    const finalOn = (pool: TronPool) => pool.each((session) => session.solidity(PATH, {}), signal);

    it('is asked for what is final, in the order of the endpoints, and else at the same base', async () => {
      const solidityUrls = [second.url, `${second.url}/below`];
      await finalOn(poolOf([first, first], { solidityUrls }));
      expect(first.count('walletsolidity')).to.equal(0);
      const urls = second.asked.map(({ url }) => url).filter((url) => url.includes('getnowblock'));
      expect(urls).to.have.members([`/${PATH}`, `/below/${PATH}`]);
      for (const none of [undefined, []]) await finalOn(alone({ solidityUrls: none }));
      expect(first.count(`/${PATH}`)).to.equal(2);
    });

    it('has to be the same chain', async () => {
      second.genesis = OTHER_GENESIS;
      const genesis = privateNet();
      const pool = alone({ solidityUrls: [second.url], genesis });
      expect(await mismatch(pool.checkChain(signal))).to.equal(
        `tron: ${first.host} serves genesis block ${OTHER_GENESIS} at its solidity address ${second.host} and ${GENESIS} at the other: correct the RPC URL or the USDT contract`,
      );
      expect(genesis.id(), 'neither is believed').to.equal(undefined);
    });
  });
});
