import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { HDNodeWallet, Mnemonic } from 'ethers';
import { TronWeb } from 'tronweb';
import { keyOfHex } from '../../src/chains/address-key.ts';
import {
  addressKeyOf,
  checkAccountXpub,
  createAddressDeriver,
  deriveAddresses,
  hashForm,
  isAddress,
  normaliseAddress,
  spelledAddress,
  transactionHashOf,
} from '../../src/chains/addresses.ts';
import { chainOf } from '../../src/chains/index.ts';

type Entry = { index: number; bsc: string; tron: string; tronKey: string };
type Account = { account: number; xpubBsc: string; xpubTron: string; addresses: Entry[] };
const vectors = JSON.parse(readFileSync(new URL('../vectors/addresses.json', import.meta.url), 'utf8')) as {
  phrase: string;
  accounts: Account[];
};
const [first] = vectors.accounts;
if (!first) throw new Error('no vectors');
const live = { bsc: first.xpubBsc, tron: first.xpubTron };
const root = HDNodeWallet.fromSeed(Mnemonic.fromPhrase(vectors.phrase).computeSeed());

/** The text with each of its characters changed in turn. */
const typosOf = (text: string): string[] =>
  Array.from(text, (sign, at) => text.slice(0, at) + (sign === '2' ? '3' : '2') + text.slice(at + 1));

describe('deposit addresses from the account xpubs', () => {
  for (const { account, xpubBsc, xpubTron, addresses } of vectors.accounts) {
    it(`gives the addresses that wallets show for account ${account}, on both chains, and nobody else’s`, () => {
      const derive = createAddressDeriver({ bsc: xpubBsc, tron: xpubTron });
      for (const { index, bsc, tron } of addresses)
        expect(derive(index), `index ${index}`).to.deep.equal({ bsc, tron });
      const all = vectors.accounts.flatMap((one) => one.addresses.flatMap((each) => [each.bsc, each.tron]));
      expect(new Set(all).size).to.equal(all.length);
    });
  }

  it('agrees with the addresses of the private keys at any index', () => {
    const derive = createAddressDeriver(live);
    for (const index of [0, 1, 255, 65_536, 123_456_789, 2 ** 31 - 1]) {
      const { address: tron } = TronWeb.fromMnemonic(vectors.phrase, `m/44'/195'/0'/0/${index}`);
      expect(derive(index)).to.deep.equal({ bsc: root.derivePath(`m/44'/60'/0'/0/${index}`).address, tron });
    }
  });

  it('reads the keys once for as long as they are held, and others by themselves', () => {
    let read = 0;
    const keys = {
      tron: live.tron,
      get bsc() {
        read++;
        return live.bsc;
      },
    };
    const [one, two] = [deriveAddresses(keys, 1), deriveAddresses(keys, 2)];
    expect([one, two, read]).to.deep.equal([createAddressDeriver(live)(1), createAddressDeriver(live)(2), 1]);
    const other = vectors.accounts[1] ?? first;
    expect(deriveAddresses({ ...live, bsc: other.xpubBsc }, 1).bsc).to.not.equal(one.bsc);
  });

  it('refuses a private key without repeating it, and keys that are not of an account, with what to do', () => {
    const xprv = root.derivePath("m/44'/60'/0'").extendedKey;
    const attempt = () => deriveAddresses({ ...live, bsc: xprv }, 0);
    expect(attempt).to.throw('private extended key');
    expect(attempt).not.to.throw(xprv.slice(8, 40));
    const master = root.neuter().extendedKey;
    const wallet = root.derivePath("m/44'/60'/0'/0").neuter().extendedKey;
    expect(() => deriveAddresses({ ...live, bsc: master }, 0)).to.throw("m/44'/60'/0'");
    expect(() => deriveAddresses({ ...live, tron: wallet }, 0)).to.throw("m/44'/195'/0'");
    checkAccountXpub('tron', live.tron);
    expect(() => deriveAddresses({ ...live, bsc: '' }, 0)).to.throw('not an extended public key');
  });

  it('refuses an xpub with any one character mistyped, because nobody could spend from its addresses', () => {
    for (const typo of typosOf(live.bsc)) {
      expect(() => createAddressDeriver({ ...live, bsc: typo }), typo).to.throw('copy it again');
      expect(() => checkAccountXpub('bsc', typo), typo).to.throw('copy it again');
    }
  });

  it('refuses an index that could not be spent from or does not exist', () => {
    for (const index of [-1, 0.5, 2 ** 31, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => deriveAddresses(live, index), String(index)).to.throw('address index');
    }
    expect(deriveAddresses(live, 2 ** 31 - 1).bsc).to.match(/^0x/);
  });
});

