import { WebhookEndpoint } from '../../../db/entities/index.ts';
import type { ConditionKind } from './condition.ts';

const READ = 100;

/** Endpoints of merchants that the gateway has disabled. */
export const endpoint: ConditionKind = {
  name: 'endpoint',
  namedBy: '"list endpoints"',
  read: async (deps) => {
    const disabled = await deps.orm.em
      .fork()
      .find(
        WebhookEndpoint,
        { mode: 'live', deletedAt: null, paymentLinkId: null, disabledReason: { $ne: null } },
        { orderBy: { id: 'asc' }, limit: READ },
      );
    return {
      found: disabled.map(({ id, merchantId, disabledReason }) => ({
        key: `endpoint:${id}`,
        severity: 'info',
        reason: `webhook endpoint ${id} of merchant ${merchantId} was disabled: ${disabledReason}`,
        action: 'tell the merchant, who enables it again ("list endpoints" names all)',
      })),
    };
  },
};
