import type { DepositView } from '../../contract/deposit.ts';
import type { EndpointView } from '../../contract/endpoint.ts';
import type { PaymentLinkView } from '../../contract/payment-link.ts';
import { WebhookEndpoint } from '../../db/entities/index.ts';
import { listDeposits } from '../deposits/reads.ts';
import type { Deps } from '../deps.ts';
import type { PageOf } from '../lists/page.ts';
import type { Scope } from '../scope.ts';
import { presentEndpoint } from '../webhooks/present.ts';
import { eventsOfSubject, type StoryEvent } from '../webhooks/shown/subject-events.ts';
import { getPaymentLink } from './reads.ts';

/** Everything that its merchant may know about a payment link. */
export type PaymentLinkStory = {
  readonly link: PaymentLinkView;
  /** The first page of the deposits that pay it, newest first. */
  readonly deposits: PageOf<DepositView>;
  /** Oldest first. */
  readonly events: readonly StoryEvent[];
  /** The health of its own webhook URL; null for a link without one. */
  readonly own_endpoint: EndpointView | null;
};

const FIRST_DEPOSITS = 20;

/** The story of a payment link of this merchant and mode. Throws a NOT_FOUND `Refusal`. */
export async function paymentLinkStory(
  deps: Deps,
  { id, merchantId, mode }: Scope & { readonly id: string },
): Promise<PaymentLinkStory> {
  const scope: Scope = { merchantId, mode };
  const link = await getPaymentLink(deps, { id, ...scope });
  const deposits = await listDeposits(deps, { ...scope, paymentLinkId: id, page: { limit: FIRST_DEPOSITS } });
  const em = deps.orm.em.fork();
  const { events } = await eventsOfSubject(em, scope, { subjectId: id, since: new Date(link.created_at) });
  const own = await em.findOne(WebhookEndpoint, { paymentLinkId: id, merchantId, mode });
  return { link, deposits, events, own_endpoint: own ? presentEndpoint(own) : null };
}
