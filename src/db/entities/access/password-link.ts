import { defineEntity, p } from '@mikro-orm/core';
import { User } from './user.ts';

const schema = defineEntity({
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
  indexes: [{ name: 'password_links_expires_at_index', properties: ['expiresAt'] }],
});

/** A link that sets a user's password once: only the SHA-256 of its token is stored. */
export class PasswordLink extends schema.class {}
schema.setClass(PasswordLink);
