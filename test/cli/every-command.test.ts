import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { type FreshDatabase, migratedDatabase, tempDir } from '../../dev/support/parts.ts';
import { createSecretBox } from '../../src/base/secret-box.ts';
import { makeProgram } from '../../src/cli/program.ts';
import { startTestApi, type TestApi, UNKNOWN_ID } from '../support/gateway.ts';
import { type Expected, judgeJson, judgeText } from './judged.ts';
import { BSC, fill, type Ids, TRON } from './merchants/one-of-everything.ts';
import { type Env, gateway, leavesOf, sideBySide } from './support.ts';

const PASSWORD = 'correct horse battery';

type Call = Expected & {
  /** The arguments of the first run (0, `--json`) and of the second (1, for a person). */
  readonly args?: (ids: Ids, run: 0 | 1) => readonly string[];
  /** Its code is 1 because of what it found, which it prints. */
  readonly finds?: true;
  readonly input?: string;
};

const email = (run: number) => `person${run}@${'long-name.'.repeat(12)}example`;
const BY = ['--by', `${'a'.repeat(60)}漢字`, '--reason', 'because '.repeat(50)];

const words = (text: string) => text.split(' ');
const QUOTA = 'live.events_per_day=1000000000,live.open_links=100000';
const WITHDRAW = `--withdraw-bsc ${BSC} --withdraw-tron ${TRON} --allow-contract`;

/** How each command is called: its success where that needs no chain and no Temporal, else its refusal. */
const CALLS: Readonly<Record<string, Call>> = {
  start: { args: () => ['--role', 'signer'], code: 1 },
  migrate: {},
  doctor: { code: 1, finds: true },
  repair: { code: 1 },
  replay: { args: () => ['/nowhere/x.json'], code: 1 },
  'config check': {},
  'config docs': { document: true },
  'merchant create': { args: () => words(`--name ${'漢'.repeat(200)} ${WITHDRAW}`) },
  'merchant set': {
    args: ({ merchant }) =>
      words(
        `${merchant} ${WITHDRAW} --pause-payouts false --monthly-limit-usd 1000000000000 --quota ${QUOTA}`,
      ),
  },
  'merchant list': {},
  'merchant changes': {
    args: ({ change0, change1 }, run) => ['--cancel', run === 0 ? change0 : change1, ...BY],
  },
  'subscription set': { args: ({ merchant }) => [merchant, 'active', '--until', '2099-01-01'] },
  find: { args: ({ merchant }, run) => [run === 0 ? merchant : 'A@b.EXAMPLE'] },
  list: { args: (_, run) => [run === 0 ? 'customers' : 'payments'] },
  'customer erase': { args: ({ customer }) => [customer, ...BY] },
  'key create': {
    args: ({ merchant }) =>
      words(`--merchant ${merchant} --mode live --label ${'l'.repeat(200)} --scope read,payments`),
  },
  'key list': {},
  'key rotate': { args: ({ key0, key1 }, run) => [run === 0 ? key0 : key1, '--grace', '365d'] },
  'key revoke': { args: ({ key0, key1 }, run) => [run === 0 ? key0 : key1] },
  'allow-ip': {
    args: ({ merchant }, run) => [
      ...(run === 0 ? ['add', '2001:db8:aaaa:bbbb:cccc:dddd:eeee:ff00/128'] : ['remove', '203.0.113.8']),
      '--merchant',
      merchant,
    ],
  },
  'user create': { args: ({ merchant }, run) => ['--merchant', merchant, '--email', email(run)] },
  'user reset-password': { args: (_, run) => ['--email', email(run)], input: PASSWORD },
  'user totp': { args: (_, run) => ['--email', email(run)] },
  'user hash': { args: () => ['--email', email(0)] },
  'wallet new': { args: () => ['--force'] },
  'wallet xpub': {},
  'wallet rotate-passphrase': { input: 'too short', code: 1 },
  'wallet check': { input: `${'abandon '.repeat(11)}about`, code: 1 },
  'deposit list': {},
  'deposit show': { args: ({ completed }) => [completed] },
  'deposit stuck': {},
  'deposit fail': { args: () => [UNKNOWN_ID, ...BY], code: 1 },
  'deposit release': { args: ({ completed }) => [completed, ...BY], code: 1 },
  'deposit claim': { args: () => ['--tx', `0x${'a'.repeat(64)}`, '--network', 'bsc'], code: 1 },
  'payout list': {},
  'payout show': { args: ({ payout }) => [payout] },
  'payout retry': { args: ({ payout }) => [payout, ...BY] },
  'payout pause': { args: ({ merchant }, run) => [...(run === 0 ? [] : ['--merchant', merchant]), ...BY] },
  'payout resume': { args: ({ merchant }, run) => [...(run === 0 ? [] : ['--merchant', merchant]), ...BY] },
  'payout deny': { args: () => ['--tx', `0x${'a'.repeat(64)}`, '--network', 'bsc', ...BY], code: 1 },
  'payout accept': { args: () => ['--tx', `0x${'a'.repeat(64)}`, '--network', 'bsc', ...BY], code: 1 },
  'payout conclude': { args: () => [UNKNOWN_ID, '--tx', `0x${'a'.repeat(64)}`, ...BY], code: 1 },
  'payout approve-destination': { args: ({ merchant }) => [merchant, BSC], code: 1 },
  endpoint: { args: ({ endpoint }, run) => [run === 0 ? 'disable' : 'enable', endpoint] },
  'webhook list': {},
  'webhook resend': { args: ({ delivery }) => [delivery], code: 1 },
  'webhook listen': { args: ({ takenPort }) => ['--port', takenPort], code: 1 },
  rescan: { args: () => ['--network', 'bsc', '--from', '1', '--to', '2'], code: 1 },
  reconcile: { args: () => ['--books'], code: 1, finds: true },
  backup: { args: () => ['--to', '/proc/nowhere'], code: 1 },
  restore: { args: () => ['--from', '/nowhere', ...BY], code: 1 },
  notify: { args: () => ['secret'] },
  archive: { args: () => ['list'] },
  'audit list': {},
};
/** Commands that lean on one another go in this order, after those that change nothing for others. */
const SHARED =
  /^(key|user|allow-ip|merchant|subscription|wallet|customer erase|endpoint|payout pause|payout resume)/;

