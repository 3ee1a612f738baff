import { expect } from 'chai';
import { eventually } from '../../../../dev/support/eventually.ts';
import { type AddressKey, keyOfHex } from '../../../../src/chains/address-key.ts';
import { rows } from '../../../../src/db/sql.ts';
import { updateMerchant } from '../../../../src/services/merchants/merchants.ts';
import { retryPayout } from '../../../../src/services/payouts/retry.ts';
import type { Outgoing } from '../../../../src/services/payouts/settle/outgoing.ts';
import { lacksCoins } from '../../../../src/services/payouts/settle/top-up.ts';
import { listStuckPayouts } from '../../../../src/services/payouts/stuck.ts';
import { lentPage } from '../../../../src/services/repair/settlements.ts';
import { settlementResult } from '../../../../workflows/results.ts';
import { stallingTron } from '../../../actors/support/stalling.ts';
import { isSent, says, wordsOf } from '../settle/steps.ts';
import { MERCHANT_KEY, startFundedTronStage, TRX, type TronSettleStage } from '../settle/tron-stage.ts';
import { shown } from '../stage.ts';

const USDT = TRX;
const HOUR_MS = 3_600_000;
/** Enough for several payouts at a time. */
const STAKED = 400_000n * TRX;
const PAID = /USDT to .*: paid out/;
const BACK_SENT = 'what takes the energy back was sent';

