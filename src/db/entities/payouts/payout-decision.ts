import { defineEntity, p } from '@mikro-orm/core';
import type { AddressKey } from '../../../chains/address-key.ts';
import type { Network } from '../../../domain/assets.ts';
import type { PayoutDecisionKind } from '../../../domain/payouts/pause.ts';
import { Merchant } from '../merchants/merchant.ts';

const schema = defineEntity({
  name: 'PayoutDecision',
  tableName: 'payout_decisions',
  properties: {
    /** Of two that are about the same, the higher one counts. */
    id: p.bigint('string').primary().autoincrement(),
    kind: p.string().length(6).$type<PayoutDecisionKind>(),
    /** Null where it is about all payouts of the installation. */
    merchantId: () =>
      p.manyToOne(Merchant).mapToPk().fieldName('merchant_id').nullable().deleteRule('no action'),
    /** The address that is to be looked at again. */
    network: p.string().length(8).$type<Network>().nullable(),
    addressKey: p.string().length(40).$type<AddressKey>().nullable(),
    byName: p.string().length(120),
    reason: p.string().length(500).nullable(),
    at: p.datetime().columnType('timestamptz'),
    /** Of `resume`: that it was written by who holds SECRETS_KEY. */
    seal: p.blob().nullable(),
  },
  indexes: [
    {
      name: 'payout_decisions_pause_index',
      properties: ['merchantId', 'id'],
      where: "kind <> 'retry'",
    },
    {
      name: 'payout_decisions_place_index',
      properties: ['network', 'addressKey', 'at'],
      where: 'network is not null',
    },
  ],
  checks: [
    { name: 'payout_decisions_kind_check', expression: "kind in ('pause', 'resume', 'retry')" },
    {
      name: 'payout_decisions_place_check',
      expression:
        "(network is null) = (address_key is null) and (network is null) = (kind <> 'retry') and (network is null or merchant_id is not null)",
    },
  ],
});

/** What an operator decided about payouts, and never took back: the database refuses to change a row. */
export class PayoutDecision extends schema.class {}
schema.setClass(PayoutDecision);
