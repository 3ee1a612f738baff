import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { HDNodeWallet, Mnemonic, wordlists } from 'ethers';
import { OperatorError } from '../base/errors.ts';
import type { AccountXpubs } from '../chains/account-xpubs.ts';
import { keyOfHex } from '../chains/address-key.ts';
import { byNetwork, chainOf } from '../chains/index.ts';
import type { SignedTransfer, Transfer, Transfers, TransferTerms } from '../chains/transfer.ts';
import { byMode, type Mode, type Network } from '../domain/assets.ts';

/**
 * What may leave the signer: the account keys that addresses are derived from, and the gas addresses to fund.
 */
export type PublicParts = {
  /** Account xpubs: m/44'/COIN'/0' for live, m/44'/COIN'/1' for test. */
  readonly xpub: Readonly<Record<Mode, AccountXpubs>>;
  /** m/44'/COIN'/2'/0/0. */
  readonly gas: Readonly<Record<Network, string>>;
};

const ACCOUNT = { live: 0, test: 1, gas: 2 } as const;
const WORDS_ALLOWED = [12, 15, 18, 21, 24];

/** 24 new words from 256 random bits. */
export function newPhrase(): string {
  return Mnemonic.fromEntropy(randomBytes(32)).phrase;
}

/**
 * The phrase as BIP-39 wants it: single spaces, lower case.
 * Throws an OperatorError that names positions, never words.
 */
export function normalisePhrase(text: string): string {
  const words = text.normalize('NFKD').trim().toLowerCase().split(/\s+/);
  if (!WORDS_ALLOWED.includes(words.length)) {
    throw new OperatorError(
      `A phrase has 12 to 24 words; this has ${text.trim() === '' ? 0 : words.length}`,
      'Type all words on one line, in order',
    );
  }
  const unknown = words.flatMap((word, index) =>
    wordlists['en'] && wordlists['en'].getWordIndex(word) < 0 ? [index + 1] : [],
  );
  if (unknown.length > 0) {
    throw new OperatorError(
      `Not in the English word list (BIP-39): word ${unknown.join(', ')}`,
      'Correct the spelling',
    );
  }
  const phrase = words.join(' ');
  if (!Mnemonic.isValidMnemonic(phrase))
    throw new OperatorError('The words do not belong together (checksum)', 'Check their order and spelling');
  return phrase;
}

/** The root key of a normalised phrase, without a BIP-39 password. It never leaves this folder. */
export function rootOf(phrase: string): HDNodeWallet {
  return HDNodeWallet.fromSeed(Mnemonic.fromPhrase(phrase).computeSeed());
}

/** Everything public that the root determines. */
export function publicPartsOf(root: HDNodeWallet): PublicParts {
  return {
    xpub: byMode((mode) => byNetwork(({ network }) => accountOf(root, network, mode).neuter().extendedKey)),
    gas: byNetwork(({ network }) => addressOf(root, network, 'gas', 0)),
  };
}

/** The address at m/44'/COIN'/ACCOUNT'/0/index in the network's own spelling. */
export function addressOf(
  root: HDNodeWallet,
  network: Network,
  account: keyof typeof ACCOUNT,
  index: number,
): string {
  const { address } = accountOf(root, network, account).derivePath(`0/${index}`);
  return chainOf(network).addresses.format(keyOfHex(address, 2));
}

/**
 * Signs a transfer with the key at m/44'/COIN'/ACCOUNT'/0/index. Only its bytes leave this file; throws where
 * the key is not the sender's.
 */
export function signWith(
  root: HDNodeWallet,
  place: { readonly network: Network; readonly account: keyof typeof ACCOUNT; readonly index: number },
  order: { readonly transfers: Transfers; readonly transfer: Transfer; readonly terms: TransferTerms },
): SignedTransfer {
  const { signingKey, address } = accountOf(root, place.network, place.account).derivePath(
    `0/${place.index}`,
  );
  if (keyOfHex(address, 2) !== order.transfer.from)
    throw new Error('the key at this place of the wallet is not the key of the sender');
  return order.transfers.sign(order.transfer, order.terms, (digest) => signingKey.sign(digest));
}

/** A hash of the text as hex that only a holder of the seed can make; another one for each purpose. */
export function seedHash(root: HDNodeWallet, text: string, purpose: string): string {
  const derived = Buffer.from(hkdfSync('sha256', root.privateKey, '', `keyed hash of ${purpose}`, 32));
  return createHmac('sha256', derived).update(text, 'utf8').digest('hex');
}

function accountOf(root: HDNodeWallet, network: Network, account: keyof typeof ACCOUNT): HDNodeWallet {
  return root.derivePath(`m/44'/${chainOf(network).coinType}'/${ACCOUNT[account]}'`);
}
