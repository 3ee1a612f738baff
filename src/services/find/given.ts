import { type AddressKey, keyOfHex } from '../../chains/address-key.ts';
import { normaliseAddress } from '../../chains/addresses.ts';
import { chainOf } from '../../chains/index.ts';
import { NETWORKS, type Network } from '../../domain/assets.ts';
import { isUuid } from '../../domain/ids.ts';
import { Refusal } from '../refusal.ts';

/** What a text may stand for. More than one thing at once is possible, and each is looked for. */
export type Given = {
  readonly text: string;
  /** A transaction hash as the reader of each network spells it. */
  readonly hashes: readonly { readonly network: Network; readonly hash: string }[];
  readonly addressKey: AddressKey | undefined;
  readonly id: string | undefined;
  readonly email: string | undefined;
  /** The parts of an API key that lists show. */
  readonly keyHint: { readonly prefix: string | undefined; readonly last4: string | undefined } | undefined;
};

const WHOLE_KEY = /sk_(live|test)_[0-9A-Za-z]{12,}/;
const SIGNING_SECRET = /whsec_[A-Za-z0-9+/_=-]{16,}/;
const HINT = /^(sk_(?:live|test)_[0-9A-Za-z]{4})?(?:…|\.{2,3})?([0-9A-Za-z]{4})?$/;
/** The ids of our actors: what stands before the part that is looked for. */
const ACTOR = /^(?:deposit|settlement):[a-z]+:([^:]+)|^(?:payment|event|resend):([^:]+)/;

/**
 * Reads what somebody looks for: a hash with or without 0x, an address in any spelling, an email in any case,
 * an id, a token, an external id, the shown part of an API key, the id of an actor, or the address of a page
 * that ends with one of them. Throws a {@link Refusal} for a secret, which a look-up must not teach to type.
 */
export function readGiven(given: string): Given {
  refuseSecret(given);
  // No text in the database has a NUL: an address of a page may name one.
  const text = withoutPage(given.trim()).replaceAll('\0', '\ufffd');
  const lower = text.toLowerCase();
  const hint = HINT.exec(text);
  return {
    text,
    hashes: hashesIn(lower),
    addressKey: addressIn(text),
    id: isUuid(lower) ? lower : undefined,
    email: /^[^\s@]+@[^\s@]+$/.test(text) ? text.normalize('NFC').toLowerCase() : undefined,
    keyHint: hint && (hint[1] ?? hint[2]) ? { prefix: hint[1], last4: hint[2] } : undefined,
  };
}

function refuseSecret(text: string): void {
  const key = WHOLE_KEY.exec(text)?.[0];
  if (key !== undefined)
    throw new Refusal(
      'INVALID',
      `This is a whole API key, which now stands in the history of this shell: end it with "key revoke ID" ("key list" shows the id of the one that ends with ${key.slice(-4)}), and look keys up by their id or by what "key list" shows.`,
    );
  if (SIGNING_SECRET.test(text))
    throw new Refusal(
      'INVALID',
      'This is the signing secret of an endpoint, which now stands in the history of this shell: let the merchant rotate it, and look the endpoint up by its id.',
    );
}

/** The last part of an address of a page: what checkouts, dashboards and explorers show there. */
function withoutPage(text: string): string {
  const actor = ACTOR.exec(text);
  if (actor) return actor[1] ?? actor[2] ?? text;
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return text;
  const { pathname, hash } = new URL(text);
  const parts = `${pathname}${hash.startsWith('#/') ? hash : ''}`.split(/[/#]/).filter((part) => part !== '');
  return decoded(parts.at(-1) ?? text);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function hashesIn(lower: string): Given['hashes'] {
  const digits = /^(?:0x)?([0-9a-f]{64})$/.exec(lower)?.[1];
  if (digits === undefined) return [];
  return NETWORKS.map((network) => ({
    network,
    hash: chainOf(network).hashHasPrefix ? `0x${digits}` : digits,
  }));
}

/** 20 bytes in any spelling: 0x or 41 and hex in any case, hex alone, base58. A checksum is not asked for. */
function addressIn(text: string): AddressKey | undefined {
  const digits = /^(?:0x|41|0x41)?([0-9a-fA-F]{40})$/.exec(text)?.[1];
  if (digits !== undefined) return keyOfHex(digits);
  for (const network of NETWORKS) {
    const key = chainOf(network).addresses.parse(text);
    if (key !== undefined) return key;
  }
  return undefined;
}

/** The spellings of what looks like an address, for who has to see that it is read as they meant it. */
export function spellingsOf({ text, addressKey }: Given): readonly string[] {
  if (addressKey === undefined) return [];
  const own = NETWORKS.filter((network) => normaliseAddress(network, text) !== undefined);
  return (own.length > 0 ? own : NETWORKS).map((network) => chainOf(network).addresses.format(addressKey));
}
