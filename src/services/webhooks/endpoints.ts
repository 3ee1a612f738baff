import { randomBytes } from 'node:crypto';
import { LockMode } from '@mikro-orm/core';
import type { EndpointView } from '../../contract/endpoint.ts';
import { WebhookEndpoint } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { run, sql } from '../../db/sql.ts';
import { isUuid } from '../../domain/ids.ts';
import { endpointFacts } from '../audit/endpoint-facts.ts';
import { recordAction } from '../audit/record.ts';
import type { Deps, TxDeps } from '../deps.ts';
import { inOrder, listPage, type PageOf } from '../lists/page.ts';
import type { PageRequest } from '../lists/query.ts';
import { refuseOverQuota } from '../merchants/quotas.ts';
import { notFound, Refusal } from '../refusal.ts';
import type { Scope } from '../scope.ts';
import type { Tx } from '../transact.ts';
import { generateSecret } from './http/signature.ts';
import type { PermittedChange, PermittedEndpoint } from './permit.ts';
import { presentEndpoint } from './present.ts';

/** The most endpoints of one merchant in one mode; deleted ones are not counted. */
const MAX_ENDPOINTS = 50;
/**
 * How long a secret still signs beside newer ones after its
 * rotation, and how many such secrets do at most: the newest.
 */
const OVERLAP_MS = 24 * 3_600_000;
const MAX_EARLIER_SECRETS = 4;
const SECRET_HINT_LENGTH = 4;

/** The secret is set only in the answer to the request that made it. */
export type EndpointWithSecret = EndpointView & { readonly secret?: string };

/**
 * Registers a URL. Answers with the signing secret, which is stored sealed
 * and never shown again. Throws a {@link Refusal} for the 51st endpoint.
 */
export async function createEndpoint(
  tx: Tx,
  deps: TxDeps,
  input: PermittedEndpoint,
): Promise<Required<EndpointWithSecret>> {
  await refuseTooMany(tx.em, deps, input);
  const { row, secret } = insertEndpoint(tx.em, deps, { ...input, id: deps.newId() });
  const { merchantId, mode } = input;
  await recordAction(tx.em, deps, {
    action: 'endpoint.create',
    merchantId,
    mode,
    subject: row.id,
    after: endpointFacts(row),
  });
  return { ...presentEndpoint(row), secret };
}

/**
 * What an endpoint's row is made of; `paymentLinkId` is set
 * for the one that stands for the own URL of a payment link.
 */
export type EndpointRow = PermittedEndpoint & { readonly id: string; readonly paymentLinkId?: string };

/**
 * Adds an endpoint with a new secret, sealed with the row's id,
 * in the caller's transaction. The secret is known only here.
 */
export function insertEndpoint(
  em: Em,
  deps: TxDeps,
  input: EndpointRow,
): { row: WebhookEndpoint; secret: string } {
  const { now, secret } = { now: deps.now(), secret: generateSecret(randomBytes) };
  const row = em.create(WebhookEndpoint, {
    id: input.id,
    merchantId: input.merchantId,
    mode: input.mode,
    url: input.url,
    description: input.description,
    events: [...input.events],
    enabled: true,
    paymentLinkId: input.paymentLinkId ?? null,
    secretSealed: deps.secretBox.seal(secret, input.id),
    secretHint: secret.slice(-SECRET_HINT_LENGTH),
    consecutiveFailures: 0,
    goneCount: 0,
    earlierSecrets: [],
    lastDeliveryAt: null,
    lastStatusCode: null,
    failingSince: null,
    goneSince: null,
    disabledReason: null,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
  });
  return { row, secret };
}

/** One page of the endpoints, newest first. Throws a {@link Refusal} for a foreign cursor. */
export async function listEndpoints(
  deps: Deps,
  input: Scope & { readonly page: PageRequest },
): Promise<PageOf<EndpointView>> {
  const em = deps.orm.em.fork();
  const scope = sql`merchant_id = ${input.merchantId} and mode = ${input.mode} and deleted_at is null
    and payment_link_id is null`;
  const page = await listPage(em, { table: 'webhook_endpoints', scope, filters: [], page: input.page });
  const rows = await em.find(WebhookEndpoint, { id: { $in: [...page.rows] } });
  return { ...page, rows: inOrder(page.rows, rows).map(presentEndpoint) };
}

/** The endpoint's view. Throws a NOT_FOUND {@link Refusal}, for a deleted one too. */
export async function getEndpoint(deps: Deps, input: Scope & { readonly id: string }): Promise<EndpointView> {
  return presentEndpoint(await findEndpoint(deps.orm.em.fork(), input));
}

