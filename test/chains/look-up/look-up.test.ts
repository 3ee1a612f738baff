import { expect } from 'chai';
import { startTestChain, type TestChain, USDT_UNIT } from '../../../dev/support/chain.ts';
import { tronEnv } from '../../../dev/support/live-chains.ts';
import { startTronNode, type TronNode } from '../../../dev/tron/node.ts';
import { keyOfHex } from '../../../src/chains/address-key.ts';
import { openBsc } from '../../../src/chains/bsc/open.ts';
import type { OpenChain } from '../../../src/chains/chain.ts';
import { TRON_ADDRESSES } from '../../../src/chains/tron/addresses.ts';
import { openTron } from '../../../src/chains/tron/open.ts';
import { loadConfig } from '../../../src/config/index.ts';

const SILENT = { onEndpoint: () => undefined };
const THEIRS = '0x52908400098527886e0f7030069857d2e4169ee7';
const signal = () => AbortSignal.timeout(20_000);

describe('one transaction that is looked up on bsc', function () {
  this.timeout(60_000);
  let chain: TestChain;
  let open: OpenChain;
  const to = keyOfHex(THEIRS, 2);

  before(async () => {
    chain = await startTestChain();
    const { chains } = loadConfig({ BSC_RPC_URLS: chain.url, BSC_USDT_CONTRACT: chain.usdt.address });
    open = openBsc(chains.bsc, SILENT);
  });
  after(() => chain?.stop());

  it('waits, then shows its block, its sender and the coins that it moved', async () => {
    const hash = await chain.send({ to: THEIRS, valueUnits: 5n });
    const from = keyOfHex(chain.accounts[0] ?? '', 2);
    const moves = [{ to, contract: null, units: 5n }];
    expect(await open.lookUp(hash, signal())).to.deep.equal({
      blockNumber: null,
      outcome: 'waits',
      from,
      moves,
    });
    const blockNumber = await chain.mine();
    expect(await open.lookUp(hash, signal())).to.deep.equal({
      blockNumber,
      outcome: 'succeeded',
      from,
      moves,
    });
  });

  it('shows the receiver of tokens, and nothing moved of one that failed', async () => {
    const paid = await chain.send({
      to: chain.usdt.address,
      data: chain.usdt.data('transfer', [THEIRS, 3n * USDT_UNIT]),
    });
    const poor = chain.accounts[5] ?? '';
    const failed = await chain.send({
      from: poor,
      to: chain.usdt.address,
      data: chain.usdt.data('transfer', [THEIRS, 1n]),
    });
    await chain.mine();
    const contract = keyOfHex(chain.usdt.address, 2);
    expect((await open.lookUp(paid, signal()))?.moves).to.deep.equal([
      { to, contract, units: 3n * USDT_UNIT },
    ]);
    expect(await open.lookUp(failed, signal()))
      .to.include({ outcome: 'failed' })
      .and.deep.include({ moves: [] });
  });

  it('is unknown where no endpoint has it, and says why where none answers', async () => {
    expect(await open.lookUp(`0x${'7'.repeat(64)}`, signal())).to.equal(undefined);
    const { chains } = loadConfig({ BSC_RPC_URLS: 'http://127.0.0.1:9/SECRET' });
    const away = openBsc(chains.bsc, SILENT).lookUp(`0x${'7'.repeat(64)}`, signal());
    const error: unknown = await away.catch((thrown: unknown) => thrown);
    expect(String(error))
      .to.match(/no endpoint of bsc answers: 127\.0\.0\.1:9: /)
      .and.not.include('SECRET');
  });
});

describe('one transaction that is looked up on tron', function () {
  this.timeout(60_000);
  let node: TronNode;
  let open: OpenChain;
  const THERE = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';
  const to = TRON_ADDRESSES.key(THERE);

  before(async () => {
    node = await startTronNode({ solidDistance: 4 });
    open = openTron(loadConfig(tronEnv(node)).chains.tron, SILENT);
  });
  after(() => node?.stop());

  it('shows coins and tokens with their receiver, once a block holds them', async () => {
    const coins = await node.pay({ to, currency: 'TRX', units: 7n });
    const tokens = await node.pay({ to, currency: 'USDT', units: 9n });
    await node.mine();
    expect(await open.lookUp(coins, signal())).to.deep.include({
      outcome: 'succeeded',
      moves: [{ to, contract: null, units: 7n }],
    });
    const seen = await open.lookUp(tokens, signal());
    expect(seen?.moves.map(({ to: key, units }) => [key, units])).to.deep.equal([[to, 9n]]);
    expect(seen?.moves[0]?.contract).to.match(/^[0-9a-f]{40}$/);
  });

  it('is unknown where no endpoint has it', async () => {
    expect(await open.lookUp('7'.repeat(64), signal())).to.equal(undefined);
  });
});
