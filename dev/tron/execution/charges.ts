// What a transaction costs before it does anything.
import { type AddressKey, keyOfHex } from '../../../src/chains/address-key.ts';
import { transactionBytes } from '../ids.ts';
import type { Outcome, Signed } from '../types.ts';
import type { Account, Accounts } from './accounts.ts';
import { PRICES, type Prices } from './prices.ts';

const DAY_MS = 86_400_000;

export type Charges = Pick<Outcome, 'netUsage' | 'netFee' | 'systemFee'>;

/** The account that comes into being by this transaction itself. */
export function newAccountOf({ type, value }: Signed, accounts: Accounts): AddressKey | undefined {
  const member =
    type === 'AccountCreateContract'
      ? 'account_address'
      : type === 'TransferContract' || type === 'TransferAssetContract'
        ? 'to_address'
        : undefined;
  const text = member === undefined ? undefined : value[member];
  if (typeof text !== 'string' || text.length !== 42) return undefined;
  const key = keyOfHex(text, 2);
  return accounts.get(key) ? undefined : key;
}

/** How much of the free bandwidth of a day is still used. */
export function netUsedAt({ netUsed, netUsedMs }: Account, nowMs: number): bigint {
  return stillUsed(netUsed, netUsedMs, nowMs);
}

/** What is left of a use: it comes back evenly in a day. */
export function stillUsed(used: bigint, sinceMs: number, nowMs: number): bigint {
  const left = Math.max(0, DAY_MS - (nowMs - sinceMs));
  return (used * BigInt(Math.round(left))) / BigInt(DAY_MS);
}

/** Bandwidth, free or burned, and the fees of what is special about it. */
export function chargesOf(
  signed: Signed,
  owner: Account,
  { headMs, isNew, prices }: { readonly headMs: number; readonly isNew: boolean; readonly prices: Prices },
): Charges {
  const { raw, signatures, message, type } = signed;
  const bytes = BigInt(transactionBytes(raw, signatures).length) + PRICES.resultBytes;
  const memo = message['data'] === undefined ? 0n : PRICES.memo;
  const several = signatures.length > 1 ? PRICES.severalSignatures : 0n;
  const permission = type === 'AccountPermissionUpdateContract' ? PRICES.permission : 0n;
  const systemFee = memo + several + permission + (isNew ? prices.newAccount : 0n);
  if (isNew) return { netUsage: 0n, netFee: PRICES.newAccountNet, systemFee };
  const isFree = netUsedAt(owner, headMs) + bytes <= PRICES.freeNet;
  return isFree
    ? { netUsage: bytes, netFee: 0n, systemFee }
    : { netUsage: 0n, netFee: bytes * prices.sunPerByte, systemFee };
}
