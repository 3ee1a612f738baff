import { chainsSettings, PRICE_CHAINS, priceChain } from '../chains/index.ts';
import { NATIVE_CURRENCY, NETWORKS } from '../domain/assets.ts';
import { parseCidr } from '../domain/ip-address.ts';
import { plainOfFile, secretOfFile, sharedFiles } from './files.ts';
import { isNear } from './production.ts';
import { hostOf } from './urls.ts';
import type { Environment } from './variable.ts';
import type { Values } from './variables/index.ts';
import { VARIABLES } from './variables/index.ts';

const GROUPS =
  'OPS RPC SECRETS DATABASE WALLET WEBHOOK SETTLE SIGN PRICE RATE_LIMIT SESSION TEMPORAL MIN WITHDRAW';
const PREFIXES = [...GROUPS.split(' '), ...NETWORKS.map((network) => network.toUpperCase())].map(
  (group) => `${group}_`,
);
/** The network of one machine or rack: 256 addresses, or the smallest block that an IPv6 network is given. */
const WIDEST_PROXIES = { 4: 24, 6: 64 } as const;

/**
 * Sentences for the log at the start: every exception from
 * the safe defaults, every variable that looks like ours and is none.
 */
export function warningsOf(values: Values, env: Environment): string[] {
  const warnings: string[] = [];
  if (values.WEBHOOK_ALLOWED_CIDRS)
    warnings.push(
      `WEBHOOK_ALLOWED_CIDRS opens ${values.WEBHOOK_ALLOWED_CIDRS.join(', ')} to webhooks of every merchant.`,
    );
  if (values.WEBHOOK_ALLOWED_PORTS)
    warnings.push(
      `WEBHOOK_ALLOWED_PORTS opens port ${values.WEBHOOK_ALLOWED_PORTS.join(', ')} of every public host to webhooks.`,
    );
  if (values.WEBHOOK_ALLOW_HTTP) warnings.push('WEBHOOK_ALLOW_HTTP lets webhooks travel unencrypted.');
  if (values.WEBHOOK_CA_FILE)
    warnings.push(`WEBHOOK_CA_FILE trusts the authorities in ${values.WEBHOOK_CA_FILE.path} for webhooks.`);
  warnings.push(...(values.TRUSTED_PROXIES ?? []).flatMap(wideProxies));
  if (values.NODE_ENV === 'production' && values.PUBLIC_URL?.startsWith('http:'))
    warnings.push('PUBLIC_URL is http: sessions and checkouts travel unencrypted.');
  if (values.NODE_ENV === 'production' && values.PRICE_SOURCE.kind === 'fixed')
    warnings.push('PRICE_SOURCE is fixed: deposits are valued at these prices, whatever the market says.');
  if (values.PRICE_SOURCE.kind === 'chainlink' && !priceChain(chainsSettings(values))) {
    const coins = NETWORKS.map((network) => NATIVE_CURRENCY[network]).join(' and ');
    const chains = PRICE_CHAINS.map(({ name }) => name).join(' or ');
    const variables = PRICE_CHAINS.map(({ watchedBy }) => watchedBy).join(' and ');
    warnings.push(
      `PRICE_SOURCE is chainlink, which reads ${chains}, but ${variables} are unset: ${coins} have no price.`,
    );
  }
  warnings.push(...storesInTheClear(values), ...sharedFiles(env));
  return [...warnings, ...unknownVariables(env)];
}

/**
 * A sentence for each variable that looks like one of ours and is none. A file for what is no secret has a
 * sentence of its own.
 */
export function unknownVariables(env: Environment): string[] {
  return Object.keys(env)
    .filter((name) => env[name] && PREFIXES.some((prefix) => name.startsWith(prefix)))
    .filter((name) => !Object.hasOwn(VARIABLES, name) && !secretOfFile(name) && !plainOfFile(name))
    .map((name) => `${name} is not a variable of this gateway and is ignored: check its spelling.`);
}

/** A name without a dot belongs to a container beside us, or to our own domain. */
function isBesideUs(host: string): boolean {
  return isNear(host) || !/[.:]/.test(host);
}

/** Warns of what is reached without TLS: rows and decisions travel to stores, and so do passwords. */
function storesInTheClear(values: Values): string[] {
  const warnings: string[] = [];
  const { DATABASE_URL: database, TEMPORAL_ADDRESS: address } = values;
  if (
    database &&
    !isBesideUs(hostOf(database)) &&
    new URL(database).searchParams.get('sslmode') !== 'verify-full'
  )
    warnings.push(
      'DATABASE_URL leads to another network without sslmode=verify-full: whoever is on the way can read and change everything.',
    );
  const isPlain = [
    'TEMPORAL_TLS',
    'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
    'TEMPORAL_TLS_SERVER_NAME',
    'TEMPORAL_TLS_CLIENT_CERT_PATH',
    'TEMPORAL_API_KEY',
  ] as const;
  if (address && !isBesideUs(hostOf(`http://${address}`)) && isPlain.every((name) => !values[name]))
    warnings.push(
      'TEMPORAL_ADDRESS leads to another network without TLS (TEMPORAL_TLS): whoever is on the way can start and stop actors.',
    );
  const { NOTIFY_URL: told } = values;
  if (told?.startsWith('http:') && !isBesideUs(hostOf(told)))
    warnings.push(
      'NOTIFY_URL leads to another network by http: whoever is on the way reads the address, which is a secret, and what needs an operator.',
    );
  return warnings;
}

/**
 * Warns of wide blocks among the trusted proxies: every client with an address in such a block
 * can claim to be any other address, and is believed.
 */
function wideProxies(text: string): string[] {
  const cidr = parseCidr(text);
  if (!cidr || cidr.prefix >= WIDEST_PROXIES[cidr.family]) return [];
  if (cidr.prefix === 0)
    return [
      `TRUSTED_PROXIES contains ${text}: any client can then claim any address, and IP allowlists protect nothing.`,
    ];
  const most = `/${WIDEST_PROXIES[cidr.family]}`;
  return [
    `TRUSTED_PROXIES contains ${text}, which is wider than ${most}: every client with an address in it can claim any other. Name the proxies alone.`,
  ];
}
