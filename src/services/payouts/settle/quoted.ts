// What the chain says that a transfer takes, or why nobody says it.
import type { Quote, SpendOrder } from '../../../chains/spending.ts';
import type { Network } from '../../../domain/assets.ts';
import { waits } from '../../../domain/payouts/facts.ts';
import type { Held } from './memory.ts';
import type { Assessing } from './outgoing.ts';

const QUICK_MS = 5_000;
const MINUTE_MS = 60_000;
const SLOW_MS = 10 * MINUTE_MS;
/** More than any top-up: what a transfer of coins costs depends on no amount. */
export const ANY_COINS: bigint = 10n ** 18n;

/** See `Spending.quote`. */
export async function quoted(
  { chain, signal }: Assessing,
  order: SpendOrder,
  careful: boolean,
): Promise<Quote> {
  if (!chain.spending) throw new Error(`nothing is paid out on ${chain.reader.network}`);
  return await chain.spending.quote(order, { careful }, signal);
}

/** Why a transfer waits that is refused at present. */
export function refusedBy({ code, reason }: Quote & { kind: 'refused' }): Held {
  if (code === 'gas_price') return waits('gas_price', reason, MINUTE_MS / 2);
  if (code === 'requests') return waits('requests', reason, SLOW_MS);
  if (code === 'worthless') return waits('fee_too_high', reason, SLOW_MS);
  return waits('refuses', reason, SLOW_MS);
}

/** That nobody tells what lies on an address now. */
export function notKept(network: Network): Held {
  return waits(
    'chain_behind',
    `no endpoint tells what lies on the address at the last block of ${network} that was read twice: it goes on when the reading has caught up and requests are left for it; see that the endpoints answer ("doctor")`,
    QUICK_MS,
  );
}
