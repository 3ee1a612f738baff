import { expect } from 'chai';
import { Deposit, Payout } from '../../../src/db/entities/index.ts';
import { DecisionRefused } from '../../../src/services/deposits/decisions.ts';
import { decideToFail } from '../../../src/services/deposits/operator.ts';
import { getDeposit } from '../../../src/services/deposits/reads.ts';
import { auditLedger } from '../../../src/services/ledger/audit.ts';
import { failPayout, settlePayout } from '../../../src/services/payouts/finish.ts';
import { cancelPayout, joinPayout, MAX_COVERED, planPayout } from '../../../src/services/payouts/plan.ts';
import { transact } from '../../../src/services/transact.ts';
import { commitAll, DESTINATION, final, signed } from '../../support/payout-rows.ts';
import { startWorld, type World } from '../ledger/support.ts';

describe('a payout of completed deposits', function () {
  this.timeout(60_000);
  let world: World;
  let address: string;
  beforeEach(async () => {
    world = await startWorld();
    address = await world.newAddress();
  });
  afterEach(() => world?.stop());

  /** Pays in blocks of their own, and makes all of it completed. */
  async function pay(...units: readonly bigint[]): Promise<void> {
    for (const one of units) world.chain.mine([world.transfer({ to: address, units: one })]);
    await finish();
  }
  async function finish(): Promise<void> {
    for (let i = 0; i < 3; i++) world.chain.mine();
    world.chain.final = world.chain.blocks.length - 1;
    await world.poll();
    await world.advance();
  }
  const place = () => ({
    network: 'bsc' as const,
    addressKey: address.slice(2) as Deposit['addressKey'],
    currency: 'USDT' as const,
  });
  const plan = async () =>
    await transact(world.deps, (tx) =>
      planPayout(tx.em, world.deps, { ...place(), destination: DESTINATION }),
    );
  const planOne = async (): Promise<Payout> => (await plan()) ?? expect.fail('nothing to pay out');
  const settle = async (payoutId: string) =>
    await transact(world.deps, (tx) => settlePayout(tx, world.deps, { payoutId, headNumber: null }));
  const fail = async (payoutId: string) =>
    await transact(world.deps, (tx) => failPayout(tx.em, world.deps, payoutId, 'it ran out of gas'));
  const cancel = async (payoutId: string) =>
    await transact(world.deps, (tx) => cancelPayout(tx.em, world.deps, payoutId, 'the destination changed'));
  const deposits = async () =>
    await world.deps.orm.em.fork().find(Deposit, {}, { orderBy: { createdAt: 'asc', id: 'asc' } });
  const payout = async (id: string) => await world.deps.orm.em.fork().findOneOrFail(Payout, id);
  const balances = async () =>
    Object.fromEntries(
      (
        await world.rows(
          `select account, sum(amount_units)::text as units from ledger_entries group by 1
            having sum(amount_units) <> 0 order by 1`,
        )
      ).map(({ account, units }) => [account, String(units)]),
    );
  const agree = async () => expect((await auditLedger(world.deps)).differences).to.deep.equal([]);

  it('names every completed deposit of its address and asset, and is exactly their sum', async () => {
    await pay(40n, 60n);
    world.chain.mine([world.transfer({ to: address, currency: 'BNB', units: 10n ** 15n })]);
    world.chain.mine([world.transfer({ to: await world.newAddress(), units: 500n })]);
    await finish();
    world.chain.mine([world.transfer({ to: address, units: 1_000n })]);
    await world.poll();
    const planned = await planOne();
    expect(planned).to.include({
      state: 'planned',
      grossUnits: 100n,
      destination: DESTINATION,
      simulated: false,
    });
    const covered = (await deposits()).filter(({ payoutId }) => payoutId === planned.id);
    expect(covered.map(({ amountUnits }) => amountUnits)).to.deep.equal([40n, 60n]);
    await agree();
  });

  it('is not planned out of money that failed, is held, was replaced or was read once only', async () => {
    await pay(3n, 40n, 41n, 42n);
    const [, held, replaced, once] = await deposits();
    expect((await deposits())[0]).to.include({ status: 'failed' });
    await world.rows('update deposits set block_hash = null, verified_at = null where id = ?', [
      replaced?.id,
    ]);
    await world.fail(replaced?.id ?? '');
    await world.rows('update deposits set verified_at = null where id = ?', [once?.id]);
    const planned = await planOne();
    expect(planned.grossUnits).to.equal(held?.amountUnits);
  });

  it('is one for an address at a time: of two that plan at once one alone does', async () => {
    await pay(40n, 60n);
    const both = await Promise.allSettled([plan(), plan()]);
    const made = both.flatMap((one) => (one.status === 'fulfilled' && one.value ? [one.value] : []));
    expect(made).to.have.length(1);
    expect(await world.rows('select gross_units::text as units from payouts')).to.deep.equal([
      { units: '100' },
    ]);
    await pay(7n, 20n);
    await plan().then(
      () => expect.fail('a second payout of the address'),
      (error: Error) => expect(error.message).to.include('payouts_living_unique'),
    );
  });

  it('takes up what comes while it is planned, and nothing once its transaction is asked for', async () => {
    await pay(40n);
    const { id } = await planOne();
    await pay(60n, 15n);
    const join = async () => await transact(world.deps, (tx) => joinPayout(tx.em, world.deps, id));
    expect(await join()).to.equal(2);
    expect((await payout(id)).grossUnits).to.equal(115n);
    expect(await join()).to.equal(0);
    await commitAll(world.deps, signed(id));
    await pay(99n);
    await join().then(
      () => expect.fail('joined what was signed'),
      (error: Error) => expect(error.message).to.include('is paying by now'),
    );
    expect((await payout(id)).grossUnits).to.equal(115n);
    await agree();
  });

  it('gives its deposits back where it is given up, and another one covers them', async () => {
    await pay(40n, 60n);
    const first = await planOne();
    await cancel(first.id);
    expect(await payout(first.id)).to.include({ state: 'cancelled', reason: 'the destination changed' });
    expect((await deposits()).map(({ payoutId }) => payoutId ?? null)).to.deep.equal([null, null]);
    const second = await planOne();
    expect(second.grossUnits).to.equal(100n);
    await cancel(first.id).then(
      () => expect.fail('cancelled twice'),
      (error: Error) => expect(error.message).to.include('is cancelled by now'),
    );
    await agree();
  });

  it('that was signed is not given up, and fails only when its transaction is final and failed', async () => {
    await pay(40n, 60n);
    const { id } = await planOne();
    await commitAll(world.deps, signed(id));
    for (const end of [cancel, fail, settle])
      await end(id).then(
        () => expect.fail('ended while its transaction may land'),
        (error: Error) =>
          expect(error.message).to.match(/is paying by now|can succeed any more|no final transaction/),
      );
    await commitAll(world.deps, final(id, { ok: false }));
    await settle(id).then(
      () => expect.fail('settled by a failed transaction'),
      (error: Error) => expect(error.message).to.include('no final transaction'),
    );
    await fail(id);
    expect(await payout(id)).to.include({ state: 'failed', reason: 'it ran out of gas', netUnits: null });
    expect((await planOne()).grossUnits).to.equal(100n);
    expect(await balances()).to.deep.equal({ chain: '-100', available: '100' });
    await agree();
  });

  it('is settled in one transaction: states, books, events and the parts of each deposit', async () => {
    await pay(40n, 60n);
    const { id } = await planOne();
    await commitAll(world.deps, [...signed(id), ...final(id, { feeUnits: 8n })]);
    await settle(id);
    expect(await payout(id)).to.include({ state: 'settled', netUnits: 100n, feeUnits: 8n });
    expect(
      (await deposits()).map(({ status, settledUnits, settlementFeeUnits, payoutId }) => [
        status,
        settledUnits,
        settlementFeeUnits,
        payoutId,
      ]),
    ).to.deep.equal([
      ['settled', 40n, 3n, id],
      ['settled', 60n, 5n, id],
    ]);
    expect(await balances()).to.deep.equal({ chain: '-100', settled: '100' });
    const events = await world.rows(
      "select convert_from(body, 'UTF8')::jsonb->'data'->'settlement'->>'amount' as amount from events where type = 'deposit.settled'",
    );
    expect(events.map(({ amount }) => amount)).to.have.members([
      '0.00000000000000004',
      '0.00000000000000006',
    ]);
    await settle(id).then(
      () => expect.fail('settled twice'),
      (error: Error) => expect(error.message).to.include('is settled by now'),
    );
    await agree();
  });

  it('of a coin pays its own fee: each deposit gets its net, and the fee stands in the books', async () => {
    world.chain.mine([
      world.transfer({ to: address, currency: 'BNB', units: 10n ** 15n }),
      world.transfer({ to: address, currency: 'BNB', units: 3n * 10n ** 15n }),
    ]);
    await finish();
    const made = await transact(world.deps, (tx) =>
      planPayout(tx.em, world.deps, { ...place(), currency: 'BNB', destination: DESTINATION }),
    );
    const id = made?.id ?? expect.fail('nothing planned');
    await commitAll(world.deps, [...signed(id, { withheldUnits: 1_001n }), ...final(id, { feeUnits: 900n })]);
    await settle(id);
    expect(await payout(id)).to.include({ netUnits: 4n * 10n ** 15n - 1_001n, feeUnits: 1_001n });
    expect(
      (await deposits()).map(({ settledUnits, settlementFeeUnits }) => [settledUnits, settlementFeeUnits]),
    ).to.have.deep.members([
      [10n ** 15n - 250n, 250n],
      [3n * 10n ** 15n - 751n, 751n],
    ]);
    expect(await balances()).to.deep.equal({
      chain: `-${4n * 10n ** 15n}`,
      settled: `${4n * 10n ** 15n - 1_001n}`,
      fees: '1001',
    });
    await agree();
  });

  it('shows merchants what was paid for a deposit, by which transaction, where to, and what it cost', async () => {
    await pay(40n);
    const [deposit] = await deposits();
    const read = async () =>
      (await getDeposit(world.deps, { merchantId: world.merchantId, mode: 'live', id: deposit?.id ?? '' }))
        .settlement;
    expect(await read()).to.equal(null);
    const { id } = await planOne();
    await commitAll(world.deps, [...signed(id, { hash: `0x${'ab'.repeat(32)}` }), ...final(id)]);
    expect(await read(), 'money on its way is not paid').to.equal(null);
    await settle(id);
    expect(await read()).to.deep.include({
      transaction_hash: `0x${'ab'.repeat(32)}`,
      destination: DESTINATION,
      amount: '0.00000000000000004',
      fee_amount: '0.000000000000000007',
      fee_currency: 'BNB',
    });
  });

  it('refuses that an operator fails a deposit it covers, and not one that it gave back', async () => {
    await pay(40n);
    const [deposit] = await deposits();
    const { id } = await planOne();
    const failing = async () =>
      await decideToFail(world.deps, { depositId: deposit?.id ?? '', by: 'Ann', reason: 'finality broke' });
    expect(String(await failing().catch((error: unknown) => error))).to.include(
      `and payout ${id} pays it out`,
    );
    await world.rows('update deposits set block_hash = null, verified_at = null where id = ?', [deposit?.id]);
    const refused = await failing().catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(DecisionRefused);
    expect(String(refused)).to.include(`part of payout ${id}`);
    await cancel(id);
    await failing();
    expect((await deposits())[0]).to.include({ status: 'failed', failureCode: 'REORGED' });
    await agree();
  });

  it('of a flood of dust takes the largest, as many as one transaction can settle', async () => {
    const units = Array.from({ length: MAX_COVERED + 5 }, (_, index) => 10n + BigInt(index));
    world.chain.mine(units.map((one) => world.transfer({ to: address, units: one })));
    await finish();
    const { id, grossUnits } = await planOne();
    const largest = units.slice(5);
    expect(grossUnits).to.equal(largest.reduce((sum, one) => sum + one, 0n));
    expect(await transact(world.deps, (tx) => joinPayout(tx.em, world.deps, id)), 'it is full').to.equal(0);
    await commitAll(world.deps, [...signed(id), ...final(id, { feeUnits: 12_345n })]);
    expect(await settle(id)).to.have.length(MAX_COVERED);
    expect((await planOne()).grossUnits, 'the next one takes the rest').to.equal(10n + 11n + 12n + 13n + 14n);
    await agree();
  });

  it('is a shortfall in the books while the chain has taken back what it paid out, and none once it is mined again', async () => {
    await pay(40n);
    const transfers = world.chain.blocks.flatMap((block) => block.transfers);
    expect(await world.settle((await deposits())[0]?.id ?? '')).to.equal(true);
    world.chain.replace(4);
    await world.poll();
    expect(await balances()).to.deep.equal({ settled: '40', shortfall: '-40' });
    await agree();
    world.chain.mine(transfers);
    await finish();
    expect(await balances()).to.deep.equal({ chain: '-40', settled: '40' });
    expect((await deposits())[0]).to.include({ status: 'settled', amountUnits: 40n });
    await agree();
  });
});
