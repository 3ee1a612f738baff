import { expect } from 'chai';
import { ChainMismatch, EndpointFailure } from '../../../../src/chains/rpc/errors.ts';
import { createBudget } from '../../../../src/chains/tron/budget.ts';
import { createGenesis } from '../../../../src/chains/tron/genesis.ts';
import { createTronPool, type TronPool, type TronPoolOptions } from '../../../../src/chains/tron/protocol.ts';
import { GENESIS, HEAD, madeUpClock, OTHER_GENESIS, startNode, type TestNode } from './node.ts';

const { signal } = new AbortController();
const MAIN_NET_CONTRACT = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const MAIN_NET_GENESIS = '00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc';
const PRIVATE_CONTRACT = 'TGQ1Rb3iQbuBUNcBV3Qo4AakT9PtQJDDmJ';

describe('which Tron chain an endpoint serves', () => {
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
  beforeEach(() => {
    for (const node of [first, second]) {
      Object.assign(node, { fault: undefined, genesis: GENESIS, head: HEAD });
      node.asked.length = 0;
    }
  });

  const privateNet = (known?: string) => createGenesis({ usdtContract: PRIVATE_CONTRACT, known });
  const poolOf = (options: Partial<TronPoolOptions> = {}): TronPool =>
    createTronPool({
      name: 'tron',
      urls: [first.url, second.url],
      budget: createBudget({ perDay: 100_000, perSecond: 1_000 }),
      genesis: privateNet(),
      timeoutMs: 1_000,
      ...options,
    });
  const hostOfHead = (pool: TronPool) =>
    pool.run(async (session) => {
      await session.call('wallet/getnowblock', {});
      return session.host;
    }, signal);
  const failureOf = (work: Promise<unknown>): Promise<Error> =>
    work.then(
      () => new Error('it succeeded'),
      (failure: unknown) => failure as Error,
    );

  it('is main net where the contract is main net’s, whatever all endpoints agree on', async () => {
    const genesisOf = (known?: string) => createGenesis({ usdtContract: MAIN_NET_CONTRACT, known });
    const pool = poolOf({ genesis: genesisOf(), ...madeUpClock() });
    const failure = await failureOf(pool.checkChain(signal));
    expect(failure).to.be.instanceOf(ChainMismatch);
    expect(failure.message).to.equal(
      `tron: ${first.host} serves genesis block ${GENESIS} instead of ${MAIN_NET_GENESIS} (main net): correct the RPC URL or the USDT contract`,
    );
    expect(await failureOf(hostOfHead(pool))).to.be.instanceOf(ChainMismatch);
    first.genesis = MAIN_NET_GENESIS;
    const genesis = genesisOf(MAIN_NET_GENESIS);
    expect(await hostOfHead(poolOf({ genesis }))).to.equal(first.host);
    expect(genesis.id()).to.equal(MAIN_NET_GENESIS);
  });

  it('is Nile where the contract is that of Nile', () => {
    const { usdtContract, nile } = {
      usdtContract: 'TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf',
      nile: '0000000000000000d698d4192c56cb6be724a558448e2684802de4d6cd8690dc',
    };
    expect(createGenesis({ usdtContract }).id()).to.equal(nile);
    expect(createGenesis({ usdtContract }).differs(MAIN_NET_GENESIS)).to.match(
      /instead of 0+d698\w+ \(Nile\)$/,
    );
    expect(() => createGenesis({ usdtContract, known: MAIN_NET_GENESIS })).to.throw(
      ChainMismatch,
      /that of Nile/,
    );
  });

  it('is the one that was read so far, also where the first endpoint serves another', async () => {
    expect(privateNet(GENESIS).id()).to.equal(GENESIS);
    expect(privateNet(GENESIS).differs(OTHER_GENESIS)).to.match(/^genesis block 0+cd\w+ instead of 0+ab/);
    first.genesis = OTHER_GENESIS;
    const clock = madeUpClock();
    const pool = poolOf({ genesis: privateNet(GENESIS), ...clock });
    expect(await hostOfHead(pool)).to.equal(second.host);
    expect(first.count('getnowblock'), 'nothing was read of another chain').to.equal(0);
    const asked = first.asked.length;
    await clock.pause(59_000);
    await hostOfHead(pool);
    expect(first.asked.length, 'asked again within the minute').to.equal(asked);
    first.genesis = GENESIS;
    await clock.pause(2_000);
    expect(await hostOfHead(pool), 'the endpoint was repaired').to.equal(first.host);
  });

  it('is the first that is named where none is known, and then all have to agree', async () => {
    const genesis = privateNet();
    expect(genesis.id()).to.equal(undefined);
    await poolOf({ genesis }).checkChain(signal);
    expect(genesis.id()).to.equal(GENESIS);
    second.genesis = OTHER_GENESIS;
    const failure = await failureOf(poolOf().checkChain(signal));
    expect(failure).to.be.instanceOf(ChainMismatch);
    expect(failure.message).to.match(
      /^tron: 127\.0\.0\.1:\d+ serves genesis block 0{16}\w+ instead of 0{16}\w+, which another endpoint named before:/,
    );
  });

  it('is the one that was read so far, also where an endpoint of another chain was asked before that was known', async () => {
    first.genesis = OTHER_GENESIS;
    second.fault = () => ({ status: 503, text: '' });
    const genesis = privateNet();
    const clock = madeUpClock();
    const pool = poolOf({ genesis, ...clock });
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

  it('is asked again after a failure, once in a minute: another node may answer there', async () => {
    const clock = madeUpClock();
    const pool = poolOf({ urls: [first.url], ...clock });
    await hostOfHead(pool);
    first.fault = ({ url }) => (url.includes('getnowblock') ? { status: 503, text: '' } : undefined);
    for (let failed = 0; failed < 9; failed++) await failureOf(hostOfHead(pool));
    expect(first.count('getblockbynum'), 'a proof for each failure would use up the day').to.equal(1);
    await clock.pause(60_000);
    first.fault = () => 'reset';
    await failureOf(hostOfHead(pool));
    first.fault = undefined;
    await clock.pause(5_000);
    first.genesis = OTHER_GENESIS;
    expect(await failureOf(hostOfHead(pool))).to.be.instanceOf(ChainMismatch);
  });

  it('is not told by an answer without a block 0', async () => {
    const noBlocks = [{}, [], { blockID: 'ab'.repeat(32) }, { blockID: 7 }, { blockID: GENESIS.slice(2) }];
    for (const json of noBlocks) {
      const genesis = privateNet();
      first.fault = () => ({ json });
      const failure = await failureOf(hostOfHead(poolOf({ urls: [first.url], genesis })));
      expect(failure.message).to.equal(
        `no RPC endpoint answers for tron: no genesis block from 1 of 1 (${first.host})`,
      );
      expect(genesis.id()).to.equal(undefined);
    }
  });

  it('cannot be another than the one that was read so far', () => {
    const both = { usdtContract: MAIN_NET_CONTRACT, known: GENESIS };
    expect(() => createGenesis(both)).to.throw(
      ChainMismatch,
      /correct the contract, or use another database/,
    );
    expect(() => privateNet('0x2b6653dc')).to.throw('the known genesis block is not an id');
  });

  describe('at a solidity address of its own', () => {
    it('is asked for what is final, in the order of the endpoints', async () => {
      const pool = poolOf({
        urls: [first.url, first.url],
        solidityUrls: [second.url, `${second.url}/below`],
      });
      await pool.each((session) => session.solidity('walletsolidity/getnowblock', {}), signal);
      expect(first.count('walletsolidity')).to.equal(0);
      expect(second.asked.map(({ url }) => url).filter((url) => url.includes('getnowblock'))).to.have.members(
        ['/walletsolidity/getnowblock', '/below/walletsolidity/getnowblock'],
      );
    });

    it('is the same base where none is named', async () => {
      for (const solidityUrls of [undefined, []])
        await poolOf({ solidityUrls }).run(
          (session) => session.solidity('walletsolidity/getnowblock', {}),
          signal,
        );
      expect(first.count('/walletsolidity/getnowblock')).to.equal(2);
    });

    it('has to be the same chain', async () => {
      second.genesis = OTHER_GENESIS;
      const genesis = privateNet();
      const pool = poolOf({ urls: [first.url], solidityUrls: [second.url], genesis });
      const failure = await failureOf(pool.checkChain(signal));
      expect(failure).to.be.instanceOf(ChainMismatch);
      expect(failure.message).to.equal(
        `tron: ${first.host} serves genesis block ${OTHER_GENESIS} at its solidity address ${second.host} and ${GENESIS} at the other: correct the RPC URL or the USDT contract`,
      );
      expect(genesis.id(), 'neither is believed').to.equal(undefined);
    });

    it('is named where it fails, with the setting to change where it is not served', async () => {
      const page = { status: 405, text: '<html>' };
      first.fault = ({ url }) => (url.includes('walletsolidity') ? page : undefined);
      const askOn = (pool: TronPool) =>
        pool.aside((session) => failureOf(session.solidity('walletsolidity/getnowblock', {})), signal);
      const failure = await askOn(poolOf());
      expect(failure.message).to.equal(
        'http 405 (walletsolidity/getnowblock is not served here: name the base of walletsolidity in TRON_SOLIDITY_URLS, on a node of one’s own another port)',
      );
      expect((failure as EndpointFailure).notOffered).to.equal(true);
      second.fault = ({ url }) =>
        url.includes('now') ? { status: 429, headers: { 'retry-after': '4' }, text: '' } : undefined;
      const elsewhere = await askOn(poolOf({ urls: [first.url], solidityUrls: [second.url] }));
      expect(elsewhere)
        .to.be.instanceOf(EndpointFailure)
        .and.include({ throttled: true, retryAfterMs: 4_000 });
      expect(elsewhere.message).to.equal(`http 429, at ${second.host}`);
    });
  });
});
