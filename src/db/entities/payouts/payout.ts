import { defineEntity, p } from '@mikro-orm/core';
import type { AddressKey } from '../../../chains/address-key.ts';
import type { Currency, Mode, Network } from '../../../domain/assets.ts';
import type { PayoutState } from '../../../domain/settlement.ts';
import { UnitsType } from '../../units-type.ts';
import { Merchant } from '../merchants/merchant.ts';

const schema = defineEntity({
  name: 'Payout',
  tableName: 'payouts',
  properties: {
    id: p.uuid().primary(),
    merchantId: () => p.manyToOne(Merchant).mapToPk().fieldName('merchant_id'),
    mode: p.string().length(4).$type<Mode>(),
    simulated: p.boolean(),
    network: p.string().length(8).$type<Network>(),
    currency: p.string().length(8).$type<Currency>(),
    contractAddress: p.string().length(64).nullable(),
    address: p.string().length(64),
    addressKey: p.string().length(40).$type<AddressKey>(),
    /** Where it goes, as merchants see addresses. */
    destination: p.string().length(64),
    /** Exactly the sum of its deposits. */
    grossUnits: p.type(UnitsType).$type<bigint>(),
    state: p.string().length(9).$type<PayoutState>(),
    stateSince: p.datetime().columnType('timestamptz'),
    /** Why it was cancelled or has failed. */
    reason: p.string().length(500).nullable(),
    /** What the destination got, once it is settled. */
    netUnits: p.type(UnitsType).$type<bigint>().nullable(),
    /** What it cost, in the network's own coin, everything that was sent for it included. */
    feeUnits: p.type(UnitsType).$type<bigint>().nullable(),
    transactionHash: p.string().length(66).nullable(),
    settledAt: p.datetime().columnType('timestamptz').nullable(),
    createdAt: p.datetime().columnType('timestamptz'),
    updatedAt: p.datetime().columnType('timestamptz'),
  },
  uniques: [
    {
      name: 'payouts_living_unique',
      properties: ['network', 'addressKey'],
      where: "state in ('planned', 'paying')",
    },
    {
      name: 'payouts_paid_unique',
      properties: ['network', 'transactionHash'],
      where: "state = 'settled' and not simulated",
    },
  ],
  indexes: [
    { name: 'payouts_list_index', properties: ['merchantId', 'mode', 'createdAt', 'id'] },
    {
      name: 'payouts_filter_index',
      properties: ['merchantId', 'mode', 'network', 'state', 'createdAt', 'id'],
    },
    {
      name: 'payouts_transaction_hash_index',
      properties: ['transactionHash'],
      where: 'transaction_hash is not null',
    },
    { name: 'payouts_destination_index', properties: ['network', 'destination', 'createdAt'] },
    { name: 'payouts_address_index', properties: ['network', 'addressKey'] },
    {
      name: 'payouts_settled_index',
      properties: ['network', 'settledAt'],
      where: "state = 'settled' and not simulated",
    },
    { name: 'payouts_created_index', properties: ['createdAt', 'id'] },
  ],
  checks: [
    { name: 'payouts_gross_check', expression: 'gross_units > 0' },
    {
      name: 'payouts_state_check',
      expression: "state in ('planned', 'paying', 'settled', 'cancelled', 'failed')",
    },
    { name: 'payouts_net_check', expression: 'net_units > 0' },
    { name: 'payouts_fee_check', expression: 'fee_units >= 0' },
    { name: 'payouts_mode_check', expression: "(mode = 'test') = simulated" },
    {
      name: 'payouts_reason_check',
      expression: "reason is not null or state in ('planned', 'paying', 'settled')",
    },
    {
      name: 'payouts_settled_check',
      expression:
        "(state = 'settled') = (net_units is not null) and (net_units is null) = (fee_units is null) and (net_units is null) = (transaction_hash is null) and (net_units is null) = (settled_at is null)",
    },
    {
      name: 'payouts_parts_check',
      expression:
        "net_units is null or gross_units = net_units + case when currency = 'USDT' then 0 else fee_units end or (currency = 'USDT' and gross_units > net_units)",
    },
  ],
});

/** One transfer of completed deposits from one of our addresses to the merchant's own wallet. */
export class Payout extends schema.class {}
schema.setClass(Payout);
