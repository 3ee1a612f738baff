import { expect } from 'chai';
import { type FreshDatabase, migratedDatabase, tempDir } from '../../dev/support/parts.ts';
import { createEndpoint } from '../../dev/support/use-cases.ts';
import type { Gateway } from '../../src/app/compose.ts';
import { refreshMetrics } from '../../src/app/figures.ts';
import { readiness } from '../../src/app/health.ts';
import { createMetrics } from '../../src/app/metrics.ts';
import { keyOfHex } from '../../src/chains/address-key.ts';
import { findingsOf } from '../../src/cli/doctor/conditions.ts';
import type { Deps } from '../../src/services/deps.ts';
import { registerLoops } from '../../src/services/loop-runs.ts';
import { sentenceOf } from '../../src/services/operations/conditions/condition.ts';
import { ALARM_LABELS, CONDITIONS, readKinds } from '../../src/services/operations/conditions/conditions.ts';
import { readNoticed } from '../../src/services/operations/notices.ts';
import { holdAfterRestore } from '../../src/services/restores/hold.ts';
import { A, B, type ChangeStage, startChangeStage } from '../services/merchants/change-stage.ts';
import { shown } from '../services/payouts/stage.ts';
import { valueIn } from '../support/repository/prometheus.ts';
import { namedIn, wrongIn } from './named.ts';
import { answer, type Env } from './support.ts';

const HOUR = 3_600;
const YEAR = 400 * 24 * HOUR;
const KEY = keyOfHex('9a'.repeat(20));

