import { OutboxMessage } from '../../db/entities/index.ts';
import type { Deps } from '../deps.ts';
import { GRACE_MS } from './insert.ts';
import { BATCH } from './take.ts';

/**
 * What waits in the outbox, for operators: how old the oldest live message
 * is that should be on its way, and what Temporal refuses for good.
 */
export type OutboxState = {
  readonly oldestMs: number;
  readonly oldestError: string | null;
  readonly quarantined: readonly { readonly workflowId: string; readonly error: string }[];
  /** True when only the first messages of the quarantine were read. */
  readonly mayBeMore: boolean;
};

/** Reads {@link OutboxState}, with at most 100 messages of the quarantine. */
export async function readOutbox(deps: Pick<Deps, 'orm' | 'now'>): Promise<OutboxState> {
  const em = deps.orm.em.fork();
  const now = deps.now();
  const facts = { fields: ['workflowId', 'createdAt', 'nextTryAt', 'lastError'] as const };
  // A message that was never tried has been late since its
  // time came: those of many resends are spread over minutes.
  const due = { mode: 'live' as const, quarantinedAt: null, tries: 0, nextTryAt: { $lte: now } };
  const triedBefore = { mode: 'live' as const, quarantinedAt: null, tries: { $gt: 0 } };
  const [fresh] = await em.find(OutboxMessage, due, {
    orderBy: { nextTryAt: 'asc', id: 'asc' },
    limit: 1,
    ...facts,
  });
  const [tried] = await em.find(OutboxMessage, triedBefore, { orderBy: { id: 'asc' }, limit: 1, ...facts });
  const late = [
    ...(fresh ? [{ ageMs: now.getTime() - fresh.nextTryAt.getTime() + GRACE_MS, error: null }] : []),
    ...(tried ? [{ ageMs: now.getTime() - tried.createdAt.getTime(), error: tried.lastError ?? null }] : []),
  ];
  const [oldest] = late.sort((one, other) => other.ageMs - one.ageMs);
  const refused = await em.find(
    OutboxMessage,
    { quarantinedAt: { $ne: null } },
    { orderBy: { nextTryAt: 'asc' }, limit: BATCH, ...facts },
  );
  return {
    oldestMs: Math.max(0, oldest?.ageMs ?? 0),
    oldestError: oldest?.error ?? null,
    quarantined: refused.map(({ workflowId, lastError }) => ({ workflowId, error: lastError ?? '' })),
    mayBeMore: refused.length === BATCH,
  };
}
