import { randomBytes, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type FreshDatabase, freshDatabase, migratedDatabase, tempDir } from '../../dev/support/parts.ts';
import { createCustomer, createEndpoint } from '../../dev/support/use-cases.ts';
import { createSecretBox } from '../../src/base/secret-box.ts';
import { makeProgram } from '../../src/cli/program.ts';
import { createKey } from '../../src/services/merchants/keys.ts';
import { startTestApi, type TestApi, UNKNOWN_ID } from '../support/gateway.ts';
import { pay } from '../support/payment-shop.ts';
import { commitAll, filled, planned } from '../support/payout-rows.ts';
import { type Expected, judgeJson, judgeText } from './judged.ts';
import { type Env, gateway, leavesOf, sideBySide } from './support.ts';

/** Everything that a terminal acts on, and wide characters: a stranger's idea of a name. */
const HOSTILE =
  '\u001b[31mred\u001b]0;title\u0007\u009b2J\r\nforged line\u202eeman\u2028\u200b漢字かな🧾👩‍👩‍👧 ';
const BSC = '0x52908400098527886E0F7030069857D2E4169EE7';
const TRON = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';
const PASSWORD = 'correct horse battery';

type Ids = Readonly<
  Record<
    'merchant' | 'customer' | 'completed' | 'payout' | 'delivery' | 'takenPort' | 'key0' | 'key1',
    string
  >
>;
type Call = Expected & {
  /** The arguments of the first run (0, `--json`) and of the second (1, for a person). */
  readonly args?: (ids: Ids, run: 0 | 1) => readonly string[];
  /** Its code is 1 because of what it found, which it prints. */
  readonly finds?: true;
  readonly input?: string;
};

const email = (run: number) => `person${run}@${'long-name.'.repeat(12)}example`;
const BY = ['--by', `${'a'.repeat(60)}漢字`, '--reason', 'because '.repeat(50)];

/** How each command is called: its success where that needs no chain and no Temporal, else its refusal. */
const CALLS: Readonly<Record<string, Call>> = {
  start: { args: () => ['--role', 'signer'], code: 1 },
  migrate: {},
  doctor: { code: 1, finds: true },
  repair: { code: 1 },
  replay: { args: () => ['/nowhere/x.json'], code: 1 },
  'config check': {},
  'config docs': { document: true },
  'merchant create': {
    args: () => [
      '--name',
      '漢'.repeat(200),
      '--withdraw-bsc',
      BSC,
      '--withdraw-tron',
      TRON,
      '--allow-contract',
    ],
  },
  'merchant set': {
    args: ({ merchant }) => [
      merchant,
      '--withdraw-bsc',
      BSC,
      '--withdraw-tron',
      TRON,
      '--allow-contract',
      '--pause-payouts',
      'false',
      '--monthly-limit-usd',
      '1000000000000',
    ],
  },
  'merchant list': {},
  'subscription set': { args: ({ merchant }) => [merchant, 'active', '--until', '2099-01-01'] },
  'customer erase': { args: ({ customer }) => [customer, ...BY] },
  'quota set': {
    args: ({ merchant }) => [
      merchant,
      '--mode',
      'live',
      '--events-per-day',
      '1000000000',
      '--open-links',
      '100000',
    ],
  },
  'quota list': {},
  'key create': {
    args: ({ merchant }) => [
      '--merchant',
      merchant,
      '--mode',
      'live',
      '--label',
      'l'.repeat(200),
      '--scope',
      'read,payments',
    ],
  },
  'key list': {},
  'key rotate': { args: ({ key0, key1 }, run) => [run === 0 ? key0 : key1, '--grace', '365d'] },
  'key revoke': { args: ({ key0, key1 }, run) => [run === 0 ? key0 : key1] },
  'allow-ip add': {
    args: ({ merchant }) => ['2001:db8:aaaa:bbbb:cccc:dddd:eeee:ff00/128', '--merchant', merchant],
  },
  'allow-ip list': { args: ({ merchant }) => ['--merchant', merchant] },
  'allow-ip remove': {
    args: ({ merchant }, run) => [run === 0 ? '203.0.113.7' : '203.0.113.8', '--merchant', merchant],
  },
  'user create': { args: ({ merchant }, run) => ['--merchant', merchant, '--email', email(run)] },
  'user reset-password': { args: (_, run) => ['--email', email(run)], input: PASSWORD },
  'user totp': { args: (_, run) => ['--email', email(run)] },
  'user hash': { args: () => ['--email', email(0)] },
  'user list': {},
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
  'payout accept': { args: () => ['--tx', `0x${'a'.repeat(64)}`, '--network', 'bsc', ...BY], code: 1 },
  'payout adopt': { args: () => ['--tx', `0x${'a'.repeat(64)}`, '--network', 'bsc', ...BY], code: 1 },
  'payout approve-destination': { args: ({ merchant }) => [merchant, BSC], code: 1 },
  'webhook list': {},
  'webhook resend': { args: ({ delivery }) => [delivery], code: 1 },
  'webhook listen': { args: ({ takenPort }) => ['--port', takenPort], code: 1 },
  rescan: { args: () => ['--network', 'bsc', '--from', '1', '--to', '2'], code: 1 },
  reconcile: { args: () => ['--books'], code: 1, finds: true },
  'archive list': {},
  'archive detach': { args: () => ['2099-01', ...BY], code: 1 },
  'audit list': {},
};
/** Commands that lean on one another go in this order, after those that change nothing for others. */
const SHARED = /^(key|user|allow-ip|merchant|quota|subscription|wallet|customer|payout pause|payout resume)/;

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
    const lists = ['merchant list', 'user list', 'key list', 'deposit list --unrecognised', 'audit list'];
    await sideBySide(lists, async (path) => judgeText(path, {}, await gateway(path.split(' '), env)));
    expect(problems).to.deep.equal([]);
  });

  it('says in an empty list what to do next', async () => {
    const empty = await freshDatabase();
    const there = { ...env, DATABASE_URL: empty.url };
    expect((await gateway(['migrate'], there)).code).to.equal(0);
    const lists = [
      'merchant list',
      'quota list',
      'key list',
      'user list',
      'deposit list',
      'deposit list --unrecognised',
      'payout list',
      'webhook list',
    ];
    await sideBySide([...lists, 'audit list', 'deposit stuck'], async (path) => {
      const ran = await gateway(path.split(' '), there);
      expect([ran.code, ran.stderr], path).to.deep.equal([0, '']);
      expect(ran.stdout, path).to.match(/^N(o|othing|obody) [\s\S]*("[a-z]+ |"doctor|--[a-z]+)/);
      judgeText(path, {}, ran);
    });
    await empty.drop();
  });
});

