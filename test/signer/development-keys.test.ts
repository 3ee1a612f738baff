import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { OperatorError } from '../../src/base/errors.ts';
import { createLogger } from '../../src/base/log.ts';
import { ensureDevelopmentWallet, ensureSecretsKey } from '../../src/signer/development-keys.ts';
import { openWallet, readPassphraseFile, resolveAccountXpubs } from '../../src/signer/wallet-file.ts';

describe('development keys', () => {
  let dataDir: string;
  let lines: string[];
  const log = createLogger({ level: 'info', destination: { write: (line: string) => lines.push(line) } });
  const files = () => ({
    seedFile: join(dataDir, 'wallet.json'),
    passphraseFile: join(dataDir, 'wallet.passphrase'),
  });
  const ensure = () => ensureDevelopmentWallet({ ...files(), log });
  const open = async () => {
    const { passphrase } = await readPassphraseFile(files().passphraseFile);
    return await openWallet({ file: files().seedFile, passphrase });
  };

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'gateway-keys-'));
    lines = [];
  });
  afterEach(() => rmSync(dataDir, { recursive: true }));

  const isRefused = async (work: Promise<unknown>, says: RegExp): Promise<void> => {
    const error = await work.catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(OperatorError);
    expect(String(error)).to.match(says);
  };

  it('makes a wallet that opens with the passphrase beside it, says so once, and keeps it', async () => {
    const made = await ensure();
    expect(await ensure()).to.deep.equal(made);
    expect(lines).to.have.length(1);
    expect(lines.join()).not.to.contain(readFileSync(files().passphraseFile, 'utf8').trim());
    expect((await open()).publicParts).to.deep.equal(made);
    const modes = readdirSync(dataDir).map((name) => [name, statSync(join(dataDir, name)).mode & 0o777]);
    expect(modes).to.deep.equal([
      ['wallet.json', 0o600],
      ['wallet.passphrase', 0o600],
    ]);
  });

  it('goes on after a crash between passphrase and seed, and never replaces a wallet whose passphrase is gone', async () => {
    await ensure();
    const { passphraseFile, seedFile } = files();
    const passphrase = readFileSync(passphraseFile, 'utf8');
    unlinkSync(seedFile);
    writeFileSync(`${seedFile}.left-over.tmp`, 'half');
    await ensure();
    expect(lines).to.have.length(2);
    expect(readFileSync(passphraseFile, 'utf8')).to.equal(passphrase);
    const before = readFileSync(seedFile, 'utf8');
    unlinkSync(passphraseFile);
    await isRefused(ensure(), /no passphrase at .*Put its passphrase there/);
    expect(readFileSync(seedFile, 'utf8')).to.equal(before);
  });

  it('makes one wallet and one key when several processes start at once', async () => {
    const wallets = await Promise.all([ensure(), ensure(), ensure()]);
    expect(new Set(wallets.map(({ gas }) => gas.bsc)).size).to.equal(1);
    expect(lines).to.have.length(1);
    const keys = await Promise.all(Array.from({ length: 20 }, () => ensureSecretsKey({ dataDir, log })));
    expect(new Set(keys.map((key) => Buffer.from(key).toString('hex'))).size).to.equal(1);
    await open();
  });

  it('keeps the secrets key, and refuses a damaged one instead of making another', async () => {
    const key = await ensureSecretsKey({ dataDir, log });
    expect(await ensureSecretsKey({ dataDir, log })).to.deep.equal(key);
    expect(key.length).to.equal(32);
    expect(statSync(join(dataDir, 'secrets.key')).mode & 0o777).to.equal(0o600);
    writeFileSync(join(dataDir, 'secrets.key'), 'AAAA');
    await isRefused(ensureSecretsKey({ dataDir, log }), /32 bytes/);
  });

  it('takes account keys from the environment first, then from the wallet, and refuses a stranger', async () => {
    const { live, test } = (await ensure()).xpub;
    const { seedFile } = files();
    const absent = join(dataDir, 'absent');
    const none = { bsc: undefined, tron: undefined };
    expect(await resolveAccountXpubs({ xpubs: { live: none, test: none }, seedFile })).to.deep.equal({
      live,
      test,
    });
    expect(await resolveAccountXpubs({ xpubs: { live, test }, seedFile: absent })).to.deep.equal({
      live,
      test,
    });
    const strange = { live: { ...live, bsc: test.bsc }, test };
    await isRefused(
      resolveAccountXpubs({ xpubs: strange, seedFile }),
      /WALLET_XPUB_BSC does not belong to the wallet/,
    );
    await isRefused(
      resolveAccountXpubs({ xpubs: { live, test: none }, seedFile: absent }),
      /WALLET_XPUB_TEST_BSC is not set.*gateway wallet xpub/,
    );
  });
});
