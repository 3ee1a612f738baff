import {
  blockAround,
  formatCidr,
  formatIp,
  type IpAddress,
  parseCidr,
  parseIp,
  unmapIp,
} from './ip-address.ts';

/**
 * What one party may hold: in IPv6 a subscriber has a /64, a customer of a hoster or a tunnel
 * broker a /48 (65,536 of the former), a whole provider a /32; in IPv4 it is a single address,
 * and a /24 is the smallest block that is handed on.
 */
const PREFIXES = { 4: [32, 24], 6: [64, 48, 32] } as const;
/** Each wider network may do this many times what the one inside it may. */
const GROWTH = 10;

/** A network around a client, and how many times the budget of a single client it has. */
export type ClientNetwork = { readonly network: string; readonly factor: number };

/**
 * What a client is counted by, narrowest first. The first is its site: an IPv4
 * address, or the /64 around an IPv6 one. Takes an address or a site; an IPv4-mapped
 * address is the IPv4 one. Text that is neither is a site with nothing around it.
 */
export function networksOf(client: string): readonly [site: ClientNetwork, ...wider: ClientNetwork[]] {
  const block = parseIp(client) ?? parseCidr(client);
  if (!block) return [{ network: client, factor: 1 }];
  const ip = unmapIp(block);
  const [site, ...wider] = PREFIXES[ip.family];
  return [
    { network: spelled(ip, site), factor: 1 },
    ...wider.map((prefix, index) => ({ network: spelled(ip, prefix), factor: GROWTH ** (index + 1) })),
  ];
}

function spelled(ip: IpAddress, prefix: number): string {
  return ip.family === 4 && prefix === 32 ? formatIp(ip) : formatCidr(blockAround(ip, prefix));
}
