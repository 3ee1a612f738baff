import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { HDNodeWallet, Mnemonic, wordlists } from 'ethers';
import { OperatorError } from '../base/errors.ts';
import type { AccountXpubs } from '../chains/account-xpubs.ts';
import { keyOfHex } from '../chains/address-key.ts';
import { byNetwork, chainOf } from '../chains/index.ts';
import type { SignedTransfer, Transfer, Transfers, TransferTerms } from '../chains/transfer.ts';
import { byMode, type Mode, type Network } from '../domain/assets.ts';

/** What may leave the signer: the account keys of addresses, and the gas addresses to fund. */
export type PublicParts = {
  /** Account xpubs: m/44'/COIN'/0' for live, m/44'/COIN'/1' for test. */
  readonly xpub: Readonly<Record<Mode, AccountXpubs>>;
  /** m/44'/COIN'/2'/0/0. */
  readonly gas: Readonly<Record<Network, string>>;
};

const ACCOUNT = { live: 0, test: 1, gas: 2 } as const;
type Account = keyof typeof ACCOUNT;
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
    gas: byNetwork(({ network }) => addressOf(network, keyAt(root, network, 'gas', 0))),
  };
}

/** What is done with a root key, which stays in this closure: addresses, signed bytes and hashes leave it. */
export function keysOf(root: HDNodeWallet) {
  return {
    /** The deposit address m/44'/COIN'/ACCOUNT'/0/index: the stored one is compared with it. */
    depositAddress: (network: Network, mode: Mode, index: number): string =>
      addressOf(network, keyAt(root, network, mode, index)),
    /**
     * Signs a transfer from a live deposit address, or from the gas wallet, and returns its bytes. Throws
     * where the wallet's key at that place is not the sender's.
     */
    sign(
      sender: { readonly network: Network; readonly account: 'live' | 'gas'; readonly index: number },
      order: { readonly transfers: Transfers; readonly transfer: Transfer; readonly terms: TransferTerms },
    ): SignedTransfer {
      const { signingKey, address } = keyAt(root, sender.network, sender.account, sender.index);
      if (keyOfHex(address, 2) !== order.transfer.from)
        throw new Error('the key at this place of the wallet is not the key of the sender');
      return order.transfers.sign(order.transfer, order.terms, (digest) => signingKey.sign(digest));
    },
    /** A hash of the text as hex that only a holder of the seed can make; another one for each purpose. */
    keyedHash(text: string, purpose: string): string {
      const derived = Buffer.from(hkdfSync('sha256', root.privateKey, '', `keyed hash of ${purpose}`, 32));
      return createHmac('sha256', derived).update(text, 'utf8').digest('hex');
    },
  };
}

function accountOf(root: HDNodeWallet, network: Network, account: Account): HDNodeWallet {
  return root.derivePath(`m/44'/${chainOf(network).coinType}'/${ACCOUNT[account]}'`);
}

const keyAt = (root: HDNodeWallet, network: Network, account: Account, index: number): HDNodeWallet =>
  accountOf(root, network, account).derivePath(`0/${index}`);

/** In the network's own spelling. */
const addressOf = (network: Network, { address }: HDNodeWallet): string =>
  chainOf(network).addresses.format(keyOfHex(address, 2));
