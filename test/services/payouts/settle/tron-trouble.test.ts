import { expect } from 'chai';
import { ANSWERS, always } from '../../../../dev/tron/faults.ts';
import { TRON_ADDRESSES } from '../../../../src/chains/tron/addresses.ts';
import { updateMerchant } from '../../../../src/services/merchants/merchants.ts';
import { isSent, reasonOf } from './steps.ts';
import { MERCHANT_KEY, startFundedTronStage, TRX, type TronSettleStage } from './tron-stage.ts';

const USDT = TRX;

describe('trouble with payouts on Tron', function () {
  this.timeout(300_000);
  let the: TronSettleStage;
  before(async () => {
    the = await startFundedTronStage({ others: 1 });
  });
  after(() => the?.stop());

  it('pays once what every node has taken and none has put into a block, after its time is over', async () => {
    const key = await the.paid(['TRX', 50n * TRX]);
    const had = await the.coinsOf(MERCHANT_KEY);
    await the.settle(key, isSent);
    const [first] = await the.sent(key);
    await the.node.forget(String(first?.['hash']));
    await the.finish();
    // Its time is not over: nothing else may be signed, whatever nodes say.
    expect(reasonOf(await the.step(key))).to.match(/no block has it yet/);
    expect((await the.payouts(key)).map(({ state }) => state)).to.deep.equal(['paying']);
    await the.letItsTimePass();
    await the.settle(key);
    expect((await the.payouts(key)).map(({ state }) => state)).to.deep.equal(['failed', 'settled']);
    expect((await the.sent(key)).map(({ state }) => state)).to.deep.equal(['dead', 'final']);
    const [, paid] = await the.payouts(key);
    expect((await the.coinsOf(MERCHANT_KEY)) - had).to.equal(BigInt(String(paid?.['net_units'])));
    // What an address has free is not counted on again where it was of no use.
    expect(paid).to.include({ fee_units: (50n * TRX - BigInt(String(paid?.['net_units']))).toString() });
    expect((await the.deposits(key)).map(({ status }) => status)).to.deep.equal(['settled']);
  });

  it('gives nothing back while an endpoint has not read on to the end of its time', async () => {
    const key = await the.paid(['TRX', 50n * TRX]);
    await the.settle(key, isSent);
    const [first] = await the.sent(key);
    await the.node.forget(String(first?.['hash']));
    await the.letItsTimePass();
    const [other] = the.others;
    if (!other) throw new Error('no second endpoint');
    other.fault = always(ANSWERS.unavailable);
    expect(reasonOf(await the.step(key)))
      .to.match(/counts once two RPC endpoints say so/)
      .and.to.include(` only ${new URL(the.endpoint.url).host} does so far`);
    other.fault = undefined;
    the.later(60_000);
    await the.settle(key);
    expect((await the.payouts(key)).map(({ state }) => state)).to.deep.equal(['failed', 'settled']);
  });

  it('sends coins for gas again where the first ones landed nowhere', async () => {
    const key = await the.paid(['USDT', 30n * USDT]);
    await the.settle(key, isSent);
    const [first] = await the.sent(key);
    await the.node.forget(String(first?.['hash']));
    await the.letItsTimePass();
    await the.settle(key);
    expect((await the.sent(key)).map(({ purpose, state }) => `${purpose} ${state}`)).to.deep.equal([
      'gas dead',
      'gas final',
      'payout final',
    ]);
  });

  it('takes up a transaction that a block shows after all, and pays nothing twice', async () => {
    const key = await the.paid(['TRX', 25n * TRX]);
    const had = await the.coinsOf(MERCHANT_KEY);
    await the.settle(key, isSent);
    await the.node.mine(2);
    await the.catchUp();
    await the.node.replace(2, { keep: 'again' });
    await the.catchUp();
    expect((await the.sent(key)).map(({ state }) => state)).to.deep.equal(['sent']);
    await the.settle(key);
    expect((await the.payouts(key)).map(({ state }) => state)).to.deep.equal(['settled']);
    expect((await the.coinsOf(MERCHANT_KEY)) - had).to.equal(25n * TRX);
  });

  it('tells before anything is spent that a receiver is a contract, which takes no coins', async () => {
    const contract = TRON_ADDRESSES.format(the.node.usdt.key);
    const key = await the.paid(['TRX', 25n * TRX]);
    const quote = await the.spending.quote(
      { from: key, to: the.node.usdt.key, kind: 'native', units: 25n * TRX },
      {},
      new AbortController().signal,
    );
    expect(quote).to.include({ kind: 'refused', code: 'refuses' });
    expect(quote.kind === 'refused' && quote.reason).to.include(contract);
    await the.settle(key);
  });

  it('pays to the new withdraw address where that was changed before it was signed', async () => {
    await the.signer.stop();
    const key = await the.paid(['TRX', 25n * TRX]);
    for (const _ of [1, 2, 3]) await the.step(key);
    const other = TRON_ADDRESSES.format(the.node.accounts[5]?.address ?? MERCHANT_KEY);
    await updateMerchant(the.deps, { merchantId: the.api.merchant.id, withdraw: { tron: other } });
    await the.signer.start();
    await the.settle(key);
    expect((await the.payouts(key)).at(-1)).to.include({ state: 'settled', destination: other });
    await updateMerchant(the.deps, {
      merchantId: the.api.merchant.id,
      withdraw: { tron: TRON_ADDRESSES.format(MERCHANT_KEY) },
    });
  });

  it('waits for coins in the gas wallet, names how many, and goes on by itself', async () => {
    const key = await the.paid(['USDT', 30n * USDT]);
    const had = await the.coinsOf(the.gas);
    const fund = (sun: bigint): Promise<unknown> =>
      the.node.anvil.rpc('anvil_setBalance', [`0x${the.gas}`, `0x${sun.toString(16)}`]);
    await fund(1n * TRX);
    await the.finish();
    expect(reasonOf(await the.step(key))).to.match(
      /^30 USDT.*the gas wallet has too little.*send at least [0-9.]+ TRX to T/,
    );
    const wait = await the.wait(key);
    expect(wait).to.include({ code: 'waiting_for_gas', needs_address: TRON_ADDRESSES.format(the.gas) });
    const other = await the.paid(['USDT', 30n * USDT]);
    const asked = the.asked();
    expect(Object.keys(asked).length).to.be.greaterThan(0);
    // What one address has found out is not asked for by the next one.
    expect(reasonOf(await the.step(other))).to.match(/the gas wallet has too little/);
    expect(the.asked()).to.deep.equal({});
    await fund(had);
    await the.finish();
    the.clock.aheadMs += 60_000;
    await the.settle(key);
    await the.settle(other);
    expect((await the.payouts(key)).at(-1)).to.include({ state: 'settled' });
  });

  it('leaves the books and the chain in agreement', async () => {
    await the.finish();
    await the.reconcile();
    expect(the.seen.differences).to.deep.equal([]);
  });
});