/** One condition of every kind holds. A new kind is planted here, and is then looked for in every view. */
describe('every kind of what can need a person', function () {
  this.timeout(120_000);
  let database: FreshDatabase;
  let stage: ChangeStage;
  let deps: Deps;
  let env: Env;

  before(async () => {
    database = await migratedDatabase();
    stage = await startChangeStage({ databaseUrl: database.url });
    const { payments } = stage.deps.settings;
    deps = {
      ...stage.deps,
      settings: { ...stage.deps.settings, payments: { ...payments, watchedNetworks: ['bsc'] } },
      prices: { price: async () => undefined },
    };
    const dir = await tempDir('conditions');
    env = { DATABASE_URL: database.url, DATA_DIR: dir, BSC_RPC_URLS: 'http://127.0.0.1:1' };
    await plant();
  });
  after(async () => {
    await stage?.stop();
    await database?.drop();
  });

  const put = (table: string, row: Readonly<Record<string, unknown>>) => {
    const places = Object.keys(row).map(() => '?');
    return stage.sql(`insert into ${table} (${Object.keys(row)}) values (${places})`, Object.values(row));
  };

  async function plant(): Promise<void> {
    const { sql, merchantId, clock } = stage;
    // The command has a clock of its own: by it as well as by ours everything is a year old.
    clock.now = new Date(Date.now() - YEAR * 1_000);
    // withdraw_address, and where the gas wallet pays for payouts.
    await stage.set(A);
    await stage.ask(B);
    // webhooks, endpoint, outbox, payment_links, deposit, loop.
    const hook = { merchantId, url: 'http://127.0.0.1:9/', events: ['*' as const], description: null };
    await createEndpoint(deps, { ...hook, mode: 'live' });
    const disabled = await createEndpoint(deps, { ...hook, mode: 'live' });
    const customer = await stage.customer();
    await stage.scanned('bsc', clock.now);
    const times = ['polled_at', 'scanned_moved_at', 'finalized_moved_at', 'created_at'];
    for (const column of times) await sql(`update chain_cursors set ${column} = ?`, [clock.now]);
    await stage.link({ customerId: customer });
    const seen = await stage.pay(customer, { coins: '5', state: 'detected' });
    const failed = "consecutive_failures = 9, enabled = false, disabled_reason = 'it failed for days'";
    await sql(`update webhook_endpoints set ${failed}, failing_since = now() where id = ?`, [disabled.id]);
    await registerLoops(deps, [{ name: 'quick', everyMs: 1_000 }]);
    // payout, wallet, balances, gas, signer, restore.
    const { address, addressKey } = await stage.deposit(seen);
    const at = clock.now;
    const wallet = shown('bsc', KEY);
    const own = { network: 'bsc', address, address_key: addressKey, currency: 'USDT' };
    const waits = {
      code: 'address_short',
      reason: 'it holds less',
      since: at,
      updated_at: at,
      alarmed_at: at,
    };
    await put('settlement_waits', { ...own, merchant_id: merchantId, ...waits });
    const foreign = {
      network: 'bsc',
      hash: '0xf0',
      state: 'foreign',
      moves: '[]',
      created_at: at,
      updated_at: at,
    };
    await put('sent_transactions', { id: deps.newId(), from_address: wallet, from_key: KEY, ...foreign });
    const units = { chain_units: 5, difference_units: 5, replaced_units: 0, known_units: 0, before_units: 0 };
    const found = { since_number: 1, found_number: 2, searched: true, noted_at: at, reason: 'x' };
    await put('balance_differences', { ...own, ...units, ...found });
    await put('gas_wallets', { network: 'bsc', address_key: KEY, address: wallet, created_at: at });
    await put('gas_levels', { network: 'bsc', address_key: KEY, units: 0, block_number: 1, at });
    const sealed = { sealed_code: 'journal', sealed_reason: 'its journal is gone', sealed_since: at };
    await put('signer_state', { name: 'signer', ...sealed, seen_at: at });
    const lost = { backupAt: at, reason: 'the disk was lost' };
    await deps.orm.em.fork().transactional((em) => holdAfterRestore(em, stage.operator, lost));
    // wallet_indexes; months and the chain need nothing but time.
    await sql("select setval('wallet_index_seq', 1, false)");
    stage.pass(2 * YEAR);
  }

  it('says why, and names a command that exists', async () => {
    for (const { kind, found } of await readKinds(deps)) {
      const { name } = kind;
      expect(found, name).to.have.length.above(0);
      for (const { key, reason, action } of found) {
        expect(key, name).to.match(new RegExp(`^${name}(:|$)`));
        expect(reason, name).to.have.length.above(10);
        expect(namedIn(action), `${name}: ${action}`).to.have.length.above(0);
        expect(namedIn(action).flatMap((command) => wrongIn(command) ?? [])).to.deep.equal([]);
      }
    }
  });

  it('is told by notices, and by metrics, readiness, doctor and "deposit stuck" where it says so', async () => {
    const noticed = await readNoticed(deps);
    expect(noticed.unread).to.deep.equal([]);
    expect([...new Set(noticed.found.map(({ kind }) => kind))]).to.have.members(
      CONDITIONS.map(({ name }) => name),
    );
    expect(ALARM_LABELS).to.have.length(new Set(ALARM_LABELS).size);
    const metrics = createMetrics({ defaults: false });
    await refreshMetrics({ deps, metrics });
    const figures = await metrics.registry.metrics();
    const health = await readiness({ deps } as Gateway, new Date(0));
    const ready = [...health.reasons, ...health.notes].join('\n');
    const failing = (await findingsOf(deps)).filter(({ ok }) => !ok).map(({ name }) => name);
    const listed = await answer<Record<string, unknown>>(['deposit', 'stuck'], env);
    for (const { kind, found } of await readKinds(deps)) {
      const { label, group = '' } = kind;
      const alarm = found.map(sentenceOf)[0] ?? '';
      if (label !== undefined) {
        expect(valueIn(figures, `gateway_alarms{kind="${label}"}`), label).to.be.above(0);
        expect(ready.includes(alarm) || kind.sum !== undefined, alarm).to.equal(true);
      }
      const checks = label === undefined ? found.flatMap(({ check }) => check ?? []) : [label];
      for (const check of checks) expect(failing).to.include(check);
      // The command's own clock is another one, so how long something lasts differs.
      const rows = found.flatMap(({ row }) => (row ? [row] : []));
      const ids = (all: readonly object[]) => all.map((row) => Object.values(row).slice(0, 3));
      if (rows.length > 0) expect(ids(listed[group] as object[])).to.deep.include.members(ids(rows));
    }
  });

  it('that cannot be read hides no other, and is told itself', async () => {
    await stage.sql('alter table gas_wallets rename to elsewhere');
    try {
      const { found, unread } = await readNoticed(deps);
      expect(unread).to.deep.equal(['gas']);
      const told = new Set(found.map(({ kind }) => kind));
      expect([...told]).to.have.members([
        'unread',
        ...CONDITIONS.map(({ name }) => name).filter((n) => n !== 'gas'),
      ]);
      const doctor = (await findingsOf(deps)).find(({ name }) => name === 'gas');
      expect(doctor?.detail).to.match(/^gas could not be read: .*gas_wallets/);
    } finally {
      await stage.sql('alter table elsewhere rename to gas_wallets');
    }
  });
});
