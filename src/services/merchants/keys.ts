import { hash } from 'node:crypto';
import { LockMode } from '@mikro-orm/core';
import { ApiKey, Merchant } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import type { Mode } from '../../domain/assets.ts';
import { isoSeconds } from '../../domain/events.ts';
import { isUuid } from '../../domain/ids.ts';
import type { KeyScope } from '../../domain/key-scope.ts';
import { type Facts, recordAction } from '../audit/record.ts';
import type { Deps } from '../deps.ts';
import { notFound, Refusal } from '../refusal.ts';
import type { Scope } from '../scope.ts';
import { changeWithin, type Within } from '../within.ts';
import { generateKey } from './key-text.ts';
import { noMerchant, requireKnownMerchant } from './known.ts';

const SHOWN_PREFIX_LENGTH = 12;
const MAX_LABEL = 200;
const MAX_KEYS_LISTED = 1_000;
const MAX_OWN_KEYS_LISTED = 200;
/** Of a merchant in one mode, as far as people of theirs make them. */
const MAX_VALID_KEYS = 100;
const MAX_OWN_GRACE_MS = 366 * 86_400_000;

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
  /** To the minute; null for a key that was never used. */
  readonly lastUsedAt: Date | null;
  /** The network from which it was used then: an IPv4 address, or the /64 of an IPv6 one. */
  readonly lastUsedFrom: string | null;
};

/** A key that was just made. `key` exists nowhere else. */
export type NewKey = { readonly id: string; readonly key: string };

/** What a key is made with; unset means that it may do everything and never ends. */
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
  input: KeyTerms & Scope & { readonly label?: string | undefined },
  how: Within = {},
): Promise<NewKey> {
  const label = checkLabel(input.label);
  checkTerms(deps, input);
  return await changeWithin(deps, how, async (em) => {
    const merchant = isUuid(input.merchantId) ? await em.findOne(Merchant, input.merchantId) : null;
    if (!merchant) throw noMerchant(input.merchantId);
    await roomForKey(em, deps, input);
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

/**
 * The keys of a merchant in a mode for people of theirs: those that are valid first, then those that ended,
 * each newest first, at most 200. `more` says that there are older ones.
 */
export async function listOwnKeys(
  deps: Deps,
  scope: Scope,
): Promise<{ readonly keys: readonly KeyView[]; readonly more: boolean }> {
  const em = deps.orm.em.fork();
  const own = { merchantId: scope.merchantId, mode: scope.mode };
  const newestFirst = {
    orderBy: { createdAt: 'desc', id: 'desc' },
    limit: MAX_OWN_KEYS_LISTED + 1,
  } as const;
  const valid = await em.find(ApiKey, { ...own, ...validAt(deps.now()) }, newestFirst);
  const ended = await em.find(ApiKey, { ...own, $not: validAt(deps.now()) }, newestFirst);
  const rows = [...valid, ...ended];
  return {
    keys: rows.slice(0, MAX_OWN_KEYS_LISTED).map(viewOf),
    more: rows.length > MAX_OWN_KEYS_LISTED,
  };
}

/** Which key is meant; with a `scope` none but that merchant's in that mode, as people of theirs see them. */
type OneKey = { readonly keyId: string; readonly scope?: Scope | undefined };

/**
 * Ends a key at once. Revoking it again changes nothing. Throws a
 * {@link Refusal} for an id that is unknown, or not in the scope.
 */
export async function revokeKey(deps: Deps, input: OneKey, how: Within = {}): Promise<KeyView> {
  return await changeWithin(deps, how, async (em) => {
    const row = await lockKey(em, input);
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
 * Makes a second key with the same merchant, mode, label and scopes, and lets the old one end
 * after `graceMs` (0: at once). If the old one would have ended earlier, it still does. The new
 * one ends at `expiresAt`, or else when the old one would have ended: a rotation makes no key live
 * longer unless it is told to. Throws a {@link Refusal} for an unknown, revoked or expired key.
 */
export async function rotateKey(
  deps: Deps,
  input: OneKey & { readonly graceMs: number; readonly expiresAt?: Date | undefined },
  how: Within = {},
): Promise<NewKey & { readonly expiresAt: Date | null }> {
  checkTerms(deps, input);
  const { graceMs } = input;
  if (!Number.isSafeInteger(graceMs) || graceMs < 0)
    throw new Refusal('INVALID', 'The grace period must not be negative.', 'grace');
  if (input.scope && graceMs > MAX_OWN_GRACE_MS)
    throw new Refusal('INVALID', 'The grace period must not be longer than a year.', 'grace');
  return await changeWithin(deps, how, async (em) => {
    const row = await lockKey(em, input);
    const now = deps.now();
    if (row.revokedAt || (row.expiresAt && row.expiresAt <= now)) {
      throw new Refusal(
        'INVALID',
        input.scope
          ? 'This key has ended already. Make a new one.'
          : `Key ${row.id} has ended already. Make a new one with "key create".`,
      );
    }
    // Without a grace the number of valid keys stays as it is.
    if (graceMs > 0) await roomForKey(em, deps, row);
    const end = new Date(now.getTime() + graceMs);
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

/** A key is valid from when it is made until it is revoked or ends, and never again. */
function validAt(now: Date) {
  const notYet = (name: 'revokedAt' | 'expiresAt') => ({ $or: [{ [name]: null }, { [name]: { $gt: now } }] });
  return { $and: [notYet('revokedAt'), notYet('expiresAt')] };
}

/**
 * Throws a {@link Refusal} where a signed-in user makes one more key than people can look after; what they
 * make at the same moment may go a few over it, which does no harm.
 */
async function roomForKey(em: Em, deps: Deps, { merchantId, mode }: Scope): Promise<void> {
  if (deps.actor?.kind !== 'user') return;
  if ((await em.count(ApiKey, { merchantId, mode, ...validAt(deps.now()) })) < MAX_VALID_KEYS) return;
  throw new Refusal(
    'INVALID',
    `${MAX_VALID_KEYS} keys are valid in ${mode} mode, which is the most. Revoke one that is not used any more.`,
  );
}

async function lockKey(em: Em, { keyId, scope }: OneKey): Promise<ApiKey> {
  const row = isUuid(keyId)
    ? await em.findOne(ApiKey, keyId, { lockMode: LockMode.PESSIMISTIC_WRITE })
    : null;
  if (scope && (row?.merchantId !== scope.merchantId || row.mode !== scope.mode)) throw notFound('key');
  if (!row)
    throw new Refusal('NOT_FOUND', `There is no key ${keyId.slice(0, 100)}. List the keys with "key list".`);
  return row;
}

const EVERYTHING: readonly KeyScope[] = ['all'];

function checkTerms(deps: Deps, { expiresAt }: KeyTerms): void {
  if (expiresAt && !(expiresAt > deps.now()))
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
