import { defineEntity, p } from '@mikro-orm/core';
import type { AddressKey } from '../../../chains/address-key.ts';
import type { Currency, Network } from '../../../domain/assets.ts';
import type { WaitCode } from '../../../domain/payouts/waits.ts';
import { UnitsType } from '../../units-type.ts';
import { Merchant } from '../merchants/merchant.ts';
import { Payout } from './payout.ts';

const schema = defineEntity({
  name: 'SettlementWait',
  tableName: 'settlement_waits',
  properties: {
    network: p.string().length(8).$type<Network>().primary(),
    addressKey: p.string().length(40).$type<AddressKey>().primary(),
    merchantId: () => p.manyToOne(Merchant).mapToPk().fieldName('merchant_id'),
    /** Null where nothing is planned because of it. */
    payoutId: () => p.manyToOne(Payout).mapToPk().fieldName('payout_id').nullable().deleteRule('no action'),
    address: p.string().length(64),
    currency: p.string().length(8).$type<Currency>(),
    code: p.string().length(16).$type<WaitCode>(),
    reason: p.string().length(500),
    /** Coins that somebody has to send, in base units, and where to. */
    needsUnits: p.type(UnitsType).$type<bigint>().nullable(),
    needsAddress: p.string().length(64).nullable(),
    since: p.datetime().columnType('timestamptz'),
    updatedAt: p.datetime().columnType('timestamptz'),
    /** When it was reported as something that does not go on by itself. */
    alarmedAt: p.datetime().columnType('timestamptz').nullable(),
  },
  indexes: [
    { name: 'settlement_waits_code_of_merchant_index', properties: ['merchantId', 'code', 'since'] },
    { name: 'settlement_waits_payout_index', properties: ['payoutId'] },
    { name: 'settlement_waits_code_index', properties: ['code', 'network'] },
    {
      name: 'settlement_waits_alarmed_index',
      properties: ['alarmedAt'],
      where: 'alarmed_at is not null',
    },
  ],
  checks: [
    { name: 'settlement_waits_needs_check', expression: 'needs_units > 0' },
    {
      name: 'settlement_waits_whole_check',
      expression: '(needs_units is null) = (needs_address is null)',
    },
  ],
});

/** Why nothing is paid out of one of our addresses at present. */
export class SettlementWait extends schema.class {}
schema.setClass(SettlementWait);
