import { within } from '../../../base/async/within.ts';
import { cidrContains, isPublicAddress, parseCidr, parseIp } from '../../../domain/ip-address.ts';
import { WEBHOOK_LIMITS } from '../../../domain/webhook.ts';
import type { Lookup } from './lookup.ts';

/** What the operator opened by name. Everything is closed by default. */
export type TargetPolicy = {
  /** Blocks that are allowed although they are not public. One that cannot be parsed opens nothing. */
  readonly allowedCidrs: readonly string[];
  readonly allowHttp: boolean;
  /**
   * Blocks that are refused although they are public: our
   * own addresses. They take precedence over `allowedCidrs`.
   */
  readonly deniedCidrs?: readonly string[] | undefined;
  /** Ports below 1024 that are allowed beside 80 and 443. */
  readonly allowedPorts?: readonly number[] | undefined;
  /** PEM of an additional certificate authority for receivers. */
  readonly caPem?: string;
};

/** A URL that passed the literal check. */
export type Target = {
  /** Normalised; requests go to this and not to the merchant's spelling. */
  readonly url: URL;
  /** Lower case, punycode, without the brackets of an IPv6 literal. */
  readonly host: string;
  readonly port: number;
  readonly isLiteral: boolean;
};

/**
 * A URL or address that the gateway does not send to. The message is
 * one sentence for the merchant and names nothing they did not type.
 */
export class TargetRefused extends Error {
  override readonly name = 'TargetRefused';
}

/**
 * The literal half of the target rule: https (http only where allowed), no user
 * information, fragment or port 0, a name that can be public, and an IP literal
 * in whatever spelling only if it is public or in an opened block. Does no I/O.
 * @throws TargetRefused
 */
export function parseTarget(text: string, policy: TargetPolicy): Target {
  if (text.length > WEBHOOK_LIMITS.urlCharacters)
    refuse(`The URL is longer than ${WEBHOOK_LIMITS.urlCharacters} characters.`);
  // The URL parser forgives backslashes, missing slashes and drops
  // tabs and newlines: what a reader takes for the host would differ.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
  if (/[\u0000-\u0020\u007f\\]/.test(text))
    refuse('The URL contains white space, a control character or a backslash.');
  const authority = /^(https?):\/\/([^/?#]+)/i.exec(text)?.[2];
  if (authority === undefined) refuse('The URL must be absolute and start with https://.');
  if (text.includes('#')) refuse('The URL must not contain "#": what follows it is never sent to a server.');
  if (authority.includes('@')) refuse('The URL must not contain a user name or password.');
  const url = parseUrl(text);
  if (url.protocol !== 'https:' && !policy.allowHttp) refuse('The URL must start with https://.');
  if (url.port === '0') refuse('The URL must not have port 0.');
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const port = Number.parseInt(url.port, 10) || (url.protocol === 'https:' ? 443 : 80);
  const isLiteral = parseIp(host) !== undefined;
  if (isLiteral) {
    if (!isAllowedAddress(host, policy)) refuse('The URL points to an address that is not public.');
    checkPort(port, [host], policy);
  } else {
    checkName(host, policy);
    // When a block is opened, a name may lead into it, where the operator means every port.
    if (policy.allowedCidrs.length === 0) checkPort(port, [], policy);
  }
  return { url, host, port, isLiteral };
}

/**
 * Looks the target's name up and vets every answer: a single forbidden one refuses them all. Returns
 * at most a few addresses, IPv4 first (many hosts have no IPv6 route); only these may be connected to.
 * @throws TargetRefused, or the lookup's own error when the name does not resolve.
 */
export async function resolveTarget(
  deps: { readonly lookup: Lookup },
  target: Target,
  policy: TargetPolicy,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (target.isLiteral) return [target.host];
  const answers = await deps.lookup(target.host, signal);
  if (answers.length === 0) throw Object.assign(new Error('the name has no address'), { code: 'ENODATA' });
  if (!answers.every((answer) => isAllowedAddress(answer, policy))) {
    refuse('The host name resolves to an address that is not public.');
  }
  checkPort(target.port, answers, policy);
  const isIpv6 = (answer: string): boolean => answer.includes(':');
  const different = [...new Set(answers)];
  return [...different.filter((answer) => !isIpv6(answer)), ...different.filter(isIpv6)].slice(
    0,
    WEBHOOK_LIMITS.connectAddresses,
  );
}

/**
 * The check at save: refuses what is forbidden now, and lets a name pass that does
 * not resolve within 2 s (it may be set up later, and every attempt checks again).
 * @throws TargetRefused
 */
export async function checkTargetForSave(
  deps: { readonly lookup: Lookup; readonly timeoutMs?: number },
  text: string,
  policy: TargetPolicy,
): Promise<Target> {
  const target = parseTarget(text, policy);
  const abort = new AbortController();
  try {
    const resolved = resolveTarget(deps, target, policy, abort.signal).catch((error: unknown) => {
      if (error instanceof TargetRefused) throw error;
    });
    await within(deps.timeoutMs ?? WEBHOOK_LIMITS.saveLookupMs, resolved, () => undefined);
    return target;
  } finally {
    abort.abort();
  }
}

/** True when the policy lets a socket go to this address. Text that is no address is never allowed. */
export function isAllowedAddress(address: string, policy: TargetPolicy): boolean {
  if (isIn(policy.deniedCidrs ?? [], address)) return false;
  return isPublicAddress(address) || isIn(policy.allowedCidrs, address);
}

function isIn(cidrs: readonly string[], address: string): boolean {
  const ip = parseIp(address);
  if (!ip) return false;
  return cidrs.some((text) => {
    const cidr = parseCidr(text);
    return cidr !== undefined && cidrContains(cidr, ip);
  });
}

/**
 * Ports below 1024 are those of mail, file and login servers, which are no
 * merchant's receiver. Addresses that were opened are not checked for this.
 */
function checkPort(port: number, addresses: readonly string[], policy: TargetPolicy): void {
  if (port === 80 || port === 443 || port >= FIRST_FREE_PORT || policy.allowedPorts?.includes(port)) return;
  if (addresses.length > 0 && addresses.every((address) => isIn(policy.allowedCidrs, address))) return;
  refuse(`The URL must use port 80, 443, or one from ${FIRST_FREE_PORT} up.`);
}

const FIRST_FREE_PORT = 1024;

/**
 * Names that only mean something inside a machine or
 * network: RFC 6761, RFC 8375, ICANN's never-delegated ones.
 */
const INSIDE_SUFFIXES = [
  'localhost',
  'localdomain',
  'local',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'lan',
  'home.arpa',
];

function checkName(host: string, policy: TargetPolicy): void {
  const labels = host.split('.');
  const isName =
    host.length <= 253 && labels.every((label) => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label));
  if (!isName) refuse('The host of the URL is not a valid host name.');
  // When a block is opened, the operator means names inside the network too, and the address still decides.
  if (policy.allowedCidrs.length > 0) return;
  const isInside =
    labels.length === 1 || INSIDE_SUFFIXES.some((suffix) => host === suffix || host.endsWith(`.${suffix}`));
  if (isInside) refuse('The host name is not a public one.');
}

function parseUrl(text: string): URL {
  try {
    return new URL(text);
  } catch {
    return refuse('The URL is not valid.');
  }
}

function refuse(sentence: string): never {
  throw new TargetRefused(sentence);
}
