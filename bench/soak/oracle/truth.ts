import type { Currency, Network } from '../../../src/domain/assets.ts';
import { dustFloorUnits, minimumUnits } from '../plan/amounts.ts';

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

/** What one chain says; of several chains, what they say together. */
export type Truth = {
  /** Hashes of every transaction of every canonical block. */
  readonly transactions: ReadonlySet<string>;
  /** By {@link creditKey}. */
  readonly credits: ReadonlyMap<string, Credit>;
  /** Everything that ever reached one of our addresses, credited or not: base units by {@link placeKey}. */
  readonly arrived: ReadonlyMap<string, bigint>;
  /**
   * What is never credited but has to be kept for the operator, unknown
   * tokens, dust and real money on test addresses: units by {@link strangeKey}.
   */
  readonly strange: ReadonlyMap<string, bigint>;
};

/** What one chain says, up to this height. */
export type ChainTruth = Truth & { readonly head: number };

/** Money that moved to one of our addresses; both sides as the run writes addresses of this chain. */
export type Movement = {
  readonly from: string;
  readonly to: string;
  readonly currency: Currency;
  readonly amountUnits: bigint;
};

/** An address as the run writes it: those of BNB Chain in lower case. */
export function addressAs(network: Network, address: string): string {
  return network === 'bsc' ? address.toLowerCase() : address;
}

/** What a deposit is known by: network, transaction, address and asset. */
export function creditKey(network: string, hash: string, address: string, currency: string): string {
  return `${network} ${hash} ${addressAs(network as Network, address)} ${currency}`;
}

/** An asset on an address. */
export function placeKey(network: string, address: string, currency: string): string {
  return `${network} ${addressAs(network as Network, address)} ${currency}`;
}

/** Whatever one transaction brought to an address. */
export function strangeKey(network: string, hash: string, address: string): string {
  return `${network} ${hash} ${addressAs(network as Network, address)}`;
}

/** Sorts what a reading of one chain finds, block by block in their order. */
export type Findings = {
  transaction(hash: string): void;
  /** Money of ours that moved: the coin or the token, to one of `own`. */
  moved(hash: string, block: { readonly number: number; readonly hash: string }, movement: Movement): void;
  /** Something that looks like money and is none of ours, in its own units. */
  foreign(hash: string, address: string, units: bigint): void;
  /** Everything, once the block at `head` is read. */
  end(head: number): ChainTruth;
};

/** `live` are the addresses whose deposits are credited, `own` every deposit address of the run. */
export function startFindings(
  network: Network,
  { live, own }: { readonly live: ReadonlySet<string>; readonly own: ReadonlySet<string> },
): Findings {
  const transactions = new Set<string>();
  const credits = new Map<string, Credit>();
  const arrived = new Map<string, bigint>();
  const strange = new Map<string, bigint>();
  return {
    transaction: (hash) => void transactions.add(hash),
    foreign: (hash, address, units) => increase(strange, strangeKey(network, hash, address), units),
    moved: (hash, block, { from, to, currency, amountUnits: moved }) => {
      increase(arrived, placeKey(network, to, currency), moved);
      if (own.has(from)) return;
      if (!live.has(to)) {
        increase(strange, strangeKey(network, hash, to), moved);
        return;
      }
      const key = creditKey(network, hash, to, currency);
      const amountUnits = (credits.get(key)?.amountUnits ?? 0n) + moved;
      const at = { blockNumber: block.number, blockHash: block.hash };
      const belowMinimum = amountUnits < minimumUnits(network, currency);
      credits.set(key, { network, hash, address: to, currency, amountUnits, belowMinimum, ...at });
    },
    end: (head) => {
      for (const [key, { hash, address, currency, amountUnits }] of credits) {
        if (amountUnits >= dustFloorUnits(network, currency)) continue;
        credits.delete(key);
        increase(strange, strangeKey(network, hash, address), amountUnits);
      }
      return { head, transactions, credits, arrived, strange };
    },
  };
}

function increase(sums: Map<string, bigint>, key: string, units: bigint): void {
  sums.set(key, (sums.get(key) ?? 0n) + units);
}

/** What several chains say. */
export function together(truths: readonly Truth[]): Truth {
  return {
    transactions: new Set(truths.flatMap((truth) => [...truth.transactions])),
    credits: new Map(truths.flatMap((truth) => [...truth.credits])),
    arrived: new Map(truths.flatMap((truth) => [...truth.arrived])),
    strange: new Map(truths.flatMap((truth) => [...truth.strange])),
  };
}
