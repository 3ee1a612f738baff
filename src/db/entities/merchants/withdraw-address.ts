import { defineEntity, p } from '@mikro-orm/core';
import type { Network } from '../../../domain/assets.ts';
import { Merchant } from './merchant.ts';

const schema = defineEntity({
  name: 'WithdrawAddress',
  tableName: 'withdraw_addresses',
  properties: {
    merchantId: () => p.manyToOne(Merchant).mapToPk().fieldName('merchant_id').primary(),
    network: p.string().length(8).$type<Network>().primary(),
    /** Null where it was taken away: that is a sealed row, too. */
    address: p.string().length(64).nullable(),
    /** Who made this row what it is; see docs/adr/0016. The signer believes none without. */
    seal: p.blob().nullable(),
  },
  checks: [{ name: 'withdraw_addresses_none_check', expression: 'address is not null or seal is not null' }],
  indexes: [{ name: 'withdraw_addresses_address_index', properties: ['network', 'address'] }],
});

/** Where the payouts of a merchant on one network go, as merchants see addresses; never removed. */
export class WithdrawAddress extends schema.class {}
schema.setClass(WithdrawAddress);
