import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';

const MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
const PARAMETERS: readonly string[] = ['sslmode', 'sslrootcert'];
/** libpq's word for the authorities that the system trusts. */
const SYSTEM = 'system';

/**
 * What the URL of a database asks for beyond host, user
 * and database; its message is a sentence without the URL.
 */
export class DatabaseUrlRefused extends Error {
  override readonly name = 'DatabaseUrlRefused';
}

/**
 * How connections to this database are secured, by libpq's parameters of the same names: `sslmode`
 * (`disable`; `require`, which encrypts and proves nothing; `verify-ca`; `verify-full`) and `sslrootcert`, a
 * PEM file or `system`. Undefined where the URL says nothing. Throws {@link DatabaseUrlRefused} for every
 * other parameter: the operator would believe that one is honoured when it is not.
 */
export function tlsOf(databaseUrl: string): false | ConnectionOptions | undefined {
  const url = new URL(databaseUrl);
  const given = [...url.searchParams.keys()];
  const unknown = given.find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) {
    // Text that does not look like a name may be the end of a password with a ? in it.
    const named = /^[a-z_]{1,30}$/i.test(unknown)
      ? `the parameter "${unknown}"`
      : 'parameters that are none (a ? in the password is %3F)';
    refuse(`must not have ${named}: only ${PARAMETERS.join(' and ')} are honoured`);
  }
  if (new Set(given).size !== given.length) refuse('must name each parameter once');
  const mode = url.searchParams.get('sslmode');
  const file = url.searchParams.get('sslrootcert');
  if (file !== null && (mode === null || !mode.startsWith('verify-'))) {
    refuse(
      'must have sslmode=verify-ca or sslmode=verify-full beside sslrootcert: without it the certificate would not be looked at',
    );
  }
  if (mode === null) return undefined;
  if (!(MODES as readonly string[]).includes(mode)) refuse(`must have one of ${MODES.join(', ')} as sslmode`);
  if (mode === 'disable') return false;
  if (mode === 'require') return { rejectUnauthorized: false };
  const ca = file === null || file === SYSTEM ? {} : { ca: readPem(file) };
  // The name that the certificate must bear, also where it is an address.
  if (mode === 'verify-full')
    return { ...ca, rejectUnauthorized: true, host: url.hostname.replace(/^\[(.*)\]$/, '$1') };
  if (!('ca' in ca))
    refuse(
      'must name a file as sslrootcert beside sslmode=verify-ca: any public authority would do otherwise',
    );
  return { ...ca, rejectUnauthorized: true, checkServerIdentity: () => undefined };
}

function readPem(file: string): string {
  let pem = '';
  try {
    pem = readFileSync(file, 'utf8');
  } catch {
    refuse('must name a file that this process can read as sslrootcert');
  }
  return pem.includes('-----BEGIN CERTIFICATE-----')
    ? pem
    : refuse('must name a PEM file with at least one certificate as sslrootcert');
}

function refuse(sentence: string): never {
  throw new DatabaseUrlRefused(sentence);
}
