import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';

/** A certificate authority made for one test run. */
export type TestAuthority = {
  /** PEM, for `caPem` and the like. */
  readonly caPem: string;
  /** A server certificate for these names and addresses. Valid now unless `expired`. */
  readonly issue: (
    hosts: readonly string[],
    options?: { readonly expired?: boolean },
  ) => { readonly key: string; readonly cert: string };
};

/** Makes a P-256 authority in memory. Written as plain DER because Node creates keys but no certificates. */
export function createTestAuthority(name = 'gateway test authority'): TestAuthority {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const caExtensions = [
    extension(OID.basicConstraints, der(0x30, boolean(true)), true),
    keyId(OID.subjectKeyId, keys.publicKey, 0x04),
  ];
  const valid = { fromMs: Date.now() - DAY_MS, toMs: Date.now() + 30 * DAY_MS };
  const ca = certificate({
    subject: name,
    issuer: name,
    publicKey: keys.publicKey,
    signer: keys.privateKey,
    extensions: caExtensions,
    ...valid,
  });
  return {
    caPem: pem('CERTIFICATE', ca),
    issue: (hosts, options) => {
      const leaf = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const names = der(0x30, ...hosts.map(generalName));
      const time = options?.expired ? { fromMs: Date.now() - 2 * DAY_MS, toMs: Date.now() - DAY_MS } : valid;
      const cert = certificate({
        subject: hosts[0] ?? 'localhost',
        issuer: name,
        publicKey: leaf.publicKey,
        signer: keys.privateKey,
        extensions: [extension(OID.subjectAltName, names), keyId(OID.authorityKeyId, keys.publicKey, 0x30)],
        ...time,
      });
      return {
        cert: pem('CERTIFICATE', cert),
        key: leaf.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      };
    },
  };
}

const DAY_MS = 86_400_000;

const OID = {
  ecdsaSha256: '2a8648ce3d040302',
  commonName: '550403',
  basicConstraints: '551d13',
  subjectAltName: '551d11',
  subjectKeyId: '551d0e',
  authorityKeyId: '551d23',
} as const;

type CertificateFields = {
  readonly subject: string;
  readonly issuer: string;
  readonly publicKey: KeyObject;
  readonly signer: KeyObject;
  readonly extensions: readonly Buffer[];
  readonly fromMs: number;
  readonly toMs: number;
};

let serial = 0;

function certificate(fields: CertificateFields): Buffer {
  serial += 1;
  const algorithm = der(0x30, oid(OID.ecdsaSha256));
  const body = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))), // version 3
    der(
      0x02,
      Buffer.from([1, ...Buffer.from(Date.now().toString(16).padStart(12, '0'), 'hex'), serial & 0x7f]),
    ),
    algorithm,
    distinguishedName(fields.issuer),
    der(0x30, time(fields.fromMs), time(fields.toMs)),
    distinguishedName(fields.subject),
    fields.publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(0x30, ...fields.extensions)),
  );
  return der(0x30, body, algorithm, bitString(sign('sha256', body, fields.signer)));
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

function boolean(value: boolean): Buffer {
  return der(0x01, Buffer.from([value ? 0xff : 0]));
}

function bitString(bytes: Buffer): Buffer {
  return der(0x03, Buffer.from([0]), bytes);
}

function time(ms: number): Buffer {
  return der(0x18, Buffer.from(new Date(ms).toISOString().replace(/[-:T]|\.\d{3}/g, '')));
}

function distinguishedName(name: string): Buffer {
  return der(0x30, der(0x31, der(0x30, oid(OID.commonName), der(0x0c, Buffer.from(name)))));
}

function extension(id: string, value: Buffer, isCritical = false): Buffer {
  return der(0x30, oid(id), ...(isCritical ? [boolean(true)] : []), der(0x04, value));
}

/** The key identifiers let OpenSSL find the issuer by key and not by name only. */
function keyId(id: string, key: KeyObject, tag: 0x04 | 0x30): Buffer {
  const hash = createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest();
  return extension(id, tag === 0x04 ? der(0x04, hash) : der(0x30, der(0x80, hash)));
}

function generalName(host: string): Buffer {
  if (host === '::1') return der(0x87, Buffer.from([...Array(15).fill(0), 1]));
  if (isIPv4(host)) return der(0x87, Buffer.from(host.split('.').map((part) => Number(part))));
  return der(0x82, Buffer.from(host));
}

function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
