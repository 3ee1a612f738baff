import { defineEntity, p } from '@mikro-orm/core';
import type { ActorMessage } from '../../domain/actor-message.ts';
import type { Mode, Network } from '../../domain/assets.ts';
import { Merchant } from './merchants.ts';

const rateLimitSchema = defineEntity({
  name: 'RateLimit',
  tableName: 'rate_limits',
  properties: {
    /** The name of the limit, and whose it is. */
    id: p.string().length(80).primary(),
    /** What is left; below zero where several processes together took more than there was. */
    tokens: p.double(),
    /** When it was counted, or when its window began. */
    since: p.datetime().columnType('timestamptz'),
  },
});

/** What one client has left of one limit. */
export class RateLimit extends rateLimitSchema.class {}
rateLimitSchema.setClass(RateLimit);

const idempotencyAnswerSchema = defineEntity({
  name: 'IdempotencyAnswer',
  tableName: 'idempotency_answers',
  properties: {
    id: p.uuid().primary(),
    merchantId: () => p.manyToOne(Merchant).mapToPk().fieldName('merchant_id'),
    mode: p.string().length(4).$type<Mode>(),
    method: p.string().length(10),
    path: p.string().length(500),
    key: p.string().length(255),
    requestHash: p.string().length(64),
    status: p.smallint(),
    bodySealed: p.blob(),
    createdAt: p.datetime().columnType('timestamptz'),
    expiresAt: p.datetime().columnType('timestamptz'),
  },
  uniques: [
    { name: 'idempotency_answers_scope_unique', properties: ['merchantId', 'mode', 'method', 'path', 'key'] },
  ],
});

/** The answer to a request with an Idempotency-Key, sealed under the row's id: it may hold a secret. */
export class IdempotencyAnswer extends idempotencyAnswerSchema.class {}
idempotencyAnswerSchema.setClass(IdempotencyAnswer);

const partitionMonthSchema = defineEntity({
  name: 'PartitionMonth',
  tableName: 'partition_months',
  properties: {
    /** The partitions of this row reach to the month of the next row; the newest ones have no end. */
    firstMonth: p.date().primary(),
    madeAt: p.datetime().columnType('timestamptz'),
    detachedAt: p.datetime().columnType('timestamptz').nullable(),
    detachedBy: p.string().length(120).nullable(),
    detachedReason: p.string().length(500).nullable(),
  },
});

/** One month of the tables that are partitioned. */
export class PartitionMonth extends partitionMonthSchema.class {}
partitionMonthSchema.setClass(PartitionMonth);

const outboxMessageSchema = defineEntity({
  name: 'OutboxMessage',
  tableName: 'outbox',
  properties: {
    id: p.bigint('string').primary(),
    kind: p.string().length(10).$type<'start' | 'signal'>(),
    workflowId: p.string().length(255),
    message: p.json().$type<ActorMessage>(),
    /** `live` for work that belongs to no merchant. */
    mode: p.string().length(4).$type<Mode>().default('live'),
    tries: p.integer(),
    /** How often Temporal refused it while it was reachable. */
    refusals: p.integer().default(0),
    /** Set after many refusals: from then on it is tried seldom, and an operator is told. */
    quarantinedAt: p.datetime().columnType('timestamptz').nullable(),
    lastError: p.string().length(500).nullable(),
    createdAt: p.datetime().columnType('timestamptz'),
    nextTryAt: p.datetime().columnType('timestamptz'),
  },
});

/** A start or signal that a committed transaction asked for. */
export class OutboxMessage extends outboxMessageSchema.class {}
outboxMessageSchema.setClass(OutboxMessage);

const loopRunSchema = defineEntity({
  name: 'LoopRun',
  tableName: 'loop_runs',
  properties: {
    name: p.string().length(40).primary(),
    everyMs: p.integer(),
    knownSince: p.datetime().columnType('timestamptz'),
    startedAt: p.datetime().columnType('timestamptz').nullable(),
    leaseUntil: p.datetime().columnType('timestamptz').nullable(),
    lastGoodAt: p.datetime().columnType('timestamptz').nullable(),
    failingSince: p.datetime().columnType('timestamptz').nullable(),
    lastError: p.string().length(300).nullable(),
  },
});

