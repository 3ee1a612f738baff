import { defineEntity, p } from '@mikro-orm/core';
import { Merchant } from '../merchants/merchant.ts';

const schema = defineEntity({
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
  indexes: [{ name: 'users_merchant_id_index', properties: ['merchantId'] }],
  checks: [{ name: 'users_removed_check', expression: 'removed_at is null or totp_sealed is null' }],
});

/**
 * A person who signs in for a merchant. The email is stored in lower case, the password only as its argon2id
 * hash. Who was removed signs in no more, and stays as the one whom audit rows name.
 */
export class User extends schema.class {}
schema.setClass(User);
