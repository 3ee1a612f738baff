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
    env = {
      DATABASE_URL: database.url,
      DATA_DIR: await tempDir('conditions'),
      BSC_RPC_URLS: 'http://127.0.0.1:1',
    };
    await plant();
  });
  after(async () => {
    await stage?.stop();
    await database?.drop();
  });

  async function plant(): Promise<void> {
    const { sql, merchantId, clock } = stage;
    // The command has a clock of its own: by it as well as by ours everything is a year old.
    clock.now = new Date(Date.now() - YEAR * 1_000);
    const own = { merchantId, mode: 'live' } as const;
    // withdraw_address, and where the gas wallet pays for payouts.
    await stage.set(A);
    await stage.ask(B);
    // webhooks, endpoint, outbox, payment_links, deposit, loop.
    const hook = { ...own, url: 'http://127.0.0.1:9/', events: ['*' as const], description: null };
    await createEndpoint(deps, hook);
    const disabled = await createEndpoint(deps, hook);
    const customer = await stage.customer();
    await stage.scanned('bsc', clock.now);
    const times = ['polled_at', 'scanned_moved_at', 'finalized_moved_at', 'created_at'];
    for (const column of times) await sql(`update chain_cursors set ${column} = ?`, [clock.now]);
    await stage.link({ customerId: customer });
    const seen = await stage.pay(customer, { coins: '5', state: 'detected' });
    const failed = "consecutive_failures = 9, enabled = false, disabled_reason = 'it failed for days'";
    await sql(`update webhook_endpoints set ${failed}, failing_since = now() where id = ?`, [disabled.id]);
    await registerLoops(deps, [{ name: 'quick', everyMs: 1_000 }]);
    // payout, wallet, balances, gas, signer.
    const { address, addressKey } = await stage.deposit(seen);
    const now = clock.now;
    await sql(
      `insert into settlement_waits (network, address_key, merchant_id, address, currency, code, reason, since,
        updated_at, alarmed_at) values ('bsc', ?, ?, ?, 'USDT', 'address_short', 'it holds less', ?, ?, ?)`,
      [addressKey, merchantId, address, now, now, now],
    );
    await sql(
      `insert into sent_transactions (id, network, hash, state, from_address, from_key, moves, created_at,
        updated_at) values (gen_random_uuid(), 'bsc', '0xf0', 'foreign', ?, ?, '[]', ?, ?)`,
      [shown('bsc', KEY), KEY, now, now],
    );
    await sql(
      `insert into balance_differences (network, address_key, currency, address, chain_units,
         difference_units, replaced_units, known_units, before_units, since_number, found_number, searched,
         noted_at, reason) values ('bsc', ?, 'USDT', ?, 5, 5, 0, 0, 0, 1, 2, true, ?, 'x')`,
      [addressKey, address, now],
    );
    await sql("insert into gas_wallets (network, address_key, address, created_at) values ('bsc', ?, ?, ?)", [
      KEY,
      shown('bsc', KEY),
      now,
    ]);
    await sql(
      "insert into gas_levels (network, address_key, units, block_number, at) values ('bsc', ?, 0, 1, ?)",
      [KEY, now],
    );
    await sql(
      `insert into signer_state (name, sealed_code, sealed_reason, sealed_since, seen_at)
       values ('signer', 'limit', 'its journal is gone', now(), now())`,
    );
    await stage.deps.orm.em
      .fork()
      .transactional((em) =>
        holdAfterRestore(em, stage.operator, { backupAt: now, reason: 'the disk was lost' }),
      );
    // wallet_indexes; months and the chain need nothing but time.
    await sql("select setval('wallet_index_seq', 1, false)");
    stage.pass(2 * YEAR);
  }

  it('has a name, a label and a list of its own', () => {
    expect(CONDITIONS).to.have.length(new Set(CONDITIONS.map(({ name }) => name)).size);
    expect(ALARM_LABELS).to.have.length(new Set(ALARM_LABELS).size);
  });

  it('says why, and names a command that exists', async () => {
    for (const one of await readKinds(deps)) {
      const { name } = one.kind;
      const { found } = 'error' in one ? expect.fail(`${name}: ${one.error}`) : one.reading;
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
    const metrics = createMetrics({ defaults: false });
    await refreshMetrics({ deps, metrics });
    const figures = await metrics.registry.metrics();
    const health = await readiness({ deps } as Gateway, new Date(0));
    const ready = [...health.reasons, ...health.notes].join('\n');
    const failing = (await findingsOf(deps)).filter(({ ok }) => !ok).map(({ name }) => name);
    const listed = await answer<Record<string, unknown>>(['deposit', 'stuck'], env);
    for (const one of await readKinds(deps)) {
      const { name, label, group = '' } = one.kind;
      const { found } = 'error' in one ? expect.fail(`${name}: ${one.error}`) : one.reading;
      const alarm = found.map(sentenceOf)[0] ?? '';
      if (label !== undefined) {
        expect(valueIn(figures, `gateway_alarms{kind="${label}"}`), label).to.be.above(0);
        expect(ready.includes(alarm) || one.kind.sum !== undefined, alarm).to.equal(true);
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
