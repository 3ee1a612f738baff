import { expect } from 'chai';
import { DEFINITIONS, examplesOf, makeProgram } from '../../src/cli/program.ts';
import { called, gateway, leavesOf, oneObject, type Ran, sideBySide } from './support.ts';

const HUGE = '9'.repeat(100_000);
const KEY = ['key', 'create', '--merchant', 'x'];
const RESCAN = ['rescan', '--network', 'bsc'];
const CLAIM = ['deposit', 'claim', '--network', 'tron'];
const WHY = ['--by', 'a', '--reason', 'b'];
const TRON = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';
const FAIL = ['deposit', 'fail', 'x'];

/** Wrong usage, each with what its sentence must say. None of these may get as far as the configuration. */
const WRONG: readonly [readonly string[], RegExp][] = [
  [['bogus'], /unknown command 'bogus'/],
  [['merchant', 'list', '--bogus'], /unknown option '--bogus'/],
  [['merchant', 'list', 'extra'], /too many arguments/],
  [['merchant', 'create'], /'--name <name>' not specified/],
  [['merchant', 'create', '--name', '  '], /must not be empty/],
  [['merchant', 'create', '--name', 'x', '--monthly-limit-usd', HUGE], /amount in USD/],
  [['merchant', 'set', 'x'], /Nothing to set/],
  [['subscription', 'set', 'x', 'Active'], /one of active, inactive/],
  [['subscription', 'set', 'x', 'active', '--until', 'tomorrow'], /ISO-8601/],
  [['subscription', 'set', 'x', 'active', '--until', '2001-01-01'], /past/],
  [['subscription', 'set', 'x', 'inactive', '--until', '2099-01-01'], /only goes with active/],
  [KEY, /'--mode <mode>' not specified/],
  [[...KEY, '--mode', 'prod'], /one of live, test/],
  [['key', 'rotate', 'x', '--grace', '1 day'], /duration such as/],
  [['backup'], /'--to <folder>' not specified/],
  [['restore'], /'--from <folder>' not specified/],
  [['reconcile', '--books', '--rebuild-totals'], /--rebuild-totals needs --reason/],
  [['reconcile', '--books', '--network', 'bsc'], /--network has no meaning with --books/],
  [['list', 'endpoints', '--about', 'x'], /--about has no meaning for endpoints/],
  [['list', 'things'], /one of customers, payments/],
  [['archive', 'detach', '2026-01'], /needs --by and --reason/],
  [['merchant', 'set', 'x', '--quota', 'live.coins=1'], /--quota must be MODE\.NAME=NUMBER/],
  [['merchant', 'changes', '--by', 'a'], /need --cancel/],
  [['allow-ip', 'add', '--merchant', 'x'], /needs a network/],
  [['deposit', 'list', '--status', 'done'], /one of detected, confirming/],
  [FAIL, /'--by <name>' not specified/],
  [[...FAIL, '--by', 'a'], /'--reason <text>' not specified/],
  [[...FAIL, '--by', 'a', '--reason', HUGE], /at most 500 characters/],
  [['payout', 'list', '--state', 'done'], /one of planned, paying, settled, cancelled, failed/],
  [['payout', 'list', '--network', '\u001b[31mbsc'], /one of bsc, tron/],
  [['merchant', 'set', 'x', '--allow-contract'], /Nothing to set/],
  [['webhook', 'listen', '--forward-to', 'http://localhost/', '--port', '0'], /--port has no meaning with/],
  [['webhook', 'listen', '--forward-to', 'localhost:3000'], /http or https URL/],
  [
    ['webhook', 'listen', '--forward-to', 'http://h/', '--events', 'deposit.done'],
    /no event "deposit\.done"/,
  ],
  [['webhook', 'listen', '--since', '5m'], /--since needs --forward-to/],
  [['webhook', 'listen', '--secret', 'whsec_x'], /unknown option '--secret'/],
  [['webhook', 'listen', '--secret-stdin'], /no secret on stdin/],
  [RESCAN, /'--from <block>' not specified/],
  [[...RESCAN, '--from', '2', '--to', '1'], /must not be above/],
  [[...RESCAN, '--from', '0', '--to', '1000000'], /At most 1000000 blocks/],
  [['find', HUGE], /at most 2048 characters/],
  [[...CLAIM, '--tx', `0x${'ab'.repeat(32)}`], /--tx must be /],
  ...[`${TRON.slice(0, -1)}9`, '41'.padEnd(42, 'a'), `0x${'a'.repeat(40)}`, TRON.toLowerCase()].flatMap(
    (text): [readonly string[], RegExp][] => [
      [[...CLAIM, '--tx', 'ab'.repeat(32), '--amount', '1', ...WHY, '--address', text], /--address must be /],
      [['merchant', 'set', 'x', '--withdraw-tron', text], /--withdraw-tron must be /],
    ],
  ),
  [['allow-ip', 'add', '192.0.2.1'], /'--merchant <id>' not specified/],
  [['customer', 'erase', 'x', '--by', 'a'], /'--reason <text>' not specified/],
  // Somebody who types nearly the right word is told the right one.
  [['merchant', 'list', '--jsn'], /unknown option '--jsn' \(Did you mean --json\?\)/],
];

