// Coins from the gas wallet that an address lacks for a payout.

import { firstRow, sql } from '../../../db/sql.ts';
import { assetOf, NATIVE_CURRENCY, type Network } from '../../../domain/assets.ts';
import { formatUnits } from '../../../domain/money.ts';
import { waits } from '../../../domain/payouts/facts.ts';
import { coinsIn, type GasWallet, gasWalletOf, spokenFor } from './coins.ts';
import type { Held } from './memory.ts';
import type { Assessing, Outgoing, Ready } from './outgoing.ts';
import { ANY_COINS, notKept, quoted, refusedBy } from './quoted.ts';
import { tooDear } from './too-dear.ts';

const QUICK_MS = 5_000;

/**
 * Why a gas wallet pays for nothing at present, as it was seen a moment ago; undefined where it is asked, and
 * where somebody has seen more in it since.
 */
export async function lackingOf(deps: Assessing, network: Network): Promise<Held | undefined> {
  const lacking = deps.memory.lacking.get(network);
  if (!lacking || lacking.until <= deps.now().getTime()) return undefined;
  const { at, coins, wait } = lacking;
  const rose = await firstRow(
    deps.orm.em.fork(),
    sql`select 1 from gas_levels where network = ${network} and at > ${at}
      and units > ${coins.toString()}::numeric`,
  );
  return rose ? undefined : wait;
}

/**
 * Coins that an address lacks, from the gas wallet, or why they are not sent: of a fee, which may rise until
 * it is paid, somewhat more than that. `mostUnits` is what the payout itself costs at most.
 */
export async function assessTopUp(
  deps: Assessing,
  money: Outgoing,
  { missing, mostUnits }: { readonly missing: bigint; readonly mostUnits: bigint },
): Promise<Ready | Held> {
  const em = deps.orm.em.fork();
  const from = await gasWalletOf(em, money.network);
  if (!from) return noGasWallet();
  const order = { from: from.addressKey, to: money.addressKey, kind: 'native', units: ANY_COINS } as const;
  const quote = await quoted(deps, order, true);
  if (quote.kind === 'refused') return refusedBy(quote);
  const isFee = assetOf(money.network, money.currency).kind === 'token';
  const { topUpMarginPercent = 0n } = deps.chain.spending ?? {};
  const units = missing + (isFee ? (missing * topUpMarginPercent) / 100n : 0n);
  const dear = await tooDear(deps, money, mostUnits + quote.mostUnits);
  if (dear) return dear;
  const lacking = await lacksCoins(deps, money, from, { units, feeUnits: quote.mostUnits });
  return lacking ?? { does: 'top_up', from, units, terms: quote.terms };
}

/** That nobody has said yet which wallet pays. */
export function noGasWallet(): Held {
  return waits(
    'signer_away',
    'no signer has said yet which wallet pays for gas: start one ("start --role signer")',
    QUICK_MS,
  );
}

/** Why a gas wallet cannot send so much for this fee; undefined where it can. */
export async function lacksCoins(
  deps: Assessing,
  { network }: Outgoing,
  from: GasWallet,
  { units, feeUnits }: { readonly units: bigint; readonly feeUnits: bigint },
): Promise<Held | undefined> {
  const { shortLookMs = 0 } = deps.chain.spending ?? {};
  const coins = await coinsIn(deps, network, from.addressKey);
  if (coins === undefined) return notKept(network);
  const free = coins - (await spokenFor(deps.orm.em.fork(), network, from.addressKey, feeUnits));
  const lacking = units + feeUnits - free;
  if (lacking <= 0n) {
    deps.memory.lacking.delete(network);
    return undefined;
  }
  const coin = NATIVE_CURRENCY[network];
  const amount = `${formatUnits(lacking, assetOf(network, coin).decimals)} ${coin}`;
  const wait: Held = {
    ...waits(
      'waiting_for_gas',
      `the gas wallet has too little to pay for it: send at least ${amount} to ${from.address}`,
      shortLookMs,
    ),
    needs: { units: lacking, address: from.address },
  };
  const at = deps.now();
  deps.memory.lacking.set(network, { wait, until: at.getTime() + shortLookMs, coins, at });
  return wait;
}
