import { defineEntity, p } from '@mikro-orm/core';
import { Session } from './session.ts';

const schema = defineEntity({
  name: 'ShownSecret',
  tableName: 'shown_secrets',
  properties: {
    id: p.uuid().primary(),
    sessionId: () => p.manyToOne(Session).mapToPk().fieldName('session_id').deleteRule('cascade'),
    sealed: p.blob(),
    expiresAt: p.datetime().columnType('timestamptz'),
  },
  indexes: [
    { name: 'shown_secrets_session_id_index', properties: ['sessionId'] },
    { name: 'shown_secrets_expires_at_index', properties: ['expiresAt'] },
  ],
});

/** A secret that was just made, sealed, until its page has shown it: then the row is gone. */
export class ShownSecret extends schema.class {}
schema.setClass(ShownSecret);
