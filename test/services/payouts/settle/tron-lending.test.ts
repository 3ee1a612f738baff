import { expect } from 'chai';
import { eventually } from '../../../../dev/support/eventually.ts';
import type { AddressKey } from '../../../../src/chains/address-key.ts';
import { keyOfHex } from '../../../../src/chains/address-key.ts';
import type { Spending } from '../../../../src/chains/spending.ts';
import { updateMerchant } from '../../../../src/services/merchants/merchants.ts';
import { retryPayout } from '../../../../src/services/payouts/retry.ts';
import type { Outgoing } from '../../../../src/services/payouts/settle/outgoing.ts';
import { lacksCoins } from '../../../../src/services/payouts/settle/top-up.ts';
import { settlementResult } from '../../../../workflows/results.ts';
import { shown } from '../stage.ts';
import { says, wordsOf } from './steps.ts';
import { MERCHANT_KEY, startFundedTronStage, TRX, type TronSettleStage } from './tron-stage.ts';

const USDT = TRX;

describe('paying out on Tron with energy from a stake', function () {
  this.timeout(300_000);
  let the: TronSettleStage;
  /** Enough for several payouts at a time. */
  const STAKED = 400_000n * TRX;
  before(async () => {
    the = await startFundedTronStage({ energy: 'delegate', gasTrx: 1_000n, stakedUnits: STAKED });
  });
  after(() => the?.stop());

  const purposes = async (key: AddressKey): Promise<string[]> =>
    (await the.sent(key)).map(({ purpose, state }) => `${purpose} ${state}`);
  const states = async (key: AddressKey): Promise<unknown[]> =>
    (await the.payouts(key)).map(({ state }) => state);
  const lentTo = (key: AddressKey): Promise<bigint> => the.lentTo(key);
  /** What its transfer itself burnt. */
  const feeOf = async (key: AddressKey): Promise<bigint> => {
    const paid = (await the.sent(key)).find(({ purpose }) => purpose === 'payout');
    return BigInt(String(paid?.['fee_units']));
  };
  const lastHash = async (key: AddressKey): Promise<string> => String((await the.sent(key)).at(-1)?.['hash']);

  it('lends the address what its transfer takes, pays without burning, and takes it back to the unit', async () => {
    const key = await the.paid(['USDT', 10n * USDT], ['USDT', 5n * USDT]);
    await the.settle(key, says('asked for its transfer'));
    const [loan] = (await the.sent(key)).filter(({ purpose }) => purpose === 'delegate');
    expect(await lentTo(key)).to.equal(BigInt(String(loan?.['amount_units'])));
    const steps = await the.settle(key);
    // Those that the actor cannot read would be asked for again, each after a pause.
    const unread = steps.filter((step) => step.kind === 'went' && settlementResult(step) === undefined);
    expect(unread).to.deep.equal([]);
    expect(await states(key)).to.deep.equal(['settled']);
    expect(await purposes(key)).to.deep.equal([
      'gas final',
      'delegate final',
      'payout final',
      'reclaim final',
    ]);
    expect(await lentTo(key)).to.equal(0n);
    // All of the energy was there, and its bytes were free.
    expect(await feeOf(key)).to.equal(0n);
    const [after] = (await the.sent(key)).filter(({ purpose }) => purpose === 'delegate');
    expect(after?.['reclaimed_at']).to.not.equal(null);
    const [payout] = await the.payouts(key);
    const own = (await the.sent(key)).filter(({ purpose }) => purpose !== 'reclaim');
    const fees = own.reduce((sum, { fee_units: fee }) => sum + BigInt(String(fee)), 0n);
    expect(BigInt(String(payout?.['fee_units']))).to.equal(fees);
  });

  it('takes nothing from coins of deposits, and no top-up where the bytes are free', async () => {
    const key = await the.paid(['TRX', 30n * TRX], ['USDT', USDT]);
    await the.settle(key, says(/USDT to .*: paid out/));
    expect(await the.coinsOf(key)).to.equal(30n * TRX);
    expect((await purposes(key)).includes('gas final')).to.equal(false);
    await the.settle(key);
    expect((await the.deposits(key)).map(({ status }) => status)).to.deep.equal(['settled', 'settled']);
  });

  it('plans no other payout of the address before its energy is back', async () => {
    const key = await the.paid(['USDT', 10n * USDT]);
    await the.settle(key, says(': paid out'));
    await the.pay(key, ['USDT', 3n * USDT]);
    const steps = await the.settle(key);
    const back = steps.findIndex(says('is with the gas wallet again'));
    const next = steps.findIndex((step) => step.kind === 'went' && step.state === 'planned');
    expect(back).to.be.greaterThan(-1);
    expect(next).to.be.greaterThan(back);
    expect(await states(key)).to.deep.equal(['settled', 'settled']);
    expect((await purposes(key)).filter((one) => one === 'reclaim final')).to.have.length(2);
  });

  it('burns coins where too little of the stake is free', async () => {
    await the.node.stake(the.gas, TRX);
    const key = await the.paid(['USDT', 10n * USDT]);
    await the.settle(key);
    expect(await purposes(key)).to.deep.equal(['gas final', 'payout final']);
    expect((await feeOf(key)) > 500_000n).to.equal(true);
    await the.node.stake(the.gas, STAKED);
  });

  it('pays with what it was lent while the gas wallet has too little for other addresses', async () => {
    const key = await the.paid(['TRX', 30n * TRX], ['USDT', 10n * USDT]);
    await the.settle(key, says(/energy (were sent|are in)/));
    await the.finish();
    const deps = { ...the.deps, chain: the.watchedChain, signal: new AbortController().signal };
    const gas = { address: the.signer.gas.tron, addressKey: the.gas };
    const more = { units: 10n ** 12n, feeUnits: 0n };
    const held = await lacksCoins(deps, { network: 'tron' } as Outgoing, gas, more);
    expect(held).to.include({ code: 'waiting_for_gas' });
    await the.settle(key, says(/USDT to .*: paid out/));
    await the.settle(key);
    expect(await states(key)).to.not.include('cancelled');
    // That is forgotten then.
    the.clock.aheadMs += 60_000;
  });

  it('burns coins where three loans in a row landed nowhere', async () => {
    const key = await the.paid(['TRX', 30n * TRX], ['USDT', 10n * USDT]);
    for (let lost = 0; lost < 3; lost += 1) {
      await the.settle(key, says(': sent'));
      await the.node.forget(await lastHash(key));
      await the.letItsTimePass();
    }
    await the.settle(key, says(/USDT to .*: paid out/));
    const rows = await purposes(key);
    expect(rows.filter((one) => one.startsWith('delegate'))).to.deep.equal(Array(3).fill('delegate dead'));
    expect((await the.coinsOf(key)) >= 30n * TRX).to.equal(true);
    await the.settle(key);
  });

  it('burns coins where the stakes of others grow before it pays, and still takes nothing from deposits', async () => {
    const key = await the.paid(['TRX', 30n * TRX], ['USDT', 10n * USDT]);
    const { weight } = the.node.rules.energy;
    await the.settle(key, says('bytes that lend'));
    the.node.rules.energy.weight = weight * 2n;
    const waits = await the.settle(key, says('does not show on all endpoints yet'));
    expect(waits.at(-1)?.kind).to.equal('wait');
    the.clock.aheadMs += 3 * 60_000;
    await the.settle(key, says(/USDT to .*: paid out/));
    the.node.rules.energy.weight = weight;
    expect((await the.coinsOf(key)) >= 30n * TRX).to.equal(true);
    expect((await purposes(key)).filter((one) => one === 'gas final')).to.have.length(1);
    await the.settle(key);
    expect(await lentTo(key)).to.equal(0n);
  });

  it('asks for its energy back once more where that landed nowhere', async () => {
    const key = await the.paid(['USDT', 10n * USDT]);
    await the.settle(key, says('what takes the energy back was sent'));
    await the.step(key);
    // It is settled, and "payout retry" is what its wait may tell people to do.
    const [payout] = await the.payouts(key);
    const place = await retryPayout(the.deps, { id: String(payout?.['id']), reason: null });
    expect(place).to.include({ network: 'tron', addressKey: key });
    await the.node.forget(await lastHash(key));
    await the.letItsTimePass();
    expect(await lentTo(key)).to.not.equal(0n);
    await the.settle(key);
    expect((await purposes(key)).slice(-2)).to.deep.equal(['reclaim dead', 'reclaim final']);
    expect(await lentTo(key)).to.equal(0n);
  });

  it('takes back what was lent since, where something lent before does not come back', async () => {
    const key = await the.paid(['USDT', 10n * USDT]);
    for (let lost = 0; lost < 3; lost += 1) {
      await the.settle(key, says('what takes the energy back was sent'));
      await the.node.forget(await lastHash(key));
      await the.letItsTimePass();
    }
    const kept = await lentTo(key);
    await the.pay(key, ['USDT', 3n * USDT]);
    await the.settle(key, says('was not taken back in 3 attempts'));
    expect(await states(key)).to.deep.equal(['settled', 'settled']);
    expect((await purposes(key)).filter((one) => one === 'reclaim final')).to.have.length(1);
    expect(await lentTo(key)).to.equal(kept);
    the.clock.aheadMs += 60 * 60_000;
    await the.settle(key);
    expect(await lentTo(key)).to.equal(0n);
  });

  it('takes it back where the payout is cancelled, and by a worker that burns', async () => {
    const key = await the.paid(['USDT', 10n * USDT]);
    await the.settle(key, (step) => says('bytes that lend')(step) || says('asked for energy')(step));
    await updateMerchant(the.deps, {
      merchantId: the.api.merchant.id,
      withdraw: { tron: shown('tron', keyOfHex('d3'.repeat(20))) },
    });
    const burning: Spending = the.spendingBy('burn');
    await the.settleOver(burning)(key);
    const back = shown('tron', MERCHANT_KEY);
    await updateMerchant(the.deps, { merchantId: the.api.merchant.id, withdraw: { tron: back } });
    expect(await states(key)).to.deep.equal(['cancelled', 'settled']);
    expect(await lentTo(key)).to.equal(0n);
  });

  it('notes what somebody has taken back by hand, and asks for nothing', async () => {
    const key = await the.paid(['USDT', 10n * USDT]);
    await the.settle(key, says('what takes the energy back was sent'));
    await the.node.forget(await lastHash(key));
    await the.letItsTimePass();
    const { lending } = the.spending;
    if (!lending) throw new Error('nothing is lent');
    const byHand: Spending = { ...the.spending, lending: { ...lending, lent: async () => 0n } };
    const step = await the.step(key, false, byHand);
    expect(wordsOf(step)).to.match(/is with the gas wallet again/);
    await the.settle(key);
    expect((await purposes(key)).filter((one) => one.startsWith('reclaim'))).to.have.length(1);
  });

  it('is lent once and back once where two workers take every step at the same time, and each may die in it', async () => {
    const key = await the.paid(['USDT', 10n * USDT]);
    const dying: Spending = {
      ...the.spending,
      broadcast: async (raw, signal) => {
        await the.spending.broadcast(raw, signal);
        throw new Error('it dies once its bytes are sent');
      },
    };
    for (let taken = 0; ; taken += 1) {
      if (taken > 60) throw new Error('it never ends');
      const over = taken % 2 === 0 ? dying : the.spending;
      const steps = await Promise.allSettled([the.step(key, false, over), the.step(key, false, over)]);
      const kinds = steps.map((one) => (one.status === 'fulfilled' ? one.value.kind : 'died'));
      if (kinds.every((kind) => kind === 'rest')) break;
      if (!kinds.includes('went')) await the.finish();
      await eventually('nothing being asked for', async () =>
        (await the.sent(key)).every(({ state }) => state !== 'asked'),
      );
    }
    expect(await states(key)).to.deep.equal(['settled']);
    expect((await purposes(key)).toSorted()).to.deep.equal([
      'delegate final',
      'gas final',
      'payout final',
      'reclaim final',
    ]);
    expect(await lentTo(key)).to.equal(0n);
  });

  it('leaves the books and the chain in agreement', async () => {
    await the.finish();
    await the.reconcile();
    expect(the.seen.differences).to.deep.equal([]);
    const open = await the.rows("select 1 from sent_transactions where state = 'foreign'");
    expect(open).to.deep.equal([]);
  });
});
