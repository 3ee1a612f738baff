import { randomBytes, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type FreshDatabase, migratedDatabase, tempDir } from '../../../dev/support/parts.ts';
import { createCustomer } from '../../../dev/support/use-cases.ts';
import type { PayoutView, WaitingView } from '../../../src/services/payouts/views.ts';
import { startTestApi, type TestApi, UNKNOWN_ID } from '../../support/gateway.ts';
import { pay } from '../../support/payment-shop.ts';
import { commitAll, payOut, planned } from '../../support/payout-rows.ts';
import { answer, type Env, gateway, sideBySide } from '../support.ts';

type Listed = {
  readonly payouts: readonly PayoutView[];
  readonly waiting: readonly WaitingView[];
  readonly pauses: readonly { readonly merchant_id: string | null; readonly by: string }[];
};

/** Nobody's. */
const DESTINATION = '0x52908400098527886E0F7030069857D2E4169EE7';
const TABLES = ['payout_decisions', 'operator_actions', 'outbox', 'payouts', 'sent_transactions', 'deposits'];

describe('command line: payouts', function () {
  this.timeout(300_000);
  let database: FreshDatabase;
  let api: TestApi;
  let env: Env;
  let payout: string;
  let address: string;
  let merchant: string;

  before(async () => {
    database = await migratedDatabase();
    api = await startTestApi({ databaseUrl: database.url });
    merchant = api.merchant.id;
    const stores = { DATABASE_URL: database.url, DATA_DIR: await tempDir('cli') };
    env = { ...stores, SECRETS_KEY: randomBytes(32).toString('hex') };
    payout = randomUUID();
    await commitAll(api.deps, planned(payout, await pay(api.deps, await customer('one'), { coins: '7' })));
    const waits = await pay(api.deps, await customer('two'), { coins: '8' });
    await sql(
      `insert into settlement_waits (network, address_key, merchant_id, address, currency, code, reason,
        needs_units, needs_address, since, updated_at)
       select 'bsc', address_key, merchant_id, address, 'USDT', 'waiting_for_gas', 'the gas wallet has too little',
         '20000000000000000', ?, now(), now() from deposits where id = ?`,
      [DESTINATION, waits],
    );
    address = (await sql<{ address: string }>('select address from settlement_waits'))[0]?.address ?? '';
  });
  after(async () => {
    await api?.stop();
    await database?.drop();
  });

  const sql = async <T = Record<string, unknown>>(text: string, params: unknown[] = []): Promise<T[]> =>
    await api.deps.orm.em.fork().execute<T[]>(text, params);
  const customer = async (externalId: string): Promise<string> => {
    const names = { externalId, email: null, name: null, metadata: {} };
    return (await createCustomer(api.deps, { merchantId: merchant, mode: 'live', ...names })).id;
  };
  const list = (...args: string[]) => answer<Listed>(['payout', 'list', ...args], env);
  /** Everything that a person, the signer or a worker acts by. */
  const rowsAtAll = () =>
    Promise.all(
      TABLES.map((table) =>
        sql(`select md5(coalesce(string_agg(t::text, ',' order by t::text), '')) from ${table} t`),
      ),
    );
  const why = ['--by', 'ann', '--reason', 'gas is there'];

  it('are listed with what waits to become one and what somebody has to send, in a document or in lines', async () => {
    const all = await list('--merchant', merchant);
    expect(all.payouts.map(({ id, state, gross }) => [id, state, gross])).to.deep.equal([
      [payout, 'planned', '7'],
    ]);
    const needs = { currency: 'BNB', amount: '0.02', address: DESTINATION };
    expect(all.waiting.map((row) => [row.address, row.code, row.needs])).to.deep.equal([
      [address, 'waiting_for_gas', needs],
    ]);
    for (const none of [
      ['--state', 'settled'],
      ['--network', 'tron'],
    ])
      expect((await list(...none)).payouts).to.deep.equal([]);
    const ran = await gateway(['payout', 'list'], env);
    expect(ran.stdout).to.include(payout).and.include(address).and.include('the gas wallet has too little');
    expect(ran.stderr).to.match(/"payout show ID".*"payout retry ID"/);
    const shown = await answer(['payout', 'show', payout], env);
    expect(shown).to.deep.include({
      id: payout,
      merchant_id: merchant,
      transaction_hash: null,
      transactions: [],
    });
    const stuck = await gateway(['deposit', 'stuck'], env);
    expect(stuck.stdout).to.include('send at least 0.02 BNB to');
  });

  it('are paused and go on for all or for one, each with who did it', async () => {
    const pause = ['payout', 'pause', '--by', 'ann', '--reason', 'a drill'];
    expect(await answer(pause, env)).to.include({ paused: true, changed: true });
    expect(await answer(pause, env)).to.include({ paused: true, changed: false });
    await answer(['merchant', 'set', merchant, '--pause-payouts', 'true', '--by', 'ann'], env);
    expect((await list()).pauses.map((one) => [one.merchant_id, one.by])).to.deep.equal([
      [null, 'ann'],
      [merchant, 'ann'],
    ]);
    const { stdout } = await gateway(['payout', 'list'], env);
    expect(stdout).to.match(/^all payouts are paused by ann since .*: "payout resume"/);
    const one = await gateway(['payout', 'resume', '--merchant', merchant.toUpperCase()], env);
    expect(one.stdout.replaceAll('\n', ' ')).to.include('All payouts of this gateway are still paused');
    const strange = { ...env, SECRETS_KEY: randomBytes(32).toString('hex') };
    const refused = await gateway(['payout', 'resume', '--by', 'ben'], strange);
    expect([refused.code, refused.stderr.replaceAll('\n', ' ')].join(' ')).to.match(
      /^1 SECRETS_KEY is not the key that this database is sealed with, and neither is SECRETS_KEY_PREVIOUS/,
    );
    await answer(['payout', 'resume', '--by', 'ben'], env);
    expect((await list()).pauses).to.deep.equal([]);
    const [first, ...others] = await sql(
      "select action, by_name from operator_actions where action like 'payout.%' order by at",
    );
    expect([first, others.length]).to.deep.equal([{ action: 'payout.pause', by_name: 'ann' }, 3]);
  });

  it('are looked at again by id or address, which is written down first', async () => {
    await sql('delete from outbox');
    for (const id of [payout, payout.toUpperCase(), address])
      expect(await answer(['payout', 'retry', id, ...why], env)).to.include({ ok: true, told: false });
    expect(await sql("select 1 from outbox where workflow_id like 'settlement:bsc:%'")).to.have.length(3);
    const [last] = await sql('select kind, by_name, reason from payout_decisions order by id desc limit 1');
    expect(last).to.deep.equal({ kind: 'retry', by_name: 'ann', reason: 'gas is there' });
  });

  it('are touched by nothing that is wrong, unknown or hostile, nor tried again where nothing waits', async () => {
    const paid = await pay(api.deps, await customer('three'), { coins: '9', block: 5 });
    await sql('update deposits set verified_at = now() where id = ?', [paid]);
    expect(await payOut(api.deps, paid)).to.equal(true);
    const [settled] = await sql<{ id: string; address: string }>(
      "select id, address from payouts where state = 'settled'",
    );
    const before = await rowsAtAll();
    const [noPayout, noMerchant] = [
      /^There is no payout .*"payout list"\.\n$/s,
      /^There is no merchant .*\.\n$/s,
    ];
    const refused: (readonly [readonly string[], RegExp])[] = [
      ...[UNKNOWN_ID, "'; drop table payouts; --", '\u001b[31m', '9'.repeat(99)].flatMap((id) => [
        [['payout', 'show', '--', id], noPayout] as const,
        [['payout', 'retry', '--', id], noPayout] as const,
        [['payout', 'pause', `--merchant=${id}`], noMerchant] as const,
        [['payout', 'resume', `--merchant=${id}`], noMerchant] as const,
      ]),
      ...[DESTINATION, merchant, paid].map((id) => [['payout', 'retry', id], noPayout] as const),
      [['payout', 'retry', settled?.id ?? ''], /Look at it with "payout show [-0-9a-f]{36}"\.\n$/],
      [['payout', 'retry', settled?.address ?? ''], /^Nothing waits at 0x.* run "repair"\.\n$/],
      [
        ['merchant', 'set', merchant, '--withdraw-bsc', address, '--allow-contract'],
        /is an address of this gateway\. Ask the merchant for an address of a wallet of their own\.\n$/,
      ],
    ];
    await sideBySide(refused, async ([args, says]) => {
      const ran = await gateway(args, env);
      expect([ran.code, ran.stdout], args.join(' ')).to.deep.equal([1, '']);
      expect(ran.stderr, args.join(' '))
        .to.match(says)
        .and.not.match(/\n\s+at /)
        .and.not.include('\u001b');
    });
    expect(await rowsAtAll()).to.deep.equal(before);
    expect(await sql('select 1 from withdraw_addresses')).to.deep.equal([]);
  });
});
