import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { tempDir } from '../../dev/support/parts.ts';
import { answer, type Env, gateway, oneObject } from './support.ts';

type ByNetwork = { bsc: string; tron: string };
type Wallet = { xpub: ByNetwork; gas: ByNetwork; xpub_test: ByNetwork; phrase: string };

describe('command line: wallet', function () {
  this.timeout(60_000);
  let dataDir: string;
  let env: Env;
  let wallet: Wallet;

  before(async () => {
    dataDir = await tempDir('cli-wallet');
    env = { DATA_DIR: dataDir };
    wallet = await answer<Wallet>(['wallet', 'new'], env);
  });

  it('makes an encrypted file and shows its phrase once', async () => {
    expect(wallet.phrase.split(' ')).to.have.length(24);
    expect(wallet.gas.bsc).to.match(/^0x/);
    expect(wallet.gas.tron).to.match(/^T/);
    const file = await readFile(join(dataDir, 'wallet.json'), 'utf8');
    expect(file).to.not.include(wallet.phrase.split(' ').slice(0, 2).join(' '));
    expect((await stat(join(dataDir, 'wallet.json'))).mode & 0o777).to.equal(0o600);
    const { phrase, ...publicParts } = wallet;
    expect(await answer(['wallet', 'xpub'], env)).to.deep.equal(publicParts);
    expect((await gateway(['wallet', 'xpub'], env)).stdout)
      .to.include(`WALLET_XPUB_TEST_TRON=${wallet.xpub_test.tron}`)
      .and.not.include(phrase);
  });

  it('refuses to overwrite a wallet, and with --force keeps the old one', async () => {
    const before = await readFile(join(dataDir, 'wallet.json'), 'utf8');
    const refused = await gateway(['wallet', 'new'], env);
    expect([refused.code, refused.stdout]).to.deep.equal([1, '']);
    expect(refused.stderr).to.match(/already a wallet.*--force/);
    expect(await readFile(join(dataDir, 'wallet.json'), 'utf8')).to.equal(before);

    const forced = { DATA_DIR: await tempDir('cli-wallet-forced') };
    const first = await answer<Wallet>(['wallet', 'new'], forced);
    const second = await answer<Wallet>(['wallet', 'new', '--force'], forced);
    expect(second.xpub.bsc).to.not.equal(first.xpub.bsc);
    const kept = (await readdir(forced.DATA_DIR)).find((name) => name.startsWith('wallet.json.replaced-'));
    expect(await readFile(join(forced.DATA_DIR, kept ?? 'none'), 'utf8')).to.include(first.xpub.bsc);
  });

  it('proves a phrase from stdin, and refuses another or a mistyped one', async () => {
    expect(await answer(['wallet', 'check'], env, ` ${wallet.phrase.toUpperCase()}\n`)).to.include({
      ok: true,
    });
    const other = `${'abandon '.repeat(11)}about`;
    const wrong = await gateway(['wallet', 'check', '--json'], env, other);
    expect([wrong.code, oneObject(wrong.stdout)['ok']]).to.deep.equal([1, false]);
    for (const text of ['', 'one two', `${wallet.phrase} extra`, 'x'.repeat(100_000)]) {
      const ran = await gateway(['wallet', 'check'], env, text);
      expect([ran.code, ran.stdout]).to.deep.equal([1, '']);
      expect(ran.stderr)
        .to.match(/\.\n$/)
        .and.not.match(/\n\s+at /);
    }
    const leaked = await gateway(['wallet', 'check'], env, wallet.phrase.replace(/\S+$/, 'qwertyuiop'));
    expect(leaked.stderr)
      .to.match(/word 24/)
      .and.not.include('qwertyuiop');
  });

  it('asks for a passphrase of the operator in production', async () => {
    const production = { DATA_DIR: await tempDir('cli-wallet-production'), NODE_ENV: 'production' };
    const ran = await gateway(['wallet', 'new'], production);
    expect(ran.code).to.equal(1);
    expect(ran.stderr).to.match(/no passphrase at .*WALLET_PASSPHRASE_FILE/);
    expect(await readdir(production.DATA_DIR)).to.deep.equal([]);
  });
});
