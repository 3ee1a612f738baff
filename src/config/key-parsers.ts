// Keys and certificates: values that are secret, or that prove an identity.
import { readFileSync } from 'node:fs';
import { type HDNodeVoidWallet, HDNodeWallet } from 'ethers';
import type { Parser } from './parser.ts';
import { complain, parser } from './parser.ts';

export type PemFile = { readonly path: string; readonly pem: string };

/**
 * PEM text of a certificate file, read now so that a wrong path shows at the start and not at the first use.
 */
export const pemFile: Parser<PemFile> = pemOf(/-----BEGIN CERTIFICATE-----/, 'at least one certificate');

/** PEM text of a private key that needs no passphrase. */
export const pemKeyFile: Parser<PemFile> = pemOf(
  /-----BEGIN ((EC|RSA) )?PRIVATE KEY-----/,
  'a private key that is not encrypted',
);

function pemOf(begin: RegExp, content: string): Parser<PemFile> {
  return parser((path) => {
    let pem: string;
    try {
      pem = readFileSync(path, 'utf8');
    } catch {
      return complain('must name a file that this process can read');
    }
    return begin.test(pem) ? { path, pem } : complain(`must name a PEM file with ${content}`);
  });
}

/** The secret of webhooks and notices: `whsec_` and at least 24 bytes in base64. */
export const webhookSecret: Parser<string> = parser((text) => {
  const encoded = /^whsec_([A-Za-z0-9+/]{32,344}={0,2})$/.exec(text)?.[1] ?? '';
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.length >= 24 && bytes.toString('base64') === encoded
    ? text
    : complain('must be whsec_ and at least 24 bytes in base64, such as from "openssl rand -base64 32"');
});

/** An account's extended public key (depth 3). A private one is refused before anything could store it. */
export const accountXpub: Parser<string> = parser((text) => {
  if (/^[xyzt]prv/i.test(text))
    complain(
      'is a PRIVATE key: remove it from this environment at once and give the xpub instead ("gateway wallet xpub" prints it)',
    );
  let node: HDNodeWallet | HDNodeVoidWallet;
  try {
    node = HDNodeWallet.fromExtendedKey(text);
  } catch {
    return complain('must be an extended public key that begins with xpub ("gateway wallet xpub" prints it)');
  }
  if (node instanceof HDNodeWallet)
    complain('is a PRIVATE key: remove it from this environment at once and give the xpub instead');
  return node.depth === 3
    ? text
    : complain(
        "must be the key of an account (three levels deep, as m/44'/60'/0'); \"gateway wallet xpub\" prints it",
      );
});

/** 32 random bytes in base64 or hex. */
export const secretKey: Parser<Uint8Array> = parser((text) => {
  const key = /^[0-9a-fA-F]{64}$/.test(text)
    ? Buffer.from(text, 'hex')
    : /^[A-Za-z0-9+/_-]{43}=?$/.test(text)
      ? Buffer.from(text, 'base64')
      : undefined;
  if (key?.length !== 32)
    return complain('must be 32 bytes in base64 or hex ("openssl rand -base64 32" makes one)');
  return new Set(key).size >= 8
    ? new Uint8Array(key)
    : complain('is not random ("openssl rand -base64 32" makes a good one)');
});
