import { defineEntity, p } from '@mikro-orm/core';
import type { AddressKey } from '../../../chains/address-key.ts';
import type { Currency, Network } from '../../../domain/assets.ts';
import { UnitsType } from '../../units-type.ts';
import { Deposit } from './deposit.ts';

const schema = defineEntity({
  name: 'DepositAttribution',
  tableName: 'deposit_attributions',
  properties: {
    depositId: () => p.manyToOne(Deposit).mapToPk().fieldName('deposit_id').primary(),
    number: p.integer().primary(),
    network: p.string().length(8).$type<Network>(),
    addressKey: p.string().length(40).$type<AddressKey>(),
    currency: p.string().length(8).$type<Currency>(),
    basis: p.string().length(10).$type<'trace' | 'balance' | 'candidate' | 'operator'>(),
    beforeUnits: p.type(UnitsType).$type<bigint>(),
    carriedUnits: p.type(UnitsType).$type<bigint>(),
    foundNumber: p.bigint('number').nullable(),
    arrivedUnits: p.type(UnitsType).$type<bigint>().nullable(),
    byName: p.string().length(120).nullable(),
    reason: p.string().length(500).nullable(),
    at: p.datetime().columnType('timestamptz'),
  },
  indexes: [{ name: 'deposit_attributions_address_index', properties: ['network', 'addressKey'] }],
  checks: [
    {
      name: 'deposit_attributions_basis_check',
      expression: "basis in ('trace', 'balance', 'candidate', 'operator')",
    },
    {
      name: 'deposit_attributions_operator_check',
      expression: "basis <> 'operator' or (by_name is not null and reason is not null)",
    },
    {
      name: 'deposit_attributions_evidence_check',
      expression: "basis = 'trace' or (found_number is not null and arrived_units is not null)",
    },
  ],
});

/**
 * Why a transaction was credited with money that no read showed it to carry: who or what said so, and the
 * balance that bounded it. Up to `foundNumber`, `arrivedUnits` had come to the address; `carriedUnits` is the
 * whole deposit after the decision, `beforeUnits` what it was before.
 */
export class DepositAttribution extends schema.class {}
schema.setClass(DepositAttribution);
