import { expect } from 'chai';
import { createCustomer } from '../../../dev/support/use-cases.ts';
import { findingsOf } from '../../../src/cli/doctor/conditions.ts';
import { auditLedger } from '../../../src/services/ledger/audit.ts';
import { rebuildTotals } from '../../../src/services/ledger/rebuild.ts';
import { foldBalances } from '../../../src/services/ledger/totals.ts';
import { answer, gateway } from '../../cli/support.ts';
import { startTestApi, type TestApi } from '../../support/gateway.ts';
import { pay } from '../../support/payment-shop.ts';

const WHO = ['--by', 'Ann', '--reason', 'somebody changed them by hand'];

describe('commands in place of SQL', function () {
  this.timeout(120_000);
  let api: TestApi;
  let customer: string;
  let env: { DATABASE_URL: string };
  const sql = (text: string) => api.deps.orm.em.fork().execute<Record<string, unknown>[]>(text);
  /** What readers of balances are told. */
  const available = async (): Promise<string> =>
    JSON.stringify(
      await sql(`select network, currency, account, sum(amount_units)::text as units from (
        select network, currency, account, amount_units from balance_totals union all
        select network, currency, account, amount_units from balance_changes) k
        group by 1, 2, 3 order by 1, 2, 3`),
    );
  const newCustomer = async (externalId: string): Promise<string> =>
    (
      await createCustomer(api.deps, {
        merchantId: api.merchant.id,
        mode: 'live',
        externalId,
        email: null,
        name: null,
        metadata: {},
      })
    ).id;

  before(async () => {
    api = await startTestApi({ statementTimeoutMs: 15_000, poolSize: 12 });
    env = { DATABASE_URL: api.deps.orm.config.get('clientUrl') ?? '' };
    customer = await newCustomer('user-1');
  });
  after(() => api?.stop());

  it('reconcile --rebuild-totals: makes wrong totals right, is written down, and is checked', async () => {
    for (let n = 0; n < 3; n += 1) await pay(api.deps, customer, { coins: '7' });
    await foldBalances(api.deps);
    const right = await available();
    await sql('update balance_totals set amount_units = amount_units + 1');
    expect(await available()).not.to.equal(right);
    const told = await gateway(['reconcile', '--books'], env);
    expect(told.stderr).to.contain('gateway reconcile --books --rebuild-totals');
    const rebuild = ['reconcile', '--books', '--rebuild-totals', ...WHO];
    const done = await answer<{ ok: boolean; changed: number; totals: number }>(rebuild, env);
    expect(done.ok).to.equal(true);
    expect(done.changed).to.be.greaterThan(0);
    expect(await available()).to.equal(right);
    expect((await rebuildTotals(api.deps, { reason: 'once more' })).changed).to.equal(0);
    const [row] = await sql(
      "select by_name, reason from operator_actions where action = 'totals.rebuild' limit 1",
    );
    expect(row).to.deep.equal({ by_name: 'Ann', reason: 'somebody changed them by hand' });
  });

  it('reconcile --rebuild-totals: no balance is wrong for a moment while deposits come and lines are added', async () => {
    let stop = false;
    let paid = 0;
    let reads = 0;
    const wrong: string[] = [];
    /** What the ledger itself holds, and what readers are told, in one snapshot. */
    const compared = `select count(*)::int as n from (
        select merchant_id, mode, network, currency, account, sum(amount_units) as units from (
          select merchant_id, mode, network, currency, account, amount_units from balance_totals union all
          select merchant_id, mode, network, currency, account, amount_units from balance_changes) k
        group by 1, 2, 3, 4, 5) told
      full join (select merchant_id, mode, network, currency, account, sum(amount_units) as units
        from ledger_entries group by 1, 2, 3, 4, 5) held using (merchant_id, mode, network, currency, account)
      where coalesce(told.units, 0) <> coalesce(held.units, 0)`;
    const until = async (work: () => Promise<unknown>) => {
      while (!stop) await work();
    };
    const busy = Promise.all([
      until(async () => {
        await pay(api.deps, customer, { coins: '1' });
        paid += 1;
      }),
      until(() => foldBalances(api.deps)),
      until(async () => {
        reads += 1;
        const [row] = await sql(compared);
        if (row?.['n'] !== 0) wrong.push(String(row?.['n']));
      }),
    ]);
    for (let n = 0; n < 5 || paid < 2 || reads < 2; n += 1)
      await rebuildTotals(api.deps, { reason: 'again and again' });
    stop = true;
    await busy;
    expect(wrong).to.deep.equal([]);
    expect((await auditLedger(api.deps)).differences).to.deep.equal([]);
  });

  it('doctor: says where the next customer would get an index that was given, and what to do', async () => {
    const told = async () => (await findingsOf(api.deps)).find(({ name }) => name === 'wallet_indexes');
    expect(await told()).to.deep.include({
      ok: true,
      detail: 'the next customer gets 2; the highest given is 1',
    });
    await sql("select setval('wallet_index_seq', 1, false)");
    const behind = await told();
    expect(behind?.ok).to.equal(false);
    await sql(behind?.action?.split(': ')[1] ?? '');
    await newCustomer('user-2');
    const [row] = await sql('select max(wallet_index)::int as highest from customers');
    expect(row).to.deep.equal({ highest: 10_000_002 });
  });
});