describe('command line: wrong usage', function () {
  this.timeout(60_000);

  it('ends with 2, one sentence, no stack and nothing touched, for every kind of it', async () => {
    // A configuration that could never work: whoever reads it before the arguments ends with 1.
    const env = { DATABASE_URL: 'not a url', DATA_DIR: '/proc/nowhere' };
    await sideBySide(WRONG, async ([args, sentence]) => {
      judge(args, sentence, await called(args.includes('--json') ? args : [...args, '--json'], env));
    });
  });

  it('takes no secret as an argument, anywhere', () => {
    const named = leavesOf(makeProgram()).flatMap(({ path, command }) =>
      [
        ...command.options.map(({ flags }) => flags),
        ...command.registeredArguments.map((argument) => argument.name()),
      ].map((flags) => `${path} ${flags}`),
    );
    expect(named.length).to.be.above(50);
    expect(
      named.filter((one) => /(secret|password|phrase|token|seed|private|api-?key)[^ ]* ?[<[]/i.test(one)),
    ).to.deep.equal([]);
  });

  it('has examples for every command in its help, and each of them parses', async () => {
    for (const definition of DEFINITIONS) {
      expect(examplesOf(definition), definition.name).to.have.length.above(0);
      for (const example of examplesOf(definition)) {
        const called: string[] = [];
        const program = makeProgram();
        for (const leaf of leavesOf(program)) leaf.command.action(() => void called.push(leaf.path));
        await program.parseAsync(wordsOf(example), { from: 'user' });
        expect(called, example).to.deep.equal([definition.name.replace(/ [<[].*$/, '')]);
      }
    }
    const shown = await gateway(['deposit', 'claim', '--help'], {});
    expect(shown.stdout).to.match(/\nExamples:\n {2}gateway deposit claim --tx 0x/);
    const program = makeProgram();
    const groups = program.commands.filter(({ commands }) => commands.length > 0);
    expect(groups.length).to.be.above(10);
    for (const command of [program, ...groups]) {
      const said: string[] = [];
      command.configureOutput({ writeOut: (text) => void said.push(text) }).outputHelp();
      const help = said.join('');
      const lines = help.split('\nExamples:\n')[1]?.trimEnd().split('\n') ?? [];
      const begins = `  gateway ${command === program ? '' : `${command.name()} `}`;
      expect(lines.length, help).to.be.above(0);
      expect(lines.filter((line) => !line.startsWith(begins))).to.deep.equal([]);
    }
  });

  it('refuses a whole API key before anything else, and says what to do about it', async () => {
    const key = `sk_live_${'a1B2c3'.repeat(8)}z`;
    const ran = await gateway(['find', key], { DATABASE_URL: 'not a url' });
    expect([ran.code, ran.stdout]).to.deep.equal([1, '']);
    expect(ran.stderr)
      .to.match(/whole API key.*"key revoke ID"/)
      .and.not.include(key);
  });
});

/** The words of a line as a shell splits them, quotes included. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, one, two, three]) => one ?? two ?? three ?? '',
  );
}

function judge(args: readonly string[], sentence: RegExp, ran: Ran): void {
  const what = args.join(' ').slice(0, 100);
  expect(`${what}: ${ran.code}`).to.equal(`${what}: 2`);
  const { error } = oneObject<{ error: string }>(ran.stdout);
  expect(error, what).to.match(sentence);
  expect(ran.stderr, what)
    .to.match(sentence)
    .and.match(/Add --help/)
    .and.not.match(/\n\s+at /)
    .and.not.include('\u001b');
  expect(ran.stderr.length, what).to.be.below(2_000);
}
