import type { IncomingMessage } from 'node:http';
import { networksOf } from '../../domain/client-networks.ts';
import {
  type Cidr,
  cidrContains,
  formatIp,
  type IpAddress,
  isPrivateAddress,
  parseCidr,
  parseIp,
  unmapCidr,
  unmapIp,
} from '../../domain/ip-address.ts';

/** Where a request comes from, in the one spelling of the address; '' when its connection is gone already. */
export type ClientAddress = (request: IncomingMessage) => string;

/**
 * Reads client addresses behind the given proxies (addresses or CIDRs). The socket's own address is the
 * client, unless it is one of our proxies: then it is the last hop of `X-Forwarded-For`, which that proxy
 * appended itself, and so on to the left while the hop is one of our proxies too. Everything left of the
 * first other address is hearsay, and so is every other header (`X-Real-IP`, `Forwarded`, …). A hop that is
 * no address ends the walk at the last proxy. `onUnnamed` hears once of a neighbour that passes addresses on
 * where no proxy is named: all clients behind it count as one. Throws for a block that is no CIDR.
 */
export function createClientAddress(
  trustedProxies: readonly string[],
  onUnnamed: (peer: string) => void = () => undefined,
): ClientAddress {
  let isTold = false;
  const proxies = trustedProxies.map((text) => {
    const cidr = parseCidr(text);
    if (!cidr) throw new Error('a trusted proxy is neither an address nor a network');
    return unmapCidr(cidr);
  });
  const isTrusted = (ip: IpAddress): boolean => proxies.some((proxy: Cidr) => cidrContains(proxy, ip));
  return (request) => {
    let client = parsePeer(request.socket.remoteAddress);
    if (!client) return '';
    const isUnnamed = proxies.length === 0 && request.headers['x-forwarded-for'] !== undefined;
    if (isUnnamed && !isTold && isPrivateAddress(formatIp(client))) {
      isTold = true;
      onUnnamed(formatIp(client));
    }
    const hops = proxies.length === 0 ? [] : hopsOf(request);
    while (isTrusted(client)) {
      const hop = parseHop(hops.pop());
      if (!hop) break;
      client = hop;
    }
    return formatIp(client);
  };
}

/** What counts as one client in the rate limits: an IPv4 address, or the /64 around an IPv6 one. */
export function siteOf(address: string): string {
  return networksOf(address)[0].network;
}

/** A link-local peer carries the name of an interface behind a percent sign. */
function parsePeer(text: string | undefined): IpAddress | undefined {
  const ip = parseIp(text?.split('%', 1)[0] ?? '');
  return ip && unmapIp(ip);
}

/** Node joins repeated lines in their order; the header's size limits their number. */
function hopsOf(request: IncomingMessage): string[] {
  const value = request.headers['x-forwarded-for'];
  return (Array.isArray(value) ? value.join(',') : (value ?? '')).split(',');
}

/** Longer than any address with its port: a longer hop is not parsed. */
const MAX_HOP = 64;

/**
 * An address, with the port that some proxies add: `192.0.2.1:443`, `[2001:db8::1]:443`. Undefined
 * for `unknown` and other texts that are no address.
 */
function parseHop(text: string | undefined): IpAddress | undefined {
  const hop = text?.trim() ?? '';
  if (hop.length > MAX_HOP) return undefined;
  const bare = /^(?:\[([^\]:]*:[^\]]*)\]|([0-9.]+))(?::\d{1,5})?$/.exec(hop);
  const ip = parseIp(bare?.[1] ?? bare?.[2] ?? hop);
  return ip && unmapIp(ip);
}
