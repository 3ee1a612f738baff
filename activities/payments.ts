import type { Deps } from '../src/services/deps.ts';
import { advancePaymentLink as advance } from '../src/services/payment-links/advance.ts';
import { namesOfDeliveries } from '../src/services/webhooks/open-deliveries.ts';
import { guarded, waiting } from './faults.ts';

/** The steps of a payment link's actor. */
export function paymentActivities(deps: Deps) {
  return {
    /**
     * One look at the link. While its time is over and a chain has not been read
     * up to that time, it fails benignly with what an operator wants to read,
     * and says when to look again. `waitMs` is null when the link is closed.
     */
    async advancePaymentLink(input: { linkId: string }): Promise<{
      status: string;
      since: string;
      deliveries: string[];
      names: Readonly<Record<string, string>>;
      note: string;
      waitMs: number | null;
    }> {
      const step = await guarded(
        () => advance(deps, input),
        (error) =>
          deps.log.warn(
            { err: error, linkId: input.linkId },
            'a step of a payment link met a fault of our own',
          ),
      );
      if (step.kind === 'at') {
        const { status, note, waitMs } = step;
        const deliveries = [...step.deliveries];
        // A name is only shown: no step may fail for one.
        const names = await namesOfDeliveries(deps.orm.em.fork(), deliveries).catch(() => ({}));
        return { status, since: step.since.toISOString(), deliveries, names, note, waitMs };
      }
      throw waiting(deps, step.reason, step.delayMs);
    },
  };
}
