import { OperatorError } from '../../../base/errors.ts';
import { Deposit, PaymentLink } from '../../../db/entities/index.ts';
import type { Em } from '../../../db/orm.ts';
import { presentDeposits } from '../../../services/deposits/reads.ts';
import type { Deps } from '../../../services/deps.ts';
import type { Found, Looking, Pages } from '../../../services/find/found.ts';
import { readGiven } from '../../../services/find/given.ts';
import { type FoundKind, lookUp } from '../../../services/find/look-up.ts';
import { viewsOf } from '../../../services/find/views.ts';
import { eventsOfSubject } from '../../../services/webhooks/shown/subject-events.ts';

export type ShownKind = 'customer' | 'payment_link' | 'endpoint' | 'event';

const NEWEST_DEPOSITS = 20;
const DEPOSITS_OF_LINK = 100;

/** What `find` says of it, what it hides, the deposits of a customer or a link, and a link's events. */
export async function showOne(deps: Deps, pages: Pages, kind: ShownKind, text: string) {
  const em = deps.orm.em.fork();
  const one = await requireOne({ em, deps, pages }, kind, text);
  return { ...one, ...(await moreOf(em, kind, one.id)) };
}

/** The one thing of this kind that a text stands for. Throws an OperatorError where it is none or several. */
export async function requireOne(looking: Looking, kind: FoundKind, text: string): Promise<Found> {
  const given = readGiven(text);
  const named = (await lookUp(looking.em, given)).filter((one) => one.kind === kind);
  // Somebody may have made the id of one the external id of another.
  const exact = named.find(({ id }) => id === given.id);
  const [one, ...others] = await viewsOf(looking, exact ? [exact] : named);
  const [what, short] = [kind.replace('_', ' '), given.text.slice(0, 100)];
  if (!one) throw new OperatorError(`There is no ${what} ${short}`, 'Look with "gateway find" what it is');
  if (others.length > 0)
    throw new OperatorError(
      `${short} is several: ${named.map(({ id }) => id).join(', ')}`,
      `Show one ${what} by its id`,
    );
  return one;
}

async function moreOf(em: Em, kind: ShownKind, id: string) {
  if (kind === 'customer') {
    const newest = { orderBy: { createdAt: 'desc', id: 'desc' }, limit: NEWEST_DEPOSITS } as const;
    return { deposits: await presentDeposits(em, await em.find(Deposit, { customerId: id }, newest)) };
  }
  if (kind !== 'payment_link') return {};
  const first = { orderBy: { createdAt: 'asc', id: 'asc' }, limit: DEPOSITS_OF_LINK } as const;
  const deposits = await presentDeposits(em, await em.find(Deposit, { paymentLinkId: id }, first));
  const { mode, merchantId, createdAt: since } = await em.findOneOrFail(PaymentLink, id);
  const { events, isCut } = await eventsOfSubject(em, { merchantId, mode }, { subjectId: id, since });
  return { deposits, events, events_cut: isCut };
}
