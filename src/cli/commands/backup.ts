import { type Backup, makeBackup } from '../backup/backup.ts';
import type { Manifest } from '../backup/manifest.ts';
import { drillBackup, type Restored, restoreBackup } from '../backup/restore.ts';
import { nameOf, operatorOf } from '../operator.ts';
import { facts } from '../print.ts';
import { commandConfig, openDatabase } from '../process.ts';
import { type Acting, type CommandCall, type CommandResult, progress } from '../run.ts';
import { auditBooks } from './ledger-audit.ts';

/** Backups of the database. */
export const BACKUPS = { backup, restore };

/** Runs `work` on the configured database, or that over the data folder, and PostgreSQL's programs for it. */
async function onDatabase<T>(work: (url: string, programs: string | undefined) => Promise<T>): Promise<T> {
  const { config, log } = commandConfig('tool');
  const database = await openDatabase(config, log);
  return await work(database.url, config.postgresBin).finally(() => database.close());
}

async function backup({ options: { to, by } }: CommandCall<Acting & { readonly to: string }>) {
  const made = await onDatabase((url, programs) =>
    makeBackup({ url, to, by: nameOf(by), programs, now: new Date() }),
  );
  return {
    json: { ok: true, folder: made.folder, ...presented(made.manifest) },
    text: facts({ folder: made.folder, ...shownOf(made.manifest) }),
    next: BESIDE(made),
  };
}

/** What a backup of the database does not hold. */
const BESIDE = ({ folder }: Backup): string =>
  `Not in it, on purpose, and to be kept apart from it: SECRETS_KEY, the seed phrase and the wallet's file, and the signer's journal with its approvals (after each hour with payouts: a restore needs the newest). Temporal's own database may be lost: "repair" starts its actors again. Prove this backup with "gateway restore --drill --from ${folder}".`;

type RestoreOptions = Acting & { readonly from: string; readonly drill?: true; readonly reason: string };

async function restore({ options }: CommandCall<RestoreOptions>): Promise<CommandResult> {
  const { from, reason, drill, by } = options;
  return await onDatabase(async (url, programs) => {
    const input = { url, from, programs, say: progress };
    if (drill)
      return await drillBackup(input, async (own, manifest) => drilled(manifest, await auditBooks(own)));
    const restored = await restoreBackup({ ...input, reason, actor: operatorOf(by) });
    return done(restored, await auditBooks(url));
  });
}

function drilled(manifest: Manifest, books: CommandResult): CommandResult {
  return {
    ...answerOf(manifest, books, { drill: true }),
    next: 'The drill changed nothing: the database that it made is gone.',
  };
}

function done({ manifest, migrated, walletIndex }: Restored, books: CommandResult): CommandResult {
  const more = { drill: false, migrated, wallet_index: walletIndex, payouts_held: true };
  const next = `${walletIndex.next}, far above ${walletIndex.highest}, the highest that the backup knows`;
  return { ...answerOf(manifest, books, more, { 'next wallet index': next }), next: STEPS };
}

function answerOf(manifest: Manifest, books: CommandResult, more: object, shown = {}): CommandResult {
  return {
    json: { ok: books.problem === undefined, ...more, ...presented(manifest), books: books.json },
    text: `${facts({ ...shownOf(manifest), ...shown })}\n${books.text}`,
    problem: books.problem,
  };
}

/** In their order, which matters. */
const STEPS = `Payouts are held, and go on by step 6. In this order:
1. Leave the signer's journal as it is, or put its newest copy back: never an older one. Give Temporal an empty store, or end all actors.
2. Start the signer first: it proves that its journal continues what the database knows. "gateway doctor" says how it is.
3. "gateway merchant changes": withdraw addresses that waited at the time of the backup may have been cancelled since. Cancel them, and tell their merchants.
4. Start workers and APIs as new processes, then "gateway repair". The blocks since the backup are read again.
5. "gateway deposit stuck" lists what our wallets sent since: "payout conclude" with --journal for each, where the journal can be read.
6. "gateway payout resume" lets payouts go on. It refuses until the signer, the chains and what was sent are known.
7. "gateway reconcile" and "gateway reconcile --books" find nothing. Tell merchants that webhooks since the backup come again.`;

function shownOf({ made_at: at, by, gateway_version: version, migrations, postgres, dump }: Manifest) {
  return {
    'made at': `${at} by ${by}`,
    gateway: `${version}, ${migrations.length} migrations, PostgreSQL ${postgres.server}`,
    dump: `${dump.bytes} bytes, SHA-256 ${dump.sha256.slice(0, 16)}…`,
  };
}

function presented({ made_at, by, gateway_version, migrations, postgres, dump }: Manifest) {
  return { made_at, made_by: by, gateway_version, migration: migrations.at(-1) ?? null, postgres, dump };
}
