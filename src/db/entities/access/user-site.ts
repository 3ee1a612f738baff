import { defineEntity, p } from '@mikro-orm/core';
import { User } from './user.ts';

const schema = defineEntity({
  name: 'UserSite',
  tableName: 'user_sites',
  properties: {
    userId: () => p.manyToOne(User).mapToPk().primary().fieldName('user_id'),
    site: p.string().length(64).primary(),
    lastLoginAt: p.datetime().columnType('timestamptz'),
  },
  indexes: [{ name: 'user_sites_last_login_at_index', properties: ['lastLoginAt'] }],
});

/** Where a user has signed in from: an IPv4 address or the /64 of an IPv6 one. */
export class UserSite extends schema.class {}
schema.setClass(UserSite);
