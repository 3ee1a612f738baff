import type { AccountXpubs } from '../chains/account-xpubs.ts';
import type { PriceSource } from '../chains/reader.ts';
import type { PublicPaymentView } from '../contract/payment-link.ts';
import type { Em, Orm } from '../db/orm.ts';
import type { Actor } from '../domain/actor.ts';
import type { ActorMessage } from '../domain/actor-message.ts';
import type { Mode, Network } from '../domain/assets.ts';

/** What the services need of a logger; pino's fits. */
export type Logger = {
  debug(fields: object, text: string): void;
  info(fields: object, text: string): void;
  warn(fields: object, text: string): void;
  error(fields: object, text: string): void;
};

/** Seals secrets at rest; the row's id is bound into the seal. */
export type SealBox = {
  seal(plaintext: string, associatedData: string): Buffer;
  open(sealed: Uint8Array, associatedData: string): string;
  /** The first bytes of every value that is sealed under the present key, and of no other. */
  readonly mark: Buffer;
  /** Whether values of an earlier key open too. */
  readonly knowsPrevious: boolean;
  /**
   * A hash of the text, as hex, that only a holder of the
   * present key can make; a different one for each purpose.
   */
  keyedHash(text: string, purpose: string): string;
  /** The same of the earlier key, for what was made under it; undefined where none is known. */
  readonly previous: Pick<SealBox, 'mark' | 'keyedHash'> | undefined;
};

/** Temporal answered, and will not take this message however often it is sent: its own error is the cause. */
export class ActorRefused extends Error {
  override readonly name = 'ActorRefused';
}