describe('the ways an address is written', () => {
  const entry = first.addresses[0];
  if (!entry) throw new Error('no vectors');

  it('has one key for one address, and the key leads back to what merchants see', () => {
    for (const [network, address, hex] of [
      ['bsc', entry.bsc, entry.bsc.toLowerCase()],
      ['tron', entry.tron, entry.tronKey],
    ] as const) {
      const { format, parse } = chainOf(network).addresses;
      const key = addressKeyOf(network, address);
      expect([`0x${key}`, parse(address), format(key)]).to.deep.equal([hex, key, address]);
      expect(addressKeyOf(network, spelledAddress(network, key))).to.equal(key);
    }
    expect(() => addressKeyOf('tron', entry.bsc)).to.throw('not a tron address');
    expect(() => addressKeyOf('bsc', entry.tron)).to.throw('not a bsc address');
    for (const text of ['', 'ab'.repeat(19), 'ab'.repeat(21), `0x${'ab'.repeat(20)}`, 'xy'.repeat(20)])
      expect(() => keyOfHex(text), text).to.throw('40 hex digits');
    expect(keyOfHex(`0x${'AB'.repeat(20)}`, 2)).to.equal('ab'.repeat(20));
  });

  it('takes a bsc address in one case, or in mixed case with a right checksum only', () => {
    const swapped = entry.bsc.replace(/[a-f]/, (letter) => letter.toUpperCase());
    expect(normaliseAddress('bsc', entry.bsc.toLowerCase())).to.equal(entry.bsc);
    expect(normaliseAddress('bsc', `0x${entry.bsc.slice(2).toUpperCase()}`)).to.equal(entry.bsc);
    expect(isAddress('bsc', swapped)).to.equal(false);
    for (const text of ['', entry.bsc.slice(2), `${entry.bsc}0`, ` ${entry.bsc}`])
      expect(isAddress('bsc', text), text).to.equal(false);
  });

  it('refuses every single-character change of a tron address, as tronweb does', () => {
    for (const typo of typosOf(entry.tron))
      expect([isAddress('tron', typo), TronWeb.isAddress(typo)], typo).to.deep.equal([false, false]);
    for (const text of ['', entry.tron.toLowerCase(), `${entry.tron}1`, `41${entry.tronKey.slice(2)}`])
      expect(isAddress('tron', text), text).to.equal(false);
  });
});

describe('the ways a transaction hash is written', () => {
  it('has one spelling on each network, from any case of its digits, and is nothing of another form', () => {
    const [digits, capitals] = ['ab'.repeat(32), 'AB'.repeat(32)];
    const [plain, prefixed] = [
      [digits, capitals],
      [`0x${digits}`, `0x${capitals}`, `0X${capitals}`],
    ];
    const wrong = ['', '0x', 'ab'.repeat(31), `0x${'ab'.repeat(33)}`, `0x${'ag'.repeat(32)}`, ` 0x${digits}`];
    for (const [network, spelling, taken, refused] of [
      ['bsc', `0x${digits}`, prefixed, plain],
      ['tron', digits, plain, prefixed],
    ] as const) {
      for (const form of taken) expect(transactionHashOf(network, form), form).to.equal(spelling);
      for (const form of [...refused, ...wrong, `${digits}\n`])
        expect(transactionHashOf(network, form), form).to.equal(undefined);
    }
    expect([hashForm('bsc'), hashForm('tron')]).to.deep.equal(['0x and 64 hex digits', '64 hex digits']);
  });
});
