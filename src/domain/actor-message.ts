import type { Mode, Network } from './assets.ts';

/** The actors of the product, by workflow type. */
export type ActorType = 'deposit' | 'notify' | 'paymentLink' | 'settlement' | 'wallet' | 'watchChain';

/**
 * Typed search attributes that operators filter by in the Web
 * UI. No address, no email, no secret: they are never encrypted.
 */
export type ActorAttributes = {
  readonly MerchantId?: string;
  readonly Network?: string;
  readonly DepositStage?: string;
  /** ISO-8601. */
  readonly StageSince?: string;
  readonly NeedsOperator?: boolean;
};

/**
 * The merchant and mode whose turn an actor takes. A `webhook.test` counts as
 * test mode, whichever key asked for it.
 */
export type ActorOwner = { readonly merchantId: string; readonly mode: Mode };

/**
 * What a committed transaction asks of Temporal: to start this actor. Starting
 * one that already runs changes nothing.
 */
export type ActorMessage = {
  readonly workflowType: ActorType;
  readonly args: readonly unknown[];
  readonly attributes?: ActorAttributes;
  readonly memo?: Readonly<Record<string, string>>;
  readonly summary?: string;
  /** Whose work it is: merchants take turns, and what is done in test mode comes after all live work. */
  readonly owner?: ActorOwner;
  readonly signal?: { readonly name: string; readonly args: readonly unknown[] };
};

/** Arguments of the deposit actor. Everything but the id is a hint that saves a look-up: the row decides. */
export type DepositActorInput = {
  readonly depositId: string;
  readonly state: string;
  /**
   * The number of the transition that led to `state`; 0 means that the actor
   * knows nothing and has to read the row first.
   */
  readonly sequence: number;
  /** The generation that this actor carries; a later one has an actor of its own. */
  readonly generation: number;
  /** True for a simulated deposit: the state that it was made with is its last one. */
  readonly rests: boolean;
  /** Deliveries that wait to be sent. */
  readonly deliveries: readonly string[];
  /** What each of them is called in the Web UI; see {@link NotifyActorInput}. */
  readonly names?: Readonly<Record<string, string>>;
};

/** Arguments of a payment link's actor: the row says everything else. */
export type PaymentLinkActorInput = { readonly linkId: string };

/** Arguments of the actor that pays out what was completed on an address: the rows say everything else. */
export type SettlementActorInput = { readonly network: Network; readonly addressKey: string };
/** The same of the actor of a wallet of ours that has signed something which no block has. */
export type WalletActorInput = SettlementActorInput;

/** `names` says of each delivery which event goes to which host; whoever writes the message down adds it. */
export type NotifyActorInput = {
  readonly deliveries: readonly string[];
  readonly names?: Readonly<Record<string, string>>;
};
export type WatchChainInput = { readonly network: string };

/** A start or signal that a committed transaction asked for. */
export type OutboxRow = { readonly id: string; readonly workflowId: string; readonly message: ActorMessage };
