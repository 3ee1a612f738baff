import { expect } from 'chai';
import { formatUnits } from '../../../../src/domain/money.ts';
import { noteGasLevels, readGasLevels } from '../../../../src/services/payouts/gas-levels.ts';
import type { SettlementStep } from '../../../../src/services/payouts/settle/input.ts';
import { MERCHANT_KEY, startFundedTronStage, TRX, type TronSettleStage } from './tron-stage.ts';

const USDT = TRX;
const isSettled = (step: SettlementStep): boolean => step.kind === 'went' && step.state === 'settled';

describe('paying out on Tron', function () {
  this.timeout(300_000);
  let the: TronSettleStage;
  before(async () => {
    the = await startFundedTronStage({ gasTrx: 1_000n });
  });
  after(() => the?.stop());

  it('pays tokens out once, with coins that make the address an account, and settles every deposit', async () => {
    const key = await the.paid(['USDT', 10n * USDT], ['USDT', 5n * USDT + 1n]);
    const had = await the.tokensOf(MERCHANT_KEY);
    expect((await the.settle(key)).at(-1)).to.include({ kind: 'rest' });
    expect((await the.tokensOf(MERCHANT_KEY)) - had).to.equal(15n * USDT + 1n);
    expect(await the.tokensOf(key)).to.equal(0n);
    const payouts = await the.payouts(key);
    expect(payouts.map(({ state }) => state)).to.deep.equal(['settled']);
    const deposits = await the.deposits(key);
    expect(deposits.map(({ status }) => status)).to.deep.equal(['settled', 'settled']);
    expect(deposits.map(({ settled_units: units }) => String(units))).to.deep.equal(['10000000', '5000001']);
    const sent = await the.sent(key);
    expect(sent.map(({ purpose, state }) => `${purpose} ${state}`)).to.deep.equal([
      'gas final',
      'payout final',
    ]);
    // The account that came to be is paid for by the top-up.
    expect(BigInt(String(sent[0]?.['fee_units'])) >= 1_100_000n).to.equal(true);
    const fees = sent.reduce((sum, { fee_units: fee }) => sum + BigInt(String(fee)), 0n);
    expect(BigInt(String(payouts[0]?.['fee_units']))).to.equal(fees);
  });

  it('pays the next tokens of an address from the coins that the first ones left, and tops up the rest', async () => {
    const key = await the.paid(['USDT', 10n * USDT]);
    await the.settle(key);
    const left = await the.coinsOf(key);
    await the.pay(key, ['USDT', 7n * USDT]);
    await the.settle(key);
    const sent = await the.sent(key);
    expect(sent.map(({ purpose, state }) => `${purpose} ${state}`)).to.deep.equal([
      'gas final',
      'payout final',
      'gas final',
      'payout final',
    ]);
    expect(BigInt(String(sent[2]?.['amount_units'])) < BigInt(String(sent[0]?.['amount_units']))).to.equal(
      true,
    );
    expect(left > 0n).to.equal(true);
  });

  it('pays coins out to the unit, and takes from them only what a new receiver costs', async () => {
    const key = await the.paid(['TRX', 30n * TRX], ['TRX', 3n]);
    const had = await the.coinsOf(MERCHANT_KEY);
    await the.settle(key);
    const [payout] = await the.payouts(key);
    const net = BigInt(String(payout?.['net_units']));
    expect(payout).to.include({ state: 'settled' });
    expect((await the.coinsOf(MERCHANT_KEY)) - had).to.equal(net);
    expect(net + BigInt(String(payout?.['fee_units']))).to.equal(30n * TRX + 3n);
    expect(30n * TRX + 3n - net).to.equal(1_100_000n);
    const next = await the.paid(['TRX', 40n * TRX]);
    await the.settle(next);
    expect((await the.payouts(next))[0]).to.include({ net_units: '40000000', fee_units: '0' });
    expect(await the.coinsOf(next)).to.equal(0n);
  });

  it('never takes the coins for tokens from coins of deposits', async () => {
    const key = await the.paid(['TRX', 30n * TRX], ['USDT', USDT]);
    await the.settle(key, isSettled);
    expect((await the.coinsOf(key)) >= 30n * TRX).to.equal(true);
    await the.settle(key);
    expect((await the.deposits(key)).map(({ status }) => status)).to.deep.equal(['settled', 'settled']);
  });

  it('tells what the gas wallet holds, and asks for it a few times an hour only', async () => {
    const readers = new Map([['tron' as const, the.watchedChain.reader]]);
    await noteGasLevels(the.deps, readers);
    const [level] = await readGasLevels(the.deps.orm.em.fork());
    expect(level).to.include({ network: 'tron', currency: 'TRX' });
    expect(level?.amount).to.equal(formatUnits(await the.coinsOf(the.gas), 6));
    expect(level?.payoutsLeft).to.be.greaterThan(0);
    the.asked();
    await noteGasLevels(the.deps, readers);
    expect(the.asked()).to.deep.equal({});
    the.clock.aheadMs += 16 * 60_000;
    await noteGasLevels(the.deps, readers);
    expect(Object.keys(the.asked())).to.include('walletsolidity/getaccount');
  });

  it('is told when a block that holds its transaction is final, and not by any other block', async () => {
    const key = await the.paid(['USDT', 20n * USDT]);
    await the.settle(key, (step) => step.kind === 'went' && step.note.endsWith(': sent'));
    const told = async () =>
      await the.rows('delete from outbox where workflow_id = ? returning id', [`settlement:tron:${key}`]);
    await told();
    await the.finish();
    expect(await told()).to.have.length(1);
    await the.finish();
    expect(await told()).to.have.length(0);
    await the.settle(key);
  });

  it('leaves the books and the chain in agreement', async () => {
    await the.finish();
    await the.reconcile();
    expect(the.seen.differences).to.deep.equal([]);
  });
});
