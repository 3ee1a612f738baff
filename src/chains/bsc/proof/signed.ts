// Who has signed a transaction of BNB Chain, as a node shows it. No library's transaction is made of it:
// those take less than blocks may hold, as an authorisation that is nonsense, and one of ours that nobody
// could read would stop the reading of the chain.
import { concat, encodeRlp, keccak256, recoverAddress, toBeHex } from 'ethers';
import { type AddressKey, keyOfHex } from '../../address-key.ts';

type Item = string | Item[];
/** The members of a transaction as a node names and writes them. */
export type Shown = Readonly<Record<string, unknown>>;
/** A key that signed, and the place among its wallet's transactions that this takes. */
export type Signer = { readonly key: AddressKey; readonly nonce: number };

const CALL = ['gas', 'to', 'value', 'input'];
const PRICED = ['chainId', 'nonce', 'maxPriorityFeePerGas', 'maxFeePerGas', ...CALL, 'accessList'];
/** What is signed of each type, in order. */
const TYPES: readonly (readonly string[])[] = [
  ['nonce', 'gasPrice', ...CALL],
  ['chainId', 'nonce', 'gasPrice', ...CALL, 'accessList'],
  PRICED,
  [...PRICED, 'maxFeePerBlobGas', 'blobVersionedHashes'],
  [...PRICED, 'authorizationList'],
];
const AUTHORISATION = ['chainId', 'address', 'nonce'];
const SIGNATURE = ['yParity', 'r', 's'];
/** What an authorisation and an entry of an access list hold. */
const [ALLOWED, LISTED] = [
  [...AUTHORISATION, ...SIGNATURE],
  ['address', 'storageKeys'],
];
/** Without EIP-155 a signature is for every chain. */
const NAMES_CHAIN = 35n;

/**
 * Who has signed a transaction for this chain: the sender, and whoever lets others run code at his address by
 * it (EIP-7702); with its hash, and what of it proves that. Throws for one of another chain, or of no known
 * type.
 */
export function signersOf(shown: Shown, chainId: number) {
  const type = Number(shown['type'] ?? 0);
  const names = TYPES[type] ?? [];
  const content = pick(names, shown);
  const signed = pick(type === 0 ? ['v', 'r', 's'] : SIGNATURE, shown);
  const v = type === 0 ? quantity(shown['v']) : 0n;
  const chain = type === 0 ? (v - NAMES_CHAIN) / 2n : quantity(shown['chainId']);
  const isForAll = type === 0 && v < NAMES_CHAIN;
  if (!isForAll && chain !== BigInt(chainId)) throw new Error('a transaction of another chain');
  const written = (more: Item[]): string => {
    const list = encodeRlp([...itemsOf(content), ...more]);
    return type === 0 ? list : concat([toBeHex(type), list]);
  };
  const digest = keccak256(written(type === 0 && !isForAll ? [item(chain), '0x', '0x'] : []));
  return {
    hash: keccak256(written(itemsOf(signed))),
    sender: signerOf(digest, type === 0 ? { ...shown, yParity: (v + 1n) % 2n } : shown),
    authorisers: authorisersOf(shown, chainId),
    proof: { type, ...content, ...signed },
  };
}

/** Those who signed authorisations of a transaction; what is nonsense, or another chain's, is nobody's. */
export function authorisersOf({ authorizationList: list }: Shown, chainId: number): readonly Signer[] {
  return (Array.isArray(list) ? (list as Shown[]) : []).flatMap((one) => {
    try {
      const chain = quantity(one['chainId']);
      const content = concat(['0x05', encodeRlp(itemsOf(pick(AUTHORISATION, one)))]);
      return chain === 0n || chain === BigInt(chainId) ? [signerOf(keccak256(content), one)] : [];
    } catch {
      return [];
    }
  });
}

function signerOf(digest: string, shown: Shown): Signer {
  const [parity = 2n, r = 0n, s = 0n] = Object.values(pick(SIGNATURE, shown)).map(quantity);
  const nonce = Number(quantity(shown['nonce']));
  if (parity > 1n || !Number.isSafeInteger(nonce)) throw new Error('a signature that no block carries out');
  const signature = { r: toBeHex(r, 32), s: toBeHex(s, 32), yParity: Number(parity) as 0 | 1 };
  return { key: keyOfHex(recoverAddress(digest, signature), 2), nonce };
}

/** These members, and of what they list the known ones too; old nodes call the parity by its former name. */
function pick(names: readonly string[], shown: Shown): Shown {
  const known = (value: unknown): unknown => {
    if (!Array.isArray(value)) return value;
    return value.map((one) => (typeof one === 'string' ? one : pick('r' in one ? ALLOWED : LISTED, one)));
  };
  const named = (name: string): unknown => (name === 'yParity' ? (shown[name] ?? shown['v']) : shown[name]);
  return Object.fromEntries(names.map((name) => [name, known(named(name))]));
}

const itemsOf = (shown: object): Item[] =>
  Object.entries(shown).map(([name, value]): Item => {
    if (Array.isArray(value)) return value.map((one) => (typeof one === 'string' ? one : itemsOf(one)));
    if (name === 'to') return value ?? '0x';
    return name === 'input' || name === 'address' ? value : item(quantity(value));
  });

const quantity = (value: unknown): bigint => BigInt(value as string | bigint);
const item = (units: bigint): string => (units === 0n ? '0x' : toBeHex(units));
