// What the rest of the gateway knows about a chain. Types only:
// an adapter for another chain implements these and nothing else.
import type { AssetKind, Currency, Network } from '../domain/assets.ts';
import type { AddressKey } from './address-key.ts';
import type { SentByUs } from './outgoing.ts';
import type { ReaderPace } from './pace.ts';

/** A block by height and hash. `timestampMs` is the chain's own clock, in milliseconds since 1970. */
export type BlockRef = {
  readonly number: number;
  readonly hash: string;
  readonly parentHash: string;
  readonly timestampMs: number;
};

/** A block as one endpoint named it. */
export type NamedBlock = BlockRef & { readonly host: string };

/**
 * A block that was named as final, and the block that a second endpoint names as final, where one does:
 * this is the lower of the two and `second` the higher one.
 */
export type FinalBlock = NamedBlock & {
  readonly second?: NamedBlock;
  /**
   * Another endpoint was asked and is slow: until it answers, nothing is
   * verified on this endpoint's word alone.
   */
  readonly isAwaited?: true;
};

/**
 * What one endpoint says of a height. Only another hash contradicts a block: `above its head` and `not there`
 * (pruned, or a lagging node behind a load balancer) both mean that this endpoint does not know.
 */
export type HeightView = {
  readonly host: string;
  /** Its newest block, asked for after the height. */
  readonly head: BlockRef;
  /** Null where it does not tell what is final. */
  readonly finalized: BlockRef | null;
  readonly block: BlockRef | 'above its head' | 'not there';
};

/**
 * Money that one transaction brought to one watched address in one asset, already summed. `to` and
 * `from` are spelled as the chain's `addresses.spell` does; `from` is null where several senders differ.
 */
export type Transfer = {
  readonly txHash: string;
  readonly to: string;
  readonly from: string | null;
  readonly currency: Currency;
  readonly kind: AssetKind;
  readonly amountUnits: bigint;
  /** True where only a trace showed it, or a part of it. */
  readonly inside?: true;
};

/** Something arrived that is never credited (another token, an odd log): kept for the operator, with why. */
export type UnrecognisedTransfer = {
  readonly txHash: string;
  readonly to: string;
  readonly contract: string | null;
  readonly amountUnits: bigint | null;
  readonly reason: string;
};

/**
 * A successful transaction whose input names a wanted address, so
 * that it may have paid it. `calldata` is 0x hex in lower case.
 */
export type NamedTransaction = {
  readonly txHash: string;
  readonly addressKey: AddressKey;
  readonly calldata: string;
};

/**
 * One whole block as the gateway sees it. `unrecognised` is never credited, and `unrecognisedDropped`
 * counts what was over the limit of `unrecognised`.
 */
export type ScannedBlock = BlockRef & {
  readonly transfers: readonly Transfer[];
  readonly unrecognised: readonly UnrecognisedTransfer[];
  readonly unrecognisedDropped: number;
  /**
   * What our own wallets sent to watched addresses: it is never credited, but
   * explains a balance. Absent means none.
   */
  readonly own?: readonly Transfer[];
  /** All that keys of our wallets have signed, successful or not. Absent means none. */
  readonly sent?: readonly SentByUs[];
  /** Present where a transaction itself brought coins to a wallet that pays for gas; it proves nothing. */
  readonly fundsGas?: true;
  /**
   * Present where the endpoint did not show what contracts passed on: amounts of
   * the native coin are then a lower limit, and the absence of a native transfer
   * proves nothing. Holds the hashes of the transactions that succeeded.
   */
  readonly untraced?: { readonly succeeded: ReadonlySet<string> };
  /** Present where `naming` was asked for. */
  readonly named?: readonly NamedTransaction[];
  /**
   * Which transactions the block holds, in a form that {@link ChainReader.confirm} compares. Present
   * only where nothing in the block touches us.
   */
  readonly fingerprint?: string;
};

/** A block that touched nobody of ours when it was read. */
export type QuietBlock = BlockRef & { readonly fingerprint: string };

/**
 * Everything that one transaction brought to watched addresses, what contracts passed on inside it
 * included, as the endpoints that trace it show it. `agreed` is false where two of them differ: then
 * `transfers` is what the first one shows and proves nothing.
 */
export type TracedTransaction = {
  readonly hosts: readonly string[];
  readonly agreed: boolean;
  readonly transfers: readonly Transfer[];
};

/** What lies on an address at the end of a block, in base units. */
export type Balance = {
  readonly addressKey: AddressKey;
  readonly nativeUnits: bigint;
  readonly tokenUnits: bigint;
};

/**
 * Balances that were read while the final block rose from one height to another, in the order of the
 * addresses.
 */
export type CurrentBalances = {
  readonly from: number;
  readonly to: number;
  readonly rows: readonly Balance[];
};

/**
 * The addresses that belong to us. `text` holds 40 hex digits
 * of any case from `offset` on (default: after a leading 0x).
 */
export interface AddressLookup {
  /** True for a customer's deposit address: money that reaches it counts. */
  has(text: string, offset?: number): boolean;
  /**
   * True for each of our wallets, deposit addresses and gas wallets: money that comes from it does not count.
   */
  isOwn(text: string, offset?: number): boolean;
}

