import { cancelPaymentLink } from '../../../dev/support/use-cases.ts';
import type { Network } from '../../../src/domain/assets.ts';
import { advancePaymentLink } from '../../../src/services/payment-links/advance.ts';
import type { Shop } from '../../support/payment-shop.ts';

/** A page in one of the states that a payer can meet, and what its notice says first. */
export type ShownState = {
  readonly path: string;
  readonly title: string;
  /** What else it says of it, in its order. */
  readonly says?: RegExp;
  /** The networks that are watched while it is shown; both where it is not said. */
  readonly watched?: readonly Network[];
};

const SHORT_S = 300;
const UNKNOWN_TOKEN = `pl_${'A'.repeat(32)}`;
const LONG = `Order 1001\nTwo chairs, one table, and delivery to the third floor ${'very '.repeat(20)}soon`;

/**
 * Every state of a payment link, each of rows that the gateway itself wrote. The shop's clock stands behind
 * the expiry of the short-lived ones afterwards, and before that of all others.
 */
export async function makeStates(shop: Shop): Promise<Readonly<Record<string, ShownState>>> {
  const short = await shortLived(shop);
  const open = await stillOpen(shop);
  shop.pass(SHORT_S + 1);
  await shop.pay(short.late.customer_id, { coins: '25' });
  for (const network of ['bsc', 'tron'] as const) await shop.scanned(network, shop.clock.now);
  for (const { id } of [short.expired, short.expiredInPart, short.late])
    await advancePaymentLink(shop.deps, { linkId: id });
  const at = (link: { token: string }, title: string, says: RegExp): ShownState => ({
    path: `/pay/${link.token}`,
    title,
    says,
  });
  return {
    ...open,
    over: at(short.over, 'The time to pay is over', /Do not send anything now\./),
    overButSeen: at(short.overButSeen, 'Payment seen', /still counts, once it is seen here/),
    expired: at(short.expired, 'This payment link has expired', /Do not send money for it\./),
    expiredInPart: at(short.expiredInPart, 'This payment link has expired', /Something has arrived/),
    late: at(short.late, 'Your payment was confirmed too late', /It is not lost: ask the shop/),
  };
}

async function shortLived(shop: Shop) {
  const make = async (paid?: Parameters<Shop['pay']>[1]) => {
    const customerId = await shop.customer();
    const link = await shop.link({ customerId, expiresInS: SHORT_S, cancelUrl: 'https://shop.example/' });
    if (paid) await shop.pay(customerId, paid);
    return link;
  };
  return {
    over: await make(),
    overButSeen: await make({ coins: '10', state: 'confirming' }),
    expired: await make(),
    expiredInPart: await make({ coins: '10' }),
    late: await make(),
  };
}

async function stillOpen(shop: Shop): Promise<Record<string, ShownState>> {
  const make = async (title: string, says: RegExp, more: Made = {}): Promise<ShownState> => {
    const { paid = [], watched, ...terms } = more;
    const customerId = await shop.customer(terms.mode ?? 'live');
    const link = await shop.link({ customerId, description: 'Order 1001', ...RETURNS, ...terms });
    for (const money of paid) {
      shop.pass(1);
      await shop.pay(customerId, money);
    }
    return { path: `/pay/${link.token}`, title, says, ...(watched && { watched }) };
  };
  const cancelled = await shop.link({ customerId: await shop.customer(), ...RETURNS });
  await cancelPaymentLink(shop.deps, { merchantId: shop.merchantId, mode: 'live', id: cancelled.id });
  const coins = (amount: string, state?: 'confirming' | 'failed'): Made => ({
    paid: [{ coins: amount, ...(state && { state }) }],
  });
  const parts: Made['paid'] = [{ coins: '10' }, { coins: '15', network: 'tron', state: 'settled' }];
  const [waiting, seen, part] = ['Waiting for your payment', 'Payment seen', 'Part of it has arrived'];
  const nothingToSend = /There is nothing to send now\..*\d+ of 15 confirmations$/;
  const toTheUnit = /Time left:.* 14\.999999999999999999 USDT is still missing\.$/;
  return {
    pending: await make(waiting, /^\S.* Time left: 5\d:\d\d \(until /),
    onOneNetwork: await make(waiting, /Time left/, { network: 'tron', description: LONG }),
    test: await make(waiting, /Time left/, { mode: 'test' }),
    seen: await make(seen, nothingToSend, coins('25', 'confirming')),
    seenInPart: await make(
      seen,
      /Time left:.*15 USDT is still missing\..*confirmations$/,
      coins('10', 'confirming'),
    ),
    partial: await make(part, /14\.5 USDT is still missing\./, coins('10.5')),
    partialToTheUnit: await make(part, toTheUnit, coins('10.000000000000000001')),
    failed: await make(
      'A payment left the chain again',
      /Time left:.*look in your wallet/,
      coins('25', 'failed'),
    ),
    paid: await make('Paid', /The payment is confirmed\. Thank you\.$/, { paid: parts }),
    overpaid: await make('Paid', /You sent 5 USDT more than was asked for\./, coins('30')),
    underpaid: await make('Paid', /A little less than asked for has arrived, and is accepted/, coins('24.9')),
    unpayable: await make('This link cannot be paid at the moment', /nobody would see it/, { watched: [] }),
    cancelled: {
      path: `/pay/${cancelled.token}`,
      title: 'This payment link was cancelled',
      says: /The shop can make a new link\./,
    },
    unknown: { path: `/pay/${UNKNOWN_TOKEN}`, title: 'There is no such payment link' },
  };
}

type Made = Parameters<Shop['link']>[0] & {
  readonly paid?: readonly Parameters<Shop['pay']>[1][];
  readonly watched?: readonly Network[];
};

const RETURNS = {
  successUrl: 'https://shop.example/orders/1001',
  cancelUrl: 'https://shop.example/basket',
} as const;
