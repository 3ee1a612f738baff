import { setTimeout as sleep } from 'node:timers/promises';
import type { Network } from '../../src/domain/assets.ts';
import type { PayAction } from './plan/plan.ts';
import { count, customerOf, inTurn, note, type Play } from './play.ts';
import { chainOn } from './stage.ts';

/**
 * Tries to have a payment recorded and then replaced; the
 * watcher may be down just then, and finality passes in seconds.
 */
const TRIES = 8;
/**
 * From then on the chain waits for the watcher: on a busy machine it may be some blocks behind for minutes.
 */
const CHAIN_WAITS_AFTER_TRIES = 3;
/** On a busy machine one takes longer than the next one waits to begin; the queue would outlast the run. */
const MAX_QUEUED = 3;
const SEEN_WITHIN_MS = 20_000;
const WITHDRAWN_WITHIN_MS = 90_000;
const LOOK_EVERY_MS = 150;

/**
 * Pays, waits until the gateway has recorded it, replaces its block by one without
 * it, waits until the gateway has withdrawn the deposit, and sends the same
 * transaction again: its deposit has to begin a second generation. What the gateway
 * has recorded is looked up only to find the moment; the oracle does not rely on it.
 */
export function beReborn(play: Play, payment: PayAction): Promise<void> {
  const { network } = payment;
  if ((play.queued.get(`reborn ${network}`) ?? 0) >= MAX_QUEUED) {
    count(play, `${network} not withdrawn: those before it took too long`);
    return Promise.resolve();
  }
  return inTurn(play, `reborn ${network}`, async () => {
    const people = await Promise.all(payment.customers.map((number) => customerOf(play, number)));
    const chain = chainOn(play.stage, network);
    for (let tries = 1; tries <= TRIES; tries++) {
      const hash = await chain.pay(
        payment,
        people.map((person) => person.addresses[network]),
      );
      note(play, `to be mined twice: ${network} ${payment.shape} ${hash}`);
      const recorded = () =>
        until(SEEN_WITHIN_MS, async () => (await statesOf(play, network, hash)).length > 0);
      const now = tries > CHAIN_WAITS_AFTER_TRIES || (await recorded());
      const sent = now ? await chain.drop(hash, recorded) : undefined;
      if (sent === undefined) continue;
      const failed = await until(WITHDRAWN_WITHIN_MS, async () => {
        const states = await statesOf(play, network, hash);
        return states.length > 0 && states.every((state) => state === 'failed');
      });
      note(play, `${hash} ${failed ? 'was withdrawn' : 'was NOT withdrawn in time'}; sent again`);
      await chain.sendAgain(sent);
      if (failed) count(play, `${network} withdrawn and mined again`);
      return;
    }
    throw new Error('no payment was recorded in time to be replaced');
  });
}

async function statesOf({ stage }: Play, network: Network, hash: string): Promise<string[]> {
  const rows = await stage
    .sql<{ status: string }>('select status from deposits where network = ? and transaction_hash = ?', [
      network,
      hash,
    ])
    .catch(() => []);
  return rows.map((row) => row.status);
}

/** Whether it became true in time. */
async function until(limitMs: number, holds: () => Promise<boolean>): Promise<boolean> {
  const endMs = Date.now() + limitMs;
  while (Date.now() < endMs) {
    if (await holds()) return true;
    await sleep(LOOK_EVERY_MS);
  }
  return false;
}
