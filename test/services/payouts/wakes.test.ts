import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { AddressKey } from '../../../src/chains/address-key.ts';
import type { ActorMessage } from '../../../src/domain/actor-message.ts';
import type { Network } from '../../../src/domain/assets.ts';
import { advanceDeposit } from '../../../src/services/deposits/advance.ts';
import type { Deps } from '../../../src/services/deps.ts';
import { updateMerchant } from '../../../src/services/merchants/merchants.ts';
import { settlementWake } from '../../../src/services/payouts/wakes.ts';
import { commitAll, DESTINATION, final, signed } from '../../support/payout-rows.ts';
import { BIG } from '../ledger/support.ts';
import { type PayableWorld, startPayableWorld } from './payable-world.ts';

type Message = { readonly workflowId: string; readonly message: ActorMessage; readonly kind: string };

describe('what may be paid out is told to the actor of its address', function () {
  this.timeout(60_000);
  let world: PayableWorld;
  let deps: Deps;
  beforeEach(async () => {
    world = await startPayableWorld(['bsc']);
    ({ deps } = world);
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
  const idOf = (of = world.address): string => `settlement:bsc:${of.slice(2)}`;
  const ids = async () => (await told()).map(({ workflowId }) => workflowId);
  /** What the actor of an address is told. */
  const wakeOf = async (of = world.address) => {
    const addressKey = of.slice(2) as AddressKey;
    const [row] = await world.rows('select address from deposits where address_key = ? limit 1', [
      addressKey,
    ]);
    const where = { address: String(row?.['address']), merchantId: world.merchantId };
    const [workflowId, message] = settlementWake({ network: 'bsc', addressKey, ...where });
    return { workflowId, message, kind: 'signal' };
  };
  const setWithdraw = (on: Network, to: string | null = DESTINATION) =>
    updateMerchant(deps, { merchantId: world.merchantId, withdraw: { [on]: to } });

  it('when a deposit is completed, not before, in the transaction that does it', async () => {
    world.chain.mine([world.transfer({ to: world.address, units: 40n })]);
    world.chain.mine();
    await world.poll();
    await world.advance();
    expect(await told()).to.deep.equal([]);
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
    expect(await status()).to.not.equal('completed');
    await world.rows('alter table outbox drop constraint no_payouts');
    await step();
    expect(await status()).to.equal('completed');
    const [first, ...others] = await told();
    expect(others).to.deep.equal([]);
    expect(first).to.deep.equal(await wakeOf());
    expect(first?.message.owner).to.deep.equal({ merchantId: world.merchantId, mode: 'live' });
  });

  it('when an operator releases what was held, and not when the release is refused', async () => {
    await world.pay([BIG, BIG]);
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
    await world.pay([3n]);
    expect(
      (await world.rows('select status from deposits order by status')).map(({ status }) => status),
    ).to.deep.equal(['completed', 'failed', 'settled']);
    expect(await told()).to.deep.equal([]);
  });

  it('not where nothing is paid out', async () => {
    const nowhere = await startPayableWorld();
    await nowhere.pay([40n]);
    expect((await nowhere.rows('select status from deposits'))[0]).to.include({ status: 'completed' });
    expect(await nowhere.rows("select 1 from outbox where workflow_id like 'settlement:%'")).to.be.empty;
    await nowhere.stop();
  });

  it('when a payout ends without having paid, and not by the step that settles it, after which its actor looks', async () => {
    await world.pay([40n, 60n]);
    await forget();
    const { id: cancelled } = await world.planOne();
    expect(await told(), 'planning is told by the actor itself').to.deep.equal([]);
    await world.cancelled(cancelled);
    expect(await ids()).to.deep.equal([idOf()]);
    await forget();
    const { id: failed } = await world.planOne();
    await commitAll(deps, [...signed(failed), ...final(failed, { ok: false })]);
    await world.failed(failed);
    expect(await ids()).to.deep.equal([idOf()]);
    await forget();
    const { id: paid } = await world.planOne();
    await commitAll(deps, [...signed(paid), ...final(paid)]);
    await world.settled(paid);
    expect(await ids()).to.deep.equal([]);
    const deposits = await world.rows("select kind from outbox where workflow_id like 'deposit:%'");
    expect(deposits, 'the actor of each deposit is').to.deep.equal([{ kind: 'signal' }, { kind: 'signal' }]);
  });

  it('when the merchant says where to: every address with something to pay out or a payout under way, once, the first at once', async () => {
    const addresses = [world.address];
    for (let more = 0; more < 3; more += 1) addresses.push(await world.newAddress());
    for (const one of addresses) await world.pay([20n], one);
    await world.planOne('USDT', addresses[3]);
    await world.newAddress();
    await forget();
    await setWithdraw('tron', 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8');
    expect(await told(), 'nothing is paid out on this network').to.deep.equal([]);
    await setWithdraw('bsc');
    expect(await told()).to.have.deep.members(await Promise.all(addresses.map(wakeOf)));
    const due = await world.rows(
      `select (extract(epoch from next_try_at - created_at) * 1000)::int as ms from outbox order by next_try_at`,
    );
    expect(due.map(({ ms }) => ms)).to.deep.equal([0, 20, 40, 60]);
    await forget();
    await setWithdraw('bsc', null);
    expect(await told(), 'nobody is told that there is nowhere to go').to.deep.equal([]);
  });

  it('and is foreseen for the deposit itself only where the merchant has said where to', async () => {
    await world.pay([40n]);
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
  });
});
