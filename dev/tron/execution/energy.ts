// The energy that stakes give, which pays for code before any TRX is burned.
import type { AddressKey } from '../../../src/chains/address-key.ts';
import type { Account } from './accounts.ts';
import { stillUsed } from './charges.ts';

const SUN_PER_TRX = 1_000_000n;

/** All stakes together have `limit` energy a day, and weigh `weight` TRX. */
export type EnergyRules = { limit: bigint; weight: bigint };
export type Stakes = {
  readonly energy: EnergyRules;
  /** Sun that an account has staked, with all that it lends. */
  readonly stakes: ReadonlyMap<AddressKey, bigint>;
};

/** Of the recorded network, when somebody had staked on it. */
export const ENERGY: EnergyRules = { limit: 180_000_000_000n, weight: 40_000_300_000n };

/** Sun of the account's own stake that it lends to nobody. */
export function keptOf({ stakes }: Stakes, account: Account): bigint {
  return atLeastZero((stakes.get(account.key) ?? 0n) - lentOf(account));
}

/** Sun of the account's own stake whose energy others have. */
export function lentOf({ loans = {} }: Account): bigint {
  return Object.values(loans).reduce((sum, { free, locked }) => sum + free + locked, 0n);
}

/** The energy that this much stake gives in a day. */
export function energyOf({ energy: { limit, weight } }: Stakes, sun: bigint): bigint {
  return ((sun / SUN_PER_TRX) * limit) / weight;
}

/** The energy that the account has in a day: of what it keeps and of what it borrows. */
export function energyLimitOf(stakes: Stakes, account: Account): bigint {
  return energyOf(stakes, keptOf(stakes, account) + (account.borrowed ?? 0n));
}

/** What of it is still used. All of a use comes back evenly in the day after the last one. */
export function energyUsedAt({ energyUsed = 0n, energyMs = 0 }: Account, nowMs: number): bigint {
  return stillUsed(energyUsed, energyMs, nowMs);
}

/** What of it code may take now. */
export function energyLeftAt(stakes: Stakes, account: Account, nowMs: number): bigint {
  return atLeastZero(energyLimitOf(stakes, account) - energyUsedAt(account, nowMs));
}

/** The account when it has used this much more. */
export function afterUse(account: Account, energy: bigint, nowMs: number): Account {
  return { ...account, energyUsed: energyUsedAt(account, nowMs) + energy, energyMs: nowMs };
}

/** Sun of its own stake that it may lend: what is used counts first against what it borrows. */
export function lendableAt(stakes: Stakes, account: Account, nowMs: number): bigint {
  const { limit, weight } = stakes.energy;
  const used = (energyUsedAt(account, nowMs) * SUN_PER_TRX * weight) / limit;
  return atLeastZero(keptOf(stakes, account) - atLeastZero(used - (account.borrowed ?? 0n)));
}

const atLeastZero = (number: bigint): bigint => (number > 0n ? number : 0n);
