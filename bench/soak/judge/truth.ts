// What the chains themselves say: every canonical block, read with none of the gateway's code, and sorted.
import { type Currency, NATIVE_CURRENCY, type Network } from '../../../src/domain/assets.ts';
import { leastUnits } from '../plan/amounts.ts';

/** Money, or what looks like it, that moved; addresses as the run writes them. */
export type Transfer = {
  /** `coin`, or the contract of the token that says so. */
  readonly asset: string;
  readonly from: string;
  readonly to: string;
  readonly units: bigint;
};
/** A transaction as its block shows it. */
export type ChainTransaction = {
  readonly hash: string;
  readonly from: string;
  readonly ok: boolean;
  /** In base units of the coin; gone also where it failed. */
  readonly feeUnits: bigint;
  /** All that moved, whatever moved it; nothing where it failed. */
  readonly transfers: readonly Transfer[];
};
export type ChainBlock = {
  readonly number: number;
  readonly hash: string;
  readonly parentHash: string;
  readonly transactions: readonly ChainTransaction[];
};

/** A transfer, or several of one transaction to one address, that has to become a deposit. */
export type Credit = {
  readonly network: Network;
  readonly hash: string;
  readonly address: string;
  readonly currency: Currency;
  readonly amountUnits: bigint;
  readonly blockNumber: number;
  readonly blockHash: string;
  /** Below the smallest deposit that is credited. */
  readonly belowMinimum: boolean;
};
/** A transaction that a wallet of the run's gateway sent. */
export type SentByUs = {
  readonly network: Network;
  readonly hash: string;
  readonly from: string;
  readonly ok: boolean;
  readonly feeUnits: bigint;
  readonly moves: readonly { readonly to: string; readonly currency: Currency; readonly units: bigint }[];
};

/** What the chains say together. */
export type Truth = {
  readonly heads: ReadonlyMap<Network, number>;
  /** Hashes of every transaction of every canonical block. */
  readonly transactions: ReadonlySet<string>;
  /** By {@link creditKey}. */
  readonly credits: ReadonlyMap<string, Credit>;
  /** Everything that ever reached an address of the run, credited or not: base units by {@link placeKey}. */
  readonly arrived: ReadonlyMap<string, bigint>;
  /** What deposit addresses and wallets for gas have sent. */
  readonly sent: readonly SentByUs[];
  /**
   * What is never credited but has to be kept for the operator, unknown tokens, dust and real
   * money on test addresses: units by network, transaction and address.
   */
  readonly strange: ReadonlyMap<string, bigint>;
};

/**
 * `live` are the addresses whose deposits are credited, `own` every deposit address of the run,
 * `gas` the wallets that pay for gas, `destinations` where merchants are paid out.
 */
export type TruthRules = Readonly<Record<'live' | 'own' | 'gas' | 'destinations', ReadonlySet<string>>>;

/** An address as the run writes it: those of BNB Chain in lower case. */
export function addressAs(network: string, address: string): string {
  return network === 'bsc' ? address.toLowerCase() : address;
}

/** What a deposit is known by: network, transaction, address and asset. */
export function creditKey(network: string, hash: string, address: string, currency: string): string {
  return `${network} ${hash} ${addressAs(network, address)} ${currency}`;
}

/** An asset on an address. */
export function placeKey(network: string, address: string, currency: string): string {
  return `${network} ${addressAs(network, address)} ${currency}`;
}

type Chain = {
  readonly network: Network;
  readonly usdt: string;
  blocks(): AsyncIterable<ChainBlock>;
};

/** Reads all chains to their heads. Throws when blocks do not link, which would be a fault of the node. */
export async function readTruth(chains: readonly Chain[], rulesOf: (network: Network) => TruthRules) {
  const transactions = new Set<string>();
  const credits = new Map<string, Credit>();
  const [arrived, strange, heads] = [sums(), sums(), new Map<Network, number>()];
  const sent: SentByUs[] = [];
  for (const { network, usdt, blocks } of chains) {
    const rules = rulesOf(network);
    const currencyOf = (asset: string): Currency | undefined =>
      asset === 'coin' ? NATIVE_CURRENCY[network] : asset === usdt ? 'USDT' : undefined;
    let parent: string | undefined;
    for await (const block of blocks()) {
      if (parent !== undefined && block.parentHash !== parent)
        throw new Error(`block ${block.number} of ${network} does not follow its parent`);
      parent = block.hash;
      heads.set(network, block.number);
      for (const transaction of block.transactions) {
        const { hash, from, ok, feeUnits, transfers } = transaction;
        transactions.add(hash);
        if (rules.own.has(from) || rules.gas.has(from)) {
          const own = transfers.filter((transfer) => transfer.from === from);
          const moves = own.flatMap(({ to, asset, units }) => {
            const currency = currencyOf(asset);
            return currency === undefined ? [] : [{ to, currency, units }];
          });
          sent.push({ network, hash, from, ok, feeUnits, moves });
        }
        for (const transfer of transfers) {
          const currency = currencyOf(transfer.asset);
          sort({ network, hash, block, transfer, currency, rules }, { credits, arrived, strange });
        }
      }
    }
  }
  // Dust is what all of one transaction to an address comes to.
  for (const [key, { network, hash, address, currency, amountUnits }] of credits) {
    if (amountUnits >= leastUnits('dustFloor', network, currency)) continue;
    credits.delete(key);
    strange.add(`${network} ${hash} ${address}`, amountUnits);
  }
  const truth: Truth = { heads, transactions, credits, arrived: arrived.map, strange: strange.map, sent };
  return truth;
}

type Found = {
  readonly network: Network;
  readonly hash: string;
  readonly block: ChainBlock;
  readonly transfer: Transfer;
  readonly currency: Currency | undefined;
  readonly rules: TruthRules;
};
type Sums = ReturnType<typeof sums>;

function sort(
  { network, hash, block, transfer: { from, to, units }, currency, rules }: Found,
  into: { readonly credits: Map<string, Credit>; readonly arrived: Sums; readonly strange: Sums },
): void {
  const { own, live, gas, destinations } = rules;
  const strange = () => into.strange.add(`${network} ${hash} ${to}`, units);
  if (currency === undefined) {
    if (own.has(to)) strange();
    return;
  }
  if (own.has(to) || gas.has(to) || destinations.has(to))
    into.arrived.add(placeKey(network, to, currency), units);
  // What wallets of ours send each other is no deposit.
  if (!own.has(to) || gas.has(from) || own.has(from)) return;
  if (!live.has(to)) {
    strange();
    return;
  }
  const key = creditKey(network, hash, to, currency);
  const amountUnits = (into.credits.get(key)?.amountUnits ?? 0n) + units;
  const at = { blockNumber: block.number, blockHash: block.hash };
  const belowMinimum = amountUnits < leastUnits('minimum', network, currency);
  into.credits.set(key, { network, hash, address: to, currency, amountUnits, belowMinimum, ...at });
}

/** Sums by a key. */
export function sums() {
  const map = new Map<string, bigint>();
  return { map, add: (key: string, units: bigint) => void map.set(key, (map.get(key) ?? 0n) + units) };
}
