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

  it('credits deposit addresses only, knows gas wallets as our own, and takes nothing that is no address', () => {
    const set = new AddressSet();
    const [deposit = '', gas = '', other = ''] = ['11', '22', '33'].map((byte) => `0x${byte.repeat(20)}`);
    set.add(deposit);
    set.add(gas, 'gas');
    const known = [deposit, gas, other].map((one) => [set.has(one), set.isOwn(one)]);
    expect(known.flat()).to.deep.equal([true, true, false, true, false, false]);
    expect([set.add(gas), set.has(gas)]).to.deep.equal([false, true]);
    for (const text of ['', 'T'.repeat(34), `0x${'9'.repeat(41)}`, `0x${'g'.repeat(40)}`]) {
      expect(() => set.add(text), text).to.throw('40 hex digits');
      expect(set.has(text), text).to.equal(false);
    }
    expect(set.size).to.equal(2);
  });
});
