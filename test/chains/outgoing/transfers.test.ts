import { inspect } from 'node:util';
import { expect } from 'chai';
import { SigningKey, Wallet } from 'ethers';
import fc from 'fast-check';
import { TronWeb } from 'tronweb';
import { type AddressKey, hexAddress, keyOfHex } from '../../../src/chains/address-key.ts';
import { bscTransfers } from '../../../src/chains/bsc/transfer.ts';
import type { SignDigest, Transfer, Transfers } from '../../../src/chains/transfer.ts';
import { TRON_ADDRESSES } from '../../../src/chains/tron/addresses.ts';
import { tronTransfers } from '../../../src/chains/tron/transfer/transfer.ts';
import { assetOf, type Network } from '../../../src/domain/assets.ts';

const USDT = {
  bsc: '0x55d398326f99059fF775485246999027B3197955',
  tron: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
} as const;
const BSC = bscTransfers({
  chainId: 56,
  usdtContract: USDT.bsc,
  maxGasPriceWei: 5_000_000_000n,
  maxGasLimit: 200_000n,
});
const TRON = tronTransfers({ usdtContract: USDT.tron, maxFeeLimitSun: 50_000_000n });
const ALL: Readonly<Record<Network, Transfers>> = { bsc: BSC, tron: TRON };
const NOW = new Date('2026-11-24T12:00:00.000Z');
const KEY = new SigningKey(`0x${'7c'.repeat(32)}`);
const FROM = keyOfHex(new Wallet(KEY).address, 2);
const TO = keyOfHex('b0'.repeat(20));
const sign: SignDigest = (digest) => KEY.sign(digest);

const hexText = (digits: number) =>
  fc
    .uint8Array({ minLength: digits / 2, maxLength: digits / 2 })
    .map((bytes) => Buffer.from(bytes).toString('hex'));
const anyKey = hexText(40).map((text) => text as AddressKey);
const kinds = fc.constantFrom('native' as const, 'token' as const);
const tronKinds = fc.constantFrom('native', 'token', 'delegate', 'reclaim' as const);
const bscTerms = fc.record({
  gas_limit: fc.bigInt(21_000n, 200_000n).map(String),
  gas_price: fc.bigInt(1n, 5_000_000_000n).map(String),
});
const tronTerms = fc.record({
  fee_limit: fc.bigInt(1n, 50_000_000n).map(String),
  ref_block_bytes: hexText(4),
  ref_block_hash: hexText(16),
  life: fc.integer({ min: 1, max: 3_600_000 }),
});
const tronGiven = (kind: Transfer['kind'], { life, ...terms }: { life: number; fee_limit: string }) => ({
  ...terms,
  fee_limit: kind === 'token' ? terms.fee_limit : '0',
  timestamp: NOW.getTime(),
  expiration: NOW.getTime() + life,
});

