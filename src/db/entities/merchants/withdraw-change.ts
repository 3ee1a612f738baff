import { defineEntity, p } from '@mikro-orm/core';
import type { Network } from '../../../domain/assets.ts';
import { User } from '../access/user.ts';
import { Merchant } from './merchant.ts';

/**
 * How a change ended: it became the address, somebody took it back, another one took its place, or what it
 * asks for was no address to pay to any more when it was due.
 */
export type WithdrawOutcome = 'counted' | 'cancelled' | 'replaced' | 'refused';

const schema = defineEntity({
  name: 'WithdrawChange',
  tableName: 'withdraw_changes',
  properties: {
    id: p.uuid().primary(),
    merchantId: () =>
      p
        .manyToOne(Merchant)
        .mapToPk()
        .fieldName('merchant_id')
        .updateRule('no action')
        .deleteRule('no action'),
    network: p.string().length(8).$type<Network>(),
    address: p.string().length(64).nullable(),
    contractAllowed: p.boolean(),
    askedBy: () =>
      p.manyToOne(User).mapToPk().fieldName('asked_by').updateRule('no action').deleteRule('no action'),
    askedFrom: p.string().length(255),
    askedAt: p.datetime().columnType('timestamptz'),
    countsAt: p.datetime().columnType('timestamptz'),
    seal: p.blob(),
    endedAt: p.datetime().columnType('timestamptz').nullable(),
    outcome: p.string().length(9).$type<WithdrawOutcome>().nullable(),
    reason: p.string().length(300).nullable(),
  },
  uniques: [
    {
      name: 'withdraw_changes_open_unique',
      properties: ['merchantId', 'network'],
      where: 'ended_at is null',
    },
  ],
  indexes: [
    { name: 'withdraw_changes_due_index', properties: ['countsAt', 'id'], where: 'ended_at is null' },
    { name: 'withdraw_changes_merchant_index', properties: ['merchantId', 'network', 'askedAt'] },
  ],
  checks: [
    { name: 'withdraw_changes_wait_check', expression: 'counts_at >= asked_at' },
    {
      name: 'withdraw_changes_outcome_check',
      expression: "outcome in ('counted', 'cancelled', 'replaced', 'refused')",
    },
    { name: 'withdraw_changes_ended_check', expression: '(ended_at is null) = (outcome is null)' },
    { name: 'withdraw_changes_early_check', expression: "outcome <> 'counted' or ended_at >= counts_at" },
    {
      name: 'withdraw_changes_reason_check',
      expression: "(reason is null) = (outcome is distinct from 'refused')",
    },
  ],
});

/**
 * A withdraw address that a signed-in user asked for and that counts from `countsAt` on; null takes the
 * present one away. What was asked for never changes, and it ends once: the database refuses anything else.
 */
export class WithdrawChange extends schema.class {}
schema.setClass(WithdrawChange);
