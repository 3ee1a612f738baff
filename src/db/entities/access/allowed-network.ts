import { defineEntity, p } from '@mikro-orm/core';
import { Merchant } from '../merchants/merchant.ts';

const schema = defineEntity({
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
export class AllowedNetwork extends schema.class {}
schema.setClass(AllowedNetwork);
