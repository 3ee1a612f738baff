import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { AddressSet } from '../../src/chains/address-set.ts';

const hex20 = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`);
// Few distinct values, so that equal, colliding and nearly equal addresses come up often.
const near = fc
  .tuple(fc.nat(3), fc.nat(3), fc.nat(3))
  .map(([a, b, c]) => `0x${a}${'0'.repeat(18)}${b}${'0'.repeat(19)}${c}`);

describe('the set of watched addresses', () => {
  it('answers like a Set, for any addresses in any order', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(hex20, near), { maxLength: 3000 }),
        fc.array(fc.oneof(hex20, near), { maxLength: 50 }),
        (added, asked) => {
          const set = new AddressSet();
          const model = new Set<string>();
          for (const address of added) {
            expect(set.add(address)).to.equal(!model.has(address));
            model.add(address);
          }
          expect(set.size).to.equal(model.size);
          for (const address of [...added, ...asked]) {
            expect(set.has(address)).to.equal(model.has(address));
            expect(set.has(address.toUpperCase().replace('0X', '0x'))).to.equal(model.has(address));
            expect(set.has(`0x${'0'.repeat(24)}${address.slice(2)}`, 26)).to.equal(model.has(address));
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  it('keeps every address while it grows over many sizes', () => {
    const set = new AddressSet();
    const addresses = Array.from({ length: 20_000 }, () => `0x${randomBytes(20).toString('hex')}`);
    for (const address of addresses) set.add(address);
    expect(set.size).to.equal(addresses.length);
    expect(addresses.every((address) => set.has(address))).to.equal(true);
  });

  it('credits deposit addresses only, and knows gas wallets as our own', () => {
    const set = new AddressSet();
    const [deposit, gas, other] = ['11', '22', '33'].map((byte) => `0x${byte.repeat(20)}`) as [
      string,
      string,
      string,
    ];
    set.add(deposit);
    set.add(gas, 'gas');
    expect([set.has(deposit), set.isOwn(deposit)]).to.deep.equal([true, true]);
    expect([set.has(gas), set.isOwn(gas)]).to.deep.equal([false, true]);
    expect([set.has(other), set.isOwn(other)]).to.deep.equal([false, false]);
    expect(set.add(gas)).to.equal(false);
    expect(set.has(gas)).to.equal(true);
  });

  it('refuses to add what it could never find, and never finds what is no address', () => {
    const set = new AddressSet();
    for (const text of [
      '',
      '0x',
      `0x${'1'.repeat(39)}`,
      `0x${'1'.repeat(41)}`,
      `0x${'g'.repeat(40)}`,
      'T'.repeat(34),
      `0x${'é'.repeat(40)}`,
    ]) {
      expect(() => set.add(text), text).to.throw('40 hex digits');
      expect(set.has(text), text).to.equal(false);
    }
    expect(set.size).to.equal(0);
  });

  it('holds a million addresses in 64 MiB', () => {
    const set = new AddressSet(1_000_000);
    const key = Buffer.alloc(20);
    for (let i = 0; i < 1_000_000; i++) {
      key.writeUInt32BE(Math.imul(i, 0x9e3779b1) >>> 0, 0);
      key.writeUInt32BE(i, 16);
      set.add(key.toString('hex'));
    }
    expect(set.size).to.equal(1_000_000);
    expect(set.byteLength / 1_048_576).to.be.at.most(64);
  });
});
