import { hostname, userInfo } from 'node:os';
import { expect } from 'chai';
import { Command } from 'commander';
import { type FreshDatabase, freshDatabase, tempDir } from '../../dev/support/parts.ts';
import { addAllowIpCommands } from '../../src/cli/commands/allow-ip.ts';
import { addArchiveCommands } from '../../src/cli/commands/archive.ts';
import { addDepositCommands } from '../../src/cli/commands/deposits/deposits.ts';
import { addKeyCommands } from '../../src/cli/commands/keys.ts';
import { addMerchantCommands } from '../../src/cli/commands/merchants.ts';
import { addRescanCommand } from '../../src/cli/commands/rescan.ts';
import { addUserCommands } from '../../src/cli/commands/users.ts';
import { addWebhookCommands } from '../../src/cli/commands/webhooks.ts';
import { answer, type Env, gateway } from './support.ts';

type Action = {
  readonly action: string;
  readonly by: string;
  readonly from: string;
  readonly merchant_id: string;
  readonly subject: string;
  readonly before: Record<string, unknown> | null;
  readonly after: Record<string, unknown> | null;
};
type Keys = { readonly keys: readonly { readonly id: string }[] };

const BSC = '0x52908400098527886E0F7030069857D2E4169EE7';
const PASSWORD = 'correct horse battery';

describe('command line: what operators changed', function () {
  this.timeout(120_000);
  let database: FreshDatabase;
  let env: Env;
  let id: string;
  before(async () => {
    database = await freshDatabase();
    env = { DATABASE_URL: database.url, DATA_DIR: await tempDir('cli'), SUDO_USER: '' };
    await answer(['migrate'], env);
    id = (await answer<{ merchant_id: string }>(['merchant', 'create', '--name', 'Shop', '--by', 'ann'], env))
      .merchant_id;
  });
  after(() => database.drop());

  const actions = async (...more: string[]) =>
    (await answer<{ actions: Action[] }>(['audit', 'list', ...more], env)).actions;

  it('is one row for each command, with the name, the host, and what it was before', async () => {
    await answer(
      ['merchant', 'set', id, '--withdraw-bsc', BSC.toLowerCase(), '--by', 'ann', '--allow-contract'],
      env,
    );
    await answer(['merchant', 'set', id, '--withdraw-bsc', 'none'], env);
    await answer(['subscription', 'set', id, 'inactive', '--by', 'ben'], env);
    const made = await answer<{ id: string; key: string }>(
      ['key', 'create', '--merchant', id, '--mode', 'live', '--by', 'ann'],
      env,
    );
    const rotated = await answer<{ id: string; key: string }>(['key', 'rotate', made.id, '--by', 'ann'], env);
    await answer(['key', 'revoke', rotated.id, '--by', 'ann'], env);
    await answer(['allow-ip', 'add', '--merchant', id, '203.0.113.7', '--by', 'ann'], env);
    await answer(['allow-ip', 'remove', '--merchant', id, '203.0.113.7', '--by', 'ann'], env);
    const email = 'owner@shop.example';
    await answer(['user', 'create', '--merchant', id, '--email', email, '--by', 'ann'], env, PASSWORD);
    await answer(['user', 'reset-password', '--email', email, '--by', 'ann'], env, `${PASSWORD} 2`);
    await answer(['user', 'totp', '--email', email, '--disable', '--by', 'ann'], env);

    const rows = await actions();
    expect(rows.map(({ action, by }) => [action, by]).reverse()).to.deep.equal([
      ['merchant.create', 'ann'],
      ['merchant.set', 'ann'],
      ['merchant.set', userInfo().username],
      ['subscription.set', 'ben'],
      ['key.create', 'ann'],
      ['key.rotate', 'ann'],
      ['key.revoke', 'ann'],
      ['allow-ip.add', 'ann'],
      ['allow-ip.remove', 'ann'],
      ['user.create', 'ann'],
      ['user.reset-password', 'ann'],
      ['user.totp', 'ann'],
    ]);
    for (const { from, merchant_id } of rows) expect([from, merchant_id]).to.deep.equal([hostname(), id]);
    const [set, back] = rows.filter(({ action }) => action === 'merchant.set').reverse();
    expect([set?.before, set?.after]).to.deep.equal([{ withdraw_bsc: null }, { withdraw_bsc: BSC }]);
    expect([back?.before, back?.after]).to.deep.equal([{ withdraw_bsc: BSC }, { withdraw_bsc: null }]);
    const text = JSON.stringify(rows);
    for (const secret of [made.key, rotated.key, PASSWORD, 'argon2', email])
      expect(text).to.not.contain(secret);
  });

  it('is listed for one merchant or since a time, and fits a terminal', async () => {
    const other = (
      await answer<{ merchant_id: string }>(['merchant', 'create', '--name', 'x'.repeat(150)], env)
    ).merchant_id;
    expect((await actions('--merchant', other)).map(({ action }) => action)).to.deep.equal([
      'merchant.create',
    ]);
    expect(await actions('--since', '2099-01-01')).to.deep.equal([]);
    expect(await actions('--merchant', id, '--limit', '3')).to.have.length(3);
    const shown = await gateway(['audit', 'list'], env);
    const lines = shown.stdout.trimEnd().split('\n');
    for (const line of lines) expect(line.length, line).to.be.at.most(100);
    expect(shown.stdout).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ {2}merchant\.set +[0-9a-f-]{36}$/m);
    expect(shown.stdout).to.contain(`withdraw_bsc: – → ${BSC}`);
  });

  it('asks every command that changes rows who does it', () => {
    const program = new Command();
    for (const add of [
      addAllowIpCommands,
      addArchiveCommands,
      addDepositCommands,
      addKeyCommands,
      addMerchantCommands,
    ])
      add(program);
    for (const add of [addRescanCommand, addUserCommands, addWebhookCommands]) add(program);
    const leaves = program.commands.flatMap((one) => (one.commands.length > 0 ? one.commands : [one]));
    const reading = leaves
      .filter(({ options }) => !options.some(({ long }) => long === '--by'))
      .map((one) => one.name());
    expect(new Set(reading)).to.deep.equal(new Set(['list', 'show', 'stuck', 'changes', 'listen', 'hash']));
  });

  it('has nothing of a command that was refused', async () => {
    const before = await actions();
    const { keys } = await answer<Keys>(['key', 'list', '--merchant', id], env);
    expect((await gateway(['merchant', 'set', id, '--withdraw-bsc', '0x1'], env)).code).to.equal(2);
    expect((await gateway(['allow-ip', 'remove', '--merchant', id, '203.0.113.9'], env)).code).to.equal(1);
    expect(await actions()).to.deep.equal(before);
    expect(keys).to.not.have.length(0);
  });
});
