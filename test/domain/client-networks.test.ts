import { expect } from 'chai';
import fc from 'fast-check';
import { networksOf } from '../../src/domain/client-networks.ts';
import { cidrContains, formatIp, parseCidr } from '../../src/domain/ip-address.ts';

const octet = fc.integer({ min: 0, max: 255 });
const quad = fc.tuple(octet, octet, octet, octet).map((parts) => parts.join('.'));
const bits = fc.bigInt({ min: 0n, max: 2n ** 128n - 1n });
const named = (client: string) => networksOf(client).map(({ network }) => network);
const isMapped = (address: bigint) => address >> 32n === 0xffffn;

describe('the networks of a client', () => {
  it('are the address and its /24 in IPv4, and the /64, /48 and /32 in IPv6, with ten times the budget at each step', () => {
    expect(networksOf('203.0.113.7')).to.deep.equal([
      { network: '203.0.113.7', factor: 1 },
      { network: '203.0.113.0/24', factor: 10 },
    ]);
    expect(networksOf('2001:db8:1:2:3:4:5:6')).to.deep.equal([
      { network: '2001:db8:1:2::/64', factor: 1 },
      { network: '2001:db8:1::/48', factor: 10 },
      { network: '2001:db8::/32', factor: 100 },
    ]);
    for (const text of ['', 'unknown', '1.2.3'])
      expect(networksOf(text)).to.deep.equal([{ network: text, factor: 1 }]);
  });

  it('contain the address, each the one before it, and are the same for every address with the same leading bits', () => {
    const prefixes = [64, 48, 32];
    fc.assert(
      fc.property(bits, bits, fc.constantFrom(0, 1, 2), (one, other, shared) => {
        const low = BigInt(128 - (prefixes[shared] ?? 0));
        const sibling = ((one >> low) << low) | (other & ((1n << low) - 1n));
        fc.pre(!isMapped(one) && !isMapped(sibling));
        const ip = { family: 6, bits: one } as const;
        const blocks = named(formatIp(ip)).map((text) => parseCidr(text));
        expect(blocks.map((block) => block?.prefix)).to.deep.equal(prefixes);
        for (const block of blocks) expect(block && cidrContains(block, ip)).to.equal(true);
        const siblings = named(formatIp({ family: 6, bits: sibling }));
        expect(siblings.slice(shared)).to.deep.equal(named(formatIp(ip)).slice(shared));
      }),
    );
  });

  it('of an IPv4-mapped address are those of the IPv4 one, and never a /64 that holds all of IPv4', () => {
    fc.assert(
      fc.property(quad, (text) => {
        expect(named(`::ffff:${text}`)).to.deep.equal([text, `${text.slice(0, text.lastIndexOf('.'))}.0/24`]);
      }),
    );
  });
});
