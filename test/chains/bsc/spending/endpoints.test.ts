// Quotes over endpoints that are away, behind, or lie.
import { expect } from 'chai';
import type { Answer, Fault, FaultProxy } from '../../../../dev/support/fault-proxy.ts';
import { always, changed } from '../../../../dev/support/faults.ts';
import { type AddressKey, keyOfHex } from '../../../../src/chains/address-key.ts';
import { RpcUnavailable } from '../../../../src/chains/rpc/errors.ts';
import type { Quote, SpendOrder } from '../../../../src/chains/spending.ts';
import { BNB, GWEI, gasOf, PATH_KEY, priceOf, type Stage, standing, startStage, termsOf } from './stage.ts';

const { signal } = new AbortController();
const SHOP = keyOfHex('c0'.repeat(20));

describe('a transfer on BNB Chain, asked of endpoints that fail', function () {
  this.timeout(60_000);
  let the: Stage;
  let from: AddressKey;
  let order: SpendOrder;

  before(async () => {
    the = await startStage();
    from = await the.wallet({ coins: BNB, tokens: 700n, moody: 700n });
    order = { from, to: SHOP, kind: 'token', units: 700n };
  });
  beforeEach(() => {
    for (const endpoint of [the.first, the.second]) {
      endpoint.fault = undefined;
      endpoint.calls.length = 0;
    }
  });
  after(() => the?.stop());

  const both = (): readonly FaultProxy[] => [the.first, the.second];
  const quote = (given: Parameters<Stage['open']>[0] = {}, asked = order): Promise<Quote> =>
    the.open(given).spending.quote(asked, {}, signal);
  const failureOf = async (asked: Promise<unknown>): Promise<Error> =>
    await asked.then(
      (answer) => expect.fail(`it succeeded: ${Object.keys(answer as object)}`),
      (error: unknown) => error as Error,
    );
  const price = (wei: bigint): Fault => changed('eth_gasPrice', () => `0x${wei.toString(16)}`);
  const reverts =
    (...methods: readonly string[]): Fault =>
    (call) =>
      methods.includes(call.method)
        ? { json: { id: call.id, error: { code: 3, message: 'execution reverted: a lie', data: '0x' } } }
        : undefined;
  const fails =
    (method: string, answer: Answer): Fault =>
    (call) =>
      call.method === method ? answer : undefined;

  it('is told by the other one where one is dead, hangs, answers nonsense or lies about the price', async () => {
    const honest = priceOf(termsOf(await quote()));
    const dead: readonly Fault[] = [
      always('reset'),
      always({ status: 429, body: '', headers: { 'retry-after': '60' } }),
      fails('eth_estimateGas', 'hang'),
      fails('eth_estimateGas', { json: [] }),
      changed('eth_chainId', () => '0x61'),
      price(0n),
      price(6n * GWEI),
    ];
    for (const fault of dead) {
      the.first.fault = fault;
      const told = termsOf(await quote({ endpoints: both(), patience: 1 }));
      expect([told.units, priceOf(told)]).to.deep.equal([700n, honest]);
    }
  });

  it('takes what is no price for none, and for no refusal', async () => {
    for (const told of [null, 1_000_000_000, '1000000000', '0x', '-0x1', `0x1${'0'.repeat(16)}`, ['0x1']]) {
      the.first.fault = changed('eth_gasPrice', () => told);
      const failure = await failureOf(quote());
      expect(failure).to.be.instanceOf(RpcUnavailable);
      expect(failure.message, String(told)).to.match(
        /^no RPC endpoint of bsc tells the gas price: 127\.0\.0\.1:\d+: no gas price$/,
      );
    }
    the.first.fault = price(0n);
    expect(priceOf(termsOf(await quote()))).to.equal(2n);
  });

  it('is not called refused where an endpoint does not know', async () => {
    const unknowing: readonly Fault[] = [
      changed('eth_getTransactionCount', () => null),
      changed('eth_getTransactionCount', () => '0xffffffff'),
      reverts('eth_getTransactionCount'),
      reverts('eth_gasPrice'),
      changed('eth_estimateGas', () => '0x0'),
      changed('eth_estimateGas', () => 'much'),
      changed('eth_call', () => null),
      fails('eth_call', { json: { id: 1, error: { code: -32_000, message: 'missing trie node' } } }),
      changed('eth_chainId', () => '0x61'),
    ];
    for (const fault of unknowing) {
      the.first.fault = fault;
      expect((await failureOf(quote())).message).to.match(/^(no RPC endpoint of bsc|every RPC endpoint)/);
    }
  });

  it('is not called refused where nobody says whether the receiver has code', async () => {
    const coins: SpendOrder = { from, to: SHOP, kind: 'native', units: BNB };
    for (const fault of [changed('eth_getCode', () => '0x0'), reverts('eth_getCode')]) {
      the.first.fault = fault;
      expect(await failureOf(quote({}, coins))).to.be.instanceOf(RpcUnavailable);
      expect(gasOf(termsOf(await quote({ endpoints: both() }, coins)))).to.equal(21_000n);
    }
  });

  it('is not held back by one endpoint that calls it refused', async () => {
    for (const method of ['eth_call', 'eth_estimateGas']) {
      the.first.fault = reverts(method);
      expect(await quote()).to.include({
        code: 'refuses',
        reason: 'the token refuses the transfer: a lie',
      });
      expect(termsOf(await quote({ endpoints: both() })).units).to.equal(700n);
    }
  });

  it('is refused where two say so, or where nobody else answers', async () => {
    the.first.fault = reverts('eth_call');
    for (const other of [reverts('eth_call'), always('reset')]) {
      the.second.fault = other;
      expect(await quote({ endpoints: both() })).to.include({ kind: 'refused', code: 'refuses' });
    }
  });

  it('leaves every endpoint to the reading of blocks, whatever went wrong', async () => {
    const chain = the.open({ endpoints: both() });
    await chain.reader.head(signal);
    const before = chain.endpoints().map(standing);
    for (const fault of [
      always({ status: 429, body: '', headers: { 'retry-after': '60' } }),
      always('reset'),
    ]) {
      the.first.fault = fault;
      the.second.fault = fault;
      expect(await failureOf(chain.spending.quote(order, {}, signal))).to.be.instanceOf(RpcUnavailable);
      await chain.spending.broadcast(Buffer.from('00', 'hex'), signal);
    }
    expect(chain.endpoints().map(standing)).to.deep.equal(before);
    the.first.fault = undefined;
    the.second.fault = undefined;
    the.first.calls.length = 0;
    await chain.reader.head(signal);
    expect(the.first.calls.length, 'the first one is still asked first').to.be.greaterThan(0);
  });

  it('never shows a key of an endpoint', async () => {
    const said = `execution reverted: ${PATH_KEY} of https://node.example/v3/${PATH_KEY}`;
    the.first.fault = (call) =>
      call.method === 'eth_call' ? { json: { id: call.id, error: { code: 3, message: said } } } : undefined;
    const refused = JSON.stringify(await quote());
    the.first.fault = always({ status: 200, body: `{"error":{"code":-1,"message":"${said.slice(20)}"}}` });
    const { message, stack } = await failureOf(quote());
    expect([refused, message]).to.satisfy((texts: string[]) => texts.every((text) => text.includes('***')));
    expect([refused, message, stack].join('\n')).not.to.contain(PATH_KEY);
  });
});
