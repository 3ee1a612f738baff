import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { LockMode } from '@mikro-orm/core';
import { ApiKey, Merchant } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { beyondLimit } from '../../db/time-limit.ts';
import { MODES, type Mode } from '../../domain/assets.ts';
import { isoSeconds } from '../../domain/events.ts';
import { isUuid } from '../../domain/ids.ts';
import type { KeyScope } from '../../domain/key-scope.ts';
import { type Facts, recordAction } from '../audit/record.ts';
import type { Deps } from '../deps.ts';
import { Refusal } from '../refusal.ts';
import { noMerchant, requireKnownMerchant } from './known.ts';

const DIGITS = new Map(
  Array.from('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', (digit, value) => [
    BigInt(value),
    digit,
  ]),
);
const RANDOM_BYTES = 32;
/** 62^43 > 2^256 and 62^6 > 2^32: fixed widths, so every key has the same length. */
const RANDOM_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const SHAPE = /^sk_(live|test)_[0-9A-Za-z]{49}$/;
const SHOWN_PREFIX_LENGTH = 12;
const MAX_LABEL = 200;
const MAX_KEYS_LISTED = 1_000;

/** A key as operators see it; the key itself is shown once, when it is made. */
export type KeyView = {
  readonly id: string;
  readonly merchantId: string;
  readonly mode: Mode;
  readonly prefix: string;
  readonly last4: string;
  readonly label: string | null;
  readonly scopes: readonly KeyScope[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  /** To the minute; null for one that was never used. */
  readonly lastUsedAt: Date | null;
  /** The network from which it was used then: an IPv4 address, or the /64 of an IPv6 one. */
  readonly lastUsedFrom: string | null;
};

/** A key that was just made. `key` exists nowhere else. */
export type NewKey = { readonly id: string; readonly key: string };

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
  /** Empty: from everywhere. Always empty for a test key. */
  readonly allowedNetworks: readonly string[];
};

/**
 * `sk_live_` or `sk_test_`, 32 random bytes in base62 and a checksum that finds a typo without the database.
 */
export function generateKey(mode: Mode): string {
  const body = `sk_${mode}_${base62(BigInt(`0x${randomBytes(RANDOM_BYTES).toString('hex')}`), RANDOM_LENGTH)}`;
  return body + checksumOf(body);
}

/**
 * The mode of a well-formed key, or undefined for anything that no call of {@link generateKey} can have made.
 */
export function modeOfKey(key: string): Mode | undefined {
  const match = SHAPE.exec(key);
  if (!match) return undefined;
  const end = key.length - CHECKSUM_LENGTH;
  if (checksumOf(key.slice(0, end)) !== key.slice(end)) return undefined;
  return MODES.find((mode) => mode === match[1]);
}

type Flight = { readonly startedAt: number; readonly owner: Promise<KeyOwner | undefined> };

/**
 * A question that is older than this is not joined any more:
 * a hung connection must not hold everyone's next request.
 */
const JOIN_MS = 50;

/** Tells the owner of a key; undefined for a malformed, unknown, revoked or expired one. */
export type KeyFinder = (key: string) => Promise<KeyOwner | undefined>;

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
    // Of those who wait for one answer, nobody's leaving may take it from the others.
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

/** What a key is made with: everything and for ever where absent. */
type KeyTerms = {
  readonly scopes?: readonly KeyScope[] | undefined;
  readonly expiresAt?: Date | null | undefined;
};

/**
 * Makes a key for a merchant. Throws a {@link Refusal} for an unknown
 * merchant, a label over 200 characters or an end in the past.
 */
export async function createKey(
  deps: Deps,
  input: KeyTerms & { readonly merchantId: string; readonly mode: Mode; readonly label?: string | undefined },
): Promise<NewKey> {
  const label = checkLabel(input.label);
  checkTerms(deps, input);
  return await deps.orm.em.fork().transactional(async (em) => {
    const merchant = isUuid(input.merchantId) ? await em.findOne(Merchant, input.merchantId) : null;
    if (!merchant) throw noMerchant(input.merchantId);
    const made = addKey(em, deps, { ...input, merchantId: merchant.id, label });
    const { merchantId, mode } = { merchantId: merchant.id, mode: input.mode };
    await recordAction(em, deps, {
      action: 'key.create',
      merchantId,
      mode,
      subject: made.id,
      after: { label, ...termsOf(input) },
    });
    return made;
  });
}

/** Adds a key inside the caller's transaction. */
export function addKey(
  em: Em,
  deps: Deps,
  input: KeyTerms & { merchantId: string; mode: Mode; label: string | null },
): NewKey {
  const key = generateKey(input.mode);
  const id = deps.newId();
  em.create(ApiKey, {
    id,
    merchantId: input.merchantId,
    mode: input.mode,
    label: input.label,
    createdAt: deps.now(),
    hash: hash('sha256', key),
    prefix: key.slice(0, SHOWN_PREFIX_LENGTH),
    last4: key.slice(-4),
    scopes: [...(input.scopes ?? EVERYTHING)],
    expiresAt: input.expiresAt ?? null,
    revokedAt: null,
    lastUsedAt: null,
    lastUsedSite: null,
  });
  return { id, key };
}

