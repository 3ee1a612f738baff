import { randomBytes, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { addressOn } from '../../../dev/support/live-money.ts';
import { type FreshDatabase, migratedDatabase, tempDir } from '../../../dev/support/parts.ts';
import { createCustomer, simulateDeposit } from '../../../dev/support/use-cases.ts';
import type { Mode } from '../../../src/domain/assets.ts';
import type { Deps } from '../../../src/services/deps.ts';
import { createMerchant } from '../../../src/services/merchants/merchants.ts';
import type { PayoutView, WaitingView } from '../../../src/services/payouts/list.ts';
import { startTestApi, type TestApi, UNKNOWN_ID } from '../../support/gateway.ts';
import { pay } from '../../support/payment-shop.ts';
import { commitAll, payOut, planned } from '../../support/payout-rows.ts';
import { answer, type Env, gateway, sideBySide } from '../support.ts';

type Listed = {
  readonly payouts: readonly PayoutView[];
  readonly waiting: readonly WaitingView[];
  readonly pauses: readonly { readonly merchant_id: string | null; readonly by: string }[];
};

const LONG = '9'.repeat(8_192);
/** Nobody's. */
const DESTINATION = '0x52908400098527886E0F7030069857D2E4169EE7';

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
    env = {
      DATABASE_URL: database.url,
      DATA_DIR: await tempDir('cli'),
      SECRETS_KEY: randomBytes(32).toString('hex'),
    };
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
  const named = (externalId: string) => ({ externalId, email: null, name: null, metadata: {} });
  const customer = async (externalId: string, mode: Mode = 'live'): Promise<string> =>
    (await createCustomer(api.deps, { merchantId: merchant, mode, ...named(externalId) })).id;
  const list = (...args: string[]) => answer<Listed>(['payout', 'list', ...args], env);
  const decisions = () => sql('select kind, merchant_id, by_name, reason from payout_decisions order by id');

  it('are listed with what waits to become one, in one document or in lines that say what is next', async () => {
    const all = await list();
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
    expect((await list('--merchant', merchant)).payouts).to.have.length(1);
    const ran = await gateway(['payout', 'list'], env);
    expect(ran.stdout).to.include(payout).and.include(address).and.include('the gas wallet has too little');
    expect(ran.stderr).to.match(/"payout show ID".*"payout retry ID"/);
    for (const line of ran.stdout.split('\n')) expect(line.length).to.be.at.most(100);
    const shown = await answer(['payout', 'show', payout], env);
    expect(shown).to.include({
      id: payout,
      merchant_id: merchant,
      fee_currency: 'BNB',
      transaction_hash: null,
    });
    expect(shown['transactions']).to.deep.equal([]);
  });

  it('are among what is stuck, with the coins that somebody has to send', async () => {
    const { stuck } = await answer<{ stuck: readonly Record<string, unknown>[] }>(['deposit', 'stuck'], env);
    const [row] = stuck.filter(({ state }) => state === 'waiting_for_gas');
    expect(row?.['needs']).to.deep.equal({ currency: 'BNB', amount: '0.02', address: DESTINATION });
    const ran = await gateway(['deposit', 'stuck'], env);
    expect(ran.stdout).to.include(`send at least 0.02 BNB to`);
  });

  it('are paused and go on for all or for one, each with who did it', async () => {
    const reason = ['--by', 'ann', '--reason', 'a drill'];
    expect(await answer(['payout', 'pause', ...reason], env)).to.include({ paused: true, changed: true });
    expect(await answer(['payout', 'pause', ...reason], env)).to.include({ paused: true, changed: false });
    await answer(['merchant', 'set', merchant, '--pause-payouts', 'true', '--by', 'ann'], env);
    const { pauses } = await list();
    expect(pauses.map((pause) => [pause.merchant_id, pause.by])).to.deep.equal([
      [null, 'ann'],
      [merchant, 'ann'],
    ]);
    const ran = await gateway(['payout', 'list'], env);
    expect(ran.stdout).to.match(/^all payouts are paused by ann since .*: "payout resume"/);
    const one = await gateway(['payout', 'resume', '--merchant', merchant], env);
    expect(one.stdout.replaceAll('\n', ' ')).to.include('All payouts of this gateway are still paused');
    await answer(['payout', 'resume', '--by', 'ben'], env);
    expect((await list()).pauses).to.deep.equal([]);
    const actions = await sql(
      "select action, by_name from operator_actions where action like 'payout.%' order by at",
    );
    expect(actions.slice(0, 1)).to.deep.equal([{ action: 'payout.pause', by_name: 'ann' }]);
    expect(actions).to.have.length(4);
  });

  it('are looked at again by id or address, which is written down first', async () => {
    await sql('delete from outbox');
    for (const id of [payout, payout.toUpperCase(), address])
      expect(
        await answer(['payout', 'retry', id, '--by', 'ann', '--reason', 'gas is there'], env),
      ).to.include({
        ok: true,
        told: false,
      });
    const woken = await sql("select workflow_id from outbox where workflow_id like 'settlement:bsc:%'");
    expect(woken).to.have.length(3);
    expect((await decisions()).at(-1)).to.include({ kind: 'retry', by_name: 'ann', reason: 'gas is there' });
  });

  /** Everything that a person, the signer or a worker acts by. */
  const rowsAtAll = () =>
    Promise.all(
      ['payout_decisions', 'operator_actions', 'outbox', 'payouts', 'sent_transactions', 'deposits'].map(
        (table) => sql(`select md5(coalesce(string_agg(t::text, ',' order by t::text), '')) from ${table} t`),
      ),
    );

  it('are not tried again where nothing waits, and say what to look at instead', async () => {
    const { deps } = api;
    const paid = await pay(deps, await customer('three'), { coins: '9', block: 5 });
    await sql('update deposits set verified_at = now() where id = ?', [paid]);
    expect(await payOut(deps, paid)).to.equal(true);
    const [settled] = await sql<{ id: string; address: string }>(
      "select id, address from payouts where state = 'settled'",
    );
    const simulated = await simulatedPayout(deps, merchant, await customer('four', 'test'));
    const unused = await createCustomer(deps, { merchantId: merchant, mode: 'live', ...named('five') });
    const before = await rowsAtAll();
    const looks = /Look at it with "payout show [-0-9a-f]{36}"\.\n$/;
    const refused: (readonly [string | undefined, RegExp])[] = [
      [settled?.id, looks],
      [simulated, looks],
      [settled?.address, /^Nothing waits at 0x.* run "repair"\.\n$/],
      [addressOn(unused, 'bsc'), /^Nothing waits at 0x.* run "repair"\.\n$/],
      [addressOn(unused, 'tron').toLowerCase(), /^There is no payout .*"payout list"\.\n$/],
      [DESTINATION, /^There is no payout .*"payout list"\.\n$/],
      [merchant, /^There is no payout .*"payout list"\.\n$/],
      [paid, /^There is no payout .*"payout list"\.\n$/],
    ];
    await sideBySide(refused, async ([id = '', says]) => {
      const ran = await gateway(['payout', 'retry', id, '--by', 'ann'], env);
      expect([ran.code, ran.stdout], id).to.deep.equal([1, '']);
      expect(ran.stderr, id).to.match(says);
    });
    expect(await rowsAtAll()).to.deep.equal(before);
  });

  it('of one merchant are not listed, paused or let go on by the id of another', async () => {
    const { merchantId: other } = await createMerchant(api.deps, { name: 'Other', subscriptionActive: true });
    const { payouts, waiting } = await list('--merchant', other.toUpperCase());
    expect([payouts, waiting]).to.deep.equal([[], []]);
    await answer(['payout', 'pause', '--by', 'ann', '--merchant', merchant], env);
    expect(await answer(['payout', 'resume', '--merchant', other], env)).to.include({ changed: false });
    expect((await list('--merchant', other)).pauses).to.deep.equal([]);
    expect((await list('--merchant', merchant.toUpperCase())).pauses).to.have.length(1);
    await answer(['payout', 'resume', '--by', 'ann', '--merchant', merchant.toUpperCase()], env);
    expect((await list()).pauses).to.deep.equal([]);
  });

  it('are paused with a name and a reason as long as may be, of which a terminal acts on nothing', async () => {
    const hostile = (most: number): string =>
      `a\u001b[31m\u009b2J\r\nforged\u202e漢${'r'.repeat(most)}`.slice(0, most);
    const by = ['--by', hostile(120), '--reason', hostile(500)];
    expect((await gateway(['payout', 'pause', '--merchant', merchant, ...by], env)).code).to.equal(0);
    const [pause] = await sql('select by_name, reason from payout_decisions order by id desc limit 1');
    expect(pause).to.deep.equal({ by_name: hostile(120), reason: hostile(500) });
    for (const command of [
      ['payout', 'list'],
      ['deposit', 'stuck'],
      ['audit', 'list'],
    ]) {
      const ran = await gateway(command, env);
      expect(ran.code, command.join(' ')).to.equal(0);
      for (const acted of ['\u001b', '\u009b', '\r', '\u202e', '\nforged'])
        expect(ran.stdout + ran.stderr, command.join(' ')).to.not.include(acted);
    }
    expect((await gateway(['payout', 'list'], env)).stdout.replaceAll('\n', ' ')).to.include(
      `"payout resume --merchant ${merchant}" lets them go on`,
    );
    await answer(['payout', 'resume', '--merchant', merchant], env);
  });

  it('are touched by nothing that is wrong, unknown or hostile', async () => {
    const before = await rowsAtAll();
    const hostile = ["'; drop table payouts; --", '\u001b[31m', '../../etc/passwd', '0x', '-1', '漢字'];
    const refused: (readonly [readonly string[], RegExp])[] = [
      ...[UNKNOWN_ID, ...hostile].flatMap((id) => [
        [['payout', 'show', '--', id], /^There is no payout .*"payout list"\.\n$/s] as const,
        [['payout', 'retry', '--', id], /^There is no payout .*"payout list"\.\n$/s] as const,
        [['payout', 'pause', `--merchant=${id}`], /^There is no merchant .*"merchant list"\.\n$/s] as const,
        [['payout', 'resume', `--merchant=${id}`], /^There is no merchant .*"merchant list"\.\n$/s] as const,
        [['payout', 'list', `--merchant=${id}`], /^There is no merchant .*"merchant list"\.\n$/s] as const,
      ]),
      [['payout', 'pause', '--merchant', LONG], /^There is no merchant 9{100}\. .*"merchant list"\.\n$/],
      [['payout', 'list', '--merchant', LONG], /^There is no merchant 9{100}\. .*"merchant list"\.\n$/],
      [['merchant', 'set', UNKNOWN_ID, '--pause-payouts', 'true'], /^There is no merchant .*"merchant list"/],
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
    const taken = ['merchant', 'set', merchant, '--withdraw-bsc', DESTINATION, '--allow-contract'];
    expect(await answer(taken, env)).to.include({ withdraw_bsc: DESTINATION, payouts: 'on' });
  });
});

/** The id of a payout of test mode. */
async function simulatedPayout(deps: Deps, merchantId: string, customerId: string): Promise<string> {
  const deposit = { network: 'bsc', currency: 'USDT', amountUnits: 10n ** 18n } as const;
  const how = { outcome: 'settled', events: 'final', transactionHash: `0x${'a5'.repeat(32)}` } as const;
  await simulateDeposit(deps, { merchantId, customerId, ...deposit, ...how });
  const found = 'select id from payouts where simulated';
  return (await deps.orm.em.fork().execute<{ id: string }[]>(found))[0]?.id ?? expect.fail('none');
}
