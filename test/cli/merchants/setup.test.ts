import { hostname, userInfo } from 'node:os';
import { expect } from 'chai';
import { type FreshDatabase, migratedDatabase, tempDir } from '../../../dev/support/parts.ts';
import { makeProgram } from '../../../src/cli/program.ts';
import { UNKNOWN_ID } from '../../support/gateway.ts';
import { answer, type Env, gateway, leavesOf, oneObject, sideBySide } from '../support.ts';

type Made = { readonly merchant_id: string; readonly keys: { readonly live: string; readonly test: string } };
type Key = { readonly id: string; readonly key: string };
type Action = Readonly<Record<'action' | 'by' | 'from' | 'merchant_id', string>> &
  Readonly<Record<'before' | 'after', Record<string, unknown> | null>>;

const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7';
const PASSWORD = 'correct horse battery';
const EMAIL = 'owner@shop.example';
/** Commands that read, or change nothing that is in the database; all others ask who acts. */
const READING =
  /(^| )(list|show|stuck|listen|hash|check|docs|xpub|new|find|rotate-passphrase|doctor|migrate|repair|replay|start)$/;

describe('command line: an operator sets up merchants', function () {
  this.timeout(60_000);
  let database: FreshDatabase;
  let env: Env;
  let made: Made;
  let id: string;

  before(async () => {
    database = await migratedDatabase();
    env = { DATABASE_URL: database.url, DATA_DIR: await tempDir('cli'), SUDO_USER: '' };
    const limits = ['--withdraw-bsc', ADDRESS, '--allow-contract', '--monthly-limit-usd', '1000.50'];
    made = await answer<Made>(['merchant', 'create', '--name', ' Shop ', ...limits, '--by', 'ann'], env);
    id = made.merchant_id;
  });
  after(() => database?.drop());

  const by = (name: string, ...words: string[]) => answer([...words, '--by', name], env);
  const actions = async (...more: string[]) =>
    (await answer<{ actions: Action[] }>(['audit', 'list', ...more], env)).actions;
  const shown = async (...words: string[]) => (await gateway(words, env)).stdout;

  it('each step answers with what is so now, and leaves a row of who did it, and what was before', async () => {
    expect([made.keys.live.slice(0, 8), made.keys.test.slice(0, 8)]).to.deep.equal(['sk_live_', 'sk_test_']);
    const none = ['--monthly-limit-usd', 'none', '--withdraw-bsc', 'none'];
    const closed = { name: 'Shop', monthly_limit_usd: null, withdraw_bsc: null, subscription: 'active' };
    expect(await answer(['merchant', 'set', id, ...none], env)).to.include(closed);
    const until = '2099-01-31T10:00:00Z';
    const open = await by('ben', 'subscription', 'set', id, 'active', '--until', until);
    expect(open).to.deep.equal({ merchant_id: id, subscription: 'active', until });
    const first = await answer<Key>(
      ['key', 'create', '--merchant', id, '--mode', 'test', '--by', 'ann'],
      env,
    );
    expect(Object.keys(first)).to.deep.equal(['id', 'key']);
    const second = await answer<Key>(['key', 'rotate', first.id, '--grace', '15m', '--by', 'ann'], env);
    expect(second.key)
      .to.match(/^sk_test_/)
      .and.not.equal(first.key);
    await by('ann', 'key', 'revoke', second.id);
    const networks = ['203.0.113.7/32'];
    const added = await by('ann', 'allow-ip', 'add', '--merchant', id, '::ffff:203.0.113.7');
    expect(added).to.deep.equal({ merchant_id: id, networks });
    expect(await shown('allow-ip', 'list', '--merchant', id)).to.equal(
      'LIVE KEYS WORK FROM\n203.0.113.7/32\n',
    );
    const removed = await gateway(
      ['allow-ip', 'remove', '203.0.113.7', '--merchant', id, '--by', 'ann'],
      env,
    );
    expect(removed.stdout).to.match(
      /^Empty: live keys work from every address\. Close the others: "allow-ip add/,
    );
    await by('ann', 'merchant', 'set', id, '--quota', 'test.customers=10000,test.events_per_day=5000');
    const { quotas } = await by('ben', 'merchant', 'set', id, '--quota', 'test.customers=none');
    expect(quotas).to.deep.equal([{ merchant_id: id, mode: 'test', quota: 'events_per_day', most: 5_000 }]);
    const user = ['--email', EMAIL, '--by', 'ann'];
    await answer(['user', 'create', '--merchant', id, ...user], env, PASSWORD);
    await answer(['user', 'reset-password', ...user], env, `${PASSWORD} 2`);
    await answer(['user', 'totp', ...user, '--disable'], env);

    const rows = await actions('--merchant', id);
    expect(rows.map(({ action, by: name }) => `${action} ${name}`).reverse()).to.deep.equal([
      'merchant.create ann',
      `merchant.set ${userInfo().username}`,
      'subscription.set ben',
      'key.create ann',
      'key.rotate ann',
      'key.revoke ann',
      'allow-ip.add ann',
      'allow-ip.remove ann',
      'quota.set ann',
      'quota.set ben',
      'user.create ann',
      'user.reset-password ann',
      'user.totp ann',
    ]);
    for (const { from, merchant_id } of rows) expect([from, merchant_id]).to.deep.equal([hostname(), id]);
    expect(rows.find(({ action }) => action === 'merchant.set')).to.deep.include({
      before: { monthly_limit_usd: '1000.5', withdraw_bsc: ADDRESS },
      after: { monthly_limit_usd: null, withdraw_bsc: null },
    });
    const text = JSON.stringify([rows, await answer(['key', 'list'], env)]);
    for (const secret of [made.keys.live, first.key, second.key, PASSWORD, 'argon2', EMAIL])
      expect(text).to.not.contain(secret);
    const ends = await answer<{ keys: Record<string, unknown>[] }>(['key', 'list', '--merchant', id], env);
    const endOf = ({ id: key }: Key) => ends.keys.find((row) => row['id'] === key);
    expect([endOf(first)?.['expires_at'], endOf(second)?.['revoked_at']]).to.not.include(null);
  });

  it('every command that changes rows asks who does it', () => {
    const silent = leavesOf(makeProgram()).filter(
      ({ command }) => !command.options.some(({ long }) => long === '--by'),
    );
    expect(silent.map(({ path }) => path).filter((path) => !READING.test(path))).to.deep.equal([]);
  });

  it('what cannot be done is refused with one sentence and its next action, and changes nothing', async () => {
    const nobody = /^There is no merchant .* List the merchants with "merchant list"\.$/;
    const why = ['--by', 'a', '--reason', 'b'];
    const refusals: [string[], RegExp][] = [
      [['merchant', 'set', UNKNOWN_ID, '--name', 'x'], nobody],
      [['merchant', 'set', 'no-uuid', '--name', 'x'], nobody],
      [['merchant', 'create', '--name', 'x'.repeat(201)], /1 to 200 characters/],
      [['merchant', 'changes', '--cancel', UNKNOWN_ID], /List them with "merchant changes"\.$/],
      [['key', 'create', '--merchant', UNKNOWN_ID, '--mode', 'live'], nobody],
      [['key', 'revoke', "'; drop table api_keys; --"], /"key list"/],
      [['merchant', 'set', UNKNOWN_ID, '--quota', 'test.endpoints=5'], nobody],
      [['merchant', 'set', id, '--quota', 'test.endpoints=51'], /from 0 to 50/],
      [
        ['allow-ip', 'add', '--merchant', id, '203.0.113.7/24'],
        /Give 203\.0\.113\.0\/24 for the whole network/,
      ],
      [
        ['allow-ip', 'remove', '--merchant', id, '192.0.2.1'],
        /is not on the list.*"allow-ip list --merchant/,
      ],
      [['deposit', 'show', UNKNOWN_ID], /^There is no deposit .*"gateway find"/],
      [['deposit', 'fail', UNKNOWN_ID, ...why], /"gateway deposit list"/],
      [['deposit', 'release', 'x', ...why], /"gateway deposit list"/],
      [['webhook', 'resend', UNKNOWN_ID], /"gateway webhook list"/],
      [['webhook', 'list', '--endpoint', id], /^There is no webhook endpoint .*"gateway list endpoints"\.$/],
      [['rescan', '--network', 'tron', '--from', '1', '--to', '2'], /Set TRON_API_URLS and try again/],
      [['repair'], /Set TEMPORAL_ADDRESS/],
      // An empty list would say that there is nothing.
      ...['allow-ip list', 'audit list', 'deposit list', 'key list', 'payout list', 'merchant changes'].map(
        (list): [string[], RegExp] => [[...list.split(' '), '--merchant', UNKNOWN_ID], nobody],
      ),
      ...['customers', 'payments', 'endpoints', 'events', 'users', 'quotas'].map(
        (kind): [string[], RegExp] => [['list', kind, '--merchant', UNKNOWN_ID], nobody],
      ),
    ];
    const everything = () =>
      Promise.all(['merchant', 'key', 'deposit', 'audit'].map((name) => answer([name, 'list'], env)));
    const before = await everything();
    await sideBySide(refusals, async ([args, sentence]) => {
      const ran = await gateway([...args, '--json'], env);
      expect([ran.code, args.join(' ')]).to.deep.equal([1, args.join(' ')]);
      const { error } = oneObject<{ error: string }>(ran.stdout);
      expect(error).to.match(sentence).and.match(/\.$/);
      expect(ran.stderr.trimEnd().split('\n').at(-1)).to.equal(error);
      expect(ran.stderr).to.not.match(/\n\s+at /);
    });
    expect(await everything()).to.deep.equal(before);
  });
});
