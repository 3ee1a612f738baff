import { defineEntity, p } from '@mikro-orm/core';
import type { AddressKey } from '../../../chains/address-key.ts';
import type { Network } from '../../../domain/assets.ts';
import { UnitsType } from '../../units-type.ts';

const schema = defineEntity({
  name: 'UnrecognisedTransfer',
  tableName: 'unrecognised_transfers',
  properties: {
    id: p.uuid().primary(),
    network: p.string().length(8).$type<Network>(),
    transactionHash: p.string().length(66),
    address: p.string().length(64),
    addressKey: p.string().length(40).$type<AddressKey>(),
    contractAddress: p.string().length(64),
    amountUnits: p.type(UnitsType).$type<bigint>().nullable(),
    blockNumber: p.bigint('number'),
    reason: p.string().length(300),
    /** True for a token of a contract that is none of ours. */
    foreignToken: p.boolean().default(false),
    createdAt: p.datetime().columnType('timestamptz'),
  },
  indexes: [
    { name: 'unrecognised_transfers_list_index', properties: ['createdAt', 'id'] },
    { name: 'unrecognised_transfers_foreign_index', properties: ['createdAt'], where: 'foreign_token' },
    { name: 'unrecognised_transfers_address_index', properties: ['network', 'addressKey'] },
    { name: 'unrecognised_transfers_block_index', properties: ['network', 'blockNumber'] },
  ],
  uniques: [
    {
      name: 'unrecognised_transfers_unique',
      properties: ['network', 'transactionHash', 'addressKey', 'contractAddress'],
    },
  ],
});

/** Uncredited money: it reached our addresses and cannot be credited. */
export class UnrecognisedTransfer extends schema.class {}
schema.setClass(UnrecognisedTransfer);