/**
 * Changes what is given. Enabling clears the reason and the counters that disabled it. A
 * rotation returns the new secret, which signs at once; the old one goes on beside it until its
 * own 24 h are over, even when more rotations come after it. Throws a NOT_FOUND {@link Refusal}.
 */
export async function updateEndpoint(
  tx: Tx,
  deps: TxDeps,
  input: PermittedChange,
): Promise<EndpointWithSecret> {
  const row = await findEndpoint(tx.em, input, LockMode.PESSIMISTIC_WRITE);
  const before = endpointFacts(row);
  if (input.url !== undefined) row.url = input.url;
  if (input.events !== undefined) row.events = [...input.events];
  if (input.description !== undefined) row.description = input.description;
  if (input.enabled !== undefined) setEnabled(row, input.enabled);
  const secret = input.rotateSecret ? rotateSecret(deps, row) : undefined;
  row.updatedAt = deps.now();
  const { merchantId, mode, id: subject } = input;
  await recordAction(tx.em, deps, {
    action: 'endpoint.change',
    merchantId,
    mode,
    subject,
    before,
    after: endpointFacts(row),
  });
  return { ...presentEndpoint(row), ...(secret === undefined ? {} : { secret }) };
}

/**
 * Takes an endpoint out of use for good; its deliveries stay
 * readable through their events. Throws a NOT_FOUND {@link Refusal}.
 */
export async function deleteEndpoint(
  tx: Tx,
  deps: TxDeps,
  input: Scope & { readonly id: string },
): Promise<{ id: string; deleted: true }> {
  const row = await findEndpoint(tx.em, input, LockMode.PESSIMISTIC_WRITE);
  const before = endpointFacts(row);
  row.deletedAt = deps.now();
  row.updatedAt = row.deletedAt;
  row.enabled = false;
  const { merchantId, mode } = input;
  await recordAction(tx.em, deps, { action: 'endpoint.delete', merchantId, mode, subject: row.id, before });
  return { id: row.id, deleted: true };
}

/** The endpoint of this merchant and mode that is not deleted. Throws a NOT_FOUND {@link Refusal}. */
export async function findEndpoint(
  em: Em,
  input: Scope & { readonly id: string },
  lockMode?: LockMode,
): Promise<WebhookEndpoint> {
  const row = await findTarget(em, input, lockMode);
  if (row.paymentLinkId != null) throw notFound('webhook endpoint');
  return row;
}

/**
 * As {@link findEndpoint}, but it also finds the endpoint that stands for the
 * own URL of a payment link, by the link's id: for reading what was sent.
 */
export async function findTarget(
  em: Em,
  input: Scope & { readonly id: string },
  lockMode?: LockMode,
): Promise<WebhookEndpoint> {
  const { id, merchantId, mode } = input;
  const row = isUuid(id)
    ? await em.findOne(
        WebhookEndpoint,
        { id, merchantId, mode, deletedAt: null },
        lockMode === undefined ? {} : { lockMode },
      )
    : null;
  if (!row) throw notFound('webhook endpoint');
  return row;
}

function setEnabled(row: WebhookEndpoint, enabled: boolean): void {
  row.enabled = enabled;
  if (!enabled) return;
  row.disabledReason = null;
  row.consecutiveFailures = 0;
  row.failingSince = null;
  row.goneSince = null;
  row.goneCount = 0;
}

function rotateSecret(deps: TxDeps, row: WebhookEndpoint): string {
  const secret = generateSecret(randomBytes);
  const now = deps.now();
  const replaced = {
    sealed: Buffer.from(row.secretSealed).toString('base64'),
    until: new Date(now.getTime() + OVERLAP_MS).toISOString(),
  };
  const running = row.earlierSecrets.filter(({ until }) => new Date(until) > now);
  row.earlierSecrets = [replaced, ...running].slice(0, MAX_EARLIER_SECRETS);
  row.secretSealed = deps.secretBox.seal(secret, row.id);
  row.secretHint = secret.slice(-SECRET_HINT_LENGTH);
  return secret;
}

async function refuseTooMany(em: Em, deps: TxDeps, scope: Scope): Promise<void> {
  // The merchant's row is the lock under which endpoints are counted;
  // a lock of this kind does not hold up foreign keys to the row.
  await run(em, sql`select id from merchants where id = ${scope.merchantId} for no key update`);
  const count = await em.count(WebhookEndpoint, {
    merchantId: scope.merchantId,
    mode: scope.mode,
    deletedAt: null,
    paymentLinkId: null,
  });
  if (count >= MAX_ENDPOINTS)
    throw new Refusal(
      'INVALID',
      `There are ${MAX_ENDPOINTS} webhook endpoints already, which is the most. Delete one first.`,
    );
  // Checked under the same lock, which is the only one it needs.
  await refuseOverQuota(em, deps, scope, ['endpoints']);
}
