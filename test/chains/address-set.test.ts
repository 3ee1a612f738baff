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
    const some = (maxLength: number) => fc.array(fc.oneof(hex20, near), { maxLength });
    fc.assert(
      fc.property(some(3_000), some(50), (added, asked) => {
        const set = new AddressSet();
        const model = new Set<string>();
        for (const address of added) {
          expect(set.add(address)).to.equal(!model.has(address));
          model.add(address);
        }
        expect(set.size).to.equal(model.size);
        for (const address of [...added, ...asked]) {
          const [shouted, padded] = [
            address.toUpperCase().replace('0X', '0x'),
            address.slice(2).padStart(64, '0'),
          ];
          const found = [set.has(address), set.has(shouted), set.has(`0x${padded}`, 26)];
          expect(found).to.deep.equal(Array(3).fill(model.has(address)));
        }
      }),
      { numRuns: 15, seed: 1 },
    );
  });

  it('keeps every address while it grows, and a million in 64 MiB', () => {
    const key = Buffer.alloc(20);
    const keyOf = (nth: number): string => {
      key.writeUInt32BE(Math.imul(nth, 0x9e3779b1) >>> 0, 0);
      key.writeUInt32BE(nth, 16);
      return key.toString('hex');
    };
    for (const [set, count] of [
      [new AddressSet(), 20_000],
      [new AddressSet(1_000_000), 1_000_000],
    ] as const) {
      for (let nth = 0; nth < count; nth++) set.add(keyOf(nth));
      expect(set.size).to.equal(count);
      for (let nth = 0; nth < 20_000; nth++) expect(set.has(keyOf(nth))).to.equal(true);
      expect(set.byteLength / 1_048_576).to.be.at.most(64);
    }
  });

  it('credits deposit addresses only, knows gas wallets as our own, and takes nothing that is no address', () => {
    const set = new AddressSet();
    const [deposit = '', gas = '', other = ''] = ['11', '22', '33'].map((byte) => `0x${byte.repeat(20)}`);
    set.add(deposit);
    set.add(gas, 'gas');
    const known = [deposit, gas, other].map((one) => [set.has(one), set.isOwn(one)]);
    expect(known.flat()).to.deep.equal([true, true, false, true, false, false]);
    expect([set.add(gas), set.has(gas)]).to.deep.equal([false, true]);
    const digits = ['9'.repeat(39), '9'.repeat(41), 'g'.repeat(40), 'é'.repeat(40)].map(
      (text) => `0x${text}`,
    );
    for (const text of ['', '0x', 'T'.repeat(34), ...digits]) {
      expect(() => set.add(text), text).to.throw('40 hex digits');
      expect(set.has(text), text).to.equal(false);
    }
    expect(set.size).to.equal(2);
  });
});
