// What payer, merchant and events are told of a payment link after each thing that can become of its money.
import { expect } from 'chai';
import type { FailureCode } from '../../../src/domain/deposit.ts';
import { advancePaymentLink } from '../../../src/services/payment-links/advance.ts';
import { getPublicPayment } from '../../../src/services/payment-links/public.ts';
import { payerState } from '../../../src/web/checkout/state.ts';
import { standOf } from '../../../src/web/dashboard/pages/link-words.ts';
import { wordsOf } from '../../../src/web/words/index.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';
import { REQUIRED } from './views.ts';

type Link = Awaited<ReturnType<Shop['link']>>;
type Scene = (shop: Shop, link: Link) => Promise<unknown>;

const pays =
  (coins: string, state: 'detected' | 'completed' | 'settled' = 'completed'): Scene =>
  (shop, { customer_id }) =>
    shop.pay(customer_id, { coins, state });
const ends: Scene = async (shop, { id }) => {
  shop.pass(3_601);
  await shop.scanned('bsc', shop.deps.now());
  await advancePaymentLink(shop.deps, { linkId: id });
};
const inTurn =
  (...scenes: readonly Scene[]): Scene =>
  async (shop, link) => {
    for (const scene of scenes) await scene(shop, link);
  };
/** A payment that fails; what happens then; and whether the operator releases it in the end. */
const fails =
  (failure: FailureCode, coins = '25', then?: Scene, isReleased = false): Scene =>
  async (shop, link) => {
    const id = await shop.pay(link.customer_id, { coins, state: 'confirming' });
    await shop.move(id, 'failed', failure);
    await then?.(shop, link);
    if (isReleased) await shop.move(id, 'completed');
  };

