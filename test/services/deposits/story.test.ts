import { expect } from 'chai';
import { decideToFail, failDeposit } from '../../../src/services/deposits/operator.ts';
import { depositStory } from '../../../src/services/deposits/story/story.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

describe('the story of a deposit', function () {
  this.timeout(60_000);
  let shop: Shop;
  let customerId: string;
  before(async () => {
    shop = await startShop();
  });
  beforeEach(async () => {
    shop.clock.now = new Date('2026-11-20T09:00:00Z');
    customerId = await shop.customer();
  });
  after(() => shop?.stop());

  const story = (id: string) => depositStory(shop.deps, { merchantId: shop.merchantId, mode: 'live', id });
  const statesOf = ({ timeline }: Awaited<ReturnType<typeof story>>) =>
    timeline.flatMap((step) => (step.kind === 'state' ? [[step.at, step.from, step.state]] : []));

  it('tells each step with its time and its posting, oldest first, and what it waits for', async () => {
    const id = await shop.pay(customerId, { coins: '12.5', state: 'detected' });
    expect((await story(id)).waits_for).to.match(/^Has 0 of \d+ confirmations\.$/);
    shop.pass(3);
    await shop.move(id, 'confirming');
    shop.pass(60);
    await shop.move(id, 'completed');
    const seen = await story(id);
    expect(statesOf(seen)).to.deep.equal([
      ['2026-11-20T09:00:00Z', null, 'detected'],
      ['2026-11-20T09:00:03Z', 'detected', 'confirming'],
      ['2026-11-20T09:01:03Z', 'confirming', 'completed'],
    ]);
    const kinds = ['state', 'posting', 'state', 'state', 'posting'];
    expect(seen.timeline.map(({ kind }) => kind)).to.deep.equal(kinds);
    const [, arrived] = seen.timeline;
    expect(arrived).to.deep.include({
      kind: 'posting',
      lines: [
        { account: 'chain', amount: '-12.5', currency: 'USDT', words: 'outside: from or to the chain' },
        { account: 'pending', amount: '12.5', currency: 'USDT', words: 'pending: arrived, not final yet' },
      ],
    });
    expect([seen.waits_for, seen.payout, seen.wait, seen.is_cut]).to.deep.equal([
      'Waits for its payout.',
      null,
      null,
      false,
    ]);
  });

  it('says that an operator decided and why, and never who', async () => {
    const id = await shop.pay(customerId, { coins: '1', state: 'confirming' });
    const decision = { depositId: id, by: 'root-bob', reason: 'sanctioned sender' };
    await decideToFail(shop.deps, decision);
    await failDeposit(shop.deps, decision);
    const seen = await story(id);
    const last = seen.timeline.find((step) => step.kind === 'state' && step.state === 'failed');
    expect(last).to.deep.include({
      by_operator: true,
      reason: 'sanctioned sender',
      failure_code: 'REJECTED_BY_OPERATOR',
    });
    expect(JSON.stringify(seen)).to.not.include('root-bob');
    expect(seen.waits_for).to.equal(null);
  });

  it('says why it is not paid out in a merchant’s words, and shows the payout once there is one', async () => {
    const id = await shop.pay(customerId, { coins: '20' });
    await shop.sql(
      `insert into settlement_waits (network, address_key, merchant_id, address, currency, code, reason, since,
         updated_at)
       select network, address_key, merchant_id, address, currency, 'paused', 'paused by root-bob: because',
         '2026-11-20T09:00:05Z', now() from deposits where id = ?`,
      [id],
    );
    const waiting = await story(id);
    expect(waiting.wait).to.deep.equal({
      code: 'paused',
      words: 'Payouts are paused by the operator of the gateway.',
      who: 'operator',
      since: '2026-11-20T09:00:05Z',
    });
    expect(waiting.waits_for).to.equal(waiting.wait?.words);
    expect(JSON.stringify(waiting)).to.not.include('root-bob');
    await shop.sql('delete from settlement_waits');
    shop.pass(60);
    await shop.move(id, 'settled');
    const { payout, wait, waits_for: waitsFor, timeline, deposit } = await story(id);
    expect([wait, waitsFor]).to.deep.equal([null, null]);
    expect(payout).to.deep.include({
      state: 'settled',
      gross: '20',
      net: '20',
      deposit_count: 1,
      fee_currency: 'BNB',
    });
    expect(payout?.transaction_hash).to.equal(deposit.settlement?.transaction_hash);
    expect(timeline.some(({ kind }) => kind === 'payout')).to.equal(true);
  });
});
