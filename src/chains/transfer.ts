// What is signed on any chain: a transfer of the network's coin, or of its one token; where computing can be
// paid by a stake, that it is lent or taken back; and nothing else.
import type { AddressKey } from './address-key.ts';

/** `delegate` lends what a stake gives to another address, and `reclaim` takes that back: no money moves. */
export type TransferKind = 'native' | 'token' | 'delegate' | 'reclaim';

/** A transfer as it is ordered; {@link TransferTerms} says what it may cost. */
export type Transfer = {
  readonly from: AddressKey;
  readonly to: AddressKey;
  readonly kind: TransferKind;
  /** Of what is lent, the part of the stake in the coin's base units. */
  readonly units: bigint;
  /** Its place among the sender's transactions; null on a chain that has no such place. */
  readonly nonce: number | null;
};

/** Terms that were read and are within the chain's limits. */
export type TransferTerms = {
  /** In the chain's own one form: it is what was asked for, less everything that nobody knows. */
  readonly given: Readonly<Record<string, string | number>>;
  /** The most that it can cost, in base units of the coin; one of the coin keeps no more back for its fee. */
  readonly mostUnits: bigint;
  /** When it can land no more; null on a chain where it can always. */
  readonly expiresAt: Date | null;
  /** The price of its computing, which another attempt in the same place has to exceed; null without such. */
  readonly price: bigint | null;
  /** The sender's next place as the chain showed it; null where it was not told. */
  readonly chainNonce: number | null;
};

/** Signed bytes, ready to be broadcast. */
export type SignedTransfer = { readonly raw: Buffer; readonly hash: string };

/** Signs the 32 bytes that the builder computed itself; r and s are hex with 0x. */
export type SignDigest = (digest: string) => {
  readonly r: string;
  readonly s: string;
  readonly yParity: 0 | 1;
};

/** What a chain says of a transfer whose terms it refuses: a sentence that ends with the next action. */
export class WrongTerms extends Error {
  override readonly name = 'WrongTerms';
}

/** How transfers of one chain are built, within what is configured for it. */
export type Transfers = {
  readonly hasNonce: boolean;
  /**
   * The places among its transactions that a wallet's key has taken by what a proof (`SentByUs`) holds; none
   * where the key has not signed that for this chain. Absent on a chain without places.
   */
  readonly places?: ((proof: object, key: AddressKey) => readonly number[]) | undefined;
  /** Whether what a stake gives can be lent on this chain. */
  readonly lends: boolean;
  /** The token that is transferred. */
  readonly token: AddressKey;
  /** The most that an address may be given to pay for one transfer, in base units of the coin. */
  readonly mostTopUp: bigint;
  /** Reads terms as somebody else wrote them. Throws {@link WrongTerms} for what is missing or too much. */
  terms(given: unknown, kind: Transfer['kind'], now: Date): TransferTerms;
  /**
   * Builds and signs a transfer. The bytes are read again before they are returned; throws where they do not
   * say exactly what was ordered.
   */
  sign(transfer: Transfer, terms: TransferTerms, sign: SignDigest): SignedTransfer;
  /** What signed bytes say. Throws for everything that {@link Transfers.sign} would not have made. */
  read(raw: Uint8Array): {
    readonly transfer: Transfer;
    readonly given: TransferTerms['given'];
    readonly hash: string;
  };
};

/** The selector of transfer(address,uint256), which both chains' tokens have. */
const TRANSFER_SELECTOR = 'a9059cbb';
const WORD_DIGITS = 64;

/** The input of a token's transfer, as hex without 0x. */
export function tokenTransferData(to: AddressKey, units: bigint): string {
  const words = [to, units.toString(16)].map((digits) => digits.padStart(WORD_DIGITS, '0'));
  return `${TRANSFER_SELECTOR}${words.join('')}`;
}

/** Receiver and amount in {@link tokenTransferData}; undefined for any other input. */
export function readTokenTransfer(data: string): { to: string; units: bigint } | undefined {
  const match = /^a9059cbb0{24}([0-9a-f]{40})([0-9a-f]{64})$/.exec(data);
  return match?.[1] && match[2] ? { to: match[1], units: BigInt(`0x${match[2]}`) } : undefined;
}

/** A whole number from an untrusted text of digits; throws {@link WrongTerms} that names it. */
export function wholeUnits(name: string, value: unknown, least: bigint, most: bigint): bigint {
  const units = typeof value === 'string' && /^(0|[1-9][0-9]{0,29})$/.test(value) ? BigInt(value) : undefined;
  if (units === undefined)
    throw new WrongTerms(
      `${name} is not a whole number: cancel what was asked for, and let it be asked for again`,
    );
  if (units < least || units > most)
    throw new WrongTerms(`${name} is ${units}, and may be from ${least} to ${most}`);
  return units;
}

/** The members of untrusted terms. Throws {@link WrongTerms} for all else, and for members nobody knows. */
export function membersOf(given: unknown, known: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new WrongTerms('it was asked for without terms: cancel it, and let it be asked for again');
  const strange = Object.keys(given).find((name) => !known.includes(name));
  if (strange !== undefined)
    throw new WrongTerms(
      'its terms say what nobody knows: let worker and signer run the same version, and ask for it again',
    );
  return given as Record<string, unknown>;
}
