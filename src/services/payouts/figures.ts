// Figures about payouts, from rows: for metrics.
import { SignerState } from '../../db/entities/index.ts';
import { firstRow, rows, sql } from '../../db/sql.ts';
import { assetOf, NATIVE_CURRENCY, NETWORKS, type Network } from '../../domain/assets.ts';
import { WAIT_CODES, type WaitCode } from '../../domain/payouts/waits.ts';
import type { Deps } from '../deps.ts';
import { type GasLevel, readGasLevels } from './gas.ts';

const COUNTED = 10_000;
/** The cost of a settled deposit is that of so many of the newest payouts, at most of this time. */
const LAST_PAYOUTS = 500;
const LAST_MS = 24 * 60 * 60_000;
const USD8: bigint = 10n ** 8n;
/** A cost in millionths of a dollar: less than any fee. */
const MICRO = 1_000_000n;

export type PayoutFigures = {
  /** Addresses that wait for this reason, counted up to 10,000. */
  readonly waiting: readonly {
    readonly network: Network;
    readonly code: WaitCode;
    readonly count: number;
  }[];
  /** Undefined before a signer has run. */
  readonly signer: SignerState | undefined;
  readonly gas: readonly GasLevel[];
  /** What a deposit cost that was settled lately, on average, in millionths of a US dollar. */
  readonly costs: readonly { readonly network: Network; readonly microUsd: bigint }[];
};

/** Reads all of them; no chain and no price source is asked. */
export async function readPayoutFigures(deps: Deps): Promise<PayoutFigures> {
  const em = deps.orm.em.fork();
  const waiting = await rows(
    em,
    sql<PayoutFigures['waiting'][number]>`
      select n.network, c.code, (select count(*) from (select 1 from settlement_waits w
          where w.code = c.code and w.network = n.network limit ${COUNTED}) counted)::int as count
      from unnest(${[...NETWORKS]}::text[]) n (network), unnest(${[...WAIT_CODES]}::text[]) c (code)`,
  );
  const signer = await em.findOne(SignerState, 'signer');
  const gas = await readGasLevels(em);
  const costs: { network: Network; microUsd: bigint }[] = [];
  for (const { network, coinUsd8 } of gas) {
    const microUsd = coinUsd8 === null ? undefined : await costOf(deps, network, coinUsd8);
    if (microUsd !== undefined) costs.push({ network, microUsd });
  }
  return {
    waiting,
    signer: signer ?? undefined,
    gas,
    costs,
  };
}

/** What gives energy back comes after the payout is settled, and is no part of what its merchant sees. */
async function costOf(deps: Deps, network: Network, coinUsd8: bigint): Promise<bigint | undefined> {
  const row = await firstRow(
    deps.orm.em.fork(),
    sql<{ fees: string; deposits: string }>`
      select coalesce(sum(fee_units + (select coalesce(sum(s.fee_units), 0) from sent_transactions s
          where s.payout_id = p.id and s.purpose = 'reclaim' and s.state = 'final')), 0)::text as fees,
        coalesce(sum((select count(*) from deposits d where d.payout_id = p.id)), 0)::text as deposits
      from (select id, fee_units from payouts where network = ${network} and state = 'settled'
        and not simulated and settled_at > ${new Date(deps.now().getTime() - LAST_MS)}
        order by settled_at desc limit ${LAST_PAYOUTS}) p`,
  );
  const deposits = BigInt(row?.deposits ?? '0');
  if (deposits === 0n) return undefined;
  const { decimals } = assetOf(network, NATIVE_CURRENCY[network]);
  const scale = USD8 * 10n ** BigInt(decimals) * deposits;
  return (BigInt(row?.fees ?? '0') * coinUsd8 * MICRO) / scale;
}