describe('command line: every command', function () {
  // Some sixty processes, each of them a second or two on a quiet machine.
  this.timeout(900_000);
  let database: FreshDatabase;
  let api: TestApi;
  let env: Env;
  let ids: Ids;

  before(async () => {
    database = await migratedDatabase();
    const secretsKey = randomBytes(32);
    api = await startTestApi({ databaseUrl: database.url, deps: { secretBox: createSecretBox(secretsKey) } });
    const stores = {
      DATABASE_URL: database.url,
      DATA_DIR: await tempDir('every'),
      TEMPORAL_ADDRESS: '127.0.0.1:1',
    };
    env = { ...stores, SECRETS_KEY: secretsKey.toString('hex'), HOSTNAME: 'h' };
    ids = await fill(api);
    for (const network of ['203.0.113.7', '203.0.113.8', '203.0.113.9'])
      await gateway(['allow-ip', 'add', network, '--merchant', ids.merchant], env);
  });
  after(async () => {
    await api?.stop();
    await database?.drop();
  });

  it('is in the table of this test', () => {
    expect(
      leavesOf(makeProgram())
        .map(({ path }) => path)
        .sort(),
    ).to.deep.equal(Object.keys(CALLS).sort());
  });

  it('prints one JSON document with --json, and lines that fit for a person, with nothing that a terminal acts on', async () => {
    const problems: string[] = [];
    const run = async ([path, call]: [string, Call]) => {
      try {
        await judge(path, call);
      } catch (error) {
        problems.push(String(error));
      }
    };
    const judge = async (path: string, call: Call) => {
      const args = (turn: 0 | 1) => [...path.split(' '), ...(call.args?.(ids, turn) ?? [])];
      judgeJson(path, call, await gateway([...args(0), '--json'], env, call.input));
      // A refusal says the same sentence either way.
      if (call.code !== 1 || call.finds) judgeText(path, call, await gateway(args(1), env, call.input));
    };
    const calls = Object.entries(CALLS);
    await sideBySide(
      calls.filter(([path]) => !SHARED.test(path)),
      run,
    );
    for (const call of calls.filter(([path]) => SHARED.test(path))) await run(call);
    // And what came in shows in lists.
    const kinds = ['customers', 'payments', 'endpoints', 'events', 'users', 'quotas'];
    const whole = [
      'merchant list',
      'merchant changes',
      'key list',
      'deposit list --unrecognised',
      'audit list',
    ];
    const one = [ids.merchant, ids.customer, ids.link, ids.endpoint, ids.event];
    const lists = [
      whole,
      kinds.map((kind) => `list ${kind}`),
      one.map((id) => `find ${id} --payload`),
    ].flat();
    await sideBySide(lists, async (path) => {
      judgeText(path, {}, await gateway(path.split(' '), env));
      judgeJson(path, {}, await gateway([...path.split(' '), '--json'], env));
    });
    expect(problems).to.deep.equal([]);
  });
});
