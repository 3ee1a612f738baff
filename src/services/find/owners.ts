// Customers, merchants and their people and keys.
import { ApiKey, Customer, Merchant, User } from '../../db/entities/index.ts';
import { isoSeconds, isoSecondsOrNull } from '../../domain/events.ts';
import { customerViews } from '../merchants/customer-reads.ts';
import type { Looking, Shown } from './found.ts';

/** Customers of merchants, by their id. */
export async function shownCustomers({ em, deps, pages }: Looking, ids: readonly string[]): Promise<Shown[]> {
  const found = await em.find(Customer, { id: { $in: ids } });
  const owners = new Map(found.map(({ id, merchantId }) => [id, merchantId]));
  return (await customerViews(deps, ids)).map((view) => ({
    id: view.id,
    merchantId: owners.get(view.id),
    view,
    links: { dashboard: pages.dashboard(view.is_live ? 'live' : 'test', `/customers/${view.id}`) },
  }));
}

/** Merchants. */
export async function shownMerchants({ em, deps }: Looking, ids: readonly string[]): Promise<Shown[]> {
  return (await em.find(Merchant, { id: { $in: ids } })).map((row) => {
    const { id, name, subscriptionUntil: until, createdAt } = row;
    const active = row.subscriptionActive && (until == null || until > deps.now());
    const subscription = active ? 'active' : 'inactive';
    return {
      id,
      merchantId: id,
      view: {
        id,
        name,
        subscription,
        subscription_until: isoSecondsOrNull(until),
        created_at: isoSeconds(createdAt),
      },
      why: active ? null : 'its keys and its dashboard are refused; its deposits are credited all the same',
      action: active ? null : `"subscription set ${id} active" lets it in again`,
    };
  });
}

/** API keys, by what lists show of them. */
export async function shownKeys({ em, deps }: Looking, ids: readonly string[]): Promise<Shown[]> {
  return (await em.find(ApiKey, { id: { $in: ids } })).map((row) => {
    const { id, merchantId, mode, revokedAt, expiresAt } = row;
    const isOver = [revokedAt, expiresAt].some((end) => end != null && end <= deps.now());
    return {
      id,
      merchantId,
      view: {
        id,
        key: `${row.prefix}…${row.last4}`,
        label: row.label ?? null,
        scopes: row.scopes,
        is_live: mode === 'live',
        last_used_at: isoSecondsOrNull(row.lastUsedAt),
        expires_at: isoSecondsOrNull(expiresAt),
        revoked_at: isoSecondsOrNull(revokedAt),
      },
      why: isOver ? 'it has ended: every request with it is refused' : null,
      action: isOver ? 'make another one with "key create"' : `"key revoke ${id}" ends it at once`,
      command: `key list --merchant ${merchantId}`,
    };
  });
}

/** People who sign in for merchants. */
export async function shownUsers({ em }: Looking, ids: readonly string[]): Promise<Shown[]> {
  return (await em.find(User, { id: { $in: ids } })).map(({ id, merchantId, email, ...row }) => ({
    id,
    merchantId,
    view: {
      id,
      email,
      totp: row.totpSealed != null,
      last_login_at: isoSecondsOrNull(row.lastLoginAt),
      removed_at: isoSecondsOrNull(row.removedAt),
    },
    why: row.removedAt == null ? null : 'it was removed, and may not sign in',
    action:
      row.removedAt == null ? `"user reset-password --email ${email}" where the password is lost` : null,
    command: 'list users',
  }));
}
