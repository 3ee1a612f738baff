// Texts that are addresses, for properties of whatever reads them.

import fc from 'fast-check';

const octet = fc.integer({ min: 0, max: 255 });
/** An IPv4 address. */
export const quad = fc.tuple(octet, octet, octet, octet).map((parts) => parts.join('.'));
/** A group of an IPv6 address; `words` are all eight of them. */
export const word = fc.integer({ min: 0, max: 0xffff });
export const words = fc.array(word, { minLength: 8, maxLength: 8 });
/** The spelling of these groups of an IPv6 address. */
export const hex = (groups: readonly number[]) => groups.map((group) => group.toString(16)).join(':');
/** An IPv4 address as the last two groups of an IPv6 one. */
export const halves = (text: string): string => {
  const [a = 0, b = 0, c = 0, d = 0] = text.split('.').map((part) => Number(part));
  return hex([(a << 8) | b, (c << 8) | d]);
};
