import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { expect } from 'chai';
import { TronWeb } from 'tronweb';
import { TEST_PHRASE } from '../../dev/support/test-wallet.ts';
import { OperatorError } from '../../src/base/errors.ts';
import { createAddressDeriver } from '../../src/chains/addresses.ts';
import {
  checkPhrase,
  createWallet,
  openWallet,
  readPassphraseFile,
  readPublicParts,
} from '../../src/signer/wallet-file.ts';

const PASSPHRASE = 'correct horse battery staple';
const NOW = new Date('2026-01-02T03:04:05Z');
/**
 * The first two are the accounts that every Ethereum development
 * node prints for this phrase; the Tron ones come from tronweb.
 */
const LIVE_BSC = ['0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266', '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'];
const LIVE_TRON = ['TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6', 'TPjjvMwjPoDC32V2dGDYTkLH4E5LAtBZ6C'];
const LIVE_XPUB_BSC =
  'xpub6Ce9NcJvTk36xtLSrJLZqE7wtgA5deCeYs7rSQtreh4cj6ByPtrg9sD7V2FNFLPnf8heNP3FGkeV9qwfzvZNSd54JoNXVsXFYSYwHsnJxqP';

type Json = { [name: string]: Json } & { toString(): string };

async function refusal(work: Promise<unknown>): Promise<OperatorError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof OperatorError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

