import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Deps } from '../../../src/services/deps.ts';
import { createMerchant } from '../../../src/services/merchants/merchants.ts';
import { listPayouts, readPayout } from '../../../src/services/payouts/list.ts';
import { readPause, readPauses, setPaused } from '../../../src/services/payouts/pauses.ts';
import { cancelPayout, planPayout } from '../../../src/services/payouts/plan.ts';
import { retryPayout } from '../../../src/services/payouts/retry.ts';
import { repairSettlements } from '../../../src/services/repair/settlements.ts';
import { transact } from '../../../src/services/transact.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';
import { commitAll, DESTINATION, final, payOut, signed } from '../../support/payout-rows.ts';

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
    const audited = await shop.sql(
      "select action, by_name, merchant_id is null as of_all from operator_actions where action like 'payout.%' order by at, id",
    );
    expect(audited).to.have.deep.members([
      { action: 'payout.pause', by_name: 'Ann', of_all: false },
      { action: 'payout.pause', by_name: 'Ann', of_all: true },
      { action: 'payout.resume', by_name: 'Ann', of_all: false },
      { action: 'payout.resume', by_name: 'Ann', of_all: true },
    ]);
  });

  it('refuse a merchant that there is not, and write nothing then', async () => {
    for (const merchantId of [randomUUID(), 'x', "'; drop table payouts"])
      expect(await refusal(setPaused(deps, { merchantId, paused: true }))).to.match(
        /^There is no merchant .*"merchant list"\.$/,
      );
    expect(await shop.sql('select 1 from payout_decisions')).to.deep.equal([]);
  });

  it('are never changed or removed', async () => {
    await setPaused(deps, { merchantId: null, paused: true });
    for (const text of ["update payout_decisions set by_name = 'x'", 'delete from payout_decisions'])
      expect(await refusal(shop.sql(text)), text).to.match(/append-only|refuse|may not|never/i);
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
    const [message] = await shop.sql<{ message: Record<string, unknown> }>(
      "select message from outbox where workflow_id like 'settlement:%' limit 1",
    );
    expect(message?.message).to.deep.include({
      owner: { merchantId: shop.merchantId, mode: 'live' },
      attributes: { MerchantId: shop.merchantId, Network: 'bsc', NeedsOperator: false },
    });
  });

  it('keep a repair from starting what would only say again that it is paused', async () => {
    const { address } = await shop.deposit(await paid('1'));
    const to = { merchantId: shop.merchantId, network: 'bsc', address: DESTINATION };
    await shop.sql('insert into withdraw_addresses (merchant_id, network, address) values (?, ?, ?)', [
      ...Object.values(to),
    ]);
    const started: string[] = [];
    const actors = {
      running: async () => new Set<string>(),
      start: async (id: string) => void started.push(id),
    } as unknown as NonNullable<Deps['actors']>;
    await setPaused(deps, { merchantId: null, paused: true });
    await repairSettlements({ ...deps, actors });
    expect(started, address).to.deep.equal([]);
    await setPaused(deps, { merchantId: null, paused: false });
    await repairSettlements({ ...deps, actors });
    expect(started).to.have.length(1);
  });

  it('are looked up by the id of a payout or by an address that waits', async () => {
    const { id: depositId, address, addressKey } = await shop.deposit(await paid('1'));
    expect(await refusal(retryPayout(deps, { id: address, reason: null }))).to.match(
      /^Nothing waits at .*"repair"\.$/,
    );
    const payoutId = await plan(depositId);
    await shop.sql('delete from outbox');
    for (const id of [payoutId, payoutId.toUpperCase(), address])
      expect(await retryPayout(deps, { id, reason: 'now' })).to.include({ address, network: 'bsc' });
    expect(await woken()).to.have.members(Array.from({ length: 3 }, () => `settlement:bsc:${addressKey}`));
    expect(await shop.sql('select kind, network, by_name, reason from payout_decisions')).to.deep.equal(
      Array.from({ length: 3 }, () => ({ kind: 'retry', network: 'bsc', by_name: 'Ann', reason: 'now' })),
    );
    for (const id of [randomUUID(), 'x', '', '0x1', "' or 1=1", '\0'])
      expect(await refusal(retryPayout(deps, { id, reason: null })), id).to.match(
        /^There is no payout .*"payout list"\.$/s,
      );
    await transact(deps, ({ em: inTx }) => cancelPayout(inTx, deps, payoutId, 'test'));
    await retryPayout(deps, { id: payoutId, reason: null });
    await payOut(deps, depositId);
    const [settled] = await shop.sql<{ id: string }>("select id from payouts where state = 'settled'");
    expect(await refusal(retryPayout(deps, { id: settled?.id ?? '', reason: null }))).to.match(
      /is settled, .*"payout show/,
    );
  });

  it('show payouts with what they wait for, and addresses at which nothing is planned', async () => {
    const first = await paid('1');
    const second = await paid('2', await shop.customer());
    const payoutId = await plan(first);
    const { address: other, addressKey } = await shop.deposit(second);
    const place = await shop.deposit(first);
    const wait = `insert into settlement_waits (network, address_key, merchant_id, payout_id, address, currency,
      code, reason, needs_units, needs_address, since, updated_at)
      values ('bsc', ?, ?, ?, ?, 'USDT', ?, 'why', ?, ?, now(), now())`;
    await shop.sql(wait, [
      place.addressKey,
      shop.merchantId,
      payoutId,
      place.address,
      'waiting_for_gas',
      '1500000000000000000',
      DESTINATION,
    ]);
    await shop.sql(wait, [addressKey, shop.merchantId, null, other, 'no_destination', null, null]);
    const all = await listPayouts(deps, { limit: 10 });
    const needs = { currency: 'BNB', amount: '1.5', address: DESTINATION };
    expect(all.payouts).to.deep.equal([
      {
        id: payoutId,
        merchant_id: shop.merchantId,
        network: 'bsc',
        currency: 'USDT',
        address: place.address,
        destination: DESTINATION,
        gross: '1',
        net: null,
        fee: null,
        fee_currency: 'BNB',
        state: 'planned',
        is_live: true,
        wait: { code: 'waiting_for_gas', reason: 'why', needs },
        transaction_hash: null,
        deposits: [first],
        created_at: all.payouts[0]?.created_at,
        settled_at: null,
      },
    ]);
    expect(all.waiting.map(({ address, code, needs: none }) => [address, code, none])).to.deep.equal([
      [other, 'no_destination', null],
    ]);
    expect((await listPayouts(deps, { limit: 10, state: 'planned' })).waiting).to.deep.equal([]);
    for (const none of [{ state: 'settled' as const }, { network: 'tron' as const }])
      expect(await listPayouts(deps, { limit: 10, ...none })).to.deep.equal({ payouts: [], waiting: [] });
    expect(await refusal(listPayouts(deps, { limit: 10, merchant: 'nobody' }))).to.match(/"merchant list"/);
    await shop.sql('delete from settlement_waits');
    await commitAll(deps, [...signed(payoutId, { hash: '0xabc' }), ...final(payoutId, { feeUnits: 7n })]);
    const shown = await readPayout(deps, payoutId);
    expect(shown).to.include({ state: 'paying', transaction_hash: '0xabc', wait: null });
    expect(shown.transactions).to.have.length(1);
    expect(shown.transactions[0]).to.include({ state: 'final', amount: '1', fee: '0.000000000000000007' });
    expect(await refusal(readPayout(deps, 'x'))).to.match(/^There is no payout x\. .*"payout list"\.$/);
  });
});
