import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { AddressKey } from '../../../src/chains/address-key.ts';
import type { ActorMessage } from '../../../src/domain/actor-message.ts';
import type { Network } from '../../../src/domain/assets.ts';
import { advanceDeposit } from '../../../src/services/deposits/advance.ts';
import type { Deps } from '../../../src/services/deps.ts';
import { updateMerchant } from '../../../src/services/merchants/merchants.ts';
import { settlementWake } from '../../../src/services/payouts/actor-message.ts';
import { failPayout, settlePayout } from '../../../src/services/payouts/finish.ts';
import { cancelPayout, planPayout } from '../../../src/services/payouts/plan.ts';
import { transact } from '../../../src/services/transact.ts';
import { commitAll, DESTINATION, final, signed } from '../../support/payout-rows.ts';
import { BIG, startWorld, type World } from '../ledger/support.ts';

type Message = { readonly workflowId: string; readonly message: ActorMessage; readonly kind: string };

describe('what may be paid out is told to the actor of its address', function () {
  this.timeout(60_000);
  let world: World;
  let address: string;
  let deps: Deps;
  beforeEach(async () => {
    world = await startWorld(['bsc']);
    ({ deps } = world);
    address = await world.newAddress();
  });
  afterEach(() => world?.stop());

  const told = async (): Promise<readonly Message[]> =>
    (
      await world.rows(
        `select workflow_id as "workflowId", message, kind from outbox
          where workflow_id like 'settlement:%' order by id`,
      )
    ).map((row) => row as Message);
  const forget = () => world.rows('delete from outbox');
  const idOf = (of = address): string => `settlement:bsc:${of.slice(2)}`;
  const ids = async () => (await told()).map(({ workflowId }) => workflowId);

  /** Pays in one block, and makes all of it as far as the chain permits. */
  async function pay(...units: readonly bigint[]): Promise<void> {
    world.chain.mine(units.map((one) => world.transfer({ to: address, units: one })));
    await finish();
  }
  async function finish(): Promise<void> {
    for (let i = 0; i < 3; i++) world.chain.mine();
    world.chain.final = world.chain.blocks.length - 1;
    await world.poll();
    await world.advance();
  }
  const plan = async () => {
    const place = {
      network: 'bsc' as const,
      addressKey: address.slice(2) as AddressKey,
      currency: 'USDT' as const,
    };
    const payout = await transact(deps, (tx) =>
      planPayout(tx.em, deps, { ...place, destination: DESTINATION }),
    );
    return payout?.id ?? expect.fail('nothing planned');
  };
  const setWithdraw = (on: Network, to: string | null = DESTINATION) =>
    updateMerchant(deps, { merchantId: world.merchantId, withdraw: { [on]: to } });

  it('when a deposit is completed, not before', async () => {
    world.chain.mine([world.transfer({ to: address, units: 40n })]);
    world.chain.mine();
    await world.poll();
    await world.advance();
    expect(await told()).to.deep.equal([]);
    await finish();
    const [first, ...others] = await told();
    expect(others).to.deep.equal([]);
    const place = { network: 'bsc' as const, addressKey: address.slice(2) as AddressKey };
    const shown = await world.rows('select address from deposits');
    const [workflowId, message] = settlementWake({
      ...place,
      address: String(shown[0]?.['address']),
      merchantId: world.merchantId,
    });
    expect(first).to.deep.equal({ workflowId, message, kind: 'signal' });
    expect(message.owner).to.deep.equal({ merchantId: world.merchantId, mode: 'live' });
  });

  it('in the transaction that completes it: one without the other is never seen', async () => {
    world.chain.mine([world.transfer({ to: address, units: 40n })]);
    for (let i = 0; i < 3; i++) world.chain.mine();
    world.chain.final = world.chain.blocks.length - 1;
    await world.poll();
    await world.rows(
      'alter table outbox add constraint no_payouts check (workflow_id not like $$settlement:%$$)',
    );
    const [id = ''] = await world.depositIds();
    const step = () => advanceDeposit(deps, { depositId: id, alarmed: true });
    expect(String(await step().catch((error: Error) => error))).to.include('no_payouts');
    const status = async () => (await world.rows('select status from deposits'))[0]?.['status'];
    expect(await status()).to.equal('detected');
    await world.rows('alter table outbox drop constraint no_payouts');
    await step();
    expect(await status()).to.equal('completed');
    expect(await ids()).to.deep.equal([idOf()]);
  });

  it('when an operator releases what was held, and not when the release is refused', async () => {
    await pay(BIG, BIG);
    const [held] = await world.rows("select id from deposits where status = 'failed'");
    await forget();
    expect(await world.release(String(held?.['id']))).to.equal(true);
    expect(await ids()).to.deep.equal([idOf()]);
    expect(await world.release(String(held?.['id']))).to.equal(false);
    expect(await ids()).to.deep.equal([idOf()]);
  });

  it('not for a deposit that was simulated, nor for one that failed', async () => {
    await world.simulate('completed');
    await world.simulate('settled');
    await pay(3n);
    expect(
      (await world.rows('select status from deposits order by status')).map(({ status }) => status),
    ).to.deep.equal(['completed', 'failed', 'settled']);
    expect(await told()).to.deep.equal([]);
  });

  it('when a payout ends without having paid, and not by the step that settles it, after which its actor looks', async () => {
    await pay(40n, 60n);
    await forget();
    const cancelled = await plan();
    expect(await told(), 'planning is told by the actor itself').to.deep.equal([]);
    await transact(deps, (tx) => cancelPayout(tx.em, deps, cancelled, 'the destination changed'));
    expect(await ids()).to.deep.equal([idOf()]);
    await forget();
    const failed = await plan();
    await commitAll(deps, [...signed(failed), ...final(failed, { ok: false })]);
    await transact(deps, (tx) => failPayout(tx.em, deps, failed, 'it ran out of gas'));
    expect(await ids()).to.deep.equal([idOf()]);
    await forget();
    const paid = await plan();
    await commitAll(deps, [...signed(paid), ...final(paid)]);
    await transact(deps, (tx) => settlePayout(tx, deps, { payoutId: paid, headNumber: null }));
    expect(await ids()).to.deep.equal([]);
    const deposits = await world.rows("select kind from outbox where workflow_id like 'deposit:%'");
    expect(deposits, 'the actor of each deposit is').to.deep.equal([{ kind: 'signal' }, { kind: 'signal' }]);
  });

  it('when the merchant says where to: every address with something to pay out, once, the first at once', async () => {
    const addresses = [address];
    await pay(40n, 60n);
    for (let more = 0; more < 3; more += 1) {
      address = await world.newAddress();
      addresses.push(address);
      await pay(20n);
    }
    const [settled = '', covered = ''] = await world.depositIds();
    expect([settled, covered]).to.not.include('');
    address = addresses[3] ?? '';
    await plan();
    await world.newAddress();
    await forget();
    await setWithdraw('tron', 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8');
    expect(await told(), 'nothing is paid out on this network').to.deep.equal([]);
    await setWithdraw('bsc');
    expect((await ids()).toSorted()).to.deep.equal(
      addresses
        .slice(0, 3)
        .map((one) => idOf(one))
        .toSorted(),
    );
    for (const { workflowId, message, kind } of await told()) {
      const key = workflowId.slice('settlement:bsc:'.length) as AddressKey;
      const rows = await world.rows('select address from deposits where address_key = ? limit 1', [key]);
      const where = { address: String(rows[0]?.['address']), merchantId: world.merchantId };
      expect({ workflowId, message, kind }).to.deep.equal({
        workflowId,
        message: settlementWake({ network: 'bsc', addressKey: key, ...where })[1],
        kind: 'signal',
      });
    }
    const due = await world.rows(
      `select (extract(epoch from next_try_at - created_at) * 1000)::int as ms from outbox order by next_try_at`,
    );
    expect(due.map(({ ms }) => ms)).to.deep.equal([0, 20, 40]);
    await forget();
    await setWithdraw('bsc', null);
    expect(await told(), 'nobody is told that there is nowhere to go').to.deep.equal([]);
  });

  it('to one actor, however many deposits of an address one block completes', async () => {
    await pay(...Array.from({ length: 5 }, () => 20n));
    expect(new Set(await ids())).to.deep.equal(new Set([idOf()]));
  });

  it('and is foreseen for the deposit itself only where the merchant has said where to', async () => {
    await pay(40n);
    const [id = ''] = await world.depositIds();
    const foreseen = async (of: Deps = deps) => {
      const known = { generation: 1, sequence: randomBytes(1).length };
      const step = await advanceDeposit(of, { depositId: id, alarmed: true, known });
      return step.kind === 'at' && step.foreseen;
    };
    expect(await foreseen()).to.equal(false);
    await setWithdraw('bsc');
    expect(await foreseen()).to.equal(true);
    const { settings } = deps;
    const nowhere = { ...deps, settings: { ...settings, payouts: { ...settings.payouts, networks: [] } } };
    expect(await foreseen(nowhere)).to.equal(false);
    await world.settle(id);
    expect(await foreseen(), 'it is settled').to.equal(false);
    await world.simulate('completed');
    const [simulated] = await world.rows('select id from deposits where simulated');
    const step = await advanceDeposit(deps, { depositId: String(simulated?.['id']), alarmed: true });
    expect(step).to.include({ kind: 'at', state: 'completed', foreseen: false });
  });
});

describe('where nothing is paid out', function () {
  this.timeout(60_000);

  it('nobody is told anything', async () => {
    const world = await startWorld();
    const to = await world.newAddress();
    world.chain.mine([world.transfer({ to, units: 40n })]);
    for (let i = 0; i < 3; i++) world.chain.mine();
    world.chain.final = world.chain.blocks.length - 1;
    await world.poll();
    await world.advance();
    await updateMerchant(world.deps, { merchantId: world.merchantId, withdraw: { bsc: DESTINATION } });
    expect((await world.rows('select status from deposits'))[0]).to.include({ status: 'completed' });
    expect(await world.rows("select 1 from outbox where workflow_id like 'settlement:%'")).to.deep.equal([]);
    await world.stop();
  });
});
