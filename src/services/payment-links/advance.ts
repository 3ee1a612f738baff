import { chainOf } from '../../chains/index.ts';
import { ChainBlock, ChainCursor, PaymentLink } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import type { Network } from '../../domain/assets.ts';
import { waitDelayMs } from '../../domain/deposit.ts';
import { isoSeconds } from '../../domain/events.ts';
import { describeProgress, isOpenLink, type LinkStatus } from '../../domain/payment-link.ts';
import { unlessBusy } from '../busy.ts';
import type { Deps } from '../deps.ts';
import { type Tx, transact } from '../transact.ts';
import { openDeliveriesOf } from '../webhooks/open-deliveries.ts';
import { announceLinks } from './announce.ts';
import { lockPayers } from './money.ts';
import { moveLink, recountLink } from './recount.ts';

export type LinkStep =
  | {
      readonly kind: 'at';
      readonly status: LinkStatus;
      readonly since: Date;
      /** Every delivery of the link's own events that is not finished. */
      readonly deliveries: readonly string[];
      readonly note: string;
      /** How long nothing can happen unless somebody wakes the actor; null when the link is closed. */
      readonly waitMs: number | null;
    }
  /** The link's time is over, and it waits for the chains to be read up to that time. */
  | { readonly kind: 'wait'; readonly reason: string; readonly delayMs: number };

/** Whatever changes an open deposit wakes the link's actor; this sleep is only the safety net. */
const LOOK_AT_OPEN_DEPOSIT_MS = 60 * 60_000;
const MIN_SLEEP_MS = 1_000;
/**
 * A chain that is this few blocks behind the link's time
 * is no news: a block or two have to be mined and read.
 */
const BLOCKS_TO_WAIT = 2;

/**
 * One look at a link by its actor: says what is to be delivered and how long to sleep,
 * and closes the link when its time is over. That is when every watched chain was read
 * past it, so that nothing that was mined in time can come to light any more, and no
 * assigned deposit is still open. Idempotent: a repeated look goes on from the row.
 */
export async function advancePaymentLink(
  deps: Deps,
  { linkId }: { readonly linkId: string },
): Promise<LinkStep> {
  const em = deps.orm.em.fork();
  const link = await em.findOneOrFail(PaymentLink, linkId);
  if (!isOpenLink(link.status) || deps.now() <= link.expiresAt) return await currentStep(em, deps, link);
  const name = `the row of customer ${link.customerId}`;
  return await unlessBusy(deps, { name, id: linkId }, () =>
    transact(deps, async (tx) => {
      await lockPayers(tx.em, [link.customerId], { nowait: true });
      return await close(tx, deps, linkId);
    }),
  );
}

async function close(tx: Tx, deps: Deps, linkId: string): Promise<LinkStep> {
  const link = await recountLink(tx, deps, linkId);
  // A simulated deposit keeps its state for ever: waiting for it would keep the link open for ever.
  const waits = link.mode === 'live' && link.openCount > 0;
  if (!isOpenLink(link.status) || waits) return await currentStep(tx.em, deps, link);
  const behind = link.mode === 'live' ? await chainBehind(tx.em, deps, link) : undefined;
  if (behind) return { kind: 'wait', ...behind };
  moveLink(deps, link, 'expired');
  await announceLinks(tx.em, deps, [{ link, type: 'payment.expired' }]);
  return await currentStep(tx.em, deps, link);
}

async function currentStep(em: Em, deps: Deps, link: PaymentLink): Promise<LinkStep> {
  const deliveries = await openDeliveriesOf(em, link.id);
  const { status, stateSince: since } = link;
  const progress = describeProgress(link);
  if (!isOpenLink(status)) return { kind: 'at', status, since, deliveries, note: progress, waitMs: null };
  const leftMs = link.expiresAt.getTime() - deps.now().getTime();
  const note = `${progress}, ${leftMs > 0 ? 'expires' : 'expired'} at ${isoSeconds(link.expiresAt)}`;
  return {
    kind: 'at',
    status,
    since,
    deliveries,
    note,
    waitMs: leftMs > 0 ? Math.max(MIN_SLEEP_MS, leftMs + 1) : LOOK_AT_OPEN_DEPOSIT_MS,
  };
}

/**
 * The network that was not yet read past the link's time, if there is one. Asked are the networks
 * that are watched, those on which the link was offered when it was made, and those that were read
 * while it was open, because money may have arrived on a chain that is only switched off for now.
 */
export async function chainBehind(
  em: Em,
  deps: Deps,
  link: PaymentLink,
): Promise<{ reason: string; delayMs: number } | undefined> {
  const cursors = await em.find(ChainCursor, {});
  const watched = deps.settings.payments.watchedNetworks;
  const readMeanwhile = cursors
    .filter(({ polledAt }) => polledAt > link.createdAt)
    .map(({ network }) => network);
  for (const network of new Set<Network>([...watched, ...link.offeredNetworks, ...readMeanwhile])) {
    if (link.network != null && link.network !== network) continue;
    const cursor = cursors.find((one) => one.network === network);
    const block = cursor ? await em.findOne(ChainBlock, { network, number: cursor.scannedNumber }) : null;
    if (block && block.minedAt > link.expiresAt) continue;
    const off = `it was offered and is switched off: set ${chainOf(network).watchedBy} and start a worker`;
    const on = block
      ? `it is read up to ${isoSeconds(block.minedAt)}`
      : 'it is not watched yet: start a worker';
    const seen = watched.includes(network) ? on : off;
    const reason = `${describeProgress(link)}; expires when ${network} was read past ${isoSeconds(link.expiresAt)}, ${seen}`;
    const stillMs = cursor
      ? Math.max(0, deps.now().getTime() - cursor.movedAt.getTime())
      : Number.POSITIVE_INFINITY;
    return {
      reason,
      delayMs: waitDelayMs(BLOCKS_TO_WAIT * deps.settings.blockIntervalMs[network] + stillMs),
    };
  }
  return undefined;
}
