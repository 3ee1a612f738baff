import { defineEntity, p } from '@mikro-orm/core';
import type { AddressKey } from '../../../chains/address-key.ts';
import type { Network } from '../../../domain/assets.ts';

const schema = defineEntity({
  name: 'GasWallet',
  tableName: 'gas_wallets',
  properties: {
    network: p.string().length(8).$type<Network>().primary(),
    addressKey: p.string().length(40).$type<AddressKey>().primary(),
    address: p.string().length(64),
    /** The transaction that made the row, filled by the database. */
    createdXid: p.string().columnType('xid8').defaultRaw('pg_current_xact_id()'),
    createdAt: p.datetime().columnType('timestamptz'),
    /** Since when a watcher counts it as ours; before that nothing is sent from it. */
    notedAt: p.datetime().columnType('timestamptz').nullable(),
  },
});

/** A wallet of ours that pays the chain's fees. One that was ours once stays ours. */
export class GasWallet extends schema.class {}
schema.setClass(GasWallet);
