import { OperatorAction, User } from '../../db/entities/index.ts';
import type { Mode } from '../../domain/assets.ts';
import type { Deps } from '../deps.ts';
import { requireKnownMerchant } from '../merchants/known.ts';

/** A change as operators see it. `by` is the operator's name, the email of the user, or the key's id. */
export type ActionView = {
  readonly id: string;
  readonly at: Date;
  readonly action: string;
  readonly by: string;
  readonly userId: string | null;
  readonly keyId: string | null;
  readonly from: string | null;
  readonly merchantId: string | null;
  readonly mode: Mode | null;
  readonly subject: string;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
  readonly reason: string | null;
};

export type ActionFilter = {
  readonly merchantId?: string | undefined;
  readonly since?: Date | undefined;
  readonly limit: number;
};

/** What operators, users and API keys changed, newest first. Throws a `Refusal` for an unknown merchant. */
export async function listActions(
  deps: Deps,
  { merchantId, since, limit }: ActionFilter,
): Promise<ActionView[]> {
  const em = deps.orm.em.fork();
  await requireKnownMerchant(em, merchantId);
  const where = {
    ...(merchantId === undefined ? {} : { merchantId }),
    ...(since === undefined ? {} : { at: { $gte: since } }),
  };
  const rows = await em.find(OperatorAction, where, { orderBy: { at: 'desc', id: 'desc' }, limit });
  const userIds = [...new Set(rows.flatMap(({ userId }) => userId ?? []))];
  // By column: whoever may only look at the database sees no proof of anybody.
  const found = await em.find(User, { id: { $in: userIds } }, { fields: ['email'] });
  const users = new Map(found.map((user) => [user.id, user.email]));
  return rows.map((row) => ({
    id: row.id,
    at: row.at,
    action: row.action,
    by: row.byName ?? (row.keyId ? `key ${row.keyId}` : (users.get(row.userId ?? '') ?? '')),
    userId: row.userId ?? null,
    keyId: row.keyId ?? null,
    from: row.origin ?? null,
    merchantId: row.merchantId ?? null,
    mode: row.mode ?? null,
    subject: row.subject,
    before: row.before ?? null,
    after: row.after ?? null,
    reason: row.reason ?? null,
  }));
}
