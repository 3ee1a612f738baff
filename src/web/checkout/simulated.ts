import { createHash } from 'node:crypto';
import type { PublicPaymentView } from '../../contract/payment-link.ts';
import { PAYMENT_SHARES } from '../../domain/payment-link.ts';
import type { Deps } from '../../services/deps.ts';
import { simulatePayment, testLinkOwner } from '../../services/payment-links/simulate.ts';
import type { Simulated } from '../simulate.ts';

/** Payments of test links that are only played through. */
export function simulatedLinks(deps: Deps): Simulated {
  return {
    ownerOf: (token) => testLinkOwner(deps, token),
    take: ({ share }, network) => {
      const known = PAYMENT_SHARES.find((one) => one === share);
      return known && ((request) => simulatePayment(deps, { ...request, share: known, network }));
    },
  };
}

/**
 * The key of the form on this page. It is made of the link's state: a rendering stays the same while
 * nothing happens, the same form posted twice does it once, and after a payment the next one is another.
 */
export function simulationKey(view: PublicPaymentView): string {
  const paid = view.transactions.map((row) => [row.transaction_hash, row.status]);
  const open = view.methods.map((method) => [method.network, method.amount]);
  return createHash('sha256')
    .update(JSON.stringify([paid, open]))
    .digest('base64url');
}