/**
 * One of everything, and then what the database lets in at
 * most in every text, with everything that a terminal acts on.
 */
async function fill(api: TestApi): Promise<Ids> {
  const { deps, merchant } = api;
  const names = { externalId: 'user-1', email: 'a@b.example', name: 'Ann', metadata: {} };
  const { id: customer } = await createCustomer(deps, { merchantId: merchant.id, mode: 'live', ...names });
  await createEndpoint(deps, {
    merchantId: merchant.id,
    mode: 'live',
    url: 'http://127.0.0.1:9/',
    events: ['*'],
    description: null,
  });
  const completed = await pay(deps, customer, { coins: '7' });
  await pay(deps, customer, { coins: '8', state: 'detected' });
  const made = await Promise.all(
    [0, 1].map(() => createKey(deps, { merchantId: merchant.id, mode: 'live' })),
  );
  const row = async (sql: string): Promise<string> =>
    (await deps.orm.em.fork().execute<{ id: string }[]>(sql))[0]?.id ?? '';
  const payout = randomUUID();
  await commitAll(deps, planned(payout, await pay(deps, customer, { coins: '9' })));
  const delivery = await row('select id from webhook_deliveries order by id desc limit 1');
  const long = (most: number) => HOSTILE.repeat(40).slice(0, most);
  await deps.orm.em.fork().transactional(async (em) => {
    await em.execute('set local session_replication_role = replica');
    await em.execute('update merchants set name = ?', [long(200)]);
    await em.execute('update api_keys set label = ?', [long(200)]);
    await em.execute('update deposit_transitions set reason = ?, by_name = ?', [long(500), long(100)]);
    await em.execute('update operator_actions set by_name = ?, reason = ?', [long(100), long(500)]);
    await em.execute(
      'update deposits set amount_units = ?, state_since = now() - interval ?, created_at = now() - interval ?',
      ['123456789012345678901234567890123456789', '10 days', '10 days'],
    );
    for (const { text, params } of filled(long, BSC)) await em.execute(text, params);
    await em.execute(
      `insert into webhook_attempts (delivery_id, round, number, started_at, finished_at, error)
        select id, 1, 1, now(), now(), ? from webhook_deliveries`,
      [long(300)],
    );
    await em.execute(
      `insert into unrecognised_transfers (id, network, transaction_hash, address, address_key,
       contract_address, amount_units, block_number, reason, created_at)
       values (gen_random_uuid(), 'bsc', ?, ?, ?, ?, ?, 99999999, ?, now())`,
      [`0x${'a'.repeat(64)}`, BSC, BSC.slice(2).toLowerCase(), BSC, '9'.repeat(78), long(300)],
    );
  });
  return {
    merchant: merchant.id,
    customer,
    completed,
    payout,
    delivery,
    takenPort: new URL(api.url).port,
    key0: made[0]?.id ?? '',
    key1: made[1]?.id ?? '',
  };
}
