import { expect } from 'chai';
import { Deposit, Payout } from '../../../src/db/entities/index.ts';
import { DecisionRefused } from '../../../src/services/deposits/decisions.ts';
import { decideToFail } from '../../../src/services/deposits/operator.ts';
import { getDeposit } from '../../../src/services/deposits/reads.ts';
import { auditLedger } from '../../../src/services/ledger/audit.ts';
import { joinPayout, MAX_COVERED } from '../../../src/services/payouts/plan.ts';
import { transact } from '../../../src/services/transact.ts';
import { commitAll, DESTINATION, final, signed } from '../../support/payout-rows.ts';
import { type PayableWorld, startPayableWorld } from './payable-world.ts';

describe('a payout of completed deposits', function () {
  this.timeout(60_000);
  let world: PayableWorld;
  beforeEach(async () => {
    world = await startPayableWorld();
  });
  afterEach(() => world?.stop());

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
  const says = async (work: Promise<unknown>, words: RegExp): Promise<void> => {
    expect(String(await work.then(JSON.stringify, (error: unknown) => error))).to.match(words);
  };
  const join = (id: string) => transact(world.deps, (tx) => joinPayout(tx.em, world.deps, id));
  const agree = async () => expect((await auditLedger(world.deps)).differences).to.deep.equal([]);

  it('names every completed deposit of its address and asset, and is exactly their sum', async () => {
    await world.pay([40n, 60n]);
    world.chain.mine([world.transfer({ to: world.address, currency: 'BNB', units: 10n ** 15n })]);
    world.chain.mine([world.transfer({ to: await world.newAddress(), units: 500n })]);
    await world.finish();
    world.chain.mine([world.transfer({ to: world.address, units: 1_000n })]);
    await world.poll();
    const planned = await world.planOne();
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
    await world.pay([3n, 40n, 41n, 42n]);
    const [, held, replaced, once] = await deposits();
    expect((await deposits())[0]).to.include({ status: 'failed' });
    await world.rows('update deposits set block_hash = null, verified_at = null where id = ?', [
      replaced?.id,
    ]);
    await world.fail(replaced?.id ?? '');
    await world.rows('update deposits set verified_at = null where id = ?', [once?.id]);
    const planned = await world.planOne();
    expect(planned.grossUnits).to.equal(held?.amountUnits);
  });

  it('is one for an address at a time: of two that plan at once one alone does', async () => {
    await world.pay([40n, 60n]);
    const both = await Promise.allSettled([world.plan(), world.plan()]);
    const made = both.flatMap((one) => (one.status === 'fulfilled' && one.value ? [one.value] : []));
    expect(made).to.have.length(1);
    expect(await world.rows('select gross_units::text as units from payouts')).to.deep.equal([
      { units: '100' },
    ]);
    await world.pay([7n, 20n]);
    await says(world.plan(), /payouts_living_unique/);
  });

  it('takes up what comes while it is planned, and nothing once its transaction is asked for', async () => {
    await world.pay([40n]);
    const { id } = await world.planOne();
    await world.pay([60n, 15n]);
    expect(await join(id)).to.equal(2);
    expect((await payout(id)).grossUnits).to.equal(115n);
    expect(await join(id)).to.equal(0);
    await commitAll(world.deps, signed(id));
    await world.pay([99n]);
    await join(id).then(
      () => expect.fail('joined what was signed'),
      (error: Error) => expect(error.message).to.include('is paying by now'),
    );
    expect((await payout(id)).grossUnits).to.equal(115n);
    await agree();
  });

  it('gives its deposits back where it is given up, and another one covers them', async () => {
    await world.pay([40n, 60n]);
    const first = await world.planOne();
    await world.cancelled(first.id);
    expect(await payout(first.id)).to.include({ state: 'cancelled', reason: 'the destination changed' });
    expect((await deposits()).map(({ payoutId }) => payoutId ?? null)).to.deep.equal([null, null]);
    const second = await world.planOne();
    expect(second.grossUnits).to.equal(100n);
    await says(world.cancelled(first.id), /is cancelled by now/);
    await agree();
  });

  it('that was signed is not given up, and fails only when its transaction is final and failed', async () => {
    await world.pay([40n, 60n]);
    const { id } = await world.planOne();
    await commitAll(world.deps, signed(id));
    for (const end of [world.cancelled, world.failed, world.settled])
      await says(end(id), /is paying by now|can succeed any more|no final transaction/);
    await commitAll(world.deps, final(id, { ok: false }));
    await says(world.settled(id), /no final transaction/);
    await world.failed(id);
    expect(await payout(id)).to.include({ state: 'failed', reason: 'it ran out of gas', netUnits: null });
    expect((await world.planOne()).grossUnits).to.equal(100n);
    expect(await balances()).to.deep.equal({ chain: '-100', available: '100' });
    await agree();
  });

  it('is settled in one transaction: states, books, events and the parts of each deposit', async () => {
    await world.pay([40n, 60n]);
    const { id } = await world.planOne();
    await commitAll(world.deps, [...signed(id), ...final(id, { feeUnits: 8n })]);
    await world.settled(id);
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
    await says(world.settled(id), /is settled by now/);
    await agree();
  });

  it('of a coin pays its own fee: each deposit gets its net, and the fee stands in the books', async () => {
    world.chain.mine([
      world.transfer({ to: world.address, currency: 'BNB', units: 10n ** 15n }),
      world.transfer({ to: world.address, currency: 'BNB', units: 3n * 10n ** 15n }),
    ]);
    await world.finish();
    const { id } = await world.planOne('BNB');
    await commitAll(world.deps, [...signed(id, { withheldUnits: 1_001n }), ...final(id, { feeUnits: 900n })]);
    await world.settled(id);
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
    await world.pay([40n]);
    const [deposit] = await deposits();
    const read = async () =>
      (await getDeposit(world.deps, { merchantId: world.merchantId, mode: 'live', id: deposit?.id ?? '' }))
        .settlement;
    expect(await read()).to.equal(null);
    const { id } = await world.planOne();
    await commitAll(world.deps, [...signed(id, { hash: `0x${'ab'.repeat(32)}` }), ...final(id)]);
    expect(await read(), 'money on its way is not paid').to.equal(null);
    await world.settled(id);
    expect(await read()).to.deep.include({
      transaction_hash: `0x${'ab'.repeat(32)}`,
      destination: DESTINATION,
      amount: '0.00000000000000004',
      fee_amount: '0.000000000000000007',
      fee_currency: 'BNB',
    });
  });

  it('refuses that an operator fails a deposit it covers, and not one that it gave back', async () => {
    await world.pay([40n]);
    const [deposit] = await deposits();
    const { id } = await world.planOne();
    const failing = async () =>
      await decideToFail(world.deps, { depositId: deposit?.id ?? '', by: 'Ann', reason: 'finality broke' });
    await says(failing(), new RegExp(`and payout ${id} pays it out`));
    await world.rows('update deposits set block_hash = null, verified_at = null where id = ?', [deposit?.id]);
    const refused = await failing().catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(DecisionRefused);
    expect(String(refused)).to.include(`part of payout ${id}`);
    await world.cancelled(id);
    await failing();
    expect((await deposits())[0]).to.include({ status: 'failed', failureCode: 'REORGED' });
    await agree();
  });

  it('of a flood of dust takes the largest, as many as one transaction can settle', async () => {
    const units = Array.from({ length: MAX_COVERED + 5 }, (_, index) => 10n + BigInt(index));
    world.chain.mine(units.map((one) => world.transfer({ to: world.address, units: one })));
    await world.finish();
    const { id, grossUnits } = await world.planOne();
    const largest = units.slice(5);
    expect(grossUnits).to.equal(largest.reduce((sum, one) => sum + one, 0n));
    expect(await join(id), 'it is full').to.equal(0);
    await commitAll(world.deps, [...signed(id), ...final(id, { feeUnits: 12_345n })]);
    expect(await world.settled(id)).to.have.length(MAX_COVERED);
    expect((await world.planOne()).grossUnits, 'the next one takes the rest').to.equal(
      10n + 11n + 12n + 13n + 14n,
    );
    await agree();
  });
});
