import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { SECRETS_KEY } from '../../../dev/support/live-gateway.ts';
import { openOrm } from '../../../src/db/orm.ts';
import { type GatewayChild, startGatewayChild } from '../../support/gateway-child.ts';
import { type SignerStage, startSignerStage } from './stage.ts';

/** Held by the test, and waited for by a commit that stores a signature. */
const GATE = 778_101;

/** The signer as a process of its own, killed at the worst of moments. */
describe('a signer that is killed', function () {
  this.timeout(180_000);
  let the: SignerStage;
  const children: GatewayChild[] = [];
  before(async () => {
    the = await startSignerStage();
  });
  after(async () => {
    for (const { child } of children) await child.kill().catch(() => undefined);
    await the?.stop();
  });

  const start = async () => {
    const child = await startGatewayChild(
      {
        DATABASE_URL: the.database.url,
        SECRETS_KEY: SECRETS_KEY.toString('base64'),
        WALLET_SEED_FILE: the.files.seedFile,
        WALLET_PASSPHRASE_FILE: the.files.passphraseFile,
        SIGN_JOURNAL_FILE: the.files.journalFile,
      },
      'signer',
    );
    children.push(child);
    return child;
  };
  const journaled = () => {
    const lines = readFileSync(the.files.journalFile, 'utf8').split('\n');
    return lines.filter((line) => line.includes('"kind":"signed"')).map((line) => JSON.parse(line));
  };
  const asked = async (network: 'bsc' | 'tron') => {
    const place = await the.place(network);
    await the.deposit(place, 'USDT', 10n ** 18n);
    return await the.ask(await the.plan(place, 'USDT'));
  };
  const signed = (id: string) =>
    eventually('the signature', async () => (await the.row(id))['state'] === 'signed');

  it('between its journal and its commit stores the same bytes when it is back, and never others', async () => {
    await the.sql(`create function at_the_gate() returns trigger language plpgsql as $$
      begin perform pg_advisory_xact_lock_shared(${GATE}); return null; end $$`);
    await the.sql(`create constraint trigger gate after update on sent_transactions deferrable initially deferred
      for each row when (new.raw is not null) execute function at_the_gate()`);
    for (const network of ['bsc', 'tron'] as const) {
      const id = await asked(network);
      // What stands refused may be given up by whoever asked; what is in the journal must not be.
      await the.sql("update sent_transactions set refused = 'limit: full' where id = ?", [id]);
      const before = journaledOrNone(journaled);
      const patient = { url: the.database.url, poolSize: 1, applicationName: 'gate', statementTimeoutMs: 0 };
      const gate = await openOrm(patient);
      const holding = gate.em.fork();
      await holding.begin();
      await holding.execute(`select pg_advisory_xact_lock(${GATE})`);
      const child = await start();
      const line = await eventually('the line in the journal', () => {
        const now = journaledOrNone(journaled);
        return now.length > before.length ? now.at(-1) : undefined;
      });
      expect(await the.row(id)).to.include({ state: 'asked', raw: null });
      await child.child.kill();
      await eventually('the end of its transaction', async () => {
        const waiting = "select 1 from pg_locks where locktype = 'advisory' and not granted";
        return (await the.sql(waiting)).length === 0;
      });
      await holding.rollback();
      await gate.close(true);
      expect(await the.row(id)).to.include({ state: 'asked', raw: null, hash: null, refused: null });
      const next = await start();
      await signed(id);
      const row = await the.row(id);
      expect((row['raw'] as Buffer).toString('hex')).to.equal(line.raw);
      expect(row['hash']).to.equal(line.hash);
      expect(journaled().length).to.equal(before.length + 1);
      expect(next.log()).to.contain('stored again what was signed before');
      await next.child.kill();
    }
    await the.sql('drop trigger gate on sent_transactions');
  });

  it('at any moment signs each payout once', async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, (_, n) => asked(n % 2 === 0 ? 'bsc' : 'tron')));
    const before = journaled().length;
    for (let wanted = before + 1; wanted < before + 8; wanted += 4) {
      const child = await start();
      await eventually('some signatures', () => journaled().length >= wanted);
      await child.child.kill();
    }
    const last = await start();
    for (const id of ids) await signed(id);
    const lines = journaled();
    expect(lines.length).to.equal(before + ids.length);
    const rows = await the.sql<{ hash: string }>('select hash from sent_transactions where raw is not null');
    expect(rows.map(({ hash }) => hash)).to.have.members(lines.map(({ hash }) => hash));
    expect(new Set(lines.flatMap(({ deposits }) => deposits)).size).to.equal(lines.length);
    await last.child.kill();
  });
});

/** Before the first start there is no file. */
function journaledOrNone<T>(journaled: () => T[]): T[] {
  try {
    return journaled();
  } catch {
    return [];
  }
}
