import { defineEntity, p } from '@mikro-orm/core';
import type { AddressKey } from '../../chains/address-key.ts';
import type { Currency, Network } from '../../domain/assets.ts';
import type { SentPurpose } from '../../domain/payouts/purpose.ts';
import type { SentState } from '../../domain/settlement.ts';
import { UnitsType } from '../units-type.ts';
import { Payout } from './payouts.ts';

const gasWalletSchema = defineEntity({
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
export class GasWallet extends gasWalletSchema.class {}
gasWalletSchema.setClass(GasWallet);

const gasLevelSchema = defineEntity({
  name: 'GasLevel',
  tableName: 'gas_levels',
  properties: {
    network: p.string().length(8).$type<Network>().primary(),
    addressKey: p.string().length(40).$type<AddressKey>().primary(),
    /** Coins that lay there at the end of the block. */
    units: p.type(UnitsType).$type<bigint>(),
    blockNumber: p.bigint('number'),
    /** What one coin was worth then, in 10^-8 US dollars; null where nobody knew. */
    coinUsd8: p.type(UnitsType).$type<bigint>().nullable(),
    at: p.datetime().columnType('timestamptz'),
  },
});

/** What a wallet that pays for gas was seen to hold last: for operators, never for a decision about money. */
export class GasLevel extends gasLevelSchema.class {}
gasLevelSchema.setClass(GasLevel);

/** Money that left the wallet, by receiver and asset; base units as text. */
export type SentMove = { readonly to: string; readonly currency: Currency; readonly units: string };

const sentTransactionSchema = defineEntity({
  name: 'SentTransaction',
  tableName: 'sent_transactions',
  properties: {
    id: p.uuid().primary(),
    network: p.string().length(8).$type<Network>(),
    /** Null until it is signed. */
    hash: p.string().length(66).nullable(),
    purpose: p.string().length(8).$type<SentPurpose>().nullable(),
    state: p.string().length(8).$type<SentState>(),
    fromAddress: p.string().length(64),
    fromKey: p.string().length(40).$type<AddressKey>(),
    toAddress: p.string().length(64).nullable(),
    toKey: p.string().length(40).$type<AddressKey>().nullable(),
    currency: p.string().length(8).$type<Currency>().nullable(),
    amountUnits: p.type(UnitsType).$type<bigint>().nullable(),
    /** What it is sent for; of what we did not sign only where that has paid one out all the same. */
    payoutId: () => p.manyToOne(Payout).mapToPk().fieldName('payout_id').nullable().deleteRule('no action'),
    /** Counts from 1 for a payout and a purpose; all attempts share one fate. */
    attempt: p.integer().nullable(),
    /** What it may cost at most and what it pays for, as it was asked for. */
    terms: p.json().nullable(),
    /** The signed bytes: whoever sends it again sends these. */
    raw: p.blob().nullable(),
    /** Of what we did not sign, what proves that the wallet's key has signed it, where that takes a place. */
    proof: p.json().$type<object>().nullable(),
    /** When it can land no more, on a chain that has such a time. */
    expiresAt: p.datetime().columnType('timestamptz').nullable(),
    /** Why the signer did not sign it, or why no endpoint takes it. */
    refused: p.string().length(500).nullable(),
    signedAt: p.datetime().columnType('timestamptz').nullable(),
    sentAt: p.datetime().columnType('timestamptz').nullable(),
    /** Its place among the wallet's transactions, on a chain that has one. */
    nonce: p.bigint('number').nullable(),
    /** The block that holds it; null where it is in none. */
    blockNumber: p.bigint('number').nullable(),
    blockHash: p.string().length(66).nullable(),
    verifiedAt: p.datetime().columnType('timestamptz').nullable(),
    /** Whether it succeeded; its fee is gone all the same. */
    ok: p.boolean().nullable(),
    feeUnits: p.type(UnitsType).$type<bigint>().nullable(),
    moves: p.json().$type<readonly SentMove[]>().nullable(),
    /** When what was lent was known to be with its lender again. */
    reclaimedAt: p.datetime().columnType('timestamptz').nullable(),
    decidedAt: p.datetime().columnType('timestamptz').nullable(),
    decidedBy: p.string().length(120).nullable(),
    decidedReason: p.string().length(500).nullable(),
    createdAt: p.datetime().columnType('timestamptz'),
    updatedAt: p.datetime().columnType('timestamptz'),
  },
  uniques: [
    { name: 'sent_transactions_unique', properties: ['network', 'hash', 'fromKey'] },
    { name: 'sent_transactions_attempt_unique', properties: ['payoutId', 'purpose', 'attempt'] },
    {
      name: 'sent_transactions_nonce_unique',
      properties: ['network', 'fromKey', 'nonce', 'attempt'],
      where: "purpose is not null and nonce is not null and (raw is not null or state <> 'dead')",
    },
  ],
});

/** A transaction that a wallet of ours sent. */
export class SentTransaction extends sentTransactionSchema.class {}
sentTransactionSchema.setClass(SentTransaction);
