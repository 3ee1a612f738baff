import { expect } from 'chai';
import { type AddressKey, keyOfHex } from '../../../../src/chains/address-key.ts';
import type { Quote, SpendOrder } from '../../../../src/chains/spending.ts';
import { BNB, GWEI, gasOf, priceOf, type Stage, startStage, type Terms, termsOf } from './stage.ts';

const { signal } = new AbortController();
const SHOP = keyOfHex('c0'.repeat(20));

describe('what a transfer on BNB Chain takes', function () {
  this.timeout(60_000);
  let the: Stage;

  before(async () => {
    the = await startStage();
  });
  beforeEach(async () => {
    the.first.fault = undefined;
    await the.moody.call('set', [0n, '']);
    await the.chain.mine();
  });
  after(() => the?.stop());

  const quote = (order: SpendOrder, given: Parameters<Stage['open']>[0] = {}): Promise<Quote> =>
    the.open(given).spending.quote(order, {}, signal);
  const moody = (order: SpendOrder, given: Parameters<Stage['open']>[0] = {}): Promise<Quote> =>
    quote(order, { token: the.moody.address, ...given });
  const refusalOf = async (asked: Promise<Quote>): Promise<string> => {
    const answer = await asked;
    return answer.kind === 'refused'
      ? `${answer.code}: ${answer.reason}`
      : expect.fail(`it takes ${JSON.stringify(answer.terms)}`);
  };
  const mood = async (number: number, reason = ''): Promise<void> => {
    await the.moody.call('set', [BigInt(number), reason]);
    await the.chain.mine();
  };
  const tokens = (from: AddressKey, units = 700n, to = SHOP): SpendOrder => ({
    from,
    to,
    kind: 'token',
    units,
  });
  const coins = (from: AddressKey, units = BNB, to = SHOP): SpendOrder => ({
    from,
    to,
    kind: 'native',
    units,
  });
  /** What becomes of a transfer in the next block. */
  const landed = async (order: SpendOrder, given: Terms) => {
    const { raw, hash } = the.sign(order, given);
    await the.open().spending.broadcast(raw, signal);
    await the.chain.mine();
    return (await the.receipt(hash)) ?? expect.fail('it is in no block');
  };

  it('is told for tokens on an address without a coin, which move once it was given what that can cost', async () => {
    const from = await the.wallet({ tokens: 700n });
    expect(await the.coinsOf(from)).to.equal(0n);
    the.first.calls.length = 0;
    const given = termsOf(await quote(tokens(from)));
    expect([given.units, given.mostUnits]).to.deep.equal([700n, gasOf(given) * priceOf(given)]);
    expect(given.terms['nonce']).to.equal(0);
    const questions = the.first.calls.filter(({ method }) => /estimateGas|eth_call/.test(method));
    expect(questions.length).to.be.greaterThan(1);
    // A member is called so; the letters alone may be a part of an address.
    for (const { params } of questions) expect(JSON.stringify(params)).not.to.match(/"\w*(price|fee)\w*":/i);
    const [call] = questions.at(-1)?.params ?? [];
    const priced = { ...(call as object), gasPrice: `0x${priceOf(given).toString(16)}` };
    const failure = await the.chain.anvil.rpc('eth_estimateGas', [priced]).catch((error: Error) => error);
    expect(String(failure), 'a node refuses it where a price is named').to.match(/insufficient|allowance/i);
    const before = await the.tokensOf(SHOP);
    await the.chain.send({ to: `0x${from}`, valueUnits: given.mostUnits });
    await the.chain.mine();
    const { ok, gas } = await landed(tokens(from), given);
    expect([ok, gas <= gasOf(given)]).to.deep.equal([true, true]);
    expect([await the.tokensOf(from), (await the.tokensOf(SHOP)) - before]).to.deep.equal([0n, 700n]);
    expect(await the.coinsOf(from)).to.equal(given.mostUnits - gas * priceOf(given));
  });

  it('leaves exactly nothing of the coin behind', async () => {
    const from = await the.wallet({ coins: BNB });
    const given = termsOf(await quote(coins(from)));
    expect([gasOf(given), given.units]).to.deep.equal([21_000n, BNB - 21_000n * priceOf(given)]);
    const before = await the.coinsOf(SHOP);
    expect((await landed(coins(from), given)).ok).to.equal(true);
    expect([await the.coinsOf(from), (await the.coinsOf(SHOP)) - before]).to.deep.equal([0n, given.units]);
  });

  const REFUSED: readonly [what: string, mood: number, reason: string, said: RegExp][] = [
    ['is paused', 1, 'Pausable: paused', /: Pausable: paused$/],
    ['blocks the address, in an error of its own', 2, '', /: \S/],
    ['fails without a reason', 8, '', /: it gives no reason$/],
    ['ends in an invalid instruction', 4, '', /: it ends in an invalid instruction$/],
    ['never ends', 5, '', /: it uses all the gas there is$/],
    [
      'says something that is not to be printed',
      3,
      'a\u0000b\nc\u001b[31md\u202ee https://evil.example/x '.concat('🐛'.repeat(300)),
      /: a b c \[31md e \*\*\*[^\p{Cc}\p{Cf}\p{Cs}]*$/u,
    ],
  ];
  for (const [what, number, reason, said] of REFUSED)
    it(`is refused in one short line while the token, or a receiver of coins, ${what}`, async () => {
      const from = await the.wallet({ moody: 700n, coins: BNB });
      await mood(number, reason);
      const to = keyOfHex(the.moody.address, 2);
      for (const [asked, begins] of [
        [moody(tokens(from)), /^refuses: the token refuses the transfer: /],
        [quote(coins(from, BNB, to)), /^refuses: the receiver 0x[0-9a-f]{40} refuses the tr/],
      ] as const) {
        const text = await refusalOf(asked);
        expect(text).to.match(begins).and.match(said).and.not.include('evil');
        expect(text.length).to.be.lessThan(200);
      }
    });

  it('is refused where the token answers no, or neither yes nor no', async () => {
    const from = await the.wallet({ moody: 700n });
    for (const number of [6, 7]) {
      await mood(number);
      const text = await refusalOf(moody(tokens(from)));
      expect(text).to.match(/^refuses: the token .* answers something else than yes/);
    }
  });

  it('is refused where it takes more gas than one may use, with the name of the variable', async () => {
    const from = await the.wallet({ moody: 700n });
    const order = tokens(from);
    const needs = gasOf(termsOf(await moody(order)));
    expect(gasOf(termsOf(await moody(order, { maxGasLimit: needs })))).to.equal(needs);
    expect(await refusalOf(moody(order, { maxGasLimit: needs - 1n }))).to.equal(
      `refuses: the transfer takes up to ${needs} gas, and one may use ${needs - 1n}: raise BSC_MAX_GAS_LIMIT if that is right`,
    );
  });

  it('is refused where nothing would be left of the coin', async () => {
    const from = await the.wallet({ coins: BNB });
    const fee = termsOf(await quote(coins(from, 21_000n * 5n * GWEI))).mostUnits;
    for (const less of [fee, fee - 1n, 1n])
      expect(await refusalOf(quote(coins(from, less)))).to.match(
        /^worthless: sending 0\.0000\d+ BNB costs 0\.0000\d+ BNB of it/,
      );
    expect(termsOf(await quote(coins(from, fee + 1n))).units).to.equal(1n);
  });

  it('outbids what waits, and what outbids it is mined in its place', async () => {
    const from = await the.wallet({ coins: BNB });
    const order = coins(from);
    const { spending } = the.open();
    const given = termsOf(await spending.quote(order, {}, signal));
    const waits = the.sign(order, given);
    await spending.broadcast(waits.raw, signal);
    const again = termsOf(await spending.quote(order, { above: given.terms }, signal));
    expect(priceOf(again) * 10n >= priceOf(given) * 11n).to.equal(true);
    expect(again.units).to.equal(BNB - 21_000n * priceOf(again));
    expect(again.terms['nonce'], 'the place that is taken again').to.equal(given.terms['nonce']);
    expect((await landed(order, again)).ok).to.equal(true);
    expect([await the.receipt(waits.hash), await the.coinsOf(from)]).to.deep.equal([undefined, 0n]);
  });

  it('names no place that one endpoint of two alone says was reached', async () => {
    const from = await the.wallet({ tokens: 700n });
    const order = tokens(from);
    the.first.fault = ({ method, id }) =>
      method === 'eth_getTransactionCount' ? { json: { jsonrpc: '2.0', id, result: '0x5' } } : undefined;
    const two = termsOf(await quote(order, { endpoints: [the.first, the.second] }));
    expect('nonce' in two.terms).to.equal(false);
    expect(termsOf(await quote(order)).terms['nonce'], 'there is no other word').to.equal(5);
  });

  it('is refused where outbidding would cost more than is allowed', async () => {
    const from = await the.wallet({ coins: BNB });
    const order = coins(from);
    const above = { gas_limit: '21000', gas_price: String(5n * GWEI) };
    const answer = await the.open().spending.quote(order, { above }, signal);
    expect(answer).to.include({ kind: 'refused', code: 'gas_price' });
    const failure = await the
      .open()
      .spending.quote(order, { above: { gas_price: 'x' } }, signal)
      .catch((error: Error) => error.message);
    expect(failure).to.equal('the terms that are to be outbid name no gas price');
  });
});
