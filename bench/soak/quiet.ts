import { setTimeout as sleep } from 'node:timers/promises';
import type { Network } from '../../src/domain/assets.ts';
import type { Stage } from './stage.ts';
import { openPayouts } from './waits.ts';

/**
 * A run is stuck when nothing has become less for this long: what is
 * slow but goes on, as on a machine with much else to do, is not.
 */
const STUCK_AFTER_MS = 3 * 60_000;
const QUIET_WITHIN_MS = 20 * 60_000;
const LOOK_EVERY_MS = 1_000;
/** Still for this long before it counts, so that a late repetition is seen. */
const STILL_FOR_MS = 4_000;
const SAY_EVERY_MS = 15_000;
const MAX_POOL_WAIT_MS = 30_000;

type Open = { waiting: number; deliveries: number; outbox: number };
type Cursor = { readonly network: string; readonly verified: string };
/** The height of each chain up to which everything has to be read twice. */
type Heads = ReadonlyMap<Network, number>;

/**
 * Waits until the gateway has nothing left to do: every block up to the last payment read
 * twice, no deposit that waits, nothing to pay out, no delivery and no start that is open. Returns why
 * it is not quiet when nothing moves for three minutes or twenty are over, else undefined.
 */
export async function waitUntilQuiet(stage: Stage, say: (line: string) => void): Promise<string | undefined> {
  const poolUntil = Date.now() + MAX_POOL_WAIT_MS;
  const heads = new Map<Network, number>();
  for (const chain of stage.chains) {
    while ((await chain.pending()) > 0 && Date.now() < poolUntil) await sleep(LOOK_EVERY_MS);
    heads.set(chain.network, await chain.head());
  }
  const until = Date.now() + QUIET_WITHIN_MS;
  let quietSince: number | undefined;
  let saidAt = 0;
  let [seen, movedAt] = ['', Date.now()];
  for (;;) {
    const text = await openWork(stage, heads).catch((error: unknown) =>
      error instanceof Error ? error.message : String(error),
    );
    if (text !== seen) [seen, movedAt] = [text, Date.now()];
    if (text === '') {
      quietSince ??= Date.now();
      if (Date.now() - quietSince >= STILL_FOR_MS) return undefined;
    } else {
      quietSince = undefined;
      if (Date.now() > until || Date.now() - movedAt > STUCK_AFTER_MS) return text;
      if (Date.now() - saidAt > SAY_EVERY_MS) {
        saidAt = Date.now();
        say(`waiting for quiet: ${text}`);
      }
    }
    await sleep(LOOK_EVERY_MS);
  }
}

/** What is not done yet; empty where all is. */
async function openWork(stage: Stage, heads: Heads): Promise<string> {
  const [open] = await stage.sql<Open>(
    `select (select count(*)::int from deposits where status in ('detected', 'confirming')
       and not simulated) as waiting,
       (select count(*)::int from webhook_deliveries where status = 'pending') as deliveries,
         (select count(*)::int from outbox) as outbox`,
  );
  const cursors = await stage.sql<Cursor>(
    'select network, verified_number::text as verified from chain_cursors',
  );
  const parts: string[] = [];
  for (const [network, head] of heads) {
    const verified = Number(cursors.find((row) => row.network === network)?.verified ?? -1);
    if (verified < head) parts.push(`${network} block ${verified} of ${head} read twice`);
  }
  if (open && open.waiting > 0) parts.push(`${open.waiting} deposits wait`);
  if (open && open.deliveries > 0) parts.push(`${open.deliveries} deliveries pending`);
  if (open && open.outbox > 0) parts.push(`${open.outbox} starts in the outbox`);
  parts.push(...(await openPayouts(stage)));
  return parts.join(', ');
}
