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
    site: p.string().length(64).nullable(),
    steppedUpAt: p.datetime().columnType('timestamptz').nullable(),
    totpPending: p.blob().nullable(),
    totpPendingUntil: p.datetime().columnType('timestamptz').nullable(),
  },
  uniques: [{ name: 'sessions_token_hash_unique', properties: ['tokenHash'] }],
  indexes: [
    { name: 'sessions_user_id_index', properties: ['userId', 'createdAt'] },
    { name: 'sessions_last_seen_at_index', properties: ['lastSeenAt'] },
  ],
  checks: [
    {
      name: 'sessions_totp_pending_check',
      expression: '(totp_pending is null) = (totp_pending_until is null)',
    },
  ],
});

/**
 * A signed-in browser: only the SHA-256 of its token is stored. A session that ended has no row any more.
 * `site` is where it was opened from, `steppedUpAt` when password and code were last shown again, and
 * `totpPending` a sealed secret that counts once a code of it was given.
 */
export class Session extends schema.class {}
schema.setClass(Session);