/** When a background loop of the workers last ran well. */
export class LoopRun extends loopRunSchema.class {}
loopRunSchema.setClass(LoopRun);

/** How much a notice matters, in the words of the alerts. */
export type Severity = 'critical' | 'warning' | 'info';

const noticeSchema = defineEntity({
  name: 'Notice',
  tableName: 'notices',
  properties: {
    id: p.uuid().primary(),
    /** What it is about, by which it is found again. */
    key: p.string().length(200),
    kind: p.string().length(40),
    severity: p.string().length(8).$type<Severity>(),
    reason: p.string().length(1000),
    action: p.string().length(1000),
    /** When it was seen first and last. */
    seenAt: p.datetime().columnType('timestamptz'),
    lastSeenAt: p.datetime().columnType('timestamptz'),
    /** Null while it may be one that passes. */
    beganAt: p.datetime().columnType('timestamptz').nullable(),
    endedAt: p.datetime().columnType('timestamptz').nullable(),
    beganToldAt: p.datetime().columnType('timestamptz').nullable(),
    endedToldAt: p.datetime().columnType('timestamptz').nullable(),
    tries: p.integer().default(0),
    /** When what is not told yet is tried next; null where nothing is left to tell. */
    nextTryAt: p.datetime().columnType('timestamptz').nullable(),
    lastError: p.string().length(300).nullable(),
  },
  uniques: [{ name: 'notices_open_unique', properties: ['key'], where: 'ended_at is null' }],
});

/** A condition that an operator is told of, once when it begins and once when it ends. */
export class Notice extends noticeSchema.class {}
noticeSchema.setClass(Notice);

const restoreSchema = defineEntity({
  name: 'Restore',
  tableName: 'restores',
  properties: {
    id: p.uuid().primary(),
    backupAt: p.datetime().columnType('timestamptz'),
    restoredAt: p.datetime().columnType('timestamptz'),
    byName: p.string().length(120),
    reason: p.string().length(500),
    /** For each chain the head that a watcher saw first after the restore: up to there it has to be read. */
    goals: p.json().$type<Partial<Record<Network, number>>>().default('{}'),
    /** When payouts were let go on. */
    overAt: p.datetime().columnType('timestamptz').nullable(),
  },
});

/** That this database was restored from a backup. */
export class Restore extends restoreSchema.class {}
restoreSchema.setClass(Restore);

const signerStateSchema = defineEntity({
  name: 'SignerState',
  tableName: 'signer_state',
  properties: {
    /** There is one row. */
    name: p.string().length(6).$type<'signer'>().primary(),
    /** Which journal has signed for this database, and how far it was at the last signature. */
    journal: p.uuid().nullable(),
    line: p.integer().nullable(),
    lineHash: p.string().length(64).nullable(),
    /** Why the signer signs nothing; null while it does. */
    sealedCode: p.string().length(12).nullable(),
    sealedReason: p.string().length(500).nullable(),
    sealedSince: p.datetime().columnType('timestamptz').nullable(),
    /** When a signer looked for work last. */
    seenAt: p.datetime().columnType('timestamptz'),
    signedAt: p.datetime().columnType('timestamptz').nullable(),
  },
});

/** How the signer is, as it says itself. */
export class SignerState extends signerStateSchema.class {}
signerStateSchema.setClass(SignerState);

const keyInUseSchema = defineEntity({
  name: 'KeyInUse',
  tableName: 'key_in_use',
  properties: {
    /** There is one row. */
    name: p.string().length(5).$type<'seals'>().primary(),
    /** What seals under it begin with; it tells nothing of the key. */
    mark: p.blob(),
  },
});

/** Which SECRETS_KEY seals what this database holds. */
export class KeyInUse extends keyInUseSchema.class {}
keyInUseSchema.setClass(KeyInUse);
