import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { tempDir } from '../../dev/support/parts.ts';
import { answer, type Env, gateway } from './support.ts';

type ByNetwork = { bsc: string; tron: string };
type Wallet = { xpub: ByNetwork; gas: ByNetwork; xpub_test: ByNetwork; phrase: string };

describe('command line: wallet', function () {
  this.timeout(60_000);
  let env: Env & { DATA_DIR: string };
  let wallet: Wallet;
  before(async () => {
    env = { DATA_DIR: await tempDir('cli-wallet') };
    wallet = await answer<Wallet>(['wallet', 'new'], env);
  });

  it('shows its phrase once and its public parts always, and is replaced with --force alone', async () => {
    const { phrase, ...publicParts } = wallet;
    expect(phrase.split(' ')).to.have.length(24);
    expect(await answer(['wallet', 'xpub'], env)).to.deep.equal(publicParts);
    expect((await gateway(['wallet', 'xpub'], env)).stdout)
      .to.include(`WALLET_XPUB_TEST_TRON=${wallet.xpub_test.tron}`)
      .and.not.include(phrase);
    const refused = await gateway(['wallet', 'new'], env);
    expect([refused.code, refused.stdout]).to.deep.equal([1, '']);
    expect(refused.stderr).to.match(/already a wallet.*--force/);
    const forced = { DATA_DIR: await tempDir('cli-wallet-forced') };
    const first = await answer<Wallet>(['wallet', 'new'], forced);
    const second = await answer<Wallet>(['wallet', 'new', '--force'], forced);
    expect(second.xpub.bsc).to.not.equal(first.xpub.bsc);
    const kept = (await readdir(forced.DATA_DIR)).find((name) => name.startsWith('wallet.json.replaced-'));
    expect(await readFile(join(forced.DATA_DIR, kept ?? 'none'), 'utf8')).to.include(first.xpub.bsc);
  });

  it('proves a phrase from stdin, and repeats nothing of a mistyped one', async () => {
    const typed = ` ${wallet.phrase.toUpperCase()}\n`;
    expect(await answer(['wallet', 'check'], env, typed)).to.include({ ok: true });
    const mistyped = wallet.phrase.replace(/\S+$/, 'qwertyuiop');
    for (const text of ['', `${wallet.phrase} extra`, 'x'.repeat(100_000), mistyped]) {
      const ran = await gateway(['wallet', 'check'], env, text);
      expect([ran.code, ran.stdout]).to.deep.equal([1, '']);
      expect(ran.stderr)
        .to.match(/\.\n$/)
        .and.not.match(/\n\s+at |qwertyuiop/);
    }
    expect((await gateway(['wallet', 'check'], env, mistyped)).stderr).to.match(/word 24/);
  });

  it('asks for a passphrase of the operator in production', async () => {
    const production = { DATA_DIR: await tempDir('cli-wallet-production'), NODE_ENV: 'production' };
    const ran = await gateway(['wallet', 'new'], production);
    expect([ran.code, ran.stdout]).to.deep.equal([1, '']);
    expect(ran.stderr).to.match(/no passphrase at .*WALLET_PASSPHRASE_FILE/);
    expect(await readdir(production.DATA_DIR)).to.deep.equal([]);
  });
});
