import { expect } from 'chai';
import {
  ANSWERS,
  acceptedAndLost,
  acceptedThenDropped,
  always,
  busy,
  changed,
  empty,
  everyNth,
  firstOf,
  hasty,
  headBack,
  INFOS,
  lag,
  otherChain,
  solidBack,
  when,
} from '../../../dev/tron/faults.ts';
import type { TronEndpoint } from '../../../dev/tron/http/endpoint.ts';
import { startTronNode, type TronNode } from '../../../dev/tron/node.ts';
import { ALICE, ask, BOB, post, prefixed, readBlock } from './asking.ts';

const heightOf = (block: { block_header: { raw_data: { number: number } } }): number =>
  block.block_header.raw_data.number;

describe('the faults of an address of the double', function () {
  this.timeout(60_000);
  let node: TronNode;
  let endpoint: TronEndpoint;
  let height: number;
  before(async () => {
    node = await startTronNode({ solidDistance: 3 });
    endpoint = await node.endpoint();
    await node.mine(4);
    await node.pay({ to: ALICE, currency: 'USDT', units: 1n });
    await node.pay({ to: BOB, currency: 'USDT', units: 2n });
    height = await node.mine();
    await node.mine(6);
  });
  beforeEach(() => {
    endpoint.fault = undefined;
  });
  after(() => node?.stop());

  const headOf = async (path: string): Promise<number> => heightOf(await ask(endpoint.url, path));
  const read = () => readBlock(node, height, { base: endpoint.url });

  it('are of this address alone, which counts its own requests', async () => {
    endpoint.fault = always(ANSWERS.throttled);
    expect(await ask(endpoint.url, 'wallet/getnowblock')).to.deep.equal(ANSWERS.throttled.json);
    expect(heightOf(await ask(node.url, 'wallet/getnowblock'))).to.equal(node.head().header.number);
    expect(endpoint.requests.map(({ path }) => path)).to.deep.equal(['wallet/getnowblock']);
  });

  for (const [answer, status] of [
    [ANSWERS.banned, 403],
    [ANSWERS.tooMany, 429],
    [ANSWERS.unavailable, 503],
    [ANSWERS.tooLarge, 413],
    [ANSWERS.htmlPage, 200],
    [ANSWERS.redirect, 307],
  ] as const)
    it(`answer with status ${status}: ${answer.body.slice(0, 12)}`, async () => {
      endpoint.fault = always(answer);
      const response = await fetch(`${endpoint.url}/wallet/getnowblock`, { redirect: 'manual' });
      expect([response.status, await response.text()]).to.deep.equal([status, answer.body]);
    });

  for (const name of ['cut', 'reset'] as const)
    it(`end with a connection that is ${name}`, async () => {
      endpoint.fault = always(ANSWERS[name]);
      const failed = await ask(endpoint.url, 'wallet/getnowblock').catch((error: unknown) => error);
      expect(failed).to.be.instanceOf(TypeError);
    });

  for (const name of ['hang', 'drip'] as const)
    it(`take for ever with an answer that ${name}s`, async () => {
      endpoint.fault = always(ANSWERS[name]);
      const signal = AbortSignal.timeout(200);
      const text = fetch(`${endpoint.url}/wallet/getnowblock`, { signal }).then((response) =>
        response.text(),
      );
      const failed = await text.catch((error: unknown) => error);
      expect(failed).to.have.property('name', 'TimeoutError');
    });

  it('need not come every time, nor everywhere', async () => {
    endpoint.fault = when(({ view }) => view === 'walletsolidity', everyNth(2, always({ json: {} })));
    const answers = [];
    for (const path of ['wallet', 'walletsolidity', 'walletsolidity', 'wallet', 'walletsolidity'])
      answers.push('blockID' in (await ask(endpoint.url, `${path}/getnowblock`)));
    expect(answers).to.deep.equal([true, true, false, true, true]);
  });

  it('show nothing above a height, in any answer', async () => {
    endpoint.fault = lag(node, height - 1);
    expect(await headOf('wallet/getnowblock')).to.equal(height - 1);
    expect(await headOf('wallet/getblock')).to.equal(height - 1);
    expect(await headOf('walletsolidity/getnowblock')).to.equal(height - 4);
    expect(await read()).to.equal(undefined);
    const account = await ask(endpoint.url, 'wallet/getaccount', { address: prefixed(ALICE) });
    expect(account).to.deep.equal({});
    const { block } = await ask(endpoint.url, 'wallet/getblockbylimitnext', {
      startNum: height - 1,
      endNum: height + 2,
    });
    expect(block.map(heightOf)).to.deep.equal([height - 1]);
  });

  it('let the head and the irreversible head go back or stand still', async () => {
    const head = node.head().header.number;
    endpoint.fault = headBack(node, 2);
    expect(await headOf('wallet/getnowblock')).to.equal(head - 2);
    endpoint.fault = solidBack(node, { by: 1 });
    expect(await headOf('walletsolidity/getnowblock')).to.equal(node.solidHeight() - 1);
    endpoint.fault = solidBack(node, { at: node.solidHeight() });
    const stands = node.solidHeight();
    await node.mine(2);
    expect(await headOf('walletsolidity/getnowblock')).to.equal(stands);
    expect(await headOf('wallet/getnowblock')).to.equal(head + 2);
    endpoint.fault = hasty(node);
    expect(await headOf('walletsolidity/getnowblock')).to.equal(head + 2);
  });

  it('have nothing but the first block', async () => {
    endpoint.fault = firstOf(empty, always('reset'));
    expect(await ask(endpoint.url, 'wallet/getnowblock')).to.deep.equal({});
    expect(await ask(endpoint.url, 'wallet/gettransactioninfobyblocknum', { num: height })).to.deep.equal([]);
  });

  it('serve another chain', async () => {
    endpoint.fault = otherChain;
    const { blockID } = await ask(endpoint.url, 'wallet/getblockbynum', { num: 0 });
    expect(blockID)
      .to.match(/^0{16}/)
      .and.not.equal(node.genesisId);
    const other = await ask(endpoint.url, 'wallet/getblockbynum', { num: 1 });
    expect(heightOf(other)).to.equal(1);
  });

  for (const [name, reason] of [
    ['ofAnotherFork', /another block or transaction/],
    ['ofAnotherTime', /another block or transaction/],
    ['ofAnotherHeight', /another block or transaction/],
    ['oneTooFew', /1 infos for 2 transactions/],
    ['inAnotherOrder', /another block or transaction/],
  ] as const)
    it(`tell of transactions otherwise than they were: ${name}`, async () => {
      expect((await read())?.transfers).to.have.length(2);
      endpoint.fault = INFOS[name];
      const failed = await read().catch((error: unknown) => error);
      expect(failed).to.have.property('message').that.matches(reason);
    });

  it('tell nothing of transactions', async () => {
    endpoint.fault = INFOS.withoutLogs;
    expect((await read())?.logless).to.have.length(2);
    endpoint.fault = INFOS.none;
    expect(await read()).to.equal(undefined);
    endpoint.fault = INFOS.withoutInternals;
    expect((await read())?.untraced?.succeeded.size).to.equal(2);
  });

  it('accept a broadcast that never lands, or answer it never', async () => {
    const built = await ask(node.url, 'wallet/createtransaction', {
      owner_address: prefixed(node.accounts[3]?.address ?? ALICE),
      to_address: prefixed(BOB),
      amount: 1,
    });
    const id = await node.pay({ to: BOB, currency: 'TRX', units: 77n });
    const pending = await ask(node.url, 'wallet/gettransactionbyid', { value: id });
    await node.forget(id);
    endpoint.fault = acceptedThenDropped(node);
    expect(await ask(endpoint.url, 'wallet/broadcasttransaction', pending)).to.deep.equal({
      result: true,
      txid: id,
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    await node.mine();
    expect(await ask(endpoint.url, 'wallet/gettransactionbyid', { value: id })).to.deep.equal({});
    endpoint.fault = acceptedAndLost;
    const body = JSON.stringify(pending);
    const lost = await post(endpoint.url, 'wallet/broadcasttransaction', body).catch(
      (error: unknown) => error,
    );
    expect(lost).to.be.instanceOf(TypeError);
    await node.mine();
    expect(await ask(endpoint.url, 'wallet/gettransactioninfobyid', { value: id })).to.have.property(
      'id',
      id,
    );
    endpoint.fault = busy;
    const refused = await ask(endpoint.url, 'wallet/broadcasttransaction', built);
    expect(refused).to.include({ code: 'SERVER_BUSY', txid: built.txID });
  });

  it('may change any answer', async () => {
    endpoint.fault = changed(['getnowblock'], (block: object) => ({ ...block, blockID: 'x' }));
    expect(await ask(endpoint.url, 'wallet/getnowblock')).to.have.property('blockID', 'x');
  });
});
