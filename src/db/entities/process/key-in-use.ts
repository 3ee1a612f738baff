import { defineEntity, p } from '@mikro-orm/core';

const schema = defineEntity({
  name: 'KeyInUse',
  tableName: 'key_in_use',
  properties: {
    /** There is one row. */
    name: p.string().length(5).$type<'seals'>().primary(),
    /** What seals under it begin with; it tells nothing of the key. */
    mark: p.blob(),
  },
});

/** Which SECRETS_KEY seals what this database holds. */
export class KeyInUse extends schema.class {}
schema.setClass(KeyInUse);
