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

  it('is told by the other one where one is dead, hangs or answers nonsense', async () => {
    const dead: readonly Fault[] = [
      always('reset'),
      always({ status: 503, body: '<html>' }),
      always({ status: 429, body: '', headers: { 'retry-after': '60' } }),
      fails('eth_call', 'hang'),
      fails('eth_gasPrice', 'hang'),
      fails('eth_estimateGas', { json: [] }),
      changed('eth_chainId', () => '0x61'),
    ];
    for (const fault of dead) {
      the.first.fault = fault;
      expect(termsOf(await quote({ endpoints: both() })).units).to.equal(700n);
    }
  });

  it('is neither dear nor held back because one of two lies about the price', async () => {
    const honest = priceOf(termsOf(await quote()));
    for (const lie of [4n * GWEI, 6n * GWEI, 10n ** 18n]) {
      the.first.fault = price(lie);
      expect(priceOf(termsOf(await quote({ endpoints: both() }))), String(lie)).to.equal(honest);
    }
    the.first.fault = price(0n);
    expect(priceOf(termsOf(await quote({ endpoints: both() })))).to.equal(honest);
  });

  it('is outbid at the honest price where a liar made it too cheap to be mined', async () => {
    const honest = priceOf(termsOf(await quote()));
    the.first.fault = price(1n);
    const { spending } = the.open({ endpoints: both() });
    const cheap = termsOf(await spending.quote(order, {}, signal));
    expect(priceOf(cheap)).to.equal(2n);
    const again = termsOf(await spending.quote(order, { above: cheap.terms }, signal));
    expect(priceOf(again)).to.equal(honest);
  });

  const NO_PRICE: Readonly<Record<string, unknown>> = {
    null: null,
    'a number': 1_000_000_000,
    'decimal digits': '1000000000',
    nothing: '0x',
    'a price below zero': '-0x1',
    'a word': '0xgwei',
    'more than there is': `0x1${'0'.repeat(16)}`,
    'a list': ['0x1'],
  };
  for (const [what, told] of Object.entries(NO_PRICE))
    it(`takes ${what} for no price, and for no refusal`, async () => {
      the.first.fault = changed('eth_gasPrice', () => told);
      const failure = await failureOf(quote());
      expect(failure).to.be.instanceOf(RpcUnavailable);
      expect(failure.message).to.match(
        /^no RPC endpoint of bsc tells the gas price: 127\.0\.0\.1:\d+: no gas price$/,
      );
      the.first.fault = price(0n);
      expect(priceOf(termsOf(await quote()))).to.equal(2n);
    });

  const NO_ANSWER: readonly [what: string, fault: Fault][] = [
    ['no nonce', changed('eth_getTransactionCount', () => null)],
    ['a nonce beyond all', changed('eth_getTransactionCount', () => '0xffffffff')],
    ['a nonce that is refused', reverts('eth_getTransactionCount')],
    ['a price that is refused', reverts('eth_gasPrice')],
    ['an estimate of nothing', changed('eth_estimateGas', () => '0x0')],
    ['an estimate that is none', changed('eth_estimateGas', () => 'much')],
    ['the result of no call', changed('eth_call', () => null)],
    [
      'that it has no state',
      fails('eth_call', { json: { id: 1, error: { code: -32_000, message: 'missing trie node' } } }),
    ],
    ['another chain', changed('eth_chainId', () => '0x61')],
  ];
  for (const [what, fault] of NO_ANSWER)
    it(`is not called refused where an endpoint answers ${what}`, async () => {
      the.first.fault = fault;
      expect((await failureOf(quote())).message).to.match(/^(no RPC endpoint of bsc|every RPC endpoint)/);
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
    for (const other of [reverts('eth_call'), always('reset'), fails('eth_call', 'hang')]) {
      the.second.fault = other;
      expect(await quote({ endpoints: both() })).to.include({ kind: 'refused', code: 'refuses' });
    }
  });

  it('leaves every endpoint to the reading of blocks, whatever went wrong', async () => {
    const chain = the.open({ endpoints: both() });
    await chain.reader.head(signal);
    const before = chain.endpoints().map(standing);
    const faults = [
      always({ status: 429, body: '', headers: { 'retry-after': '60' } }),
      always('reset'),
      fails('eth_gasPrice', 'hang'),
    ];
    for (const fault of faults) {
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

  it('asks nothing of an endpoint that is left alone', async () => {
    const chain = the.open({ endpoints: both() });
    the.first.fault = always({ status: 429, body: '', headers: { 'retry-after': '60' } });
    await chain.reader.head(signal);
    the.first.calls.length = 0;
    expect(termsOf(await chain.spending.quote(order, {}, signal)).units).to.equal(700n);
    expect(the.first.calls).to.deep.equal([]);
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

  it('ends at once where nobody waits for it any longer', async () => {
    the.first.fault = always('hang');
    const stop = new AbortController();
    const asked = failureOf(the.open().spending.quote(order, {}, stop.signal));
    stop.abort(new Error('the worker stops'));
    expect((await asked).message).to.equal('the worker stops');
  });
});
