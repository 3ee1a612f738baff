import { setTimeout as sleep } from 'node:timers/promises';
import type { Currency, Network } from '../../src/domain/assets.ts';
import type { Customer } from './judge/records.ts';
import { addressAs } from './judge/truth.ts';
import { leastUnits } from './plan/amounts.ts';
import { OWN_WALLET } from './plan/plan.ts';
import type { Stage } from './stage.ts';

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

/** What may be paid out of an address in one asset and is not yet. */
export type Due = {
  readonly network: Network;
  readonly address: string;
  readonly currency: Currency;
  readonly merchant_id: string;
  readonly units: string;
};
/** The height of each chain up to which everything has to be read twice. */
type Heads = ReadonlyMap<Network, number>;

/** The addresses that the run itself spends from, each with its network before it. */
export function spendersOf(customers: readonly Customer[]): string[] {
  return customers
    .filter((customer) => customer.number === OWN_WALLET)
    .flatMap(({ addresses }) => Object.entries(addresses).map((entry) => entry.join(' ')));
}

/** What of it has to be paid out: enough, of a merchant who said where to, not what the run spends itself. */
export function mustBePaidOut(due: readonly Due[], stage: Pick<Stage, 'customers' | 'destinations'>): Due[] {
  const spenders = spendersOf(stage.customers);
  return due.filter(
    ({ network, address, currency, merchant_id: merchantId, units }) =>
      !spenders.includes(`${network} ${addressAs(network, address)}`) &&
      BigInt(units) >= leastUnits('settleMin', network, currency) &&
      stage.destinations.some((one) => one.merchantId === merchantId && one.network === network),
  );
}

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
  const { sql, customers } = stage;
  const [open] = await sql<Record<'deposits' | 'deliveries' | 'starts', number>>(
    `select (select count(*)::int from deposits where status in ('detected', 'confirming')
         and not simulated) as deposits,
       (select count(*)::int from webhook_deliveries where status = 'pending') as deliveries,
       (select count(*)::int from outbox) as starts`,
  );
  const cursors = await sql<{ network: string; verified: string }>(
    'select network, verified_number::text as verified from chain_cursors',
  );
  const living = await sql<{ network: Network; address: string }>(
    `select network, address from payouts where state in ('planned', 'paying') and not simulated`,
  );
  const due = await sql<Due>(
    `select network, address, currency, merchant_id, sum(amount_units)::text as units from deposits
     where mode = 'live' and not simulated and status = 'completed' and payout_id is null
     group by 1, 2, 3, 4`,
  );
  const spenders = spendersOf(customers);
  const parts: string[] = [];
  for (const [network, head] of heads) {
    const verified = Number(cursors.find((row) => row.network === network)?.verified ?? -1);
    if (verified < head) parts.push(`${network} block ${verified} of ${head} read twice`);
  }
  const left: readonly (readonly [number, string])[] = [
    [open?.deposits ?? 0, 'deposits wait'],
    [open?.deliveries ?? 0, 'deliveries pending'],
    [open?.starts ?? 0, 'starts in the outbox'],
    [
      living.filter(({ network, address }) => !spenders.includes(`${network} ${addressAs(network, address)}`))
        .length,
      'payouts under way',
    ],
    [mustBePaidOut(due, stage).length, 'places to pay out'],
  ];
  for (const [number, what] of left) if (number > 0) parts.push(`${number} ${what}`);
  return parts.join(', ');
}