/** Of a link of 25 USD: payer, merchant, API (status, amount, each transaction), and its events in order. */
const TOLD: Readonly<Record<string, readonly [Scene, string, string, string, string]>> = {
  'a payment that was seen': [
    pays('25', 'detected'),
    'Payment seen | There is nothing to send now. | The network is confirming it. You may close this page.',
    'A payment was seen and is not confirmed yet | Nothing of 25.00 USD is confirmed yet. Nothing has' +
      ' to be done: the network confirms it.',
    'processing, none, 25 detected',
    '',
  ],
  'a payment that was confirmed': [
    pays('25'),
    'Paid | The payment is confirmed. Thank you.',
    'Paid: 25.00 USD | Exactly what was asked for is confirmed.',
    'completed, exact, 25 completed',
    'payment.completed',
  ],
  'a payment that was paid out': [
    pays('25', 'settled'),
    'Paid | The payment is confirmed. Thank you.',
    'Paid: 25.00 USD | Exactly what was asked for is confirmed.',
    'completed, exact, 25 settled',
    'payment.completed',
  ],
  'a part': [
    pays('10'),
    'Part of it has arrived | 15 USDT is still missing.',
    '15.00 USD of 25.00 USD is missing | 10.00 USD of 25.00 USD is confirmed.',
    'partially_paid, underpaid, 10 completed',
    'payment.partially_paid',
  ],
  'too much': [
    pays('30'),
    'Paid | The payment is confirmed. Thank you. | You sent 5 USDT more than was asked for. Ask the ' +
      'shop about it.',
    'Paid: 30.00 USD | That is 5.00 USD more than was asked for. Decide with the customer what ' +
      'becomes of it.',
    'completed, overpaid, 30 completed',
    'payment.completed',
  ],
  'a payment above the monthly limit': [
    fails('MONTHLY_LIMIT'),
    'A payment arrived and is not counted | 25 USDT arrived and is not counted. Do not send it again ' +
      'before you have asked the shop.',
    'A payment arrived and is not counted | 25 USDT: your monthly limit is used up. The operator of ' +
      'this gateway can release it: name the deposit, which stands below.',
    'pending, none, 25 failed MONTHLY_LIMIT',
    '',
  ],
  'a payment below the minimum': [
    fails('BELOW_MINIMUM', '1'),
    'A payment arrived and is not counted | 1 USDT arrived and is not counted. Do not send it again ' +
      'before you have asked the shop.',
    'A payment arrived and is not counted | 1 USDT: it is less than the smallest amount that is ' +
      'credited. The operator of this gateway can release it: name the deposit, which stands below.',
    'pending, none, 1 failed BELOW_MINIMUM',
    '',
  ],
  'a payment that the operator rejected': [
    fails('REJECTED_BY_OPERATOR'),
    'A payment arrived and is not counted | 25 USDT arrived and is not counted. Do not send it again ' +
      'before you have asked the shop.',
    'A payment arrived and is not counted | 25 USDT: the operator of this gateway rejected it. The ' +
      'operator of this gateway can release it: name the deposit, which stands below.',
    'pending, none, 25 failed REJECTED_BY_OPERATOR',
    '',
  ],
  'a payment whose block was replaced': [
    fails('REORGED'),
    'A payment left the chain again | 25 USDT was seen, and the network took it back. It often comes ' +
      'back by itself: look in your wallet before you send anything again.',
    'A payment left the chain again | 25 USDT: the network took it back. It counts by itself if it is' +
      ' mined again.',
    'pending, none, 25 failed REORGED',
    '',
  ],
  'one that is held, with another one on its way': [
    fails('MONTHLY_LIMIT', '5', pays('25', 'detected')),
    'Payment seen | 5 USDT arrived and is not counted. Do not send it again before you have asked the' +
      ' shop. | There is nothing to send now. | The network is confirming it. You may close this page.',
    'A payment was seen and is not confirmed yet | 5 USDT: your monthly limit is used up. The ' +
      'operator of this gateway can release it: name the deposit, which stands below. Nothing of 25.00 ' +
      'USD is confirmed yet. Nothing has to be done: the network confirms it.',
    'processing, none, 25 detected, 5 failed MONTHLY_LIMIT',
    '',
  ],
  'one that is held, with a part beside it': [
    fails('MONTHLY_LIMIT', '5', pays('10')),
    'Part of it has arrived | 5 USDT arrived and is not counted. Do not send it again before you have' +
      ' asked the shop. | 15 USDT is still missing.',
    '15.00 USD of 25.00 USD is missing | 5 USDT: your monthly limit is used up. The operator of this ' +
      'gateway can release it: name the deposit, which stands below. 10.00 USD of 25.00 USD is ' +
      'confirmed.',
    'partially_paid, underpaid, 10 completed, 5 failed MONTHLY_LIMIT',
    'payment.partially_paid',
  ],
  'one that was held and is released': [
    fails('MONTHLY_LIMIT', '25', undefined, true),
    'Paid | The payment is confirmed. Thank you.',
    'Paid: 25.00 USD | Exactly what was asked for is confirmed.',
    'completed, exact, 25 completed',
    'payment.completed',
  ],
  'one that is held at the end of the link': [
    fails('MONTHLY_LIMIT', '25', ends),
    'This payment link has expired | Do not send more money for it. Something has arrived: ask the ' +
      'shop what becomes of it. | Is something on its way already? This page shows it when it arrives.',
    'The time to pay it is over, and what arrived is not counted | 25 USDT: your monthly limit is ' +
      'used up. The operator of this gateway can release it: name the deposit, which stands below. ' +
      'Released now, it comes too late for this link, and is a deposit of the customer.',
    'expired, none, 25 failed MONTHLY_LIMIT',
    'payment.expired',
  ],
  'one that was held and is released after the end of the link': [
    fails('MONTHLY_LIMIT', '25', ends, true),
    'Your payment was confirmed too late | It was confirmed after this link had ended. It is not ' +
      'lost: ask the shop what becomes of it. Do not send more.',
    'The time to pay it is over, and money was confirmed afterwards | It counts as a deposit of the ' +
      'customer and not for this link. Look at the deposits of the customer, and decide with them.',
    'expired, late',
    'payment.expired, payment.late',
  ],
  'one that was confirmed and whose block was replaced': [
    async (shop, link) => shop.move(await shop.pay(link.customer_id, { coins: '25' }), 'failed', 'REORGED'),
    'A payment was taken back | 0 of 25 USDT is confirmed now. | It was confirmed, and failed ' +
      'afterwards. Ask the shop before you send anything.',
    'It was paid, and now 0.00 USD of 25.00 USD is confirmed | A payment of it failed afterwards: ' +
      'look at the payments below. Mined again, it is a deposit of the customer, and no part of the ' +
      'link.',
    'completed, none, 25 failed REORGED',
    'payment.completed',
  ],
  'one that comes too late': [
    inTurn(ends, pays('25')),
    'Your payment was confirmed too late | It was confirmed after this link had ended. It is not ' +
      'lost: ask the shop what becomes of it. Do not send more.',
    'The time to pay it is over, and money was confirmed afterwards | It counts as a deposit of the ' +
      'customer and not for this link. Look at the deposits of the customer, and decide with them.',
    'expired, late',
    'payment.expired, payment.late',
  ],
  nothing: [
    ends,
    'This payment link has expired | Do not send money for it. The shop can make a new link. | Is ' +
      'something on its way already? This page shows it when it arrives.',
    'The time to pay it is over | Nothing was paid. Make a new link if it is still wanted.',
    'expired, none',
    'payment.expired',
  ],
};

describe('what is told of a payment link', function () {
  this.timeout(60_000);
  let shop: Shop;
  before(async () => {
    const payments = { minimumCents: 500n, toleranceBasisPoints: 50n, watchedNetworks: ['bsc' as const] };
    shop = await startShop({ settings: { payments } });
  });
  after(() => shop?.stop());

  for (const [name, [scene, ...expected]] of Object.entries(TOLD))
    it(`is true after ${name}`, async () => {
      const link = await shop.link({ customerId: await shop.customer() });
      await scene(shop, link);
      const view = await shop.view(link.id);
      const payer = payerState(await getPublicPayment(shop.deps, link.token), REQUIRED, wordsOf('en'));
      const merchant = standOf(view, shop.deps.now());
      const events = await shop.sql<{ type: string }>(
        'select type from events where subject_id = ? order by sequence',
        [link.id],
      );
      const rows = view.transactions.map(({ amount, status, failure_code: code }) =>
        [amount, status, ...(code === null ? [] : [code])].join(' '),
      );
      expect([
        [payer.title, ...payer.texts].join(' | '),
        `${merchant.title} | ${merchant.text}`.replace(/ It can be paid until [^.]*\.$/, ''),
        [view.status, view.amount_status, ...rows.toSorted()].join(', '),
        events.map(({ type }) => type).join(', '),
      ]).to.deep.equal(expected);
    });
});
