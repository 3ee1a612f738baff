import type { Finding } from '../base/finding.ts';
import type { Variable } from '../config/variable.ts';
import type { Currency, Network } from '../domain/assets.ts';
import type { AddressKey } from './address-key.ts';
import type { RequestCount } from './pace.ts';
import type { ChainReader } from './reader.ts';
import type { EndpointStatus } from './rpc/types.ts';
import type { SeenTransaction } from './seen.ts';
import type { Spending } from './spending.ts';
import type { Transfers } from './transfer.ts';

/** How a chain writes addresses, which are 20 bytes on every chain. */
export type ChainAddresses = {
  /** What an address looks like, for an operator who wrote something else. */
  readonly form: string;
  /**
   * The key of a complete address in the chain's own spelling,
   * its checksum included; undefined for every other text.
   */
  parse(text: string): AddressKey | undefined;
  /** The key of an address in the spelling of the chain's reader. Throws on a text that is no address. */
  key(address: string): AddressKey;
  /** The address as merchants see it. */
  format(key: AddressKey): string;
  /** The address as the chain's reader spells it: one spelling for each key. */
  spell(key: AddressKey): string;
};

/**
 * What a payer's wallet has to be told. `units` are base
 * units, `amount` the same as a decimal string in coins.
 */
export type PaymentRequest = {
  readonly address: string;
  readonly contract: string;
  readonly units: bigint;
  readonly amount: string;
  /** EIP-155; ignored for chains that have none. */
  readonly chainId: number | undefined;
};

/** US dollars: a few cents at most, or between one and ten. */
export type TransferFee = 'cents' | 'dollars';

/** What the settings of every chain say; each chain adds its own. */
export type ChainSettings = {
  /** Whether endpoints are configured. */
  readonly enabled: boolean;
  /** Every URL that is asked or listened to. */
  readonly urls: readonly string[];
  readonly usdtContract: string;
  readonly confirmations: number;
  /** EIP-155; absent for chains that have none. */
  readonly chainId?: number;
  /** Absent for chains whose requests nobody counts by the day. */
  readonly requestsPerDay?: number;
  /** Where people look it up, without a slash at the end; undefined where none is known. */
  readonly explorerUrl?: string | undefined;
};

/** The public net on which a chain is tried with money that is worth nothing. */
export type TestNet = {
  /** As PRESET names it. */
  readonly name: string;
  /** Its name in sentences. */
  readonly title: string;
  /** The variables that make it this net and no other, with their only values. */
  readonly identity: Readonly<Record<string, string>>;
  /** Values for variables that may as well have another one there. */
  readonly defaults: Readonly<Record<string, string>>;
  /** What a coin counts for there, in US dollars: no feed tells prices of test money. */
  readonly coinPrice: string;
};

/** Where an opened chain reports what happens; both texts name hosts only. */
export type ChainIo = {
  /** An endpoint stops or starts to be usable. */
  readonly onEndpoint: (message: string) => void;
  /** By how much the time that an endpoint has for an answer is multiplied; unset means 1. */
  readonly patience?: number;
  /** What the reader finds out about how blocks can be read. */
  readonly onRead?: (message: string) => void;
};

/** A method without arguments, by its signature: "decimals()". `to` is in the spelling of the chain. */
export type ContractQuestion = { readonly to: string; readonly method: string };

/**
 * Calls a contract at the head and returns the result as 0x hex ("0x" where there is no contract), beside the
 * reading of blocks: whatever happens to it, no endpoint is left alone or asked more slowly because of it.
 * Throws RpcRejected where the contract refuses, RpcUnavailable where no endpoint answers.
 */
export type CallContract = (question: ContractQuestion, signal: AbortSignal) => Promise<string>;

/** A contract of Chainlink that tells the price of one coin in US dollars. */
export type PriceFeed = {
  /** On the main net, in the spelling of the chain. */
  readonly address: string;
  /**
   * From this age on its answer counts as stale: its heartbeat, the time after which it is written even
   * where the price did not move, and some room.
   */
  readonly maxAgeMs: number;
};

/** How prices are read from a chain. */
export type ChainPrices = {
  readonly feeds: Readonly<Partial<Record<Currency, PriceFeed>>>;
  /** For so long an answer is used before the feed is asked again. */
  readonly cacheMs: number;
  /** Whether requests are counted by the day there: a feed is then asked only when a price is needed. */
  readonly costly: boolean;
};

