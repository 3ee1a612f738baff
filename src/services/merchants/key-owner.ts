import { hash } from 'node:crypto';
import { beyondLimit } from '../../db/time-limit.ts';
import type { Mode } from '../../domain/assets.ts';
import type { KeyScope } from '../../domain/key-scope.ts';
import type { Deps } from '../deps.ts';
import { modeOfKey } from './key-text.ts';

/**
 * Who calls, as a valid key proves it, whether the merchant's
 * subscription is active, and from where the key may be used.
 */
export type KeyOwner = {
  readonly keyId: string;
  readonly merchantId: string;
  readonly mode: Mode;
  readonly subscribed: boolean;
  readonly scopes: readonly KeyScope[];
  /** Empty means from everywhere. Always empty for a test key. */
  readonly allowedNetworks: readonly string[];
};

/** Tells the owner of a key; undefined for a malformed, unknown, revoked or expired one. */
export type KeyFinder = (key: string) => Promise<KeyOwner | undefined>;

type Flight = { readonly startedAt: number; readonly owner: Promise<KeyOwner | undefined> };

/**
 * A question that is older than this is not shared any more: a connection
 * that does not answer must not hold up everyone's next request.
 */
const JOIN_MS = 50;

/**
 * One indexed query for each question, none at all for a typo. Nothing is cached: only requests
 * that wait at the same time share an answer, so a revocation holds from the next question on.
 */
export function createKeyFinder(deps: Deps): KeyFinder {
  const flights = new Map<string, Flight>();
  return async (key) => {
    if (!modeOfKey(key)) return undefined;
    const keyHash = hash('sha256', key);
    const startedAt = performance.now();
    const known = flights.get(keyHash);
    if (known && startedAt - known.startedAt < JOIN_MS) return await known.owner;
    // Several callers may wait for one result: a caller that leaves must not take it from the others.
    const flight = { startedAt, owner: beyondLimit(() => findKeyOwner(deps, keyHash)) };
    flights.set(keyHash, flight);
    try {
      return await flight.owner;
    } finally {
      if (flights.get(keyHash) === flight) flights.delete(keyHash);
    }
  };
}

async function findKeyOwner(deps: Deps, keyHash: string): Promise<KeyOwner | undefined> {
  const pool = await deps.orm.em.getConnection().getNativeClient();
  const now = deps.now();
  const { rows } = await pool.query<{
    id: string;
    merchant_id: string;
    mode: Mode;
    subscribed: boolean;
    scopes: KeyScope[];
    networks: string[];
  }>({
    name: 'find-key-owner',
    text: `select k.id, k.merchant_id, k.mode, k.scopes,
             m.subscription_active and (m.subscription_until is null
               or m.subscription_until > $2) as subscribed,
             case when k.mode = 'live' then array(select a.network from allowed_networks a
               where a.merchant_id = k.merchant_id) else '{}' end as networks
           from api_keys k join merchants m on m.id = k.merchant_id
           where k.hash = $1 and (k.revoked_at is null or k.revoked_at > $2)
             and (k.expires_at is null or k.expires_at > $2)`,
    values: [keyHash, now],
  });
  const row = rows[0];
  if (!row) return undefined;
  const { id, merchant_id: merchantId, mode, subscribed, scopes, networks } = row;
  return { keyId: id, merchantId, mode, subscribed, scopes, allowedNetworks: networks };
}
