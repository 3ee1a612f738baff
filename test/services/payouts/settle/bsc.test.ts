import { expect } from 'chai';
import { GWEI, MERCHANTS, type SettleStage, startFundedStage, USDT } from './stage.ts';

const DESTINATION = MERCHANTS.slice(2).toLowerCase();

describe('paying out on BNB Chain', function () {
  this.timeout(300_000);
  let the: SettleStage;
  before(async () => {
    the = await startFundedStage();
  });
  after(() => the?.stop());

  it('pays tokens out once, with gas from the gas wallet, and settles every deposit', async () => {
    const key = await the.paid(['USDT', 10n * USDT], ['USDT', 5n * USDT + 1n]);
    const had = await the.tokensOf(DESTINATION);
    const steps = await the.settle(key);
    expect(steps.at(-1)).to.include({ kind: 'rest' });
    expect((await the.tokensOf(DESTINATION)) - had).to.equal(15n * USDT + 1n);
    expect(await the.tokensOf(key)).to.equal(0n);
    const payouts = await the.payouts(key);
    expect(payouts.map(({ state }) => state)).to.deep.equal(['settled']);
    const deposits = await the.depositsOf(key);
    expect(deposits.map(({ status }) => status)).to.deep.equal(['settled', 'settled']);
    expect(deposits.map(({ settled_units: units }) => BigInt(String(units)))).to.deep.equal([
      10n * USDT,
      5n * USDT + 1n,
    ]);
    const sent = await the.sent(key);
    expect(sent.map(({ purpose, state }) => `${purpose} ${state}`)).to.deep.equal([
      'gas final',
      'payout final',
    ]);
    const fees = sent.reduce((sum, { fee_units: fee }) => sum + BigInt(String(fee)), 0n);
    expect(BigInt(String(payouts[0]?.['fee_units']))).to.equal(fees);
  });

  it('pays coins out to the unit, less their own fee', async () => {
    const key = await the.paid(['BNB', 10n ** 17n], ['BNB', 3n]);
    const had = await the.coinsOf(DESTINATION);
    await the.settle(key);
    const [payout] = await the.payouts(key);
    const net = BigInt(String(payout?.['net_units']));
    expect(payout).to.include({ state: 'settled' });
    expect((await the.coinsOf(DESTINATION)) - had).to.equal(net);
    expect(await the.coinsOf(key)).to.equal(0n);
    expect(net + BigInt(String(payout?.['fee_units']))).to.equal(10n ** 17n + 3n);
  });

  it('pays both assets of an address out, one after the other', async () => {
    const key = await the.paid(['BNB', 10n ** 17n], ['USDT', USDT]);
    await the.settle(key);
    const payouts = await the.payouts(key);
    expect(payouts.map(({ state, currency }) => `${currency} ${state}`)).to.deep.equal([
      'USDT settled',
      'BNB settled',
    ]);
    expect((await the.depositsOf(key)).map(({ status }) => status)).to.deep.equal(['settled', 'settled']);
  });

  it('never takes the gas of tokens from coins of deposits', async () => {
    const key = await the.paid(['BNB', 10n ** 17n], ['USDT', USDT]);
    await the.settle(key, (step) => step.kind === 'went' && step.state === 'settled');
    expect((await the.coinsOf(key)) >= 10n ** 17n).to.equal(true);
    await the.settle(key);
  });

  it('is told when a block that holds its transaction is final, and not by any other block', async () => {
    const key = await the.paid(['USDT', USDT]);
    await the.settle(key, (step) => step.kind === 'went' && step.note.endsWith(': sent'));
    const told = async () =>
      await the.rows('delete from outbox where workflow_id = ? returning id', [`settlement:bsc:${key}`]);
    await told();
    await the.finish();
    expect(await told()).to.have.length(1);
    await the.finish();
    expect(await told()).to.have.length(0);
    await the.settle(key);
  });

  it('leaves the books and the chain in agreement', async () => {
    await the.reconcile();
    expect(the.seen.differences).to.deep.equal([]);
    expect(GWEI > 0n).to.equal(true);
  });
});
