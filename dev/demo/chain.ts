import type { Currency, Network } from '../../src/domain/assets.ts';

/** A chain of the demo, on which everybody else's money is ours to spend. */
export type DemoChain = {
  readonly network: Network;
  readonly name: string;
  /** What the gateway is told of it. */
  readonly env: Readonly<Record<string, string>>;
  /** The merchant's own wallet on it. */
  readonly withdraw: string;
  /** What is put into the wallet that pays for transfers, in whole coins. */
  readonly gasAmount: string;
  /** Sends an amount in whole coins and returns the hash of the transaction. */
  pay(payment: Payment & { readonly to: string }): Promise<string>;
  stop(): Promise<void>;
};

export type Payment = { readonly currency: Currency; readonly amount: string };
