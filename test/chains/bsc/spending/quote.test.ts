import { expect } from 'chai';
import { keyOfHex } from '../../../../src/chains/address-key.ts';
import { RpcUnavailable } from '../../../../src/chains/rpc/errors.ts';
import type { Quote, SpendOrder } from '../../../../src/chains/spending.ts';
import { BNB, GWEI, gasOf, priceOf, type Stage, startStage, termsOf } from './stage.ts';

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
  const send = async (raw: Uint8Array): Promise<void> => {
    await the.open().spending.broadcast(raw, signal);
    await the.chain.mine();
  };
  const landed = async (hash: string): Promise<{ ok: boolean; gas: bigint }> =>
    (await the.receipt(hash)) ?? expect.fail('it is in no block');

  it('is told for tokens on an address that has no coin at all', async () => {
    const from = await the.wallet({ tokens: 700n });
    expect(await the.coinsOf(from)).to.equal(0n);
    const order: SpendOrder = { from, to: SHOP, kind: 'token', units: 700n };
    const given = termsOf(await quote(order));
    expect(given.units).to.equal(700n);
    expect(given.mostUnits).to.equal(gasOf(given) * priceOf(given));
    expect(given.terms['nonce']).to.equal(0);
    const questions = the.first.calls.filter(({ method }) => /estimateGas|eth_call/.test(method));
    expect(questions.length).to.be.greaterThan(1);
    for (const { params } of questions) expect(JSON.stringify(params)).not.to.match(/price|fee/i);
    const [call] = questions.at(-1)?.params ?? [];
    const priced = { ...(call as object), gasPrice: `0x${priceOf(given).toString(16)}` };
    const failure = await the.chain.anvil.rpc('eth_estimateGas', [priced]).catch((error: Error) => error);
    expect(String(failure), 'a node refuses it where a price is named').to.match(/insufficient|allowance/i);
  });

  it('moves the tokens, once the address was given what it can cost', async () => {
    const from = await the.wallet({ tokens: 700n });
    const order: SpendOrder = { from, to: SHOP, kind: 'token', units: 700n };
    const given = termsOf(await quote(order));
    const before = await the.tokensOf(SHOP);
    await the.chain.send({ to: `0x${from}`, valueUnits: given.mostUnits });
    await the.chain.mine();
    const { raw, hash } = the.sign(order, given);
    await send(raw);
    const { ok, gas } = await landed(hash);
    expect([ok, gas <= gasOf(given)]).to.deep.equal([true, true]);
    expect([await the.tokensOf(from), (await the.tokensOf(SHOP)) - before]).to.deep.equal([0n, 700n]);
    expect(await the.coinsOf(from)).to.equal(given.mostUnits - gas * priceOf(given));
  });

  it('leaves exactly nothing of the coin behind', async () => {
    const from = await the.wallet({ coins: BNB });
    const order: SpendOrder = { from, to: SHOP, kind: 'native', units: BNB };
    const given = termsOf(await quote(order));
    expect([gasOf(given), given.units]).to.deep.equal([21_000n, BNB - 21_000n * priceOf(given)]);
    const before = await the.coinsOf(SHOP);
    const { raw, hash } = the.sign(order, given);
    await send(raw);
    expect((await landed(hash)).ok).to.equal(true);
    expect(await the.coinsOf(from)).to.equal(0n);
    expect((await the.coinsOf(SHOP)) - before).to.equal(given.units);
  });

  it('is told for coins that are not there yet, where the receiver has no code', async () => {
    const from = await the.wallet();
    const given = termsOf(await quote({ from, to: SHOP, kind: 'native', units: BNB }));
    expect(gasOf(given)).to.equal(21_000n);
  });

  it('is no refusal by a receiver with code, where the coins are not there', async () => {
    const from = await the.wallet();
    const to = keyOfHex(the.moody.address, 2);
    const asked = quote({ from, to, kind: 'native', units: BNB });
    const failure = await asked.catch((error: Error) => error);
    expect(failure).to.be.instanceOf(RpcUnavailable);
  });

  it('has room for a receiver who gives his tokens away before the block', async () => {
    const to = await the.wallet({ tokens: 5n, coins: BNB });
    const from = await the.wallet({ tokens: 700n, coins: BNB });
    const order: SpendOrder = { from, to, kind: 'token', units: 7n };
    const given = termsOf(await quote(order));
    const away = { from: to, to: SHOP, kind: 'token', units: 5n } as const;
    await send(the.sign(away, termsOf(await quote(away))).raw);
    expect(await the.tokensOf(to)).to.equal(0n);
    const { raw, hash } = the.sign(order, given);
    await send(raw);
    expect((await landed(hash)).ok).to.equal(true);
  });

  it('is more for a contract that takes coins and does something', async () => {
    await mood(9);
    const from = await the.wallet({ coins: BNB });
    const order: SpendOrder = { from, to: keyOfHex(the.moody.address, 2), kind: 'native', units: BNB };
    const given = termsOf(await quote(order));
    expect(given.units).to.equal(BNB - given.mostUnits);
    expect(given.mostUnits).to.equal(gasOf(given) * priceOf(given));
    const { raw, hash } = the.sign(order, given);
    await send(raw);
    const { ok, gas } = await landed(hash);
    expect([ok, gas > 21_000n, gas * 5n <= gasOf(given) * 4n]).to.deep.equal([true, true, true]);
    expect(await the.coinsOf(from), 'what was kept back and not used').to.equal(
      (gasOf(given) - gas) * priceOf(given),
    );
  });

  const UNDONE: readonly [what: string, mood: number, reason: string, said: RegExp][] = [
    ['is paused', 1, 'Pausable: paused', /: Pausable: paused$/],
    ['blocks the address, in an error of its own', 2, '', /: \S/],
    ['fails without a reason', 8, '', /: it gives no reason$/],
    ['ends in an invalid instruction', 4, '', /: it ends in an invalid instruction$/],
    ['never ends', 5, '', /: it uses all the gas there is$/],
  ];
  for (const [what, number, reason, said] of UNDONE) {
    it(`is refused while the token ${what}`, async () => {
      const from = await the.wallet({ moody: 700n });
      await mood(number, reason);
      const text = await refusalOf(moody({ from, to: SHOP, kind: 'token', units: 700n }));
      expect(text)
        .to.match(/^refuses: the token refuses the transfer: /)
        .and.match(said);
      expect(text.length).to.be.lessThan(200);
    });
    it(`is refused while a receiver of coins ${what}`, async () => {
      const from = await the.wallet({ coins: BNB });
      await mood(number, reason);
      const to = keyOfHex(the.moody.address, 2);
      const text = await refusalOf(quote({ from, to, kind: 'native', units: BNB }));
      expect(text)
        .to.match(/^refuses: the receiver 0x[0-9a-f]{40} refuses the transfer: /)
        .and.match(said);
    });
  }

  for (const [what, number] of [
    ['no', 6],
    ['neither yes nor no', 7],
  ] as const)
    it(`is refused where the token answers ${what}`, async () => {
      const from = await the.wallet({ moody: 700n });
      await mood(number);
      const text = await refusalOf(moody({ from, to: SHOP, kind: 'token', units: 700n }));
      expect(text).to.match(/^refuses: the token .* answers something else than yes/);
    });

  it('is told where the token answers nothing, as old ones do', async () => {
    const from = await the.wallet({ moody: 700n });
    await mood(10);
    expect(termsOf(await moody({ from, to: SHOP, kind: 'token', units: 700n })).units).to.equal(700n);
  });

  it('is refused for more tokens than there are', async () => {
    const from = await the.wallet({ tokens: 700n });
    const text = await refusalOf(quote({ from, to: SHOP, kind: 'token', units: 701n }));
    expect(text).to.match(/^refuses: the token refuses the transfer: /);
  });

  it('tells of a reason one short printable line, whatever it is', async () => {
    const from = await the.wallet({ moody: 700n });
    await mood(3, 'a\u0000b\nc\u001b[31md\u202ee https://evil.example/x '.concat('🐛'.repeat(300)));
    const text = await refusalOf(moody({ from, to: SHOP, kind: 'token', units: 700n }));
    expect(text.length).to.be.lessThan(200);
    expect(text).to.match(/^refuses: the token refuses the transfer: a b c \[31md e \*\*\*/);
    expect(text).not.to.match(/[\p{Cc}\p{Cf}\p{Cs}]|evil/u);
  });

  it('is refused where it takes more gas than one may use, with the name of the variable', async () => {
    const from = await the.wallet({ moody: 700n });
    const order: SpendOrder = { from, to: SHOP, kind: 'token', units: 700n };
    const needs = gasOf(termsOf(await moody(order)));
    expect(gasOf(termsOf(await moody(order, { maxGasLimit: needs })))).to.equal(needs);
    expect(await refusalOf(moody(order, { maxGasLimit: needs - 1n }))).to.equal(
      `refuses: the transfer takes up to ${needs} gas, and one may use ${needs - 1n}: raise BSC_MAX_GAS_LIMIT if that is right`,
    );
  });

  it('is refused where nothing would be left of the coin', async () => {
    const units = 21_000n * 5n * GWEI;
    const from = await the.wallet({ coins: BNB });
    const told = termsOf(await quote({ from, to: SHOP, kind: 'native', units }));
    const fee = told.mostUnits;
    for (const less of [fee, fee - 1n, 1n])
      expect(await refusalOf(quote({ from, to: SHOP, kind: 'native', units: less }))).to.match(
        /^worthless: sending 0\.0000\d+ BNB costs 0\.0000\d+ BNB of it/,
      );
    const one = termsOf(await quote({ from, to: SHOP, kind: 'native', units: fee + 1n }));
    expect(one.units).to.equal(1n);
  });

  it('is refused while gas is too dear, before anything else is asked', async () => {
    const from = await the.wallet({ tokens: 700n });
    the.first.calls.length = 0;
    const order: SpendOrder = { from, to: SHOP, kind: 'token', units: 700n };
    const text = await refusalOf(quote(order, { maxGasPriceWei: 1_000n }));
    expect(text).to.match(/^gas_price: gas costs [12][.\d]* gwei, and at most 0\.000001 gwei are paid: /);
    expect(the.first.calls.map(({ method }) => method)).to.deep.equal(['eth_chainId', 'eth_gasPrice']);
  });

  it('takes what gas costs from what was told a moment ago, but for what has to be outbid', async () => {
    const from = await the.wallet({ tokens: 700n });
    const order: SpendOrder = { from, to: SHOP, kind: 'token', units: 700n };
    const { spending } = the.open();
    const given = termsOf(await spending.quote(order, {}, signal));
    const asked = async (options: Parameters<typeof spending.quote>[1]): Promise<number> => {
      the.first.calls.length = 0;
      termsOf(await spending.quote(order, options, signal));
      return the.first.calls.filter(({ method }) => method === 'eth_gasPrice').length;
    };
    expect(await asked({})).to.equal(0);
    expect(await asked({ above: given.terms })).to.equal(1);
  });

  it('outbids what waits, and what outbids it is mined in its place', async () => {
    const from = await the.wallet({ coins: BNB });
    const order: SpendOrder = { from, to: SHOP, kind: 'native', units: BNB };
    const { spending } = the.open();
    const given = termsOf(await spending.quote(order, {}, signal));
    const waits = the.sign(order, given);
    await spending.broadcast(waits.raw, signal);
    const again = termsOf(await spending.quote(order, { above: given.terms }, signal));
    expect(priceOf(again) * 10n >= priceOf(given) * 11n).to.equal(true);
    expect(again.units).to.equal(BNB - 21_000n * priceOf(again));
    expect(again.terms['nonce'], 'the place that is taken again').to.equal(given.terms['nonce']);
    const outbids = the.sign(order, again);
    await spending.broadcast(outbids.raw, signal);
    await the.chain.mine();
    expect((await landed(outbids.hash)).ok).to.equal(true);
    expect([await the.receipt(waits.hash), await the.coinsOf(from)]).to.deep.equal([undefined, 0n]);
  });

  it('names no place that one endpoint alone says was reached', async () => {
    const from = await the.wallet({ tokens: 700n });
    const order: SpendOrder = { from, to: SHOP, kind: 'token', units: 700n };
    the.first.fault = ({ method, id }) =>
      method === 'eth_getTransactionCount' ? { json: { jsonrpc: '2.0', id, result: '0x5' } } : undefined;
    const two = termsOf(await quote(order, { endpoints: [the.first, the.second] }));
    expect(two.terms['nonce']).to.equal(0);
    expect(termsOf(await quote(order)).terms['nonce'], 'there is no other word').to.equal(5);
  });

  it('is refused where outbidding would cost more than is allowed', async () => {
    const from = await the.wallet({ coins: BNB });
    const order: SpendOrder = { from, to: SHOP, kind: 'native', units: BNB };
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
