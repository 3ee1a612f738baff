import type { Command } from 'commander';

const ID = '0191c2f0-6f4e-7c3a-9d51-3f2b8a6c1e70';
const HASH = `0x${'5f'.repeat(32)}`;
const BSC = '0x52908400098527886E0F7030069857D2E4169EE7';
const BACKUP = '/srv/backups/gateway-2026-11-26T090000Z';
const DECIDED = `--by "$USER" --reason 'seen on an explorer'`;

/** Examples of each command, by its words; what stands behind `gateway` in a shell. */
export const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  start: ['', '--role worker'],
  migrate: [''],
  doctor: ['', '--json'],
  repair: [''],
  replay: ['', 'histories/one.json histories/two.json', `--query "WorkflowType = 'deposit'"`],
  find: [HASH, BSC, 'ann@example.com', 'sk_live_abcd…wxyz'],
  'config check': [''],
  'config docs': [''],
  'merchant create': ["--name 'My shop'", `--name 'My shop' --withdraw-bsc ${BSC}`],
  'merchant set': [`${ID} --withdraw-bsc ${BSC}`, `${ID} --monthly-limit-usd 250000`],
  'merchant list': [''],
  'merchant show': [ID],
  'merchant changes': [''],
  'merchant cancel-change': [`${ID} ${DECIDED}`],
  'subscription set': [`${ID} active --until 2099-12-31`, `${ID} inactive`],
  'customer list': [`--merchant ${ID}`, '--email ann@example.com', `--address ${BSC}`],
  'customer show': [ID],
  'customer erase': [`${ID} ${DECIDED}`],
  'quota set': [`${ID} --mode live --events-per-day 100000`],
  'quota list': [''],
  'key create': [
    `--merchant ${ID} --mode live --label 'web server'`,
    `--merchant ${ID} --mode test --expires 90d`,
  ],
  'key list': ['', `--merchant ${ID}`],
  'key rotate': [`${ID} --grace 7d`],
  'key revoke': [ID],
  'allow-ip add': [`203.0.113.0/24 --merchant ${ID}`],
  'allow-ip list': [`--merchant ${ID}`],
  'allow-ip remove': [`203.0.113.0/24 --merchant ${ID}`],
  'user create': [`--merchant ${ID} --email ann@example.com`],
  'user reset-password': ['--email ann@example.com'],
  'user totp': ['--email ann@example.com'],
  'user hash': ['--email ann@example.com'],
  'user list': [''],
  'wallet new': [''],
  'wallet xpub': [''],
  'wallet rotate-passphrase': [''],
  'wallet check': [''],
  'deposit list': [`--customer ${ID}`, `--tx ${HASH}`, '--status confirming --network bsc', '--unrecognised'],
  'deposit show': [ID, HASH],
  'deposit stuck': ['', '--json'],
  'deposit fail': [`${ID} ${DECIDED}`],
  'deposit release': [`${ID} ${DECIDED}`],
  'deposit claim': [`--tx ${HASH} --network bsc`, `--tx ${HASH} --network bsc --amount 0.25 ${DECIDED}`],
  'payment list': [`--merchant ${ID} --status partially_paid`, '--external-id order-42'],
  'payment show': [ID, 'pl_2R9fVq0mXc'],
  'payout list': ['', `--merchant ${ID} --state paying`],
  'payout show': [ID],
  'payout retry': [ID, BSC],
  'payout pause': [DECIDED, `--merchant ${ID} ${DECIDED}`],
  'payout resume': [DECIDED, `--merchant ${ID} ${DECIDED}`],
  'payout accept': [`--tx ${HASH} --network bsc ${DECIDED}`],
  'payout deny': [`--tx ${HASH} --network bsc --by "$USER" --reason 'no explorer has it'`],
  'payout conclude': [
    `${ID} --tx ${HASH} ${DECIDED}`,
    `${BSC} --tx ${HASH} --journal /srv/journal.copy ${DECIDED}`,
  ],
  'payout approve-destination': [`${ID} ${BSC}`],
  'endpoint list': ['', `--merchant ${ID} --disabled`],
  'endpoint show': [ID],
  'endpoint enable': [`${ID} --by "$USER"`],
  'endpoint disable': [`${ID} --by "$USER"`],
  'event list': [`--merchant ${ID} --type deposit.completed`, `--about ${ID}`],
  'event show': [ID],
  'webhook list': ['--status failed', `--about ${ID}`, `--endpoint ${ID}`],
  'webhook resend': [ID],
  'webhook listen': [
    '',
    '--port 8090 --secret-stdin',
    '--status 503 --delay 5s',
    '--api https://gateway.example --forward-to http://localhost:3000/hook',
  ],
  rescan: ['--network bsc --from 41000000 --to 41000100'],
  reconcile: ['', '--books'],
  'totals rebuild': [`--by "$USER" --reason 'a total differed from the ledger'`],
  backup: ['--to /srv/backups'],
  restore: [`--from ${BACKUP} --drill`, `--from ${BACKUP} --by "$USER" --reason 'the disk died'`],
  'notify test': [''],
  'notify secret': ['', '--json'],
  'archive list': [''],
  'archive detach': [`2026-01 ${DECIDED}`],
  'audit list': ['', `--merchant ${ID} --since 2026-11-01`],
};

/** What a newcomer types first, for the help of the whole. */
const FIRST = ['doctor', 'merchant create', 'find', 'deposit stuck'];
/** A group's help shows some of its commands at work; each command's own shows all of its examples. */
const OF_A_GROUP = 4;

/** Adds to the help of each command of `program`, of each group and of the whole, its examples. */
export function addExamples(program: Command): void {
  for (const { path, command } of leavesOf(program))
    show(
      command,
      (EXAMPLES[path] ?? []).map((rest) => `${path} ${rest}`),
    );
  for (const group of program.commands.filter(({ commands }) => commands.length > 0))
    show(
      group,
      leavesOf(group, [group.name()])
        .slice(0, OF_A_GROUP)
        .map(({ path }) => `${path} ${EXAMPLES[path]?.[0] ?? ''}`),
    );
  show(
    program,
    FIRST.map((path) => `${path} ${EXAMPLES[path]?.at(0) ?? ''}`),
  );
}

function show(command: Command, lines: readonly string[]): void {
  const shown = lines.map((line) => `  gateway ${line.trim()}`);
  if (shown.length > 0) command.addHelpText('after', ['', 'Examples:', ...shown].join('\n'));
}

function leavesOf(command: Command, path: readonly string[] = []): { path: string; command: Command }[] {
  if (command.commands.length === 0) return [{ path: path.join(' '), command }];
  return command.commands.flatMap((one) => leavesOf(one, [...path, one.name()]));
}
