// What leaves our own wallets, as blocks tell it: payouts and top-ups are proven by it, as deposits
// are by what arrives.
import type { Currency } from '../domain/assets.ts';

/** Money that one transaction moved out of a wallet of ours; `to` is spelled as `addresses.spell` does. */
export type Move = { readonly to: string; readonly currency: Currency; readonly units: bigint };

/**
 * What the key of one of our wallets has signed: a transaction of that wallet, or where a chain has such, the
 * leave for another's transaction to run code at its address, which pays no fee and takes a place all the
 * same.
 */
export type SentByUs = {
  readonly txHash: string;
  /** Our wallet, spelled as the chain's `addresses.spell` does. */
  readonly from: string;
  /** Its place among the wallet's transactions; null on a chain that has none. */
  readonly nonce: number | null;
  /** False where the chain undid it; its fee is gone all the same. */
  readonly ok: boolean;
  /** What the chain took for it from the sender, in base units of the native coin. */
  readonly feeUnits: bigint;
  /**
   * What it moved out of this wallet to whom, summed by receiver and asset; empty where it failed. What the
   * wallet moved to itself is left out.
   */
  readonly moves: readonly Move[];
  /** What of it proves that the wallet's key has signed it, on a chain where that takes a place. */
  readonly proof?: object | undefined;
};

type Left = Move & { readonly txHash: string; readonly from: string };

/** Gathers what left our wallets in one block. */
export class Outgoing {
  readonly #sent: Omit<SentByUs, 'moves'>[] = [];
  readonly #left = new Map<string, Map<string, Left>>();

  /** Notes a transaction of ours; what it moved is added by {@link left}, in any order. */
  sent(transaction: Omit<SentByUs, 'moves'>): void {
    this.#sent.push(transaction);
  }

  /**
   * Adds a movement of money out of one of our wallets. Of a transaction that is none of its own nothing is
   * told: an endpoint's word is no proof of it, and what let others take the money (an approval, code at the
   * address, a permission) was signed by the wallet's key, and is told of.
   */
  left(part: Left): void {
    // Anybody can have the token tell of a transfer of nothing out of any address.
    if (part.units === 0n || part.from === part.to) return;
    const wallet = walletIn(part);
    const parts = this.#left.get(wallet) ?? new Map<string, Left>();
    const key = `${part.to}${part.currency}`;
    const units = (parts.get(key)?.units ?? 0n) + part.units;
    this.#left.set(wallet, parts.set(key, { ...part, units }));
  }

  /** What a scanned block says of it, once all of the block was read. */
  result(): { sent?: SentByUs[] } {
    const sent = this.#sent.map((transaction): SentByUs => {
      const parts = this.#left.get(walletIn(transaction))?.values() ?? [];
      const moves = Array.from(parts, ({ to, currency, units }): Move => ({ to, currency, units }));
      return { ...transaction, moves };
    });
    return sent.length > 0 ? { sent } : {};
  }
}

function walletIn({ txHash, from }: Pick<SentByUs, 'txHash' | 'from'>): string {
  return `${txHash}${from}`;
}