describe('wallet file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-wallet-'));
  const file = join(folder, 'deep', 'wallet.json');

  before(async () => {
    await createWallet({ file, passphrase: PASSPHRASE, phrase: TEST_PHRASE, now: NOW });
  });
  after(() => rmSync(folder, { recursive: true }));

  function tampered(name: string, change: (content: Json) => void): string {
    const content = JSON.parse(readFileSync(file, 'utf8'));
    change(content);
    const path = join(folder, `${name}.json`);
    writeFileSync(path, JSON.stringify(content), { mode: 0o600 });
    return path;
  }

  it('derives the addresses that every other wallet derives, and that the API derives from its public part', async () => {
    const wallet = await openWallet({ file, passphrase: PASSPHRASE });
    expect([0, 1].map((index) => wallet.depositAddress('bsc', 'live', index))).to.deep.equal(LIVE_BSC);
    expect([0, 1].map((index) => wallet.depositAddress('tron', 'live', index))).to.deep.equal(LIVE_TRON);
    expect(wallet.publicParts.xpub.live.bsc).to.equal(LIVE_XPUB_BSC);
    const tron = (path: string): string => TronWeb.fromMnemonic(TEST_PHRASE, path).address;
    expect(wallet.depositAddress('tron', 'test', 7)).to.equal(tron("m/44'/195'/1'/0/7"));
    expect(wallet.publicParts.gas).to.deep.equal({
      bsc: '0x98e503f35D0a019cB0a251aD243a4cCFCF371F46',
      tron: tron("m/44'/195'/2'/0/0"),
    });
    for (const mode of ['live', 'test'] as const) {
      const derive = createAddressDeriver(wallet.publicParts.xpub[mode]);
      for (const index of [0, 1, 99, 2 ** 31 - 1])
        expect(derive(index)).to.deep.equal({
          bsc: wallet.depositAddress('bsc', mode, index),
          tron: wallet.depositAddress('tron', mode, index),
        });
    }
    expect(`${inspect(wallet, { depth: 9, showHidden: true })}${JSON.stringify(wallet)}`).not.to.match(
      /junk|xprv|privateKey/,
    );
    // Nor does its file show them, which its owner alone may read.
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    expect(readFileSync(file, 'utf8')).not.to.match(/junk|correct horse|xprv/);
    expect(readdirSync(join(folder, 'deep'))).to.deep.equal(['wallet.json']);
  });

  it('makes a new phrase of 24 words that restores it, under its own salt', async () => {
    const [one, two] = [join(folder, 'one.json'), join(folder, 'two.json')];
    const first = await createWallet({ file: one, passphrase: PASSPHRASE, now: NOW });
    const second = await createWallet({ file: two, passphrase: PASSPHRASE, phrase: first.phrase, now: NOW });
    expect(first.phrase.split(' ')).to.have.length(24);
    expect(second.publicParts).to.deep.equal(first.publicParts);
    const [a, b] = [one, two].map((path) => JSON.parse(readFileSync(path, 'utf8')));
    expect(a.kdf.N).to.be.at.least(2 ** 17);
    expect(a.kdf.salt).not.to.equal(b.kdf.salt);
    expect(
      await checkPhrase({ file: one, phrase: `  ${first.phrase.toUpperCase().replaceAll(' ', ' \n ')} ` }),
    ).to.deep.include({
      ok: true,
    });
  });

  it('tells a wrong phrase from a right one, and a mistyped one by position without repeating it', async () => {
    const other = `${'abandon '.repeat(11)}about`;
    expect((await checkPhrase({ file, phrase: other })).ok).to.equal(false);
    expect((await checkPhrase({ file, phrase: TEST_PHRASE })).ok).to.equal(true);
    const said = async (phrase: string) => (await refusal(checkPhrase({ file, phrase }))).message;
    expect(await said(TEST_PHRASE.replace('junk', 'jnuk')))
      .to.match(/word 12\./)
      .and.not.to.contain('jnuk');
    expect(await said(TEST_PHRASE.replace('junk', 'test'))).to.match(/checksum/);
    expect(await said('test junk')).to.match(/12 to 24 words; this has 2/);
    expect(await said(' ')).to.match(/this has 0/);
  });

  const set = (content: Json | undefined, name: string, value: unknown): void => {
    if (content) content[name] = value as Json;
  };

  it('refuses a wrong passphrase and every change of the file with a sentence that ends with what to do', async () => {
    const flip = (content: Json | undefined, name: string): void =>
      set(
        content,
        name,
        `${content?.[name]}`.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
      );
    const changes: Readonly<Record<string, (content: Json) => void>> = {
      text: (c) => flip(c['cipher'], 'text'),
      tag: (c) => flip(c['cipher'], 'tag'),
      salt: (c) => flip(c['kdf'], 'salt'),
      date: (c) => set(c, 'created_at', '2020-01-01T00:00:00.000Z'),
      // Someone who swaps the public part would collect every deposit from then on.
      xpub: (c) => set(c['public']?.['xpub']?.['live'], 'bsc', c['public']?.['xpub']?.['test']?.['bsc']),
      gas: (c) => set(c['public']?.['gas'], 'bsc', LIVE_BSC[0]),
    };
    const isRefused = async (path: string, passphrase: string) =>
      expect((await refusal(openWallet({ file: path, passphrase }))).message, path).to.match(
        /does not open.*(backup)\.$/,
      );
    await isRefused(file, `${PASSPHRASE} `);
    for (const [name, change] of Object.entries(changes)) await isRefused(tampered(name, change), PASSPHRASE);
  });

  it('refuses files that are no wallet, ask for weak or monstrous key derivation, or have members added', async () => {
    const text = (name: string, content: string): string => {
      writeFileSync(join(folder, name), content, { mode: 0o600 });
      return join(folder, name);
    };
    const paths = [
      text('empty.json', ''),
      text('null.json', 'null'),
      text('cut.json', readFileSync(file, 'utf8').slice(0, 700)),
      text('huge.json', 'x'.repeat(70_000)),
      ...[1024, 2 ** 30, 2 ** 17 + 1].map((n) => tampered(`n-${n}`, (c) => set(c['kdf'], 'N', n))),
      tampered('version', (c) => set(c, 'version', 2)),
      tampered('more', (c) => set(c, 'phrase', TEST_PHRASE)),
    ];
    for (const path of paths) {
      expect((await refusal(readPublicParts(path))).message, path).to.match(/\.$/);
      await refusal(openWallet({ file: path, passphrase: PASSPHRASE }));
    }
    expect((await refusal(readPublicParts(join(folder, 'absent')))).message).to.match(/gateway wallet new/);
    const short = join(folder, 'short.json');
    const weak = await refusal(createWallet({ file: short, passphrase: 'short', now: NOW }));
    expect(weak.message).to.match(/12 characters/);
    expect(readdirSync(folder)).not.to.include('short.json');
  });

  it('refuses to overwrite, and keeps the old file when told to', async () => {
    const path = tampered('kept', () => undefined);
    const before = readFileSync(path, 'utf8');
    expect((await refusal(createWallet({ file: path, passphrase: PASSPHRASE, now: NOW }))).message).to.match(
      /already a wallet.*--force/,
    );
    expect(readFileSync(path, 'utf8')).to.equal(before);
    const replaced = await createWallet({ file: path, passphrase: PASSPHRASE, now: NOW, force: true });
    expect(replaced.keptOldFile).to.match(/kept\.json\.replaced-2026/);
    expect(readFileSync(replaced.keptOldFile ?? '', 'utf8')).to.equal(before);
    expect(await readPublicParts(path)).to.deep.equal(replaced.publicParts);
  });

  it('warns of files that others can read, and trims one line end of a passphrase', async () => {
    const secret = join(folder, 'passphrase');
    writeFileSync(secret, ` ${PASSPHRASE} \r\n`, { mode: 0o600 });
    expect(await readPassphraseFile(secret)).to.deep.equal({
      passphrase: ` ${PASSPHRASE} `,
      warning: undefined,
    });
    chmodSync(secret, 0o644);
    expect((await readPassphraseFile(secret)).warning).to.match(/other users.*chmod 600/);
    writeFileSync(secret, '\n');
    expect((await refusal(readPassphraseFile(secret))).message).to.match(/is empty/);
    const open = join(folder, 'open.json');
    writeFileSync(open, readFileSync(file));
    chmodSync(open, 0o640);
    expect((await openWallet({ file: open, passphrase: PASSPHRASE })).warnings).to.have.length(1);
    expect((await openWallet({ file, passphrase: PASSPHRASE })).warnings).to.deep.equal([]);
  });
});
