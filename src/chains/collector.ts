// The money of one block while it is read.
import { NATIVE_CURRENCY, type Network } from '../domain/assets.ts';
import { Outgoing } from './outgoing.ts';
import type { Transfer, UnrecognisedTransfer } from './reader.ts';

/** One movement of money, or the sum of those of one transaction to one address in one asset. */
export type Sum = {
  txHash: string;
  to: string;
  from: string | null;
  kind: 'native' | 'token';
  amountUnits: bigint;
  inside?: true;
};

/**
 * Gathers the single movements of money of one block.
 * Whatever finds more of them (a trace, say) adds them here.
 */
export class Collector {
  readonly unrecognised: UnrecognisedTransfer[] = [];
  dropped = 0;
  /** Whether coins came to a wallet that pays for gas. */
  fundsGas = false;
  readonly outgoing = new Outgoing();
  readonly #sums = new Map<string, Sum>();
  readonly #own = new Map<string, Sum>();
  readonly #logs = new Set<number>();
  readonly #network: Network;
  readonly #limit: number;

  constructor(network: Network, unrecognisedLimit: number) {
    this.#network = network;
    this.#limit = unrecognisedLimit;
  }

  credit(part: Sum): void {
    add(this.#sums, part);
  }

  /** Notes a log by its place in the block; false where it was noted before. */
  isNewLog(index: number): boolean {
    return this.#logs.size < this.#logs.add(index).size;
  }

  /** Adds a movement between our own wallets. */
  keepApart(part: Sum): void {
    add(this.#own, part);
  }

  reject(transfer: UnrecognisedTransfer): void {
    if (this.unrecognised.length < this.#limit) this.unrecognised.push(transfer);
    else this.dropped++;
  }

  transfers(): Transfer[] {
    return this.#withCurrency(this.#sums);
  }

  own(): Transfer[] {
    return this.#withCurrency(this.#own);
  }

  #withCurrency(sums: ReadonlyMap<string, Sum>): Transfer[] {
    const native = NATIVE_CURRENCY[this.#network];
    return Array.from(sums.values(), (sum) => ({
      ...sum,
      currency: sum.kind === 'token' ? ('USDT' as const) : native,
    }));
  }
}

function add(sums: Map<string, Sum>, part: Sum): void {
  const key = `${part.txHash}${part.to}${part.kind}`;
  const sum = sums.get(key);
  if (!sum) {
    sums.set(key, part);
    return;
  }
  sum.amountUnits += part.amountUnits;
  if (sum.from !== part.from) sum.from = null;
  if (part.inside) sum.inside = true;
}
