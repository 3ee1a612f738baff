// What a broadcast has to fulfil before anything is executed, each with the node's own refusal.
import { SigningKey } from 'ethers';
import { type AddressKey, keyOfHex } from '../../../src/chains/address-key.ts';
import { TRON_ADDRESSES } from '../../../src/chains/tron/addresses.ts';
import { addressOfPublicKey } from '../signing.ts';
import { invalid, Refusal, type Signed } from '../types.ts';
import { type Account, ownKey, type Permission } from './accounts.ts';

const DAY_MS = 86_400_000;
const SIGNATURE_BYTES = 65;
const MAX_FEE_LIMIT = 15_000_000_000n;

/** Throws Refusal unless the owner, or who may act for him, signed it. */
export function checkSignatures(
  { id, owner, message, signatures }: Signed,
  account: Account | undefined,
): void {
  if (signatures.length === 0) throw unsigned('miss sig or contract');
  const [contract] = message['contract'] as readonly Readonly<Record<string, unknown>>[];
  const permission = permissionOf(account, owner, Number(contract?.['Permission_id'] ?? 0n));
  if (signatures.length > permission.keys.length)
    throw unsigned(
      `Signature count is ${signatures.length} more than key counts of permission : ${permission.keys.length}`,
    );
  const signers = signatures.map((signature) => {
    const signer = signerOf(id, signature);
    const found = permission.keys.find(({ key }) => key === signer);
    if (!found)
      throw unsigned(
        `${signature} is signed by ${TRON_ADDRESSES.format(signer)} but it is not contained of permission.`,
      );
    return found;
  });
  if (new Set(signers).size < signers.length)
    throw unsigned(`${TRON_ADDRESSES.format(signers[0]?.key as AddressKey)} has signed twice!`);
  const weight = signers.reduce((sum, one) => sum + one.weight, 0n);
  if (weight < permission.threshold) throw unsigned('sig error');
}

function permissionOf(account: Account | undefined, owner: AddressKey, id: number): Permission {
  if (id === 0) return account?.owner ?? ownKey(owner);
  if (id !== 2 || !account) throw unsigned("permission isn't exit");
  return account.active ?? ownKey(owner);
}

function signerOf(id: string, signature: string): AddressKey {
  const bytes = Buffer.from(signature, 'hex');
  if (bytes.length < SIGNATURE_BYTES) throw unsigned(`Signature size is ${bytes.length}`);
  // Old wallets write 0 and 1 where others write 27 and 28.
  const last = bytes[64] as number;
  const whole = Buffer.concat([bytes.subarray(0, 64), Buffer.of(last < 27 ? last + 27 : last)]);
  try {
    const key = SigningKey.recoverPublicKey(`0x${id}`, `0x${whole.toString('hex')}`);
    return addressOfPublicKey(key);
  } catch {
    throw unsigned('java.lang.IllegalArgumentException: Invalid point compression');
  }
}

function unsigned(words: string): Refusal {
  return new Refusal('SIGERROR', `Validate signature error: ${words}`);
}

/** Throws Refusal unless it refers to a block of this chain; `idAt` names the newest at such a height. */
export function checkReference({ message }: Signed, idAt: (low: number) => string | undefined): void {
  const low = Number.parseInt(String(message['ref_block_bytes'] ?? ''), 16);
  const id = Number.isNaN(low) ? undefined : idAt(low);
  if (id === undefined || id.slice(16, 32) !== message['ref_block_hash'])
    throw new Refusal('TAPOS_ERROR', 'Tapos check error.');
}

/** Throws Refusal unless it expires after the head and within a day of it. */
export function checkExpiration(signed: Signed, headMs: number): void {
  const expires = expirationOf(signed);
  if (expires <= headMs || expires > headMs + DAY_MS)
    throw new Refusal('TRANSACTION_EXPIRATION_ERROR', 'Transaction expired');
}

/** When it expires, in milliseconds. */
export function expirationOf({ message }: Signed): number {
  return Number(message['expiration'] ?? 0n);
}

/** The most that it may burn. Throws Refusal for a limit that no transaction may have. */
export function feeLimitOf({ message }: Signed): bigint {
  const limit = (message['fee_limit'] ?? 0n) as bigint;
  if (limit < 0n || limit > MAX_FEE_LIMIT)
    throw invalid(`Contract validate error : feeLimit must be >= 0 and <= ${MAX_FEE_LIMIT}`);
  return limit;
}

/** The address in a member of what the contract says. */
export function keyIn({ value }: Signed, member: string): AddressKey {
  const text = value[member];
  try {
    return keyOfHex(String(text), 2);
  } catch {
    throw invalid(`Contract validate error : Invalid ${member === 'to_address' ? 'toAddress' : 'address'}!`);
  }
}