describe('paying out on Tron with energy from a stake', function () {
  this.timeout(300_000);
  let the: TronSettleStage;
  before(async () => {
    the = await startFundedTronStage({ energy: 'delegate', gasTrx: 1_000n, stakedUnits: STAKED });
  });
  after(() => the?.stop());

  const waysOf = async (key: AddressKey, purpose: string): Promise<string[]> =>
    (await the.ways(key)).filter((way) => way.startsWith(purpose));
  /** What its transfer itself burnt. */
  const feeOf = async (key: AddressKey): Promise<bigint> => {
    const paid = (await the.sent(key)).find(({ purpose }) => purpose === 'payout');
    return BigInt(String(paid?.['fee_units']));
  };
  /** What was sent last lands nowhere. */
  const isLost = async (key: AddressKey): Promise<void> => {
    await the.node.forget(String((await the.sent(key)).at(-1)?.['hash']));
    await the.letItsTimePass();
  };

  it('lends the address what its transfer takes, pays without burning, and takes it back to the unit', async () => {
    const key = await the.paid(['USDT', 10n * USDT], ['USDT', 5n * USDT]);
    await the.settle(key, says('asked for its transfer'));
    const [loan] = (await the.sent(key)).filter(({ purpose }) => purpose === 'delegate');
    expect(await the.lentTo(key)).to.equal(BigInt(String(loan?.['amount_units'])));
    const steps = await the.settle(key);
    // Those that the actor cannot read would be asked for again, each after a pause.
    const unread = steps.filter((step) => step.kind === 'went' && settlementResult(step) === undefined);
    expect(unread).to.deep.equal([]);
    expect(await the.ways(key)).to.deep.equal([
      'gas final',
      'delegate final',
      'payout final',
      'reclaim final',
    ]);
    // All of the energy was there, and its bytes were free.
    expect([await the.lentTo(key), await feeOf(key)]).to.deep.equal([0n, 0n]);
    const sent = await the.sent(key);
    expect(sent.find(({ purpose }) => purpose === 'delegate')?.['reclaimed_at']).to.not.equal(null);
    const own = sent.filter(({ purpose }) => purpose !== 'reclaim');
    const fees = own.reduce((sum, { fee_units: fee }) => sum + BigInt(String(fee)), 0n);
    expect((await the.payouts(key))[0]).to.include({ state: 'settled', fee_units: fees.toString() });
  });

  it('plans no other payout of the address before its energy is back', async () => {
    const key = await the.paid(['USDT', 10n * USDT]);
    await the.settle(key, says(PAID));
    await the.pay(key, ['USDT', 3n * USDT]);
    const steps = await the.settle(key);
    const back = steps.findIndex(says('is with the gas wallet again'));
    const next = steps.findIndex((step) => step.kind === 'went' && step.state === 'planned');
    expect(back).to.be.greaterThan(-1);
    expect(next).to.be.greaterThan(back);
    expect(await the.states(key)).to.deep.equal(['settled', 'settled']);
    expect(await waysOf(key, 'reclaim')).to.deep.equal(Array(2).fill('reclaim final'));
  });

  it('pays with what it was lent while the gas wallet has too little for others, and nothing from deposits', async () => {
    const key = await the.paid(['TRX', 30n * TRX], ['USDT', 10n * USDT]);
    await the.settle(key, says(/energy (were sent|are in)/));
    await the.finish();
    const deps = { ...the.deps, chain: the.watchedChain, signal: new AbortController().signal };
    const gas = { address: the.signer.gas.tron, addressKey: the.gas };
    const more = { units: 10n ** 12n, feeUnits: 0n };
    const held = await lacksCoins(deps, { network: 'tron' } as Outgoing, gas, more);
    expect(held).to.include({ code: 'waiting_for_gas' });
    await the.settle(key, says(PAID));
    // Its bytes are free: no top-up either.
    expect([await the.coinsOf(key), await waysOf(key, 'gas')]).to.deep.equal([30n * TRX, []]);
    await the.settle(key);
    expect(await the.states(key)).to.deep.equal(['settled', 'settled']);
    // That is forgotten then.
    the.clock.aheadMs += 60_000;
  });

  it('burns coins where too little of the stake is free, or three loans in a row landed nowhere', async () => {
    await the.node.stake(the.gas, TRX);
    const poor = await the.paid(['USDT', 10n * USDT]);
    await the.settle(poor);
    expect(await the.ways(poor)).to.deep.equal(['gas final', 'payout final']);
    expect((await feeOf(poor)) > 500_000n).to.equal(true);
    await the.node.stake(the.gas, STAKED);
    const key = await the.paid(['TRX', 30n * TRX], ['USDT', 10n * USDT]);
    for (let lost = 0; lost < 3; lost += 1) {
      await the.settle(key, isSent);
      await isLost(key);
    }
    await the.settle(key, says(PAID));
    expect(await waysOf(key, 'delegate')).to.deep.equal(Array(3).fill('delegate dead'));
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
    await the.settle(key, says(PAID));
    the.node.rules.energy.weight = weight;
    expect((await the.coinsOf(key)) >= 30n * TRX).to.equal(true);
    expect(await waysOf(key, 'gas')).to.deep.equal(['gas final']);
    await the.settle(key);
    expect(await the.lentTo(key)).to.equal(0n);
  });

  it('lends only when the limit of the signer leaves room for the transfer, and others are lent it meanwhile', async () => {
    const large = await the.paid(['USDT', 100n * USDT]);
    await the.signer.stop();
    await the.signer.start({
      limits: {
        perHour: ({ currency }) => (currency === 'USDT' ? 80n * USDT : undefined),
        perDay: () => undefined,
      },
    });
    await the.settle(large, says('SIGN_MAX_PER_HOUR'));
    expect(await the.wait(large)).to.include({ code: 'limit' });
    expect([await waysOf(large, 'delegate'), await the.lentTo(large)]).to.deep.equal([
      ['delegate asked'],
      0n,
    ]);
    const small = await the.paid(['USDT', 10n * USDT]);
    await the.settle(small);
    expect(await the.ways(small)).to.include.members(['payout final', 'reclaim final']);
    await the.signer.stop();
    await the.signer.start();
    the.clock.aheadMs += HOUR_MS;
    await the.settle(large);
    expect(await the.ways(large)).to.include.members(['payout final', 'reclaim final']);
    expect(await the.lentTo(large)).to.equal(0n);
  });

  it('asks for its energy back once more where that landed nowhere, and takes note of what was done by hand', async () => {
    const key = await the.paid(['USDT', 10n * USDT]);
    await the.settle(key, says(BACK_SENT));
    await the.step(key);
    // It is settled, and "payout retry" is what its wait may tell people to do.
    const [payout] = await the.payouts(key);
    const place = await retryPayout(the.deps, { id: String(payout?.['id']), reason: null });
    expect(place).to.include({ network: 'tron', addressKey: key });
    await isLost(key);
    expect(await the.lentTo(key)).to.not.equal(0n);
    await the.settle(key);
    expect(await waysOf(key, 'reclaim')).to.deep.equal(['reclaim dead', 'reclaim final']);
    expect(await the.lentTo(key)).to.equal(0n);
    const other = await the.paid(['USDT', 10n * USDT]);
    await the.settle(other, says(BACK_SENT));
    await isLost(other);
    const { lending } = the.spending;
    if (!lending) throw new Error('nothing is lent');
    const byHand = { ...the.spending, lending: { ...lending, lent: async () => 0n } };
    expect(wordsOf(await the.step(other, false, byHand))).to.match(/is with the gas wallet again/);
    await the.settle(other);
    expect(await waysOf(other, 'reclaim')).to.deep.equal(['reclaim dead']);
  });

  it('takes back what was lent since, where something lent before does not come back, of which a person is told', async () => {
    const key = await the.paid(['USDT', 10n * USDT]);
    for (let lost = 0; lost < 3; lost += 1) {
      await the.settle(key, says(BACK_SENT));
      await isLost(key);
    }
    await the.settle(key, says('was not taken back in 3 attempts'));
    const [payout] = await the.payouts(key);
    const [stuck, ...others] = await listStuckPayouts(the.deps);
    expect(others).to.deep.equal([]);
    expect(stuck).to.include({
      deposit_id: null,
      transaction_hash: null,
      deposits: 0,
      state: 'failed_again',
    });
    expect(stuck?.reason).to.match(/^the payout is over, and what it was lent is not back: /);
    expect(stuck?.action).to.include(`"payout retry ${payout?.['id']}"`);
    const kept = await the.lentTo(key);
    await the.pay(key, ['USDT', 3n * USDT]);
    await the.settle(key, says('was not taken back in 3 attempts'));
    expect(await the.states(key)).to.deep.equal(['settled', 'settled']);
    expect((await waysOf(key, 'reclaim')).filter((way) => way === 'reclaim final')).to.have.length(1);
    expect(await the.lentTo(key)).to.equal(kept);
    the.clock.aheadMs += HOUR_MS;
    await the.settle(key);
    expect([await the.lentTo(key), await listStuckPayouts(the.deps)]).to.deep.equal([0n, []]);
  });

  it('takes it back where the payout is cancelled, and by a worker that burns', async () => {
    const key = await the.paid(['USDT', 10n * USDT]);
    await the.settle(key, says(/bytes that lend|asked for energy/));
    const withdraw = (to: AddressKey) =>
      updateMerchant(the.deps, { merchantId: the.api.merchant.id, withdraw: { tron: shown('tron', to) } });
    await withdraw(keyOfHex('d3'.repeat(20)));
    await the.settleOver(the.spendingBy('burn'))(key);
    await withdraw(MERCHANT_KEY);
    expect(await the.states(key)).to.deep.equal(['cancelled', 'settled']);
    expect(await the.lentTo(key)).to.equal(0n);
  });

  it('leaves the books and the chain in agreement', () => the.agrees());

  /** Whether a repair would start the actor of an address. */
  const isStarted = async (key: AddressKey): Promise<boolean> =>
    (await rows(the.deps.orm.em.fork(), lentPage('tron', '' as AddressKey))).some(
      ({ addressKey }) => addressKey === key,
    );
  const isNoted = async (key: AddressKey): Promise<boolean> =>
    (await the.sent(key)).some(({ reclaimed_at: at }) => at !== null);

  /** What took its energy back is in a block that is called irreversible, and is replaced after that. */
  async function lentBackAndLost(): Promise<AddressKey> {
    const key = await the.paid(['USDT', 10n * USDT]);
    await the.settle(key, says(BACK_SENT));
    const stalling = stallingTron(the.node);
    stalling.hasty();
    the.endpoint.fault = the.node.fault;
    await the.node.mine();
    await the.catchUp();
    expect(wordsOf(await the.step(key))).to.include('is with the gas wallet again');
    expect(await isStarted(key)).to.equal(false);
    the.endpoint.fault = undefined;
    await the.node.replace(1);
    await the.node.mine(20);
    // A look that meets the contradiction may end there; the watcher comes again.
    await eventually('the other branch being followed', async () =>
      (await the.catchUp().catch(() => undefined)) === undefined ? undefined : true,
    );
    await the.finish();
    expect(await waysOf(key, 'reclaim')).to.deep.equal(['reclaim sent']);
    expect([await isNoted(key), (await the.lentTo(key)) > 0n]).to.deep.equal([true, true]);
    return key;
  }

  it('sends its energy back by the same bytes where finality breaks under that, and no other payout of the address is planned before', async () => {
    const key = await lentBackAndLost();
    expect(await isStarted(key), 'by a repair').to.equal(true);
    await the.pay(key, ['USDT', 3n * USDT]);
    the.clock.aheadMs += 60_000;
    const steps = await the.settle(key);
    const sent = steps.findIndex(says(BACK_SENT));
    const planned = steps.findIndex((step) => step.kind === 'went' && step.state === 'planned');
    expect(sent).to.be.greaterThan(-1);
    expect(planned).to.be.greaterThan(sent);
    expect(await waysOf(key, 'reclaim')).to.deep.equal(Array(2).fill('reclaim final'));
    expect(await the.lentTo(key)).to.equal(0n);
    expect(await isStarted(key)).to.equal(false);
  });

  it('asks it back once more where those bytes can land no more', async () => {
    const key = await lentBackAndLost();
    await the.letItsTimePass();
    await the.settle(key);
    expect(await waysOf(key, 'reclaim')).to.deep.equal(['reclaim dead', 'reclaim final']);
    expect(await the.lentTo(key)).to.equal(0n);
    expect(await isStarted(key)).to.equal(false);
  });
});
