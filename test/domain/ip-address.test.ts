import { BlockList, isIP } from 'node:net';
import { expect } from 'chai';
import fc from 'fast-check';
import {
  cidrContains,
  formatCidr,
  formatIp,
  parseCidr,
  parseIp,
  unmapCidr,
  unmapIp,
} from '../../src/domain/ip-address.ts';
import { hex, quad, word, words } from './ip-texts.ts';

describe('parsing addresses', () => {
  it('accepts exactly what Node takes for an address, zones apart', () => {
    const almost = fc.stringMatching(/^[0-9a-f:.x%]{0,24}$/);
    fc.assert(
      fc.property(fc.oneof(almost, quad, fc.ipV6(), words.map(hex)), (text) => {
        expect(parseIp(text)?.family ?? 0, text).to.equal(text.includes('%') ? 0 : isIP(text));
      }),
      { numRuns: 2_000 },
    );
  });

  it('refuses spellings that other parsers read as another number', () => {
    const wrong = ['', '127.1', '0177.0.0.1', '0x7f.0.0.1', '127.0.0.1.', ' 127.0.0.1', '127.0.0.01'];
    const wrong6 = [
      ':::',
      '1::2::3',
      '[::1]',
      '::1%lo',
      '1:2:3:4:5:6:7::8',
      '1.2.3.4::',
      '::1.2.3',
      '::ffff:127.0.0.01',
    ];
    for (const text of [...wrong, ...wrong6, '1'.repeat(100_000)])
      expect(parseIp(text), text.slice(0, 40)).to.equal(undefined);
  });
});

describe('blocks of addresses', () => {
  it('agree with Node’s BlockList', () => {
    fc.assert(
      fc.property(
        quad,
        fc.integer({ min: 0, max: 32 }),
        quad,
        fc.boolean(),
        (base, prefix, other, isNear) => {
          const address = isNear ? base.replace(/\d+$/, '7') : other;
          const list = new BlockList();
          list.addSubnet(base, prefix, 'ipv4');
          const cidr = parseCidr(`${base}/${prefix}`);
          const ip = parseIp(address);
          expect(cidr && ip && cidrContains(cidr, ip), `${address} in ${base}/${prefix}`).to.equal(
            list.check(address),
          );
        },
      ),
    );
  });

  it('never hold an address of the other family', () => {
    const everything4 = parseCidr('0.0.0.0/0');
    const mapped = parseIp('::ffff:1.2.3.4');
    expect(everything4 && mapped && cidrContains(everything4, mapped)).to.equal(false);
  });

  it('are refused when they are none', () => {
    for (const text of [
      '',
      '/',
      '1.2.3.4/',
      '1.2.3.4/33',
      '1.2.3.4/08',
      '::/129',
      'localhost/8',
      '1.2.3.4/8 ',
    ]) {
      expect(parseCidr(text), text).to.equal(undefined);
    }
    expect(parseCidr('1.2.3.4')?.prefix).to.equal(32);
  });
});

describe('the one spelling of an address', () => {
  const spelt = (text: string) => {
    const ip = parseIp(text);
    return ip && formatIp(ip);
  };

  it('is the one of RFC 5952 for IPv6, and reads back as the same address', () => {
    expect(spelt('0:0:0:0:0:0:0:0')).to.equal('::');
    expect(spelt('2001:DB8:0:0:1:0:0:1')).to.equal('2001:db8::1:0:0:1');
    expect(spelt('1:0:2:3:4:5:6:7')).to.equal('1:0:2:3:4:5:6:7');
    expect(spelt('1:0:0:2:0:0:0:3')).to.equal('1:0:0:2::3');
    fc.assert(
      fc.property(
        fc.array(fc.oneof(word, fc.constant(0)), { minLength: 8, maxLength: 8 }).map(hex),
        (text) => {
          expect(parseIp(spelt(text) ?? '')).to.deep.equal(parseIp(text));
        },
      ),
    );
    expect(spelt('::1.2.3.4'), 'not a mapped one').to.equal('::102:304');
    fc.assert(
      fc.property(fc.oneof(fc.ipV6(), quad), (text) => {
        const host = new URL(`http://${text.includes(':') ? `[${text}]` : text}`).hostname;
        expect(spelt(text)).to.equal(host.replace(/[[\]]/g, ''));
      }),
    );
  });

  it('turns mapped addresses and blocks into the IPv4 ones that they stand for, and nothing else', () => {
    fc.assert(
      fc.property(quad, fc.integer({ min: 0, max: 32 }), (text, prefix) => {
        const [ip, mapped] = [parseIp(text), parseIp(`::ffff:${text}`)];
        expect(mapped && unmapIp(mapped)).to.deep.equal(ip);
        const [block, mappedBlock] = [
          parseCidr(`${text}/${prefix}`),
          parseCidr(`::ffff:${text}/${96 + prefix}`),
        ];
        expect(mappedBlock && unmapCidr(mappedBlock)).to.deep.equal(block);
      }),
    );
    for (const text of [
      '::/0',
      '::ffff:0:0/95',
      '::1/128',
      '::fffe:0:0/96',
      '::1:ffff:0:0/112',
      '10.0.0.0/8',
    ]) {
      const block = parseCidr(text);
      expect(block && formatCidr(unmapCidr(block))).to.equal(block && formatCidr(block));
    }
  });
});
