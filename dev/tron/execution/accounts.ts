// The accounts of the chain. What they own is on the EVM node; here is what makes them accounts.
import type { AddressKey } from '../../../src/chains/address-key.ts';

/** Who may sign: keys whose weights reach the threshold. */
export type Permission = {
  readonly threshold: bigint;
  readonly keys: readonly { readonly key: AddressKey; readonly weight: bigint }[];
};

/** A stake whose energy somebody else has. */
export type Loan = {
  /** Sun that may be taken back at any time. */
  readonly free: bigint;
  /** Sun that may be taken back after `lockedUntilMs`. */
  readonly locked: bigint;
  readonly lockedUntilMs: number;
};

export type Account = {
  readonly key: AddressKey;
  /** Of a contract: who made it. */
  readonly maker?: AddressKey | undefined;
  readonly createdMs: number;
  /** The block that made it; the next one for what waits. */
  readonly createdAt: number;
  readonly operatedMs?: number | undefined;
  /** When it last paid for energy, in whichever way. */
  readonly energyMs?: number | undefined;
  /** Energy of stakes that was used, as of `energyMs`. */
  readonly energyUsed?: bigint | undefined;
  /** What of its own stake it lends, by who has its energy. */
  readonly loans?: Readonly<Record<AddressKey, Loan>> | undefined;
  /** Sun of other accounts' stakes whose energy it has. */
  readonly borrowed?: bigint | undefined;
  /** Bytes of the day's free bandwidth that were used, as of `netUsedMs`. */
  readonly netUsed: bigint;
  readonly netUsedMs: number;
  /** Unset: the account's own key. */
  readonly owner?: Permission | undefined;
  readonly active?: Permission | undefined;
  /** TRC-10 tokens that came and went since the chain began, by their ids. */
  readonly assets?: Readonly<Record<string, bigint>> | undefined;
};

/** Accounts with a memory of how they were, so that a fork can take changes back. */
export class Accounts {
  readonly #now = new Map<AddressKey, Account>();
  readonly #before: { readonly key: AddressKey; readonly was: Account | undefined }[] = [];

  get(key: AddressKey): Account | undefined {
    return this.#now.get(key);
  }

  /** How it was at a mark. */
  asOf(key: AddressKey, mark: number): Account | undefined {
    const change = this.#before.slice(mark).find((one) => one.key === key);
    return change ? change.was : this.#now.get(key);
  }

  set(account: Account): void {
    this.#before.push({ key: account.key, was: this.#now.get(account.key) });
    this.#now.set(account.key, account);
  }

  /** A point to come back to. */
  mark(): number {
    return this.#before.length;
  }

  rollback(mark: number): void {
    for (const { key, was } of this.#before.splice(mark).toReversed()) {
      if (was) this.#now.set(key, was);
      else this.#now.delete(key);
    }
  }
}

/** A permission that one key alone fulfils. */
export function ownKey(key: AddressKey): Permission {
  return { threshold: 1n, keys: [{ key, weight: 1n }] };
}
