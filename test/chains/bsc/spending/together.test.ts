// A transfer that is tried and estimated together, over endpoints of which one question fails and one hangs.
import { expect } from 'chai';
import type { Answer } from '../../../../dev/support/fault-proxy.ts';
import { type AddressKey, keyOfHex } from '../../../../src/chains/address-key.ts';
import type { SpendOrder } from '../../../../src/chains/spending.ts';
import { GWEI, gasOf, priceOf, type Stage, startStage, termsOf } from './stage.ts';

const { signal } = new AbortController();
const SHOP = keyOfHex('c0'.repeat(20));
/** An endpoint has 3 s for a question. */
const ONE_LIMIT_MS = 4_000;

describe('questions about a transfer that are asked together', function () {
  this.timeout(60_000);
  let the: Stage;
  let from: AddressKey;
  let order: SpendOrder;
  const stray: unknown[] = [];
  const note = (reason: unknown): void => void stray.push(reason);
  before(async () => {
    the = await startStage();
    from = await the.wallet({ coins: 10n ** 18n, tokens: 10n ** 20n });
    order = { from, to: SHOP, kind: 'token', units: 10n ** 18n };
    process.prependListener('unhandledRejection', note);
  });
  after(async () => {
    process.removeListener('unhandledRejection', note);
    await the?.stop();
  });
  afterEach(() => {
    the.first.fault = undefined;
    the.second.fault = undefined;
    expect(stray, 'rejections that nobody handles').to.deep.equal([]);
  });
  const answers = (by: Readonly<Record<string, Answer | (() => Promise<Answer>)>>): void => {
    the.first.fault = async ({ method }) => {
      const one = by[method];
      return typeof one === 'function' ? await one() : one;
    };
  };
  const soon = (answer: Answer, ms: number) => async (): Promise<Answer> => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return answer;
  };
  const pass = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  const timed = async <T>(work: Promise<T>): Promise<readonly [T, number]> => {
    const begun = performance.now();
    return [await work, performance.now() - begun];
  };
  const both = () => the.open({ endpoints: [the.first, the.second] }).spending;

  it('are answered by another endpoint where the estimate hangs, within the time of one question', async () => {
    answers({ eth_estimateGas: 'hang' });
    const [quote, ms] = await timed(both().quote(order, {}, signal));
    expect(gasOf(termsOf(quote)) > 21_000n).to.equal(true);
    expect(ms).to.be.lessThan(ONE_LIMIT_MS);
  });

  it('end with what the trial says while the estimate still fails, and nothing is left behind', async () => {
    const poor = { ...order, units: 10n ** 30n };
    answers({ eth_estimateGas: soon('reset', 500) });
    const quote = await both().quote(poor, {}, signal);
    expect(quote).to.include({ kind: 'refused', code: 'refuses' });
    await pass(1_000);
  });

  it('leave nothing behind where the nonce is not told and the code is refused later', async () => {
    answers({ eth_getTransactionCount: 'reset', eth_getCode: soon('reset', 500) });
    const coins: SpendOrder = { from, to: SHOP, kind: 'native', units: 10n ** 17n };
    expect((await both().quote(coins, {}, signal)).kind).to.equal('terms');
    await pass(1_000);
  });

  it('pay for two blocks what a node said that did not know, and what outbids that asks at once', async () => {
    const spending = the.open().spending;
    the.first.fault = ({ method, id }) =>
      method === 'eth_gasPrice' ? { json: { jsonrpc: '2.0', id, result: '0x0' } } : undefined;
    const first = termsOf(await spending.quote(order, {}, signal));
    expect(priceOf(first) < GWEI / 1_000n).to.equal(true);
    the.first.fault = undefined;
    const next = termsOf(await spending.quote(order, { above: first.terms }, signal));
    expect(priceOf(next) > 1_000n * priceOf(first)).to.equal(true);
    // It is what counts from then on.
    expect(priceOf(termsOf(await spending.quote(order, {}, signal)))).to.equal(priceOf(next));
  });
});
