import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { startTestChain, type TestChain, USDT_UNIT } from '../../dev/support/chain.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { type FreshDatabase, freshDatabase, tempDir, temporal } from '../../dev/support/parts.ts';
import { createCustomer, createEndpoint } from '../../dev/support/use-cases.ts';
import type { Gateway } from '../../src/app/compose.ts';
import { readRun } from '../../src/base/data-dir.ts';
import { deriveAddresses } from '../../src/chains/addresses.ts';
import { composeOver, LIMIT_MS, type Looks, looksInto } from './composed.ts';
import { answer, type Env, gateway, oneObject, type Running, running } from './support.ts';

type DepositRow = {
  id: string;
  status: string;
  address: string;
  amount: string;
  confirmations: number;
  failure_code: string | null;
};
type DeliveryRow = { id: string; event: string; status: string; attempts: { status_code: number | null }[] };
type Shown = {
  deposit: DepositRow;
  transitions: { to: string; by: string | null; reason: string | null }[];
  ledger: { kind: string; entries: { account: string; amount: string }[] }[];
  events: { event: string; deliveries: DeliveryRow[] }[];
  workflow_id: string;
};
type Checks = { ok: boolean; checks: { name: string; ok: boolean }[] };

describe('command line: deposits on a running gateway', function () {
  this.timeout(90_000);
  let database: FreshDatabase;
  let chain: TestChain;
  let env: Env;
  let local: Gateway;
  let looks: Looks;
  let service: Running;
  let receiver: Running;
  let merchantId: string;
  let address: string;

  before(async () => {
    [database, chain] = await Promise.all([freshDatabase(), startTestChain()]);
    const { address: temporalAddress } = await temporal();
    env = {
      DATABASE_URL: database.url,
      DATA_DIR: await tempDir('cli-deposits'),
      TEMPORAL_ADDRESS: temporalAddress,
      PORT: '0',
      DUST_FLOOR: 'none',
      BSC_RPC_URLS: chain.url,
      BSC_USDT_CONTRACT: chain.usdt.address,
      BSC_CONFIRMATIONS: '5',
      LOG_LEVEL: 'error',
      PRICE_SOURCE: 'fixed:BNB=600,TRX=0.3,USDT=1',
      SECRETS_KEY: randomBytes(32).toString('hex'),
      WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
      WEBHOOK_ALLOW_HTTP: 'true',
    };
    await answer(['migrate'], env);
    local = await composeOver(env);
    looks = looksInto(local);
    merchantId = (await answer<{ merchant_id: string }>(['merchant', 'create', '--name', 'Shop'], env))
      .merchant_id;
    receiver = await running(['webhook', 'listen', '--port', '0', '--json'], {});
    await createEndpoint(local.deps, {
      merchantId,
      mode: 'live',
      url: String(receiver.ready['url']),
      events: ['*'],
      description: null,
    });
    address = await newCustomer('first');
    service = await running(['start'], env);
  });

  after(async () => {
    await service?.stop();
    await receiver?.stop();
    await local?.close();
    await chain?.stop();
    await database?.drop();
  });

  async function newCustomer(externalId: string): Promise<string> {
    const names = { externalId, email: null, name: null, metadata: {} };
    const { addresses } = await createCustomer(local.deps, { merchantId, mode: 'live', ...names });
    return addresses.find(({ network }) => network === 'bsc')?.address ?? '';
  }

  const list = async (): Promise<DepositRow[]> =>
    (await answer<{ deposits: DepositRow[] }>(['deposit', 'list'], env)).deposits;
  const show = (id: string): Promise<Shown> => answer<Shown>(['deposit', 'show', id], env);

  async function pay(to: string, coins: bigint): Promise<{ id: string }> {
    await chain.usdt.call('transfer', [to, coins * USDT_UNIT]);
    await chain.mine();
    const units = (coins * USDT_UNIT).toString();
    const found = () =>
      looks.firstRow('select id from deposits where address = ? and amount_units = ?::numeric', [to, units]);
    return await eventually(`a deposit of ${coins} USDT`, found, LIMIT_MS);
  }

  async function isRunning(id: string): Promise<boolean> {
    const description = await local.link?.client.workflow.getHandle((await show(id)).workflow_id).describe();
    return description?.status.name === 'RUNNING';
  }

  const diagnosis = async (): Promise<Checks> =>
    oneObject<Checks>((await gateway(['doctor', '--json'], env)).stdout);

  it('is well according to doctor while it runs', async () => {
    // A service that has just started may be told of a question that went wrong once, and puts it again.
    let report = await diagnosis();
    for (let again = 0; again < 5 && !report.ok; again++) report = await diagnosis();
    expect(report.checks.filter(({ ok }) => !ok)).to.deep.equal([]);
    expect(report.checks.map(({ name }) => name)).to.include.members([
      'search_attributes',
      'secrets_key',
      'bsc',
      'schema',
      'clock',
    ]);
    const otherKey = await gateway(['doctor', '--json'], {
      ...env,
      SECRETS_KEY: randomBytes(32).toString('hex'),
    });
    expect(
      oneObject<Checks>(otherKey.stdout)
        .checks.filter(({ ok }) => !ok)
        .map(({ name }) => name),
    ).to.deep.equal(['secrets_key']);
  });

  it('fails an open deposit through its actor and releases it once it is final', async () => {
    const { id } = await pay(address, 25n);
    const without = await gateway(['deposit', 'fail', id, '--by', 'Ann', '--reason', 'x'], {
      ...env,
      TEMPORAL_ADDRESS: '127.0.0.1:1',
    });
    expect([without.code, without.stdout]).to.deep.equal([1, '']);
    expect(without.stderr).to.match(/Temporal at 127\.0\.0\.1:1 does not answer.*"gateway start" first\.\n$/);
    const early = await gateway(['deposit', 'release', id, '--by', 'Ann', '--reason', 'x'], env);
    expect([early.code, /not failed; there is nothing to release\.\n$/.test(early.stderr)]).to.deep.equal([
      1,
      true,
    ]);

    const failed = await answer(['deposit', 'fail', id, '--by', 'Ann', '--reason', 'stolen coins'], env);
    expect(failed).to.deep.equal({ deposit_id: id, status: 'failed', failure_code: 'REJECTED_BY_OPERATOR' });
    const { workflow_id: actor } = await show(id);
    const history = await local.link?.client.workflow.getHandle(actor).fetchHistory();
    expect(
      history?.events?.filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes),
    ).to.have.length(1);
    const again = await gateway(['deposit', 'fail', id, '--by', 'Ann', '--reason', 'x'], env);
    expect([again.code, /^Deposit .* has failed already/.test(again.stderr)]).to.deep.equal([1, true]);
    const unready = await gateway(['deposit', 'release', id, '--by', 'Bob', '--reason', 'x'], env);
    expect([unready.code, /is not final yet/.test(unready.stderr)]).to.deep.equal([1, true]);

    await chain.mine(10);
    const verified = () =>
      looks.firstRow('select id from deposits where id = ? and verified_at is not null', [id]);
    await eventually('the second reading of its block', verified, LIMIT_MS);
    const released = await answer(
      ['deposit', 'release', id, '--by', 'Bob', '--reason', 'they were not'],
      env,
    );
    expect(released).to.deep.equal({ deposit_id: id, status: 'completed', failure_code: null });
    await looks.allDelivered();
    const shown = await show(id);
    expect(shown.events.flatMap(({ deliveries }) => deliveries.map(({ status }) => status))).to.deep.equal(
      shown.events.map(() => 'succeeded'),
    );
    expect(shown.transitions.slice(-2).map(({ to, by, reason }) => [to, by, reason])).to.deep.equal([
      ['failed', 'Ann', 'stolen coins'],
      ['completed', 'Bob', 'they were not'],
    ]);
    expect(shown.events.slice(-2).map(({ event }) => event)).to.deep.equal([
      'deposit.failed',
      'deposit.completed',
    ]);
    expect(shown.ledger.at(-1)?.entries).to.deep.equal([
      { account: 'held', amount: '-25', currency: 'USDT' },
      { account: 'available', amount: '25', currency: 'USDT' },
    ]);
    expect(shown.workflow_id).to.match(/^deposit:bsc:0x[0-9a-f]{64}:.*:USDT:g2$/);
  });

  it('fails a deposit whose actor is gone, and repair brings other actors back', async () => {
    const lost = await pay(address, 31n);
    const kept = await pay(address, 32n);
    for (const { id } of [lost, kept]) {
      const { workflow_id } = await show(id);
      await local.link?.client.workflow.getHandle(workflow_id).terminate('a test');
    }
    const failed = await answer(['deposit', 'fail', lost.id, '--by', 'Ann', '--reason', 'gone'], env);
    expect(failed['status']).to.equal('failed');
    // Temporal's list of running actors follows with a delay, and repair goes by it.
    const repair = async () => {
      const { deposits } = await answer<{ deposits: number }>(['repair'], env);
      return (await isRunning(kept.id)) && deposits;
    };
    const repaired = await eventually('the return of the actor', repair, LIMIT_MS);
    expect(repaired).to.be.at.least(1);
    await chain.mine(10);
    await looks.inState(kept.id, 'completed');
    expect((await answer<{ stuck: unknown[] }>(['deposit', 'stuck'], env)).stuck).to.deep.equal([]);
  });

  it('lists deliveries and sends one once more', async () => {
    const all = (
      await answer<{ deliveries: DeliveryRow[] }>(['webhook', 'list', '--status', 'succeeded'], env)
    ).deliveries;
    const [one] = all;
    if (!one) throw new Error('no delivery');
    expect(one.attempts.map(({ status_code }) => status_code)).to.deep.equal([200]);
    await answer(['webhook', 'resend', one.id], env);
    await looks.allDelivered();
    const { deliveries } = await answer<{ deliveries: DeliveryRow[] }>(['webhook', 'list'], env);
    const sent = deliveries.find(({ id }) => id === one.id);
    expect([sent?.status, sent?.attempts.length]).to.deep.equal(['succeeded', 2]);
    expect(sent?.event).to.equal(one.event);
    expect(receiver.stderr().split(`"event":"${one.event}"`).length - 1).to.be.at.least(2);
  });

  it('finds with rescan what the watcher could not know, once', async () => {
    const next = deriveAddresses(local.deps.xpubs.live, await looks.nextWalletIndex());
    await chain.usdt.call('transfer', [next.bsc, 77n * USDT_UNIT]);
    const block = await chain.mine();
    await chain.mine(12);
    const range = ['rescan', '--network', 'bsc', '--from', String(block - 1), '--to', String(block + 1)];
    await eventually('the watcher past it', async () => (await looks.scannedNumber()) > block + 5, LIMIT_MS);
    expect(await newCustomer('late')).to.equal(next.bsc);
    expect((await list()).filter(({ amount }) => amount === '77')).to.deep.equal([]);

    expect(await answer(range, env)).to.deep.equal({
      network: 'bsc',
      from: block - 1,
      to: block + 1,
      blocks: 3,
      found: 1,
    });
    expect(await answer(range, env)).to.include({ blocks: 3, found: 0 });
    const [found] = (await list()).filter(({ amount }) => amount === '77');
    if (!found) throw new Error('the deposit is missing');
    await looks.inState(found.id, 'completed');

    const ahead = await gateway(['rescan', '--network', 'bsc', '--from', '1', '--to', '999999'], env);
    expect(ahead.code).to.equal(1);
    expect(ahead.stderr).to.match(/^Block 999999 was not read for the first time yet.*--from 1\.$/m);
  });

  it('replays what the server holds', async () => {
    const report = await answer<{ replayed: number; failed: unknown[] }>(['replay'], env);
    expect(report.replayed).to.be.at.least(4);
    expect(report.failed).to.deep.equal([]);
  });

  it('filters lists and shows tables', async () => {
    const failed = await answer<{ deposits: DepositRow[] }>(
      ['deposit', 'list', '--status', 'failed', '--network', 'bsc', '--merchant', merchantId],
      env,
    );
    expect(failed.deposits.map(({ amount }) => amount)).to.deep.equal(['31']);
    expect(
      (await answer<{ deposits: unknown[] }>(['deposit', 'list', '--limit', '1'], env)).deposits,
    ).to.have.length(1);
    expect(
      (await answer<{ unrecognised: unknown[] }>(['deposit', 'list', '--unrecognised'], env)).unrecognised,
    ).to.deep.equal([]);
    const shown = await gateway(['deposit', 'list'], env);
    expect(shown.stdout)
      .to.match(/^ID +STATUS +AMOUNT/)
      .and.match(/completed +77 USDT +bsc +live/);
  });

  it('ends with 0 on SIGTERM', async () => {
    expect(readRun(env['DATA_DIR'] ?? '')?.api).to.be.a('string');
    expect(await service.stop()).to.equal(0);
  });
});