describe('transfers as they are built', () => {
  it('say on BNB Chain exactly what was ordered, and are what a wallet signs', async () => {
    const order = fc.record({ to: anyKey, units: fc.bigInt(1n, 2n ** 255n), nonce: fc.nat(2 ** 31 - 1) });
    await fc.assert(
      fc.asyncProperty(kinds, order, bscTerms, async (kind, { to, units, nonce }, given) => {
        const transfer: Transfer = { from: FROM, to, kind, units, nonce };
        const terms = BSC.terms(given, kind, NOW);
        const signed = BSC.sign(transfer, terms, sign);
        expect(BSC.read(signed.raw)).to.deep.equal({ transfer, given, hash: signed.hash });
        const data = `0xa9059cbb${to.padStart(64, '0')}${units.toString(16).padStart(64, '0')}`;
        const asWallet = await new Wallet(KEY).signTransaction({
          type: 0,
          chainId: 56,
          nonce,
          gasLimit: given.gas_limit,
          gasPrice: given.gas_price,
          ...(kind === 'native' ? { to: hexAddress(to), value: units } : { to: USDT.bsc, data, value: 0n }),
        });
        expect(`0x${signed.raw.toString('hex')}`).to.equal(asWallet);
      }),
    );
  });

  it('say on Tron exactly what was ordered', () => {
    const amount = fc.bigInt(1n, 2n ** 63n - 1n);
    fc.assert(
      fc.property(tronKinds, anyKey, amount, tronTerms, (kind, to, units, some) => {
        const transfer: Transfer = { from: FROM, to, kind, units, nonce: null };
        const given = tronGiven(kind, some);
        const signed = TRON.sign(transfer, TRON.terms(given, kind, NOW), sign);
        expect(TRON.read(signed.raw)).to.deep.equal({ transfer, given, hash: signed.hash });
      }),
    );
  });

  it('are on Tron the bytes that its own library makes', async () => {
    const tron = new TronWeb({ fullHost: 'http://127.0.0.1:1' });
    const [from, to] = [FROM, TO].map(TRON_ADDRESSES.format) as [string, string];
    const given = tronGiven('token', { fee_limit: '30000000', life: 600_000, ...REF });
    const blockHeader = {
      ...REF,
      expiration: given.expiration,
      timestamp: given.timestamp,
    };
    const native = await tron.transactionBuilder.sendTrx(to, 12_345, from, { blockHeader } as never);
    const token = await tron.transactionBuilder.triggerSmartContract(
      USDT.tron,
      'transfer(address,uint256)',
      { txLocal: true, feeLimit: 30_000_000, blockHeader } as never,
      [
        { type: 'address', value: to },
        { type: 'uint256', value: '98765432109876543210' },
      ],
      from,
    );
    const lent = [7_654_321, to, 'ENERGY', from] as const;
    const delegate = await tron.transactionBuilder.delegateResource(...lent, false, undefined, {
      blockHeader,
    } as never);
    const reclaim = await tron.transactionBuilder.undelegateResource(...lent, { blockHeader } as never);
    const cases = [
      { kind: 'delegate', units: 7_654_321n, theirs: delegate },
      { kind: 'reclaim', units: 7_654_321n, theirs: reclaim },
      { kind: 'native', units: 12_345n, theirs: native },
      { kind: 'token', units: 98_765_432_109_876_543_210n, theirs: token.transaction },
    ] as const;
    for (const { kind, units, theirs } of cases) {
      const terms = TRON.terms({ ...given, fee_limit: kind === 'token' ? '30000000' : '0' }, kind, NOW);
      const { raw, hash } = TRON.sign({ from: FROM, to: TO, kind, units, nonce: null }, terms, sign);
      expect(hash, kind).to.equal(theirs.txID);
      const theirSignature = await tron.trx.sign(theirs, '7c'.repeat(32));
      const text = raw.toString('hex');
      expect(text, kind).to.contain(theirs.raw_data_hex);
      expect(text.endsWith(String(theirSignature.signature[0]).toLowerCase()), kind).to.equal(true);
    }
  });

  it('lend on Tron for a time without end, never bandwidth, and nothing on BNB Chain', () => {
    const given = tronGiven('delegate', { fee_limit: '0', life: 9, ...REF });
    const transfer = { from: FROM, to: TO, kind: 'delegate', units: 5_000_000n, nonce: null } as const;
    const { raw } = TRON.sign(transfer, TRON.terms(given, 'delegate', NOW), sign);
    // resource 1, then the amount, then whose it will be.
    const [owner, body] = [`0a1541${FROM}`, `100118c096b1022215${`41${TO}`}`];
    expect(raw.toString('hex')).to.contain(owner + body);
    expect(() => TRON.terms({ ...given, fee_limit: '1' }, 'delegate', NOW)).to.throw(/may be from 0 to 0/);
    const terms = BSC.terms({ gas_limit: '21000', gas_price: '1' }, 'delegate', NOW);
    for (const kind of ['delegate', 'reclaim'] as const)
      expect(() => BSC.sign({ ...transfer, kind, nonce: 0 }, terms, sign)).to.throw(/nothing is lent/);
  });

  it('are read only where every byte is one of theirs', () => {
    for (const network of ['bsc', 'tron'] as const) {
      const transfers = ALL[network];
      const kind = assetOf(network, 'USDT').kind;
      const given = network === 'bsc' ? { gas_limit: '60000', gas_price: '7' } : tronGiven(kind, TOKEN);
      const transfer = { from: FROM, to: TO, kind, units: 5n, nonce: network === 'bsc' ? 3 : null };
      const { raw } = transfers.sign(transfer, transfers.terms(given, kind, NOW), sign);
      const whole = transfers.read(raw);
      for (let at = 0; at < raw.length; at += 1) {
        const other = Buffer.from(raw);
        other[at] = (other[at] ?? 0) ^ 1;
        // Another signature is another sender, and another content is another id.
        expect(
          readOr(() => transfers.read(other)),
          `${network} ${at}`,
        ).not.to.deep.equal(whole);
      }
      expect(() => transfers.read(raw.subarray(0, -1))).to.throw();
      expect(() => transfers.read(Buffer.concat([raw, Buffer.of(0)]))).to.throw();
    }
  });

  it('of another key, chain or token are none', () => {
    const strange: SignDigest = (digest) => new SigningKey(`0x${'11'.repeat(32)}`).sign(digest);
    const coins = { from: FROM, to: TO, kind: 'native', units: 5n } as const;
    const cheap = BSC.terms({ gas_limit: '21000', gas_price: '1' }, 'native', NOW);
    expect(() => BSC.sign({ ...coins, nonce: 0 }, cheap, strange)).to.throw(/do not say what was ordered/);
    const free = TRON.terms(tronGiven('native', { fee_limit: '0', life: 9, ...REF }), 'native', NOW);
    expect(() => TRON.sign({ ...coins, nonce: null }, free, strange)).to.throw(/another key signed/);
    const transfer = { ...coins, kind: 'token', nonce: 0 } as const;
    const limits = { maxGasPriceWei: 9n, maxGasLimit: 90_000n, usdtContract: USDT.bsc };
    const terms = BSC.terms({ gas_limit: '60000', gas_price: '7' }, 'token', NOW);
    const other = bscTransfers({ ...limits, chainId: 97 }).sign(transfer, terms, sign);
    expect(() => BSC.read(other.raw)).to.throw(/not the bytes/);
    const token = bscTransfers({ ...limits, chainId: 56, usdtContract: `0x${'77'.repeat(20)}` });
    expect(() => BSC.read(token.sign(transfer, terms, sign).raw)).to.throw(/something else than the token/);
  });
});

