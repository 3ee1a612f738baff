import { isIP } from 'node:net';
import { expect } from 'chai';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { isPublicAddress } from '../../src/domain/ip-address.ts';
import { halves, hex, quad, words } from './ip-texts.ts';

describe('public addresses', () => {
  it('are those of real servers', () => {
    for (const address of ['1.1.1.1', '100.63.255.255', '172.32.0.0', '2606:4700:4700::1111', '2001:db9::1'])
      expect(isPublicAddress(address), address).to.equal(true);
  });

  it('never include what ipaddr.js does not call unicast', () => {
    const any = fc.oneof(quad, words.map(hex), fc.ipV6());
    fc.assert(
      fc.property(any, (address) => {
        fc.pre(ipaddr.parse(address).range() !== 'unicast');
        expect(isPublicAddress(address), address).to.equal(false);
      }),
      { numRuns: 1_000 },
    );
  });

  it('never include an IPv4 address carried inside of IPv6', () => {
    const prefixes = [
      '::',
      '::ffff:',
      '::ffff:0:',
      '64:ff9b::',
      '64:ff9b:1::',
      '64:ff9b:1:7::',
      'fe80::5efe:',
      '2001:0:1234:5678:0:0:',
    ];
    const isatap = [
      '2606:4700::5efe:',
      '2606:4700::200:5efe:',
      '2a00:1:2:3:0:5efe:',
      '2a00:1:2:3:200:5efe:',
      '2a00:1:2:3:300:5efe:',
    ];
    fc.assert(
      fc.property(quad, fc.constantFrom(...prefixes, ...isatap), (v4, prefix) => {
        expect(isPublicAddress(`${prefix}${v4}`), `${prefix}${v4}`).to.equal(false);
        expect(isPublicAddress(`${prefix}${halves(v4)}`)).to.equal(false);
        expect(isPublicAddress(`2002:${halves(v4)}::1`)).to.equal(false);
      }),
    );
  });

  it('never include anything outside of 2000::/3', () => {
    fc.assert(
      fc.property(words, (groups) => {
        const [first = 0, ...rest] = groups;
        fc.pre(first >> 13 !== 1);
        expect(isPublicAddress(hex([first, ...rest]))).to.equal(false);
      }),
    );
  });

  it('never include text that is no address', () => {
    fc.assert(fc.property(fc.string(), (text) => isIP(text) !== 0 || !isPublicAddress(text)));
    for (const text of [
      '',
      'localhost',
      'fe80::1%eth0',
      '2606:4700::1%eth0',
      '8.8.8.8 ',
      '8.8.8.8\n',
      '134744072',
    ]) {
      expect(isPublicAddress(text), text).to.equal(false);
    }
  });
});