/** The door to Temporal. Each call is idempotent; it throws while Temporal does not answer. */
export interface ActorPort {
  /**
   * Starts the actor (or signals it with start, where the message carries a signal). An actor that
   * runs already is left alone. Merchants take turns; throws without having asked when the turn
   * does not come within `maxWaitMs`. Throws {@link ActorRefused} for a message that Temporal will
   * never take. `replace`: one that runs is ended, and a new one takes its place in the same call.
   */
  start(
    workflowId: string,
    message: ActorMessage,
    options?: { readonly maxWaitMs?: number; readonly replace?: true },
  ): Promise<void>;
  /**
   * Makes a waiting activity try at once. If there is no such
   * activity, or no such actor, the actor is sent `otherwise`.
   */
  wake(workflowId: string, activityId: string, otherwise: ActorMessage): Promise<void>;
  /** Which of these actors run, as of some seconds ago. */
  running(workflowIds: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Whether an actor is there and cannot go on by itself: its
   * code fails, somebody paused it, or the server lost its task.
   */
  isUnresponsive(workflowId: string): Promise<boolean>;
}

/** What payment links depend on. */
export type PaymentSettings = {
  readonly minimumCents: bigint;
  /** How many hundredths of a percent a link may be short of and still count as paid. */
  readonly toleranceBasisPoints: bigint;
  /**
   * The networks that this installation watches: a link
   * expires only when each of them was read past its time.
   */
  readonly watchedNetworks: readonly Network[];
};

/** When what was completed is paid out. */
export type PayoutSettings = {
  /** Where that is done: on chains that are watched and on which this gateway can send. */
  readonly networks: readonly Network[];
  /** Base units by `CURRENCY.network`; what is less waits for more. */
  readonly minUnits: ReadonlyMap<string, bigint>;
  /** Unset: none. So long after a payout the next one of an asset on an address waits, unless it is large. */
  readonly everyMs?: number | undefined;
  /** The most that a payout may cost of what it moves, in hundredths of a percent. */
  readonly maxFeeBasisPoints: bigint;
};

/** Settings that the services read. `required` holds the confirmations of each network. */
export type ServiceSettings = {
  readonly requiredConfirmations: Readonly<Record<Network, number>>;
  readonly contracts: Readonly<Record<Network, string>>;
  /** What payers' wallets are told; undefined when a chain has no such number. */
  readonly chainIds: Readonly<Record<Network, number | undefined>>;
  /** Where people look a chain up, without a slash at the end; undefined where no explorer is known. */
  readonly explorerUrls: Readonly<Record<Network, string | undefined>>;
  /** Base units by `CURRENCY.network`; an asset that is not in it has no minimum. */
  readonly minDepositUnits: ReadonlyMap<string, bigint>;
  /** Base units by `CURRENCY.network` below which money is too little to become a deposit at all. */
  readonly dustFloorUnits: ReadonlyMap<string, bigint>;
  readonly stuckAfterMs: number;
  /**
   * By how much every pause before the next look or attempt is multiplied. No variable sets it, so a gateway
   * has 1, as where it is unset; a test that would wait for minutes hands in less.
   */
  readonly pace?: number | undefined;
  readonly webhookMaxAttempts: number;
  /** For how long finished deliveries are kept. */
  readonly webhookRetentionMs: number;
  readonly webhookTarget: {
    readonly allowedCidrs: readonly string[];
    readonly allowHttp: boolean;
    readonly deniedCidrs?: readonly string[] | undefined;
    readonly allowedPorts?: readonly number[] | undefined;
    readonly caPem?: string | undefined;
  };
  /** How often blocks are expected, by network: pauses depend on it, and from when on a part stands still. */
  readonly blockIntervalMs: Readonly<Record<Network, number>>;
  /** How often the balances of a chain are compared with the ledger. */
  readonly comparedEveryMs: Readonly<Record<Network, number>>;
  /**
   * A watched chain without a new block for this long counts as standing still;
   * undefined when a chain may stand still, as one for development does.
   */
  readonly headMovesWithinMs?: number | undefined;
  readonly payments: PaymentSettings;
  readonly payouts: PayoutSettings;
  /** A session ends when it was not used for `idleMs`, and `maxMs` after its login. */
  readonly sessions: { readonly idleMs: number; readonly maxMs: number };
  /** How long after it was asked for a withdraw address counts that a signed-in user changes. */
  readonly withdrawChangeDelayMs: number;
};

/**
 * How long a pause lasts in whole milliseconds by the pace that was handed in. Never 0, which Temporal reads
 * as "do not try again".
 */
export function paced({ settings }: Pick<Deps, 'settings'>, ms: number): number {
  return Math.max(1, Math.round(ms * (settings.pace ?? 1)));
}

/** Everything a use case may reach. Clock and ids are handed in so that tests can hold them still. */
export type Deps = {
  readonly orm: Orm;
  readonly log: Logger;
  readonly now: () => Date;
  /** The time of PostgreSQL, for what blocks are judged by; unset: `now`, which a test holds still. */
  readonly storedNow?: (em: Em) => Promise<Date>;
  readonly newId: () => string;
  readonly settings: ServiceSettings;
  readonly secretBox: SealBox;
  /** Account xpubs by mode: the only key material outside the signer. */
  readonly xpubs: Readonly<Record<Mode, AccountXpubs>>;
  readonly prices: PriceSource;
  /**
   * Undefined in a process without Temporal (a CLI command
   * alone): the outbox keeps the messages for a worker.
   */
  readonly actors: ActorPort | undefined;
  /** Where many ask at once for a payment link as its payer sees it; unset reads each by itself. */
  readonly publicPayment?: (token: string) => Promise<PublicPaymentView | undefined>;
  /** On whose behalf the use case runs: what it changes is written down under this name. */
  readonly actor?: Actor | undefined;
};

/**
 * What a use case may reach inside a transaction that somebody else opened: no second way to
 * the database, and nothing of the world outside that the transaction would have to wait for.
 */
export type TxDeps = Omit<Deps, 'orm' | 'prices' | 'actors'>;

/** The deps without what {@link TxDeps} does not have, so that also a careless cast finds nothing there. */
export function txDeps({ orm: _orm, prices: _prices, actors: _actors, ...rest }: Deps): TxDeps {
  return rest;
}
