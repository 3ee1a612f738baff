import { OperatorError } from '../../../base/errors.ts';
import { WebhookEndpoint } from '../../../db/entities/index.ts';
import { rows, sql } from '../../../db/sql.ts';
import type { Mode } from '../../../domain/assets.ts';
import { isUuid } from '../../../domain/ids.ts';
import type { Deps } from '../../../services/deps.ts';
import { standingOfEndpoint } from '../../../services/find/words.ts';
import { requireKnownMerchant } from '../../../services/merchants/known.ts';
import type { Scope } from '../../../services/scope.ts';
import { presentEndpoint } from '../../../services/webhooks/present.ts';
import { inOrderOf, newestIds } from './newest.ts';

const NEWEST_DELIVERIES = 1_000;

type Filters = {
  readonly merchant?: string;
  readonly mode?: Mode;
  readonly disabled?: true;
  readonly limit: number;
};

/** Endpoints of every merchant, without the own URLs of links, newest first. Refuses an unknown merchant. */
export async function listAllEndpoints(deps: Deps, { merchant, mode, disabled, limit }: Filters) {
  const em = deps.orm.em.fork();
  await requireKnownMerchant(em, merchant);
  const only = sql`t.payment_link_id is null and t.deleted_at is null
    and (${disabled !== true} or not t.enabled)`;
  const ids = await newestIds(em, { table: 'webhook_endpoints', merchant, mode, only, limit });
  const found = inOrderOf(ids, await em.find(WebhookEndpoint, { id: { $in: ids } }));
  return found.map((row) => ({ ...presentEndpoint(row), merchant_id: row.merchantId }));
}

/** One endpoint, the own URL of a link too, with how it does. Throws an OperatorError where there is none. */
export async function readEndpoint(deps: Deps, id: string) {
  const row = await requireEndpoint(deps, id);
  const counted = await rows(
    deps.orm.em.fork(),
    sql<{ status: string; count: number }>`select status, count(*)::int as count from (
        select status from webhook_deliveries where endpoint_id = ${row.id}
          order by created_at desc, id desc limit ${NEWEST_DELIVERIES}) newest
      group by status order by status`,
  );
  return {
    ...standingOfEndpoint(row),
    ...presentEndpoint(row),
    merchant_id: row.merchantId,
    payment_link_id: row.paymentLinkId ?? null,
    /** Of the newest thousand. */
    deliveries: counted.map(({ status, count }) => `${count} ${status}`).join(', ') || 'none',
  };
}

/** The owner and mode of an endpoint. Throws an OperatorError that says where to find the right id. */
export async function scopeOfEndpoint(deps: Deps, id: string): Promise<Scope> {
  const { merchantId, mode } = await requireEndpoint(deps, id);
  return { merchantId, mode };
}

async function requireEndpoint(deps: Deps, id: string): Promise<WebhookEndpoint> {
  const row = isUuid(id) ? await deps.orm.em.fork().findOne(WebhookEndpoint, id) : null;
  if (!row)
    throw new OperatorError(
      `There is no webhook endpoint ${id.slice(0, 100)}`,
      'List them with "gateway endpoint list"',
    );
  return row;
}
