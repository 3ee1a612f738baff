import type { CustomerView } from '../../contract/customer.ts';
import type { DepositView } from '../../contract/deposit.ts';
import type { PaymentLinkView } from '../../contract/payment-link.ts';
import { listDeposits } from '../deposits/reads.ts';
import type { Deps } from '../deps.ts';
import type { PageOf } from '../lists/page.ts';
import { getCustomer } from '../merchants/customer-reads.ts';
import { listPaymentLinks } from '../payment-links/reads.ts';
import type { Scope } from '../scope.ts';

/** A customer with the newest deposits and payment links; the lists have the rest by the customer's id. */
export type CustomerOverview = {
  readonly customer: CustomerView;
  readonly deposits: PageOf<DepositView>;
  readonly links: PageOf<PaymentLinkView>;
};

const NEWEST = 10;

/** The overview of a customer of this merchant and mode. Throws a NOT_FOUND `Refusal`. */
export async function customerOverview(
  deps: Deps,
  { id, merchantId, mode }: Scope & { readonly id: string },
): Promise<CustomerOverview> {
  const scope: Scope = { merchantId, mode };
  const customer = await getCustomer(deps, { id, ...scope });
  const input = { ...scope, customerId: id, page: { limit: NEWEST } };
  const deposits = await listDeposits(deps, input);
  const links = await listPaymentLinks(deps, input);
  return { customer, deposits, links };
}
