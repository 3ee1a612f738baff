import { setTimeout as sleep } from 'node:timers/promises';
import type { Currency, Network } from '../../src/domain/assets.ts';
import { spendersOf } from './oracle/reconciled.ts';
import { addressAs } from './oracle/truth.ts';
import { settleMinUnits } from './plan/amounts.ts';
import { PLANNED } from './plan/networks.ts';
import type { Stage } from './stage.ts';

const LOOK_EVERY_MS = 500;

/** At how many addresses at once a payout waited for each reason, at most, by network and reason. */
export type Waits = ReadonlyMap<string, number>;

/** Looks at the reasons for which payouts wait until the signal aborts. */
export function watchWaits(stage: Stage, signal: AbortSignal): { waits: Waits; ended: Promise<void> } {
  const waits = new Map<string, number>();
  const look = async () => {
    const rows = await stage
      .sql<{ place: string; addresses: number }>(
        `select network || ' ' || code as place, count(*)::int as addresses from settlement_waits group by 1`,
      )
      .catch(() => []);
    for (const { place, addresses } of rows) waits.set(place, Math.max(waits.get(place) ?? 0, addresses));
  };
  const run = async () => {
    while (!signal.aborted) {
      await look();
      await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  };
  return { waits, ended: run() };
}

type Place = { readonly network: Network; readonly address: string };
type Due = Place & { readonly currency: Currency; readonly merchant_id: string; readonly units: string };

/** What may be paid out and is not yet, in words; empty where there is nothing. */
export async function openPayouts(stage: Stage): Promise<string[]> {
  const { sql, customers, destinations } = stage;
  const spenders = spendersOf(customers);
  const isForeign = ({ network, address }: Place) =>
    !spenders.includes(`${network} ${addressAs(network, address)}`);
  const under = await sql<Place>(
    `select network, address from payouts where state in ('planned', 'paying') and not simulated`,
  );
  const due = await sql<Due>(
    `select network, address, currency, merchant_id, sum(amount_units)::text as units from deposits
     where mode = 'live' and not simulated and status = 'completed' and payout_id is null
     group by 1, 2, 3, 4`,
  );
  const paysOut = new Set(PLANNED.filter((chain) => chain.paysOut).map(({ network }) => network));
  const left = due
    .filter(isForeign)
    .filter(({ network }) => paysOut.has(network))
    .filter((row) => BigInt(row.units) >= settleMinUnits(row.network, row.currency))
    .filter((row) =>
      destinations.some((one) => one.merchantId === row.merchant_id && one.network === row.network),
    );
  const living = under.filter(isForeign).length;
  return [
    ...(living > 0 ? [`${living} payouts under way`] : []),
    ...(left.length > 0 ? [`${left.length} places to pay out`] : []),
  ];
}
