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

/** A transaction that a wallet of the run's gateway sent, as the block that holds it shows it. */
export type SentByUs = {
  readonly network: Network;
  readonly hash: string;
  readonly from: string;
  /** Its place among the transactions of its sender; null on a chain that has none. */
  readonly nonce: number | null;
  readonly ok: boolean;
  /** In base units of the coin; gone also where it failed. */
  readonly feeUnits: bigint;
  readonly moves: readonly {
    readonly to: string;
    readonly currency: Currency;
    readonly amountUnits: bigint;
  }[];
};

/** What one chain says; of several chains, what they say together. */
export type Truth = {
  /** Hashes of every transaction of every canonical block. */
  readonly transactions: ReadonlySet<string>;
  /** By {@link creditKey}. */
  readonly credits: ReadonlyMap<string, Credit>;
  /**
   * Everything that ever reached an address of the run, credited or not, wallets for gas
   * and those of merchants among them: base units by {@link placeKey}.
   */
  readonly arrived: ReadonlyMap<string, bigint>;
  /** The part of it on deposit addresses that is neither credited nor came from a wallet for gas. */
  readonly uncredited: ReadonlyMap<string, bigint>;
  /** What deposit addresses and wallets for gas have sent, in the order of the blocks. */
  readonly sent: readonly SentByUs[];
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

/**
 * `live` are the addresses whose deposits are credited, `own` every deposit address of the run,
 * `gas` the wallets that pay for gas, `destinations` where merchants are paid out.
 */
export type TruthRules = Readonly<Record<'live' | 'own' | 'gas' | 'destinations', ReadonlySet<string>>>;

/** Whether money that reaches an address matters to the run. */
export function isWatched({ own, gas, destinations }: TruthRules, address: string): boolean {
  return own.has(address) || gas.has(address) || destinations.has(address);
}

/** Whether an address is one whose transactions only the gateway's signer should make. */
export function isWallet({ own, gas }: TruthRules, address: string): boolean {
  return own.has(address) || gas.has(address);
}

/** Sorts what a reading of one chain finds, block by block in their order. */
export type Findings = {
  transaction(hash: string): void;
  /** What one of our wallets sent, whether it succeeded or not. */
  sent(transaction: Omit<SentByUs, 'network'>): void;
  /** Money of ours that moved: the coin or the token, to one of `own`. */
  moved(hash: string, block: { readonly number: number; readonly hash: string }, movement: Movement): void;
  /** Something that looks like money and is none of ours, in its own units. */
  foreign(hash: string, address: string, units: bigint): void;
  /** Everything, once the block at `head` is read. */
  end(head: number): ChainTruth;
};

/** Begins with nothing found. */
export function startFindings(network: Network, { live, own, gas }: TruthRules): Findings {
  const transactions = new Set<string>();
  const credits = new Map<string, Credit>();
  const arrived = new Map<string, bigint>();
  const uncredited = new Map<string, bigint>();
  const strange = new Map<string, bigint>();
  const sent: SentByUs[] = [];
  return {
    transaction: (hash) => void transactions.add(hash),
    sent: (transaction) => void sent.push({ network, ...transaction }),
    foreign: (hash, address, units) => increase(strange, strangeKey(network, hash, address), units),
    moved: (hash, block, { from, to, currency, amountUnits: moved }) => {
      const place = placeKey(network, to, currency);
      increase(arrived, place, moved);
      if (!own.has(to) || gas.has(from)) return;
      if (own.has(from) || !live.has(to)) increase(uncredited, place, moved);
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
        increase(uncredited, placeKey(network, address, currency), amountUnits);
      }
      return { head, transactions, credits, arrived, uncredited, strange, sent };
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
    uncredited: new Map(truths.flatMap((truth) => [...truth.uncredited])),
    sent: truths.flatMap((truth) => [...truth.sent]),
    strange: new Map(truths.flatMap((truth) => [...truth.strange])),
  };
}
