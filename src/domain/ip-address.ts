import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** A parsed address: `bits` is 32 or 128 wide. Two spellings of one address parse to equal values. */
export type IpAddress = { readonly family: 4 | 6; readonly bits: bigint };

/** A parsed block: an address with the host part cleared, and the number of leading bits that count. */
export type Cidr = { readonly family: 4 | 6; readonly bits: bigint; readonly prefix: number };

/**
 * Parses one IPv4 or IPv6 address. Strict on purpose: four decimal parts without leading zeros (inet_aton
 * would read `010` as 8), no zone id, no brackets, no white space. Returns undefined for anything else.
 */
export function parseIp(text: string): IpAddress | undefined {
  if (isIP(text) === 0 || text.includes('%')) return undefined;
  // ipaddr.js would read an IPv4-compatible address as a mapped one.
  const exact = text.replace(/^::(?=\d+\.)/, '::0:');
  const hex = Buffer.from(ipaddr.parse(exact).toByteArray()).toString('hex');
  return { family: text.includes(':') ? 6 : 4, bits: BigInt(`0x${hex}`) };
}

/**
 * Parses `address/prefix`, or a bare address as a block of one.
 * Host bits need not be zero. Undefined when it is neither.
 */
export function parseCidr(text: string): Cidr | undefined {
  const [address = '', prefixText, ...rest] = text.split('/');
  const ip = parseIp(address);
  if (!ip || rest.length > 0) return undefined;
  const width = widthOf(ip.family);
  if (prefixText !== undefined && !/^(0|[1-9]\d{0,2})$/.test(prefixText)) return undefined;
  const prefix = prefixText === undefined ? width : Number.parseInt(prefixText, 10);
  if (prefix > width) return undefined;
  return { family: ip.family, bits: (ip.bits >> BigInt(width - prefix)) << BigInt(width - prefix), prefix };
}

/**
 * True when the address lies in the block. A mapped IPv6
 * address (`::ffff:a.b.c.d`) is never inside an IPv4 block.
 */
export function cidrContains(cidr: Cidr, ip: IpAddress): boolean {
  if (cidr.family !== ip.family) return false;
  const shift = BigInt(widthOf(cidr.family) - cidr.prefix);
  return cidr.bits >> shift === ip.bits >> shift;
}

/** The IPv4 address that an IPv4-mapped one (`::ffff:a.b.c.d`) stands for; any other address as it is. */
export function unmapIp(ip: IpAddress): IpAddress {
  return ip.family === 6 && ip.bits >> 32n === MAPPED_MARK ? { family: 4, bits: ip.bits & 0xffff_ffffn } : ip;
}

/** The IPv4 block that a block of IPv4-mapped addresses stands for; any other block as it is. */
export function unmapCidr(cidr: Cidr): Cidr {
  const mapped = cidr.family === 6 && cidr.prefix >= MAPPED_PREFIX && cidr.bits >> 32n === MAPPED_MARK;
  return mapped ? { family: 4, bits: cidr.bits & 0xffff_ffffn, prefix: cidr.prefix - MAPPED_PREFIX } : cidr;
}

/**
 * The one spelling of an address: four decimal parts, or RFC
 * 5952 (lower case, the first longest run of zeros as `::`).
 */
export function formatIp(ip: IpAddress): string {
  const width = widthOf(ip.family) / 4;
  const bytes = [...Buffer.from(ip.bits.toString(16).padStart(width, '0'), 'hex')];
  return ip.family === 4 ? bytes.join('.') : new ipaddr.IPv6(bytes).toRFC5952String();
}

/** The one spelling of a block; the prefix length is always written. */
export function formatCidr(cidr: Cidr): string {
  return `${formatIp(cidr)}/${cidr.prefix}`;
}

/** The block of the given prefix length around an address. */
export function blockAround(ip: IpAddress, prefix: number): Cidr {
  const shift = BigInt(widthOf(ip.family) - prefix);
  return { family: ip.family, bits: (ip.bits >> shift) << shift, prefix };
}

/** `::ffff:0:0/96` without its last 32 bits. */
const MAPPED_MARK = 0xffffn;
const MAPPED_PREFIX = 96;

/**
 * True only for an address on the public internet that can be some stranger's web server. Everything in
 * IANA's two special-purpose registries is refused, even the few entries they call globally reachable: none
 * of them is a merchant's receiver. Text that is no address is not public.
 */
export function isPublicAddress(text: string): boolean {
  const ip = parseIp(text);
  if (!ip) return false;
  if (ip.family === 4) return !SPECIAL_IPV4.some((cidr) => cidrContains(cidr, ip));
  // The check for 2000::/3 excludes loopback, mapped, IPv4-compatible, NAT64, unique-local, link-local and
  // multicast at once, and stays right when a new block outside of it is taken into use.
  return (
    cidrContains(GLOBAL_UNICAST_IPV6, ip) &&
    !SPECIAL_IPV6.some((cidr) => cidrContains(cidr, ip)) &&
    !isIsatap(ip.bits)
  );
}

/**
 * Whether an address is this machine's own (loopback) or belongs to a private network (RFC
 * 1918, RFC 4193). False for text that is no address.
 */
export function isPrivateAddress(text: string): boolean {
  const ip = parseIp(text);
  return ip !== undefined && PRIVATE.some((cidr) => cidrContains(cidr, ip));
}

const PRIVATE: readonly Cidr[] = [
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '::1/128',
  'fc00::/7',
].map(known);

const SPECIAL_IPV4: readonly Cidr[] = [
  '0.0.0.0/8', // this host; Linux connects 0.0.0.0 to itself
  '10.0.0.0/8',
  '100.64.0.0/10', // carrier-grade NAT; cloud metadata at 100.100.100.200
  '127.0.0.0/8',
  '168.63.129.16/32', // a public number that is the host's own agent inside Azure
  '169.254.0.0/16', // link-local; cloud metadata
  '172.16.0.0/12',
  '192.0.0.0/24', // protocol assignments; cloud metadata at 192.0.0.192
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16',
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
].map(known);

const GLOBAL_UNICAST_IPV6 = known('2000::/3');

const SPECIAL_IPV6: readonly Cidr[] = [
  '2001::/23', // protocol assignments: Teredo, ORCHID, benchmarking, AMT, drones
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4 carries any IPv4 address, private ones too
  '2620:4f:8000::/48', // AS112
  '3ffe::/16', // 6bone, given back
  '3fff::/20', // documentation
].map(known);

/**
 * ISATAP puts an IPv4 address behind `0000:5efe` or `0200:5efe`
 * in the interface id, under any prefix (RFC 5214, 6.1).
 */
function isIsatap(bits: bigint): boolean {
  const marker = (bits >> 32n) & 0xffff_ffffn;
  return (marker & 0xfcff_ffffn) === 0x0000_5efen;
}

function widthOf(family: 4 | 6): number {
  return family === 4 ? 32 : 128;
}

function known(text: string): Cidr {
  const cidr = parseCidr(text);
  if (!cidr) throw new Error(`not a block of addresses: ${text}`);
  return cidr;
}
