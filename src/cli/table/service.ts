// The gateway as a whole: what runs, looks, repairs and keeps.
import { DECISION_LIMITS } from '../../domain/decision.ts';
import { oneOf, text, wholeNumber } from '../arguments.ts';
import { time } from '../follow/options.ts';
import {
  BSC,
  BY,
  DECISION,
  type Definition,
  HASH,
  ID,
  LIMIT,
  NETWORK,
  OF_MERCHANT,
  ON_NETWORK,
  type OptionGiven,
  SAID,
  WHY,
} from './definition.ts';

const ROLES = oneOf('all', 'api', 'worker', 'signer');
const PRESET: OptionGiven = ['--preset <names>', 'test nets in place of the main nets, as PRESET names them'];
const MAX_HEIGHT = 1_000_000_000;
const service = async () => (await import('../commands/service.ts')).SERVICE;
const config = async () => (await import('../commands/config.ts')).CONFIG;
const backups = async () => (await import('../commands/backup.ts')).BACKUPS;
const wallet = async () => (await import('../commands/wallet.ts')).WALLET;

export const SERVICE: readonly Definition[] = [
  {
    name: 'start',
    about: 'runs the gateway until SIGTERM or Ctrl-C',
    options: [['--role <role>', 'which part of it', ROLES, 'all'], PRESET],
    examples: ['', '--role worker'],
    work: async () => (await service()).start,
  },
  {
    name: 'migrate',
    about: 'brings the database schema up to date',
    work: async () => (await service()).migrateSchema,
  },
  {
    name: 'doctor',
    about: 'looks at every part and says what to do',
    examples: ['', '--json'],
    work: async () => (await service()).doctor,
  },
  {
    name: 'repair',
    about: 'starts an actor for everything that should have one and has none, or one that cannot go on',
    work: async () => (await service()).repair,
  },
  {
    name: 'replay',
    about: 'replays histories against the code of this version; without files, those on the server',
    takes: [['[files...]', 'exported histories (JSON)']],
    options: [['--query <text>', "which of the server's workflows, in Temporal's list syntax"]],
    examples: ['', 'histories/one.json histories/two.json', `--query "WorkflowType = 'deposit'"`],
    work: async () => (await service()).replay,
  },
  {
    name: 'config check',
    about: 'prints every effective value, without secrets, and all problems at once',
    options: [['--role <role>', 'whose requirements apply in production', ROLES, 'all'], PRESET],
    work: async () => (await config()).check,
  },
  {
    name: 'config docs',
    about:
      'prints docs/configuration.md, or writes it, .env.example, docs/openapi.json and the types in packages/sdk/src',
    options: [['--write', 'write the files']],
    work: async () => (await config()).docs,
  },
  {
    name: 'find',
    about: 'tells what a hash, an address, an email, a token or an id is, why it waits, and what to do',
    takes: [
      [
        '<what>',
        'a transaction hash, an address, an email, a token, an id of anything, an external id, what "key list" shows of a key, or the address of a page about one of them',
      ],
    ],
    options: [['--payload', 'also what an event sent, and the token of a payment']],
    examples: [HASH, BSC, 'ann@example.com', 'sk_live_abcd…wxyz', `${ID} --payload`],
    work: async () => (await import('../commands/lookup/find.ts')).find,
  },
  {
    name: 'rescan',
    about: 'reads blocks of a chain again and records what was missed',
    needs: [
      NETWORK,
      ['--from <block>', 'first block', wholeNumber(0, MAX_HEIGHT)],
      ['--to <block>', 'last block', wholeNumber(0, MAX_HEIGHT)],
    ],
    options: [BY],
    examples: ['--network bsc --from 41000000 --to 41000100'],
    work: async () => (await import('../commands/chain.ts')).rescanBlocks,
  },
  {
    name: 'reconcile',
    about: 'compares every balance on the chains with the ledger',
    options: [
      ON_NETWORK,
      ['--books', 'compare the ledger with the deposits and the running totals instead'],
      ['--rebuild-totals', 'with --books: make the totals again from the ledger first; needs --reason'],
      BY,
      WHY,
    ],
    examples: ['', '--books', `--books --rebuild-totals --by "$USER" --reason 'a total differed'`],
    work: async () => (await import('../commands/reconcile.ts')).reconcile,
  },
  {
    name: 'archive',
    about:
      'months of events, deliveries, attempts and audit rows: lists them, or takes one out of the tables',
    takes: [
      ['<what>', 'list, or detach: after it was dumped; never the ledger', oneOf('list', 'detach')],
      ['[month]', 'the month to detach, such as 2026-01'],
    ],
    options: [...DECISION, ['--yes', 'the month was dumped and the dump was looked at']],
    examples: ['list', `detach 2026-01 ${SAID}`],
    work: async () => (await import('../commands/archive.ts')).archive,
  },
  {
    name: 'backup',
    about: 'dumps the database beside what runs; keys, wallet and journal stay where they are',
    needs: [['--to <folder>', 'where the backup gets a folder of its own']],
    options: [BY],
    examples: ['--to /srv/backups'],
    work: async () => (await backups()).backup,
  },
  {
    name: 'restore',
    about: 'restores a backup into an empty database, checks its books, and holds payouts until all is known',
    needs: [['--from <folder>', 'the folder that "backup" made']],
    options: [
      ['--drill', 'only into a database of its own, which is checked and dropped again'],
      BY,
      ['--reason <text>', 'why', text(DECISION_LIMITS.reason), 'a restore of the database'],
    ],
    examples: [
      '--from /srv/backups/gateway-2026-11-26T090000Z --drill',
      `--from /srv/backups/gateway-2026-11-26T090000Z --by "$USER" --reason 'the disk died'`,
    ],
    work: async () => (await backups()).restore,
  },
  {
    name: 'notify',
    about: 'notices to NOTIFY_URL of what needs an operator',
    takes: [
      [
        '<what>',
        'test sends one now and says whether it arrived; secret prints what they are signed with',
        oneOf('test', 'secret'),
      ],
    ],
    options: [BY],
    examples: ['test', 'secret --json'],
    work: async () => (await import('../commands/notify.ts')).notify,
  },
  {
    name: 'audit list',
    about: 'lists changes, newest first: when, who, from where, what, and what it was before',
    options: [OF_MERCHANT, ['--since <time>', 'only from then on', time], LIMIT],
    examples: ['', `--merchant ${ID} --since 2026-11-01`],
    work: async () => (await import('../commands/audit.ts')).list,
  },
  {
    name: 'wallet new',
    about: 'makes the encrypted seed file and shows its phrase this once',
    options: [['--force', 'replace an existing wallet; the old file is kept beside it']],
    work: async () => (await wallet()).makeNew,
  },
  {
    name: 'wallet xpub',
    about: 'prints the account keys and the gas addresses to fund',
    work: async () => (await wallet()).xpub,
  },
  {
    name: 'wallet check',
    about: 'reads a phrase on stdin and proves that it restores the same addresses',
    work: async () => (await wallet()).check,
  },
  {
    name: 'wallet rotate-passphrase',
    about:
      'reads a new passphrase on stdin and encrypts the seed with it; WALLET_PASSPHRASE_FILE holds the old one',
    work: async () => (await wallet()).rotate,
  },
];
