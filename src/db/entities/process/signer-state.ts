import { defineEntity, p } from '@mikro-orm/core';

const schema = defineEntity({
  name: 'SignerState',
  tableName: 'signer_state',
  properties: {
    /** There is one row. */
    name: p.string().length(6).$type<'signer'>().primary(),
    /** Which journal has signed for this database, and how far it was at the last signature. */
    journal: p.uuid().nullable(),
    line: p.integer().nullable(),
    lineHash: p.string().length(64).nullable(),
    /** Why the signer signs nothing; null while it does. */
    sealedCode: p.string().length(12).nullable(),
    sealedReason: p.string().length(500).nullable(),
    sealedSince: p.datetime().columnType('timestamptz').nullable(),
    /** When a signer looked for work last. */
    seenAt: p.datetime().columnType('timestamptz'),
    signedAt: p.datetime().columnType('timestamptz').nullable(),
  },
  checks: [
    { name: 'signer_state_line_check', expression: 'line > 0' },
    {
      name: 'signer_state_sealed_check',
      expression:
        '(sealed_code is null) = (sealed_reason is null) and (sealed_code is null) = (sealed_since is null)',
    },
  ],
});

/** How the signer is, as it says itself. */
export class SignerState extends schema.class {}
schema.setClass(SignerState);
