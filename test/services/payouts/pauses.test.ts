import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Deps } from '../../../src/services/deps.ts';
import { createMerchant } from '../../../src/services/merchants/merchants.ts';
import { retryPayout } from '../../../src/services/payouts/decisions.ts';
import { readPause, readPauses, setPaused } from '../../../src/services/payouts/pauses.ts';
import { planPayout } from '../../../src/services/payouts/plan.ts';
import { transact } from '../../../src/services/transact.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';
import { DESTINATION } from '../../support/payout-rows.ts';

/** What operators decide about payouts, as rows; nobody carries it out here. */
describe('decisions of operators about payouts', function () {
  this.timeout(60_000);
  let shop: Shop;
  let deps: Deps;
  let customer: string;
  beforeEach(async () => {
    shop = await startShop();
    const payouts = { ...shop.deps.settings.payouts, networks: ['bsc' as const] };
    const settings = { ...shop.deps.settings, payouts };
    deps = { ...shop.deps, settings, actor: { kind: 'operator', name: 'Ann', from: 'here' } };
    customer = await shop.customer();
  });
  afterEach(() => shop?.stop());

  const em = () => deps.orm.em.fork();
  const paid = async (coins: string, of = customer): Promise<string> => {
    const id = await shop.pay(of, { coins, block: 5 });
    await shop.sql('update deposits set verified_at = now() where id = ?', [id]);
    return id;
  };
  const plan = async (depositId: string): Promise<string> => {
    const { network, addressKey, currency } = await shop.deposit(depositId);
    const payout = await transact(deps, ({ em: inTx }) =>
      planPayout(inTx, deps, { network, addressKey, currency, destination: DESTINATION }),
    );
    return payout?.id ?? expect.fail('nothing planned');
  };
  const woken = async (): Promise<unknown[]> =>
    (
      await shop.sql("select workflow_id as id from outbox where workflow_id like 'settlement:%' order by 1")
    ).map((row) => (row as { id: string }).id);
  const refusal = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => expect.fail('not refused'),
      (error: Error) => error.message,
    );

  it('pause and resume one merchant or all, and the newest of each counts', async () => {
    const { merchantId: other } = await createMerchant(deps, { name: 'Other', subscriptionActive: true });
    const { merchantId } = shop;
    const paused = async () => [await readPause(em(), merchantId), await readPause(em(), other)].map(Boolean);
    expect(await paused()).to.deep.equal([false, false]);
    const one = { merchantId, reason: 'an audit' };
    expect(await setPaused(deps, { ...one, paused: true })).to.deep.equal({ changed: true, woken: 0 });
    expect(await setPaused(deps, { ...one, paused: true })).to.deep.equal({ changed: false, woken: 0 });
    expect(await paused()).to.deep.equal([true, false]);
    expect(await readPause(em(), merchantId)).to.include({ byName: 'Ann', reason: 'an audit', merchantId });
    await setPaused(deps, { merchantId: null, paused: true });
    expect(await paused()).to.deep.equal([true, true]);
    await setPaused(deps, { ...one, paused: false });
    expect(await paused()).to.deep.equal([true, true]);
    await setPaused(deps, { merchantId: null, paused: false });
    expect(await paused()).to.deep.equal([false, false]);
    expect(await readPauses(em())).to.deep.equal([]);
    const actions =
      "select action, by_name from operator_actions where action like 'payout.%' order by at, id";
    expect((await shop.sql(actions)).map((row) => Object.values(row as object).join(' '))).to.have.members(
      ['pause', 'pause', 'resume', 'resume'].map((what) => `payout.${what} Ann`),
    );
    for (const text of ["update payout_decisions set by_name = 'x'", 'delete from payout_decisions'])
      expect(await refusal(shop.sql(text)), text).to.match(/append-only|refuse|may not|never/i);
    for (const merchant of [randomUUID(), "'; drop table payouts"])
      expect(await refusal(setPaused(deps, { merchantId: merchant, paused: true }))).to.match(
        /^There is no merchant .*"merchant list"\.$/,
      );
  });

  it('wake the addresses that have something to pay out, or a payout under way, once they go on', async () => {
    const waiting = await shop.deposit(await paid('1'));
    const under = await shop.deposit(await paid('2', await shop.customer()));
    await plan(under.id);
    await setPaused(deps, { merchantId: null, paused: true });
    await shop.sql('delete from outbox');
    expect(await setPaused(deps, { merchantId: null, paused: false })).to.deep.equal({
      changed: true,
      woken: 2,
    });
    const ids = [waiting, under].map(({ addressKey }) => `settlement:bsc:${addressKey}`);
    expect(await woken()).to.have.members(ids);
  });

  it('are looked up by the id of a payout or by an address that waits', async () => {
    const { id: depositId, address, addressKey } = await shop.deposit(await paid('1'));
    expect(await refusal(retryPayout(deps, { id: address, reason: null }))).to.match(
      /^Nothing waits at .*"repair"\.$/,
    );
    const payoutId = await plan(depositId);
    await shop.sql('delete from outbox');
    for (const id of [payoutId, address])
      expect(await retryPayout(deps, { id, reason: 'now' })).to.include({ address, network: 'bsc' });
    expect(await woken()).to.have.members(Array.from({ length: 2 }, () => `settlement:bsc:${addressKey}`));
    expect(await shop.sql('select kind, network, by_name, reason from payout_decisions')).to.deep.equal(
      Array.from({ length: 2 }, () => ({ kind: 'retry', network: 'bsc', by_name: 'Ann', reason: 'now' })),
    );
    for (const id of [randomUUID(), 'x', "' or 1=1"])
      expect(await refusal(retryPayout(deps, { id, reason: null })), id).to.match(
        /^There is no payout .*"payout list"\.$/s,
      );
  });
});