function readOr<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const REF = { ref_block_bytes: 'a1b2', ref_block_hash: '00112233445566aa' };
const TOKEN = { fee_limit: '30000000', life: 60_000, ...REF };

describe('terms that somebody else wrote', () => {
  const good: Readonly<Record<Network, Record<string, unknown>>> = {
    bsc: { gas_limit: '60000', gas_price: '1000000000' },
    tron: tronGiven('token', TOKEN),
  };
  const hostile: Readonly<Record<Network, readonly Record<string, unknown>[]>> = {
    bsc: [
      ...['-1', '0', '1e9', '0x10', '5000000001', '９', ' 5', '5.0', '', 'NaN', `${'9'.repeat(40)}`].map(
        (gas_price) => ({ gas_price }),
      ),
      ...[5, 5n, null, undefined, {}, [], true].map((gas_price) => ({ gas_price })),
      ...['20999', '200001', '-21000', '٢١٠٠٠'].map((gas_limit) => ({ gas_limit })),
      ...[-1, 1.5, '3', 2 ** 31, Number.NaN].map((nonce) => ({ nonce })),
      { chain_id: 97 },
      { data: '0x1234' },
      { to: hexAddress(TO) },
    ],
    tron: [
      ...['-1', '0', '50000001', '1e6', '３', ''].map((fee_limit) => ({ fee_limit })),
      ...['a1b', 'A1B2', 'a1b2c3', 'zzzz', 5, null].map((ref_block_bytes) => ({ ref_block_bytes })),
      ...['00', '00112233445566AA', null].map((ref_block_hash) => ({ ref_block_hash })),
      ...[0, -1, NOW.getTime(), NOW.getTime() + 3_600_001, '1', 1.5, null].map((expiration) => ({
        expiration,
      })),
      ...[0, NOW.getTime() + 60_000, NOW.getTime() - 90_000_000, '1'].map((timestamp) => ({ timestamp })),
      { permission_id: 2 },
      { contract: 'x' },
    ],
  };

  for (const network of ['bsc', 'tron'] as const)
    it(`are refused on ${network} in a sentence, whatever is wrong with them`, () => {
      const isRefused = (given: unknown) =>
        expect(() => ALL[network].terms(given, 'token', NOW), inspect(given))
          .to.throw()
          .with.property('name', 'WrongTerms');
      expect(() => ALL[network].terms(good[network], 'token', NOW)).not.to.throw();
      for (const change of hostile[network]) isRefused({ ...good[network], ...change });
      for (const given of [null, undefined, 'x', 5, [], [good[network]]]) isRefused(given);
      // Coins of Tron burn nothing.
      expect(() => TRON.terms({ ...good.tron, fee_limit: '1' }, 'native', NOW)).to.throw(/fee limit/);
      expect(() => TRON.terms({ ...good.tron, fee_limit: '0' }, 'native', NOW)).not.to.throw();
    });
});