/**
 * Reads one chain. Every method stops when `signal` aborts (throwing its reason),
 * and throws `RpcUnavailable` when no endpoint gives a complete answer. `undefined`
 * always means "the chain does not have it (yet)", never "could not find out".
 */
export interface ChainReader {
  readonly network: Network;
  readonly pace: ReaderPace;
  /** The newest block. It may be lower than an earlier result when another endpoint has to answer. */
  head(signal: AbortSignal): Promise<NamedBlock>;
  /**
   * The newest block that cannot be replaced any more, confirmed by two endpoints where two name one.
   * May be lower than an earlier result, like `head`.
   */
  finalized(signal: AbortSignal): Promise<FinalBlock>;
  header(number: number, signal: AbortSignal): Promise<BlockRef | undefined>;
  /**
   * The same height seen by every endpoint that answers, each with its own head and finality: three requests
   * to each of them. Endpoints that fail or are left alone are left out; at least one view remains.
   */
  views(number: number, signal: AbortSignal): Promise<readonly HeightView[]>;
  /** How many endpoints are configured, whether they answer or not. */
  readonly endpoints: number;
  /**
   * Reads a block completely, or not at all. A final block is shown with what contracts passed on wherever an
   * endpoint offers that, a block at the head only where the endpoint that gives the block does. `naming`
   * (keys of addresses) also asks which transactions name one of them.
   */
  scan(
    number: number,
    watched: AddressLookup,
    signal: AbortSignal,
    naming?: readonly AddressKey[],
  ): Promise<ScannedBlock | undefined>;
  /**
   * The second read of a final block that did not touch us: what its hash proves is not asked for again, only
   * what no hash proves. True where that still shows nothing of ours; false where the block has to be read
   * whole; undefined where no endpoint has it as final (yet). Absent where every block is read twice whole.
   */
  readonly confirm?: (
    block: QuietBlock,
    watched: AddressLookup,
    signal: AbortSignal,
  ) => Promise<boolean | undefined>;
  /**
   * The balances at the end of a block, in the order of the addresses (at most
   * 500). `undefined` when no endpoint keeps the state of that block: most drop it
   * after about a minute. Absent for a chain that cannot be asked for the past.
   */
  readonly balances?: (
    addresses: readonly AddressKey[],
    number: number,
    signal: AbortSignal,
  ) => Promise<readonly Balance[] | undefined>;
  /**
   * The balances of this moment, for a chain that cannot be asked for the past: at most 500 addresses. One
   * that lags behind shows old ones, so a difference means something only when it is seen again minutes
   * later. `undefined` where the requests for it are not to spare now.
   */
  readonly currentBalances?: (
    addresses: readonly AddressKey[],
    signal: AbortSignal,
  ) => Promise<CurrentBalances | undefined>;
  /**
   * Asks every endpoint to trace this one transaction of this very block. `undefined` when no endpoint that
   * answers traces it. Absent for a chain whose blocks show everything.
   */
  readonly traceTransaction?: (
    block: Pick<BlockRef, 'number' | 'hash'>,
    txHash: string,
    watched: AddressLookup,
    signal: AbortSignal,
  ) => Promise<TracedTransaction | undefined>;
  /**
   * This very block as every endpoint that answers shows it, with what contracts passed on where that
   * endpoint itself shows it. Absent for a chain whose endpoints cannot be told apart.
   */
  readonly readings?: (
    block: Pick<BlockRef, 'number' | 'hash'>,
    watched: AddressLookup,
    signal: AbortSignal,
  ) => Promise<readonly { readonly host: string; readonly block: ScannedBlock }[]>;
  /**
   * Final blocks that were read without their trace although
   * it may be had later. Absent where no traces are read.
   */
  readonly missedTraces?: MissedTraces | undefined;
  /** Where a transaction is in the canonical chain. `undefined` only when no endpoint that answers has it. */
  locate(
    txHash: string,
    signal: AbortSignal,
  ): Promise<{ readonly blockNumber: number; readonly blockHash: string } | undefined>;
  /**
   * Proves that the endpoints serve the configured chain, the one that was read before, and that the token
   * has the decimals we count with; throws `ChainMismatch`. Returns what tells this chain from every other
   * one, at most 80 characters; `known` is what it returned before.
   */
  checkIdentity(signal: AbortSignal, known?: string): Promise<string>;
}

/** What a process remembers of traces to ask for again: bounded, and lost with the process. */
export interface MissedTraces {
  /** The heights to read again now; each comes again later, for about ten minutes, until it is done. */
  due(): number[];
  done(number: number): void;
}

/**
 * The price of one whole coin in US dollars, fixed point with 8 decimals. `stale` means the
 * newest price known is older than it should be.
 */
export type Price = {
  readonly usd8: bigint;
  readonly source: string;
  readonly at: Date;
  readonly stale: boolean;
};

export interface PriceSource {
  /** True where requests are counted by the day: it is then asked only for prices that are needed. */
  readonly costly?: boolean;
  /**
   * `undefined` when no price was ever seen. Never throws for
   * an unreachable source: prices must not stop deposits.
   */
  price(currency: Currency, signal: AbortSignal): Promise<Price | undefined>;
}
