import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { SECRETS_KEY } from '../../../dev/support/live-gateway.ts';
import { checkSigner } from '../../../src/cli/doctor/signer.ts';
import { startGatewayChild } from '../../support/gateway-child.ts';
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

  const finding = async () => {
    const [found] = await checkSigner(the.deps.orm.em.fork());
    return `${found?.ok === true ? 'well' : 'not well'}: ${JSON.stringify(found)}`;
  };
  const says = (words: RegExp) => eventually(String(words), async () => words.test(await finding()));
  const asked = async (): Promise<string> => {
    const place = await the.place('bsc');
    await the.deposit(place, 'USDT', 10n ** 18n);
    return await the.ask(await the.plan(place, 'USDT'));
  };

  it('talks to PostgreSQL and to nothing else, and nothing can talk to it', async () => {
    const signer = await startGatewayChild(
      {
        DATABASE_URL: the.database.url,
        SECRETS_KEY: SECRETS_KEY.toString('base64'),
        WALLET_SEED_FILE: the.files.seedFile,
        WALLET_PASSPHRASE_FILE: the.files.passphraseFile,
        SIGN_JOURNAL_FILE: the.files.journalFile,
        // It is told of them, and does not care.
        BSC_RPC_URLS: 'http://127.0.0.1:9',
        TEMPORAL_ADDRESS: '127.0.0.1:9',
      },
      'signer',
    );
    expect([signer.api, signer.ops]).to.deep.equal([null, null]);
    const database = Number.parseInt(new URL(the.database.url).port, 10);
    for (let signed = 0; signed < 3; signed += 1) {
      expect((await the.decided(await asked()))['state']).to.equal('signed');
      const { listening, talksTo } = socketsOf(signer.child.pid);
      expect(listening).to.equal(0);
      expect(talksTo.length).to.be.greaterThan(0);
      expect([...new Set(talksTo)]).to.deep.equal([database]);
    }
    await signer.child.stop();
  });

  it('is told of by "doctor": away, sealed, refusing, and well', async () => {
    await says(/^well: .*signed last at .*nothing waits for it/);
    await the.sql("update signer_state set seen_at = now() - interval '5 minutes'");
    await says(/^not well: .*was last seen 30\d s ago/);
    await the.sql(
      "update signer_state set seen_at = now(), sealed_code = 'wallet', sealed_reason = 'the passphrase is wrong', sealed_since = now()",
    );
    await says(/^not well: .*signs nothing: the passphrase is wrong/);
    await the.signer({ newDestinationAfterMs: 0 });
    await says(/^well: /);
    const place = await the.place('tron');
    await the.deposit(place, 'USDT', 10n ** 18n);
    await the.ask(await the.plan(place, 'USDT'), { terms: {} });
    await says(/^not well: .*refuses some of what waits for it: terms: /);
  });
});
