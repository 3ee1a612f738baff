// What befalls payouts in a run: empty wallets for gas, a merchant who moves, and blocks that are replaced.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Network } from '../../src/domain/assets.ts';
import { giveGas } from './gas.ts';
import type { MerchantName } from './plan/plan.ts';
import { count, note, type Play } from './play.ts';
import { chainOn } from './stage.ts';
import { newDestinations } from './wallets.ts';

const REDIRECT_WITHIN_MS = 120_000;
/** A run in which no payout comes to wait for coins goes on without. */
const EMPTY_WITHIN_MS = 120_000;
const RETRY_MS = 1_000;
const UNPAID_WITHIN_MS = 45_000;
/** From then on also a payout that a slow gateway has sent, and has not seen in a block yet. */
const SEEN_WITHIN_MS = 20_000;
const LOOK_EVERY_MS = 200;

/**
 * Coins for everything that is still to be paid out, once a payout has been seen to wait for some, which on a
 * slow machine may be later than planned; a reorg may take them back.
 */
export async function refill(play: Play, network: Network): Promise<void> {
  const { stage } = play;
  const until = Date.now() + EMPTY_WITHIN_MS;
  while (Date.now() < until) {
    const waiting = await stage
      .sql("select from settlement_waits where network = ? and code = 'waiting_for_gas' limit 1", [network])
      .catch(() => []);
    if (waiting.length > 0) break;
    await sleep(RETRY_MS);
  }
  note(play, `${network} coins for the wallet that pays for gas`);
  await giveGas(stage, chainOn(stage, network), 'plenty');
}

/** Has a merchant's withdraw addresses replaced on every chain, through outages. Throws where that fails. */
export async function redirect(play: Play, merchant: MerchantName): Promise<void> {
  const { stage } = play;
  const merchantId = stage.merchantIds[merchant];
  const made = newDestinations(stage, merchant, 'second');
  const options = made.flatMap(({ network, address }) => [`--withdraw-${network}`, address]);
  const askedMs = Date.now();
  for (;;) {
    const { status, said } = await stage.operate(['merchant', 'set', merchantId, ...options]);
    if (status === 0) break;
    if (Date.now() - askedMs > REDIRECT_WITHIN_MS)
      throw new Error(`"merchant set" does not work: ${said.slice(-300)}`);
    await sleep(RETRY_MS);
  }
  const fromMs = Date.now();
  stage.destinations.push(...made.map((one) => ({ ...one, merchantId, askedMs, fromMs })));
  note(play, `merchant ${merchant} is paid out to ${made.map(({ address }) => address).join(' and ')} now`);
}

/**
 * Replaces the block of the newest payout that the gateway has seen in one, and leaves it to the gateway to
 * send it again; after a while without any, of one that it has sent. What it has recorded is looked up only
 * to find the moment.
 */
export async function unpay(play: Play, network: Network): Promise<void> {
  const { stage } = play;
  const from = Date.now();
  while (Date.now() < from + UNPAID_WITHIN_MS) {
    const states = Date.now() < from + SEEN_WITHIN_MS ? "'mined'" : "'mined', 'sent', 'signed'";
    const [row] = await stage
      .sql<{ hash: string }>(
        `select hash from sent_transactions where network = ? and purpose = 'payout' and state in (${states})
         order by block_number desc nulls last, created_at desc limit 1`,
        [network],
      )
      .catch(() => []);
    // A block that became final meanwhile stays: then the next payout is tried.
    const dropped =
      row &&
      (await chainOn(stage, network)
        .drop(row.hash, async () => true)
        .catch(() => undefined));
    if (dropped) {
      count(play, `${network} payout taken out of its block`);
      note(play, `${network} payout ${dropped.hash} was taken out of its block`);
      return;
    }
    await sleep(LOOK_EVERY_MS);
  }
  count(play, `${network} no payout to take out of a block`);
}