export type DescribeInput = {
  readonly chain: Pick<Chain, 'network' | 'watchedBy' | 'identifiedBy'>;
  readonly mustMove: boolean;
};

/**
 * A chain that is watched, over its configured endpoints. It connects to
 * nothing before something is asked of it.
 */
export type OpenChain = {
  readonly reader: ChainReader;
  endpoints(): readonly EndpointStatus[];
  /**
   * What an operator is told of it, found out by asking every endpoint; takes some seconds at most.
   * `mustMove`: a head that stands still is a fault; false for a private chain, on which nothing may happen.
   */
  describe(input: DescribeInput): Promise<readonly Finding[]>;
  /** The requests of a day, where the chain's providers count them. */
  readonly requests?: RequestCount;
  /** Absent where the chain is used for nothing but reading blocks. */
  readonly callContract?: CallContract;
  /**
   * Whether an address is a contract at the head, so that no key signs for it, as one endpoint says: a guard
   * against mistakes, no proof. Throws where no endpoint answers. Absent where nobody can be asked.
   */
  readonly hasCode?: (address: AddressKey, signal: AbortSignal) => Promise<boolean>;
  /** Absent where nothing is paid out yet. */
  readonly spending?: Spending;
  /**
   * Asks for one transaction, also for one that is in no block yet, beside the reading of blocks. Undefined
   * where no endpoint that answers knows it; throws where none answers.
   */
  lookUp(txHash: string, signal: AbortSignal): Promise<SeenTransaction | undefined>;
};

/**
 * What is true of a chain whatever is configured: the one place where its
 * differences from the others are written down.
 */
export type Chain<Settings extends ChainSettings = ChainSettings> = {
  readonly network: Network;
  /** Its name in sentences. */
  readonly name: string;
  /** As wallets call it, with the name of its token standard. */
  readonly label: string;
  /**
   * The time between two blocks, in milliseconds: the pauses between polls depend on it, and what payers are
   * told of how long a payment takes.
   */
  readonly blockMs: number;
  /**
   * The order of magnitude of what a payer's own transfer of the token costs in fees, for whom both networks
   * are only names.
   */
  readonly transferFee: TransferFee;
  /**
   * From the start of one comparison of its balances with the ledger to the start of the next, in
   * milliseconds.
   */
  readonly comparedEveryMs: number;
  /** The coin type of SLIP-44. */
  readonly coinType: number;
  /** The variable that makes the gateway watch it. */
  readonly watchedBy: string;
  /** The variables that say which chain and token it must be, as a list within a sentence. */
  readonly identifiedBy: string;
  /**
   * Its own variables, in the order of the documentation, and what
   * they say together. `read` takes the values of any others along.
   */
  readonly settings: {
    readonly variables: Readonly<Record<string, Variable<unknown>>>;
    read(values: Readonly<Record<string, unknown>>): Settings;
  };
  readonly testNet: TestNet;
  readonly addresses: ChainAddresses;
  /** Absent where no feeds are read on it. */
  readonly prices?: ChainPrices;
  /** Whether transaction hashes begin with 0x. */
  readonly hashHasPrefix: boolean;
  /** What stands between the address of an explorer of this chain and what is looked up. */
  readonly explorerPaths: { readonly transaction: string; readonly address: string };
  /**
   * A payout in test mode: what it costs, in base units of the chain's coin, and where it goes while the
   * merchant has set no withdraw address: an address that nobody can own.
   */
  readonly simulatedPayout: { readonly feeUnits: bigint; readonly destination: string };
  /** Whether completed deposits are paid out on it. */
  readonly paysOut: boolean;
  /** What a wallet opens to send any amount to an address. */
  addressUri(to: Pick<PaymentRequest, 'address' | 'chainId'>): string;
  /** What a wallet reads from a QR code. */
  paymentUri(request: PaymentRequest): string;
  /** How transfers on it are built and signed, within what is configured. */
  transfers(settings: Settings): Promise<Transfers>;
  /** Opens it over endpoints that are configured. */
  open(settings: Settings, io: ChainIo): Promise<OpenChain>;
};
