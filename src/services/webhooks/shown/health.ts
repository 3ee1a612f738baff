import type { EndpointView } from '../../../contract/endpoint.ts';
import { WebhookEndpoint } from '../../../db/entities/index.ts';
import type { Em } from '../../../db/orm.ts';
import { rows, sql } from '../../../db/sql.ts';
import { isoSecondsOrNull } from '../../../domain/events.ts';
import type { Deps } from '../../deps.ts';
import { type Bounded, bounded, countUpTo } from '../../lists/bounded.ts';
import type { Scope } from '../../scope.ts';
import { findEndpoint } from '../endpoints.ts';
import { presentEndpoint } from '../present.ts';

/** An endpoint, since when its attempts fail, and how many of its deliveries ended in failure. */
export type EndpointHealth = {
  readonly endpoint: EndpointView;
  readonly failing_since: string | null;
  readonly failed: Bounded;
};

/** One endpoint with its health. Throws a NOT_FOUND `Refusal`, for a deleted one too. */
export async function endpointHealth(
  deps: Deps,
  input: Scope & { readonly id: string },
): Promise<EndpointHealth> {
  const em = deps.orm.em.fork();
  const endpoint = await findEndpoint(em, input);
  return present(endpoint, await failedOf(em, [endpoint.id]));
}

/**
 * The endpoints of a merchant and mode that fail, that the gateway has disabled, or
 * that have deliveries which ended in failure, newest first. Some tens at most.
 */
export async function endpointsInTrouble(deps: Deps, { merchantId, mode }: Scope): Promise<EndpointHealth[]> {
  const em = deps.orm.em.fork();
  const endpoints = await em.find(
    WebhookEndpoint,
    { merchantId, mode, deletedAt: null, paymentLinkId: null },
    { orderBy: { createdAt: 'desc', id: 'desc' } },
  );
  const failed = await failedOf(
    em,
    endpoints.map(({ id }) => id),
  );
  return endpoints
    .filter((endpoint) => isUnwell(endpoint) || failed.has(endpoint.id))
    .map((one) => present(one, failed));
}

const isUnwell = ({ enabled, failingSince, disabledReason }: WebhookEndpoint): boolean =>
  enabled ? failingSince != null : disabledReason != null;

function present(endpoint: WebhookEndpoint, failed: ReadonlyMap<string, number>): EndpointHealth {
  return {
    endpoint: presentEndpoint(endpoint),
    failing_since: isoSecondsOrNull(endpoint.failingSince),
    failed: bounded(failed.get(endpoint.id) ?? 0),
  };
}

/** By endpoint, how many deliveries ended in failure; those without one are missing. */
async function failedOf(em: Em, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  if (ids.length === 0) return new Map();
  const failed = countUpTo(
    sql`from webhook_deliveries d where d.endpoint_id = e.id and d.status = 'failed' order by d.finished_at`,
  );
  const found = await rows(
    em,
    sql<{ id: string; failed: number }>`select id, ${failed} as failed from unnest(${ids}::uuid[]) as e (id)`,
  );
  return new Map(found.filter((row) => row.failed > 0).map((row) => [row.id, row.failed]));
}
