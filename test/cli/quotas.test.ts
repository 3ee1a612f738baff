import { expect } from 'chai';
import { type FreshDatabase, freshDatabase, tempDir } from '../../dev/support/parts.ts';
import { answer, type Env, gateway, sideBySide } from './support.ts';

type Quotas = {
  readonly quotas: readonly { merchant_id: string; mode: string; quota: string; most: number }[];
};

describe('command line: quotas', function () {
  this.timeout(60_000);
  let database: FreshDatabase;
  let env: Env;
  let id: string;
  before(async () => {
    database = await freshDatabase();
    env = { DATABASE_URL: database.url, DATA_DIR: await tempDir('cli') };
    await answer(['migrate'], env);
    id = (await answer<{ merchant_id: string }>(['merchant', 'create', '--name', 'Shop'], env)).merchant_id;
  });
  after(() => database.drop());

  it('are set by mode, taken away, listed, and leave a row of who did it', async () => {
    const set = (...args: string[]) => answer<Quotas>(['quota', 'set', id, ...args], env);
    await set('--mode', 'test', '--customers', '10000', '--events-per-day', '5000', '--by', 'ann');
    const { quotas } = await set('--mode', 'live', '--open-links', '7', '--by', 'ann');
    expect(quotas.map(({ mode, quota, most }) => [mode, quota, most])).to.deep.equal([
      ['live', 'open_links', 7],
      ['test', 'customers', 10_000],
      ['test', 'events_per_day', 5_000],
    ]);
    await set('--mode', 'test', '--customers', 'none', '--by', 'ben');
    const left = await answer<Quotas>(['quota', 'list', '--merchant', id], env);
    expect(left.quotas.map(({ quota }) => quota)).to.deep.equal(['open_links', 'events_per_day']);
    const shown = await gateway(['quota', 'list'], env);
    expect(shown.stdout).to.match(/open payment links {2}7/);
    for (const line of shown.stdout.split('\n')) expect(line.length).to.be.at.most(100);
    const { actions } = await answer<{
      actions: { action: string; by: string; before: object; after: object }[];
    }>(['audit', 'list'], env);
    const [last] = actions;
    expect([last?.action, last?.by, last?.before, last?.after]).to.deep.equal([
      'quota.set',
      'ben',
      { customers: 10_000 },
      { customers: null },
    ]);
  });

  it('and every other list of one merchant refuse an unknown one, as an empty list would say that there is nothing', async () => {
    const unknown = '00000000-0000-4000-8000-000000000000';
    const nobody = (name: string) =>
      `There is no merchant ${name}. List the merchants with "merchant list".\n`;
    const lists = [
      'audit',
      'customer',
      'deposit',
      'endpoint',
      'event',
      'key',
      'payment',
      'quota',
      'user',
    ].map((list) => [[list, 'list', '--merchant', unknown], nobody(unknown)] as const);
    const others = [
      [['quota', 'list', '--merchant', 'Shop'], nobody('Shop')],
      [
        ['webhook', 'list', '--endpoint', id],
        `There is no webhook endpoint ${id}. List the endpoints with "gateway endpoint list".\n`,
      ],
    ] as const;
    await sideBySide([...lists, ...others], async ([args, sentence]) => {
      const ran = await gateway(args, env);
      expect([ran.code, ran.stdout, ran.stderr], args.join(' ')).to.deep.equal([1, '', sentence]);
    });
  });

  it('are refused with the next action', async () => {
    expect((await gateway(['quota', 'set', id, '--mode', 'test'], env)).code).to.equal(2);
    expect((await gateway(['quota', 'set', id, '--mode', 'test', '--endpoints', '51'], env)).code).to.equal(
      2,
    );
    const nobody = await gateway(
      ['quota', 'set', '00000000-0000-4000-8000-000000000000', '--mode', 'test', '--endpoints', '5'],
      env,
    );
    expect([nobody.code, nobody.stderr]).to.deep.equal([
      1,
      'There is no merchant 00000000-0000-4000-8000-000000000000. List the merchants with "merchant list".\n',
    ]);
  });
});
