import { defineEntity, p } from '@mikro-orm/core';
import { User } from './user.ts';

const schema = defineEntity({
  name: 'Session',
  tableName: 'sessions',
  properties: {
    id: p.uuid().primary(),
    userId: () => p.manyToOne(User).mapToPk().fieldName('user_id'),
    tokenHash: p.string().length(64),
    createdAt: p.datetime().columnType('timestamptz'),
    lastSeenAt: p.datetime().columnType('timestamptz'),
  },
  uniques: [{ name: 'sessions_token_hash_unique', properties: ['tokenHash'] }],
  indexes: [
    { name: 'sessions_user_id_index', properties: ['userId', 'createdAt'] },
    { name: 'sessions_last_seen_at_index', properties: ['lastSeenAt'] },
  ],
});

/** A signed-in browser: only the SHA-256 of its token is stored. A session that ended has no row any more. */
export class Session extends schema.class {}
schema.setClass(Session);
