import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { HDNodeWallet, Mnemonic } from 'ethers';
import fc from 'fast-check';
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
import { NETWORKS } from '../../src/domain/assets.ts';

type Vectors = {
  phrase: string;
  accounts: {
    account: number;
    xpubBsc: string;
    xpubTron: string;
    addresses: { index: number; bsc: string; tron: string; tronKey: string }[];
  }[];
};
const vectors = JSON.parse(
  readFileSync(new URL('../vectors/addresses.json', import.meta.url), 'utf8'),
) as Vectors;
const [first] = vectors.accounts;
if (!first) throw new Error('no vectors');
const live = { bsc: first.xpubBsc, tron: first.xpubTron };
const root = HDNodeWallet.fromSeed(Mnemonic.fromPhrase(vectors.phrase).computeSeed());

describe('deposit addresses from the account xpubs', () => {
  for (const { account, xpubBsc, xpubTron, addresses } of vectors.accounts) {
    it(`gives the addresses that wallets show for account ${account}, on both chains`, () => {
      const derive = createAddressDeriver({ bsc: xpubBsc, tron: xpubTron });
      for (const { index, bsc, tron } of addresses)
        expect(derive(index), `index ${index}`).to.deep.equal({ bsc, tron });
    });
  }

  it('never gives a live and a test customer the same address', () => {
    const all = vectors.accounts.flatMap((account) =>
      account.addresses.flatMap((entry) => [entry.bsc, entry.tron]),
    );
    expect(new Set(all).size).to.equal(all.length);
  });

  it('agrees with the addresses of the private keys at any index', () => {
    const derive = createAddressDeriver(live);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 31 - 1 }), (index) => {
        const tron = TronWeb.fromMnemonic(vectors.phrase, `m/44'/195'/0'/0/${index}`);
        expect(derive(index)).to.deep.equal({
          bsc: root.derivePath(`m/44'/60'/0'/0/${index}`).address,
          tron: tron.address,
        });
      }),
      { numRuns: 15 },
    );
  });

  it('refuses a private key without repeating it', () => {
    const xprv = root.derivePath("m/44'/60'/0'").extendedKey;
    const attempt = () => deriveAddresses({ ...live, bsc: xprv }, 0);
    expect(attempt).to.throw('private extended key');
    expect(attempt).not.to.throw(xprv.slice(8, 40));
  });

  it('refuses keys that are not of an account, and mistyped ones, with what to do', () => {
    const master = root.neuter().extendedKey;
    const wallet = root.derivePath("m/44'/60'/0'/0").neuter().extendedKey;
    expect(() => deriveAddresses({ ...live, bsc: master }, 0)).to.throw("m/44'/60'/0'");
    expect(() => deriveAddresses({ ...live, tron: wallet }, 0)).to.throw("m/44'/195'/0'");
    checkAccountXpub('tron', live.tron);
    expect(() => deriveAddresses({ ...live, bsc: '' }, 0)).to.throw('not an extended public key');
  });

  it('refuses an xpub with any one character mistyped, because nobody could spend from its addresses', () => {
    for (let at = 0; at < live.bsc.length; at++) {
      const typo = live.bsc.slice(0, at) + (live.bsc[at] === '2' ? '3' : '2') + live.bsc.slice(at + 1);
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
    expect(spelledAddress('bsc', addressKeyOf('bsc', entry.bsc)), 'as the nodes write it').to.equal(
      entry.bsc.toLowerCase(),
    );
    expect(() => addressKeyOf('tron', entry.bsc)).to.throw('not a tron address');
    expect(() => addressKeyOf('bsc', entry.tron)).to.throw('not a bsc address');
  });

  it('makes no key of anything but 40 hex digits', () => {
    for (const text of ['', 'ab'.repeat(19), 'ab'.repeat(21), `0x${'ab'.repeat(20)}`, 'xy'.repeat(20)])
      expect(() => keyOfHex(text), text).to.throw('40 hex digits');
    expect(keyOfHex(`0x${'AB'.repeat(20)}`, 2)).to.equal('ab'.repeat(20));
  });

  it('agrees with tronweb on any 20 bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), (bytes) => {
        const hex = Buffer.from(bytes).toString('hex');
        const tron = TronWeb.address.fromHex(`41${hex}`);
        expect(spelledAddress('tron', keyOfHex(hex))).to.equal(tron);
        expect(addressKeyOf('tron', tron)).to.equal(hex);
      }),
    );
  });

  it('takes a bsc address in one case, or in mixed case with a right checksum only', () => {
    const swapped = entry.bsc.replace(/[a-f]/, (letter) => letter.toUpperCase());
    expect(normaliseAddress('bsc', entry.bsc.toLowerCase())).to.equal(entry.bsc);
    expect(normaliseAddress('bsc', `0x${entry.bsc.slice(2).toUpperCase()}`)).to.equal(entry.bsc);
    expect(isAddress('bsc', swapped)).to.equal(false);
    for (const text of [
      '',
      '0x',
      entry.bsc.slice(2),
      `${entry.bsc}0`,
      ` ${entry.bsc}`,
      'XE7338O073KYGTWWZN0F2WZ0R8PX5ZPPZS',
    ]) {
      expect(isAddress('bsc', text), text).to.equal(false);
    }
  });

  it('refuses every single-character change of a tron address, as tronweb does', () => {
    for (let at = 0; at < entry.tron.length; at++) {
      const changed =
        entry.tron.slice(0, at) + (entry.tron[at] === '2' ? '3' : '2') + entry.tron.slice(at + 1);
      expect(isAddress('tron', changed), changed).to.equal(false);
      expect(TronWeb.isAddress(changed), changed).to.equal(false);
    }
    for (const text of [
      '',
      'T',
      entry.tron.toLowerCase(),
      `${entry.tron}1`,
      `1${entry.tron}`,
      `41${entry.tronKey.slice(2)}`,
    ]) {
      expect(isAddress('tron', text), text).to.equal(false);
    }
  });
});

describe('the ways a transaction hash is written', () => {
  it('has one spelling on each network, from any case of its digits', () => {
    const [digits, capitals] = ['ab'.repeat(32), 'AB'.repeat(32)];
    const forms = [digits, capitals, `0x${digits}`, `0x${capitals}`, `0X${capitals}`];
    const [plain, prefixed] = [digits, `0x${digits}`];
    expect(forms.map((form) => transactionHashOf('bsc', form))).to.deep.equal([
      undefined,
      undefined,
      prefixed,
      prefixed,
      prefixed,
    ]);
    expect(forms.map((form) => transactionHashOf('tron', form))).to.deep.equal([
      plain,
      plain,
      undefined,
      undefined,
      undefined,
    ]);
    expect([hashForm('bsc'), hashForm('tron')]).to.deep.equal(['0x and 64 hex digits', '64 hex digits']);
  });

  it('is nothing shorter, longer or of other signs', () => {
    for (const network of NETWORKS)
      for (const text of [
        '',
        '0x',
        'ab'.repeat(31),
        `0x${'ab'.repeat(33)}`,
        `0x${'ag'.repeat(32)}`,
        ` 0x${'ab'.repeat(32)}`,
        `${'ab'.repeat(32)}\n`,
      ])
        expect(transactionHashOf(network, text), text).to.equal(undefined);
  });
});
