import { defineEntity, p } from '@mikro-orm/core';
import type { AddressKey } from '../../../chains/address-key.ts';
import type { Currency, Network } from '../../../domain/assets.ts';
import type { SentPurpose } from '../../../domain/payouts/purpose.ts';
import type { SentState } from '../../../domain/settlement.ts';
import { UnitsType } from '../../units-type.ts';
import { Payout } from '../payouts/payout.ts';

/** Money that left the wallet, by receiver and asset; base units as text. */
export type SentMove = { readonly to: string; readonly currency: Currency; readonly units: string };

const schema = defineEntity({
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
  indexes: [
    {
      name: 'sent_transactions_block_index',
      properties: ['network', 'blockNumber'],
      where: 'block_hash is not null',
    },
    { name: 'sent_transactions_from_index', properties: ['network', 'fromKey'] },
    { name: 'sent_transactions_to_index', properties: ['network', 'toKey'] },
    {
      name: 'sent_transactions_open_index',
      properties: ['network', 'createdAt'],
      where: "state in ('asked', 'signed', 'sent')",
    },
    {
      name: 'sent_transactions_lent_index',
      properties: ['network', 'toKey'],
      where:
        "purpose = 'delegate' and reclaimed_at is null and state in ('signed', 'sent', 'mined', 'final')",
    },
    {
      name: 'sent_transactions_foreign_index',
      properties: ['createdAt', 'id'],
      where: "state = 'foreign' and decided_at is null",
    },
  ],
  checks: [
    {
      name: 'sent_transactions_purpose_check',
      expression: "purpose in ('payout', 'gas', 'delegate', 'reclaim')",
    },
    {
      name: 'sent_transactions_state_check',
      expression: "state in ('asked', 'signed', 'sent', 'mined', 'final', 'dead', 'foreign')",
    },
    { name: 'sent_transactions_amount_check', expression: 'amount_units > 0' },
    { name: 'sent_transactions_fee_check', expression: 'fee_units >= 0' },
    { name: 'sent_transactions_ours_check', expression: "(state = 'foreign') = (purpose is null)" },
    {
      name: 'sent_transactions_terms_check',
      expression:
        'purpose is null or (payout_id is not null and attempt is not null and to_key is not null and to_address is not null and currency is not null and amount_units is not null)',
    },
    {
      name: 'sent_transactions_block_check',
      expression: "block_hash is not null or state in ('asked', 'signed', 'sent', 'dead', 'foreign')",
    },
    { name: 'sent_transactions_attempt_check', expression: 'attempt > 0' },
    {
      name: 'sent_transactions_signed_check',
      expression:
        "(hash is not null or state in ('asked', 'dead')) and (raw is null) = (signed_at is null) and (purpose is null or (raw is null) = (hash is null))",
    },
    {
      name: 'sent_transactions_outcome_check',
      expression:
        'block_hash is null or (block_number is not null and ok is not null and fee_units is not null and moves is not null)',
    },
    {
      name: 'sent_transactions_concluded_check',
      expression:
        'purpose is not null or payout_id is null or (decided_at is not null and to_address is not null and amount_units is not null)',
    },
    {
      name: 'sent_transactions_reclaimed_check',
      expression: "reclaimed_at is null or purpose = 'delegate'",
    },
    {
      name: 'sent_transactions_decision_check',
      expression:
        "(decided_at is null) = (decided_by is null) and (decided_at is null) = (decided_reason is null) and (decided_at is null or state = 'foreign')",
    },
  ],
});

/** A transaction that a wallet of ours sent. */
export class SentTransaction extends schema.class {}
schema.setClass(SentTransaction);