/**
 * The keys of one merchant, or of all, newest first, at most
 * 1,000. Throws a {@link Refusal} for an unknown merchant.
 */
export async function listKeys(
  deps: Deps,
  filter: { merchantId?: string | undefined } = {},
): Promise<KeyView[]> {
  const em = deps.orm.em.fork();
  await requireKnownMerchant(em, filter.merchantId);
  const where = filter.merchantId === undefined ? {} : { merchantId: filter.merchantId };
  const rows = await em.find(ApiKey, where, {
    orderBy: { createdAt: 'desc', id: 'desc' },
    limit: MAX_KEYS_LISTED,
  });
  return rows.map(viewOf);
}

/** Ends a key at once. Revoking it again changes nothing. Throws a {@link Refusal} for an unknown id. */
export async function revokeKey(deps: Deps, input: { keyId: string }): Promise<KeyView> {
  return await deps.orm.em.fork().transactional(async (em) => {
    const row = await lockKey(em, input.keyId);
    const before = endsOf(row);
    row.revokedAt ??= deps.now();
    const { merchantId, mode } = row;
    await recordAction(em, deps, {
      action: 'key.revoke',
      merchantId,
      mode,
      subject: row.id,
      before,
      after: endsOf(row),
    });
    return viewOf(row);
  });
}

/**
 * Makes a second key with the same merchant, mode, label and scopes, and lets the old one
 * end after `graceMs` (0: at once). An earlier end stays. The new one ends at `expiresAt`,
 * or else when the old one would have ended: a rotation makes no key live longer unless it
 * is told to. Throws a {@link Refusal} for an unknown, revoked or expired key.
 */
export async function rotateKey(
  deps: Deps,
  input: { readonly keyId: string; readonly graceMs: number; readonly expiresAt?: Date | undefined },
): Promise<NewKey & { readonly expiresAt: Date | null }> {
  checkTerms(deps, input);
  if (!Number.isSafeInteger(input.graceMs) || input.graceMs < 0)
    throw new Refusal('INVALID', 'The grace period must not be negative.', 'grace');
  return await deps.orm.em.fork().transactional(async (em) => {
    const row = await lockKey(em, input.keyId);
    const now = deps.now();
    if (row.revokedAt || (row.expiresAt && row.expiresAt <= now)) {
      throw new Refusal('INVALID', `Key ${row.id} has ended already. Make a new one with "key create".`);
    }
    const end = new Date(now.getTime() + input.graceMs);
    const before = endsOf(row);
    const expiresAt = input.expiresAt ?? row.expiresAt ?? null;
    if (!row.expiresAt || row.expiresAt > end) row.expiresAt = end;
    const { merchantId, mode } = row;
    const made = addKey(em, deps, {
      merchantId,
      mode,
      label: row.label ?? null,
      scopes: row.scopes,
      expiresAt,
    });
    const after = { ...endsOf(row), replaced_by: made.id };
    await recordAction(em, deps, { action: 'key.rotate', merchantId, mode, subject: row.id, before, after });
    return { ...made, expiresAt };
  });
}

async function lockKey(em: Em, keyId: string): Promise<ApiKey> {
  const row = isUuid(keyId)
    ? await em.findOne(ApiKey, keyId, { lockMode: LockMode.PESSIMISTIC_WRITE })
    : null;
  if (!row) throw new Refusal('NOT_FOUND', `There is no key ${keyId}. List the keys with "key list".`);
  return row;
}

const EVERYTHING: readonly KeyScope[] = ['all'];

function checkTerms(deps: Deps, { expiresAt }: KeyTerms): void {
  if (expiresAt && expiresAt <= deps.now())
    throw new Refusal('INVALID', 'The end of the key lies in the past.', 'expires');
}

function termsOf({ scopes, expiresAt }: KeyTerms): Facts {
  return { scopes: [...(scopes ?? EVERYTHING)], expires_at: expiresAt ? isoSeconds(expiresAt) : null };
}

function checkLabel(label: string | undefined): string | null {
  const text = label?.trim();
  if (!text) return null;
  if (text.length > MAX_LABEL || text.includes('\0'))
    throw new Refusal('INVALID', `The label must have at most ${MAX_LABEL} characters.`, 'label');
  return text;
}

function endsOf(row: ApiKey): Facts {
  const at = (date: Date | null | undefined): string | null => (date ? isoSeconds(date) : null);
  return { expires_at: at(row.expiresAt), revoked_at: at(row.revokedAt) };
}

function viewOf(row: ApiKey): KeyView {
  return {
    id: row.id,
    merchantId: row.merchantId,
    mode: row.mode,
    prefix: row.prefix,
    last4: row.last4,
    label: row.label ?? null,
    scopes: row.scopes,
    lastUsedAt: row.lastUsedAt ?? null,
    lastUsedFrom: row.lastUsedSite ?? null,
    createdAt: row.createdAt,
    expiresAt: row.expiresAt ?? null,
    revokedAt: row.revokedAt ?? null,
  };
}

function checksumOf(text: string): string {
  return base62(BigInt(crc32(text)), CHECKSUM_LENGTH);
}

function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value, index = 0; index < length; index += 1, rest /= 62n)
    text = `${DIGITS.get(rest % 62n)}${text}`;
  return text;
}
