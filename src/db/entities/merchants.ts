import { defineEntity, p } from '@mikro-orm/core';
import type { Mode } from '../../domain/assets.ts';
import type { KeyScope } from '../../domain/key-scope.ts';
import { UnitsType } from '../units-type.ts';

const merchantSchema = defineEntity({
  name: 'Merchant',
  tableName: 'merchants',
  properties: {
    id: p.uuid().primary(),
    name: p.string().length(200),
    monthlyLimitCents: p.type(UnitsType).$type<bigint>().nullable(),
    subscriptionActive: p.boolean(),
    subscriptionUntil: p.datetime().columnType('timestamptz').nullable(),
    createdAt: p.datetime().columnType('timestamptz'),
    updatedAt: p.datetime().columnType('timestamptz'),
  },
});

/** A merchant: our user. */
export class Merchant extends merchantSchema.class {}
merchantSchema.setClass(Merchant);

const quotaSchema = defineEntity({
  name: 'Quota',
  tableName: 'quotas',
  properties: {
    merchantId: () => p.manyToOne(Merchant).mapToPk().fieldName('merchant_id').primary(),
    mode: p.string().length(4).$type<Mode>().primary(),
    quota: p.string().length(20).primary(),
    most: p.bigint('string'),
    /** Events that calls asked for on `usedOn`; other quotas are counted from the rows that exist. */
    used: p.bigint('string'),
    usedOn: p.date(),
  },
});

/** The most that a merchant may have of something in a mode. */
export class Quota extends quotaSchema.class {}
quotaSchema.setClass(Quota);

const apiKeySchema = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  properties: {
    id: p.uuid().primary(),
    merchantId: () => p.manyToOne(Merchant).mapToPk().fieldName('merchant_id'),
    mode: p.string().length(4).$type<Mode>(),
    hash: p.string().length(64),
    prefix: p.string().length(16),
    last4: p.string().length(4),
    label: p.string().length(200).nullable(),
    scopes: p.array().$type<KeyScope[]>(),
    createdAt: p.datetime().columnType('timestamptz'),
    expiresAt: p.datetime().columnType('timestamptz').nullable(),
    revokedAt: p.datetime().columnType('timestamptz').nullable(),
    lastUsedAt: p.datetime().columnType('timestamptz').nullable(),
    lastUsedSite: p.string().length(64).nullable(),
  },
  uniques: [{ name: 'api_keys_hash_unique', properties: ['hash'] }],
});

/** An API key: only its SHA-256 is stored. */
export class ApiKey extends apiKeySchema.class {}
apiKeySchema.setClass(ApiKey);

const allowedNetworkSchema = defineEntity({
  name: 'AllowedNetwork',
  tableName: 'allowed_networks',
  properties: {
    merchantId: () => p.manyToOne(Merchant).mapToPk().fieldName('merchant_id').primary(),
    /** In the one spelling of the network, with the prefix length. */
    network: p.string().length(43).primary(),
    createdAt: p.datetime().columnType('timestamptz'),
  },
});

/**
 * A network from which a merchant's live keys may be used.
 * A merchant without any may use them from everywhere.
 */
export class AllowedNetwork extends allowedNetworkSchema.class {}
allowedNetworkSchema.setClass(AllowedNetwork);

const userSchema = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    id: p.uuid().primary(),
    merchantId: () => p.manyToOne(Merchant).mapToPk().fieldName('merchant_id'),
    email: p.string().length(320),
    passwordHash: p.string().length(200),
    totpSealed: p.blob().nullable(),
    totpLastStep: p.integer().nullable(),
    createdAt: p.datetime().columnType('timestamptz'),
    updatedAt: p.datetime().columnType('timestamptz'),
    lastLoginAt: p.datetime().columnType('timestamptz').nullable(),
    removedAt: p.datetime().columnType('timestamptz').nullable(),
  },
  uniques: [{ name: 'users_email_unique', properties: ['email'], where: 'removed_at is null' }],
});

/**
 * A person who signs in for a merchant. The email is stored in lower case, the password only as its argon2id
 * hash. Who was removed signs in no more, and stays as the one whom audit rows name.
 */
export class User extends userSchema.class {}
userSchema.setClass(User);

