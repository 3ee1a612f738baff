import { expect } from 'chai';
import { type FreshDatabase, freshDatabase, tempDir } from '../../dev/support/parts.ts';
import { answer, type Env, gateway, sideBySide } from './support.ts';

type Made = { merchant_id: string };
const UNKNOWN = '3e3c0ebf-d57e-4e7c-999a-d121996d8b80';

describe('command line: from where live keys may be used', function () {
  this.timeout(60_000);
  let database: FreshDatabase;
  let env: Env;
  let id: string;
  before(async () => {
    database = await freshDatabase();
    env = { DATABASE_URL: database.url, DATA_DIR: await tempDir('cli') };
    await answer(['migrate'], env);
    id = (await answer<Made>(['merchant', 'create', '--name', 'Shop'], env)).merchant_id;
  });
  after(() => database.drop());

  it('adds, shows and removes networks', async () => {
    const networks = ['203.0.113.7/32'];
    expect(await answer(['allow-ip', 'add', '--merchant', id, '::ffff:203.0.113.7'], env)).to.deep.equal({
      merchant_id: id,
      networks,
    });
    expect(await answer(['allow-ip', 'list', '--merchant', id], env)).to.deep.equal({
      merchant_id: id,
      networks,
    });
    const shown = await gateway(['allow-ip', 'list', '--merchant', id], env);
    expect(shown.stdout).to.equal('LIVE KEYS WORK FROM\n203.0.113.7/32\n');
    const removed = await gateway(['allow-ip', 'remove', '203.0.113.7', '--merchant', id], env);
    expect([removed.code, removed.stdout]).to.deep.equal([
      0,
      'Empty: live keys work from every address. Close the others: "allow-ip add NETWORK --merchant ID".\n',
    ]);
  });

  it('ends with 1 and the next action where it refuses, and with 2 for wrong usage', async () => {
    const cases: readonly [readonly string[], number, RegExp][] = [
      [
        ['add', '--merchant', id, '203.0.113.7/24'],
        1,
        /Give 203\.0\.113\.0\/24 for the whole network, or 203\.0\.113\.7 for the address\.\n$/,
      ],
      [['remove', '--merchant', id, '192.0.2.1'], 1, /is not on the list.*"allow-ip list --merchant/],
      [['list', '--merchant', UNKNOWN], 1, /There is no merchant .*"merchant list"/],
      [['add', '192.0.2.1'], 2, /'--merchant <id>' not specified/],
      [['add', '--merchant', id], 2, /missing required argument/],
    ];
    await sideBySide(cases, async ([args, code, sentence]) => {
      const ran = await gateway(['allow-ip', ...args], env);
      expect([ran.code, ran.stdout], ran.stderr).to.deep.equal([code, '']);
      expect(ran.stderr).to.match(sentence);
    });
  });
});
