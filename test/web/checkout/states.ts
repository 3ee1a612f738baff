import { cancelPaymentLink } from '../../../dev/support/use-cases.ts';
import type { Network } from '../../../src/domain/assets.ts';
import { advancePaymentLink } from '../../../src/services/payment-links/advance.ts';
import type { Shop } from '../../support/payment-shop.ts';

/** A page in one of the states that a payer can meet, and what its notice says first. */
export type ShownState = {
  readonly path: string;
  readonly title: string;
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
  const at = (link: { token: string }, title: string): ShownState => ({ path: `/pay/${link.token}`, title });
  return {
    ...open,
    over: at(short.over, 'The time to pay is over'),
    overButSeen: at(short.overButSeen, 'Payment seen'),
    expired: at(short.expired, 'This payment link has expired'),
    expiredInPart: at(short.expiredInPart, 'This payment link has expired'),
    late: at(short.late, 'Your payment came too late'),
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
  const make = async (title: string, more: Made = {}): Promise<ShownState> => {
    const { paid = [], watched, ...terms } = more;
    const customerId = await shop.customer(terms.mode ?? 'live');
    const link = await shop.link({ customerId, description: 'Order 1001', ...RETURNS, ...terms });
    for (const money of paid) {
      shop.pass(1);
      await shop.pay(customerId, money);
    }
    return { path: `/pay/${link.token}`, title, ...(watched && { watched }) };
  };
  const cancelled = await shop.link({ customerId: await shop.customer(), ...RETURNS });
  await cancelPaymentLink(shop.deps, { merchantId: shop.merchantId, mode: 'live', id: cancelled.id });
  const confirming = { coins: '10', state: 'confirming' } as const;
  return {
    pending: await make('Waiting for your payment'),
    onOneNetwork: await make('Waiting for your payment', { network: 'tron', description: LONG }),
    test: await make('Waiting for your payment', { mode: 'test' }),
    seen: await make('Payment seen', { paid: [{ coins: '25', state: 'confirming' }] }),
    seenInPart: await make('Payment seen', { paid: [confirming] }),
    partial: await make('Part of it has arrived', { paid: [{ coins: '10.5' }] }),
    partialToTheUnit: await make('Part of it has arrived', { paid: [{ coins: '10.000000000000000001' }] }),
    failed: await make('Waiting for your payment', { paid: [{ coins: '25', state: 'failed' }] }),
    paid: await make('Paid', { paid: [{ coins: '10' }, { coins: '15', network: 'tron', state: 'settled' }] }),
    overpaid: await make('Paid', { paid: [{ coins: '30' }] }),
    underpaid: await make('Paid', { paid: [{ coins: '24.9' }] }),
    unpayable: await make('This link cannot be paid at the moment', { watched: [] }),
    cancelled: { path: `/pay/${cancelled.token}`, title: 'This payment link was cancelled' },
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