const sessionSchema = defineEntity({
  name: 'Session',
  tableName: 'sessions',
  properties: {
    id: p.uuid().primary(),
    userId: () => p.manyToOne(User).mapToPk().fieldName('user_id'),
    tokenHash: p.string().length(64),
    createdAt: p.datetime().columnType('timestamptz'),
    lastSeenAt: p.datetime().columnType('timestamptz'),
    site: p.string().length(64).nullable(),
    steppedUpAt: p.datetime().columnType('timestamptz').nullable(),
    totpPending: p.blob().nullable(),
    totpPendingUntil: p.datetime().columnType('timestamptz').nullable(),
  },
  uniques: [{ name: 'sessions_token_hash_unique', properties: ['tokenHash'] }],
});

/**
 * A signed-in browser: only the SHA-256 of its token is stored. A session that ended has no row any more.
 * `site` is where it was opened from, `steppedUpAt` when password and code were last shown again, and
 * `totpPending` a sealed secret that counts once a code of it was given.
 */
export class Session extends sessionSchema.class {}
sessionSchema.setClass(Session);

const userSiteSchema = defineEntity({
  name: 'UserSite',
  tableName: 'user_sites',
  properties: {
    userId: () => p.manyToOne(User).mapToPk().primary().fieldName('user_id'),
    site: p.string().length(64).primary(),
    lastLoginAt: p.datetime().columnType('timestamptz'),
  },
});

/** Where a user has signed in from: an IPv4 address or the /64 of an IPv6 one. */
export class UserSite extends userSiteSchema.class {}
userSiteSchema.setClass(UserSite);

const passwordLinkSchema = defineEntity({
  name: 'PasswordLink',
  tableName: 'password_links',
  properties: {
    id: p.uuid().primary(),
    userId: () => p.manyToOne(User).mapToPk().fieldName('user_id').deleteRule('cascade'),
    tokenHash: p.string().length(64),
    createdAt: p.datetime().columnType('timestamptz'),
    expiresAt: p.datetime().columnType('timestamptz'),
    usedAt: p.datetime().columnType('timestamptz').nullable(),
  },
  uniques: [
    { name: 'password_links_token_hash_unique', properties: ['tokenHash'] },
    { name: 'password_links_open_unique', properties: ['userId'], where: 'used_at is null' },
  ],
});

/** A link that sets a user's password once: only the SHA-256 of its token is stored. */
export class PasswordLink extends passwordLinkSchema.class {}
passwordLinkSchema.setClass(PasswordLink);

const loginBudgetSchema = defineEntity({
  name: 'LoginBudget',
  tableName: 'login_budgets',
  properties: {
    key: p.string().length(64).primary(),
    attempts: p.array().columnType('bigint[]'),
    endsAt: p.datetime().columnType('timestamptz'),
  },
});

/**
 * The recent attempts to sign in of one address or for one
 * account, as Unix times in milliseconds. The key is a hash.
 */
export class LoginBudget extends loginBudgetSchema.class {}
loginBudgetSchema.setClass(LoginBudget);

const operatorActionSchema = defineEntity({
  name: 'OperatorAction',
  tableName: 'operator_actions',
  properties: {
    id: p.uuid().primary(),
    at: p.datetime().columnType('timestamptz'),
    action: p.string().length(40),
    byName: p.string().length(120).nullable(),
    userId: () => p.manyToOne(User).mapToPk().fieldName('user_id').nullable().deleteRule('no action'),
    keyId: () => p.manyToOne(ApiKey).mapToPk().fieldName('key_id').nullable().deleteRule('no action'),
    origin: p.string().length(255).nullable(),
    merchantId: () =>
      p.manyToOne(Merchant).mapToPk().fieldName('merchant_id').nullable().deleteRule('no action'),
    mode: p.string().length(4).$type<Mode>().nullable(),
    subject: p.string().length(100),
    before: p.json().$type<Readonly<Record<string, unknown>>>().nullable(),
    after: p.json().$type<Readonly<Record<string, unknown>>>().nullable(),
    reason: p.string().length(500).nullable(),
  },
});

/**
 * What an operator (`byName`), a signed-in user (`userId`) or an API key (`keyId`)
 * changed, and from where. The database refuses to change or remove a row.
 */
export class OperatorAction extends operatorActionSchema.class {}
operatorActionSchema.setClass(OperatorAction);
