import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { expect } from 'chai';
import { HDNodeWallet } from 'ethers';
import { SECRETS_KEY } from '../../../dev/support/live-gateway.ts';
import { TEST_PHRASE } from '../../../dev/support/test-wallet.ts';
import { startGatewayChild } from '../../support/gateway-child.ts';
import { PASSPHRASE } from './running.ts';
import { searchFor } from './secrets.ts';
import { type SignerStage, startSignerStage } from './stage.ts';

/** What a process of this machine listens on, and the ports it talks to, as the kernel says. */
function socketsOf(pid: number): { readonly listening: number; readonly talksTo: readonly number[] } {
  const inodes = new Set<string>();
  for (const fd of readdirSync(`/proc/${pid}/fd`)) {
    const inode = /^socket:\[(\d+)\]$/.exec(linkOf(`/proc/${pid}/fd/${fd}`))?.[1];
    if (inode) inodes.add(inode);
  }
  const sockets = ['tcp', 'tcp6', 'udp', 'udp6'].flatMap((kind) =>
    readFileSync(`/proc/${pid}/net/${kind}`, 'utf8')
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter((columns) => inodes.has(columns[9] ?? '')),
  );
  const LISTENS = '0A';
  return {
    listening: sockets.filter((columns) => columns[3] === LISTENS).length,
    talksTo: sockets
      .filter((columns) => columns[3] !== LISTENS)
      .map((columns) => Number.parseInt((columns[2] ?? '').split(':')[1] ?? '', 16)),
  };
}

/** It may be closed while its folder is read. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

describe('the signer as a process', function () {
  this.timeout(120_000);
  let the: SignerStage;
  before(async () => {
    the = await startSignerStage();
  });
  after(() => the?.stop());
  const namesIn = searchFor(PASSPHRASE);

  it('talks to PostgreSQL alone, and what it knows is in no row, no log and no line of its journal', async () => {
    const signer = await startGatewayChild(
      {
        DATABASE_URL: the.database.url,
        SECRETS_KEY: SECRETS_KEY.toString('base64'),
        WALLET_SEED_FILE: the.files.seedFile,
        WALLET_PASSPHRASE_FILE: the.files.passphraseFile,
        SIGN_JOURNAL_FILE: the.files.journalFile,
        LOG_LEVEL: 'trace',
        // It is told of them, and does not care.
        BSC_RPC_URLS: 'http://127.0.0.1:9',
        TEMPORAL_ADDRESS: '127.0.0.1:9',
      },
      'signer',
    );
    expect([signer.api, signer.ops]).to.deep.equal([null, null]);
    const database = Number.parseInt(new URL(the.database.url).port, 10);
    for (const network of ['bsc', 'tron'] as const) {
      const payout = await the.planned(network);
      await the.signed(await the.ask(payout, { purpose: 'gas' }));
      await the.refused(await the.ask(payout, { terms: {} }), /^terms: /);
      const { listening, talksTo } = socketsOf(signer.child.pid);
      expect([listening, [...new Set(talksTo)]]).to.deep.equal([0, [database]]);
    }
    const payout = await the.planned('tron');
    await the.force("update withdraw_addresses set address = '0x00' where network = 'tron'");
    const id = await the.ask(payout);
    await the.sealed('tampered');
    expect((await the.row(id))['state']).to.equal('asked');
    await signer.child.stop();

    expect(namesIn(signer.log()), 'log').to.deep.equal([]);
    for (const name of readdirSync(the.folder).filter((one) => one.startsWith('journal'))) {
      expect(namesIn(readFileSync(`${the.folder}/${name}`, 'latin1')), name).to.deep.equal([]);
      expect(statSync(`${the.folder}/${name}`).mode & 0o004, `${name} is read by others`).to.equal(0);
    }
    const tables = await the.sql<{ name: string }>(
      "select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public'",
    );
    expect(tables.length).to.be.greaterThan(20);
    for (const { name } of tables) {
      const text = `select string_agg(t::text, '\n') as text from ${name} t`;
      const [dump] = await the.sql<{ text: string | null }>(text);
      expect(namesIn(dump?.text ?? ''), name).to.deep.equal([]);
    }
  });

  it('has secrets that this search finds where they are', () => {
    expect(namesIn(`x${PASSPHRASE}x`)).to.deep.equal(['the passphrase']);
    expect(namesIn(TEST_PHRASE)).to.include('the phrase');
    expect(
      namesIn(HDNodeWallet.fromPhrase(TEST_PHRASE, undefined, "m/44'/60'/2'/0/0").privateKey),
    ).to.deep.equal(['key 0 of account 2 of 60']);
  });
});
