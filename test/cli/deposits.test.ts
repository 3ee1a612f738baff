import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { startTestChain, type TestChain, USDT_UNIT } from '../../dev/support/chain.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { tronEnv } from '../../dev/support/live-chains.ts';
import { addressOn } from '../../dev/support/live-money.ts';
import { type FreshDatabase, migratedDatabase, tempDir, temporal } from '../../dev/support/parts.ts';
import { createCustomer, createEndpoint } from '../../dev/support/use-cases.ts';
import { startTronNode, type TronNode } from '../../dev/tron/node.ts';
import type { Gateway } from '../../src/app/compose.ts';
import { readRun } from '../../src/base/data-dir.ts';
import { deriveAddresses } from '../../src/chains/addresses.ts';
import { TRON_ADDRESSES } from '../../src/chains/tron/addresses.ts';
import type { Network } from '../../src/domain/assets.ts';
import { createMerchant } from '../../src/services/merchants/merchants.ts';
import { composeOver, LIMIT_MS, type Looks, looksInto } from './composed.ts';
import { answer, type Env, gateway, oneObject, type Running, running } from './support.ts';

type Row = Record<'id' | 'status' | 'address' | 'amount' | 'transaction_hash', string>;
type Delivery = { id: string; event: string; status: string; attempts: { status_code: number | null }[] };
type Shown = {
  transitions: { to: string; by: string | null; reason: string | null }[];
  ledger: { entries: object[] }[];
  events: { event: string; deliveries: Delivery[] }[];
  workflow_id: string;
};
type Checks = { checks: { name: string; ok: boolean; detail: string }[] };

const API_KEY = 'key-of-the-provider-4711';

/** All values in it as text, the bytes of payloads as what they say. */
function legible(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.values(value).map(legible).join('\n');
}

describe('command line: deposits on a running gateway of both chains', function () {
  this.timeout(90_000);
  let database: FreshDatabase;
  let chain: TestChain;
  let node: TronNode;
  let env: Env;
  let local: Gateway;
  let looks: Looks;
  let service: Running;
  let receiver: Running;
  let merchantId: string;
  let address: string;

  before(async () => {
    [database, chain, node] = await Promise.all([
      migratedDatabase(),
      startTestChain(),
      startTronNode({ solidDistance: 4, blockTimeMs: 250 }),
    ]);
    env = {
      ...(tronEnv(node) as Env),
      DATABASE_URL: database.url,
      DATA_DIR: await tempDir('cli-deposits'),
      TEMPORAL_ADDRESS: (await temporal()).address,
      PORT: '0',
      DUST_FLOOR: 'none',
      BSC_RPC_URLS: chain.url,
      BSC_USDT_CONTRACT: chain.usdt.address,
      BSC_CONFIRMATIONS: '5',
      LOG_LEVEL: 'error',
      TRON_API_KEY: API_KEY,
      PRICE_SOURCE: 'fixed:BNB=600,TRX=0.3,USDT=1',
      SECRETS_KEY: randomBytes(32).toString('hex'),
      WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
      WEBHOOK_ALLOW_HTTP: 'true',
    };
    local = await composeOver(env);
    looks = looksInto(local);
    ({ merchantId } = await createMerchant(local.deps, { name: 'Shop', subscriptionActive: true }));
    receiver = await running(['webhook', 'listen', '--port', '0', '--json'], {});
    const url = String(receiver.ready['url']);
    const all = { mode: 'live', events: ['*'], description: null } as const;
    await createEndpoint(local.deps, { merchantId, url, ...all });
    address = await newCustomer('first', 'bsc');
    service = await running(['start'], { ...env, LOG_LEVEL: 'debug' });
  });
  after(async () => {
    await service?.stop();
    await receiver?.stop();
    await local?.close();
    await Promise.all([chain?.stop(), node?.stop()]);
    await database?.drop();
  });

  async function newCustomer(externalId: string, network: Network): Promise<string> {
    const names = { externalId, email: null, name: null, metadata: {} };
    return addressOn(await createCustomer(local.deps, { merchantId, mode: 'live', ...names }), network);
  }
  const show = (id: string) => answer<Shown>(['deposit', 'show', id], env);
  const recorded = (what: string, sql: string, ...values: unknown[]) =>
    eventually(what, () => looks.firstRow(`select id from deposits where ${sql}`, values), LIMIT_MS);
  async function pay(coins: bigint): Promise<{ id: string }> {
    await chain.usdt.call('transfer', [address, coins * USDT_UNIT]);
    await chain.mine();
    const units = (coins * USDT_UNIT).toString();
    return await recorded(`${coins} USDT`, 'address = ? and amount_units = ?::numeric', address, units);
  }
  const handleOf = (id: string) => local.link?.client.workflow.getHandle(id);
  const isRunning = async (id: string) =>
    (await handleOf((await show(id)).workflow_id)?.describe())?.status.name === 'RUNNING';
  const refused = async (args: readonly string[], sentence: RegExp, more: Env = {}) => {
    const ran = await gateway(args, { ...env, ...more });
    expect([ran.code, ran.stdout], ran.stderr).to.deep.equal([1, '']);
    expect(ran.stderr).to.match(sentence);
  };
  const why = (by: string, reason = 'x') => ['--by', by, '--reason', reason];
  const page = async (path: string) => await (await fetch(`${String(service.ready['ops'])}${path}`)).text();

  it('doctor is well, and tells of identity, finality and requests; but not with another key', async () => {
    const diagnosis = async (more: Env = {}) =>
      oneObject<Checks>((await gateway(['doctor', '--json'], { ...env, ...more })).stdout).checks;
    const failing = (checks: Checks['checks']) => checks.filter(({ ok }) => !ok).map(({ name }) => name);
    // A service that has just started may be told of a question that went wrong once, and puts it again.
    let checks = await diagnosis();
    for (let again = 0; again < 5 && failing(checks).length > 0; again += 1) checks = await diagnosis();
    expect(failing(checks), JSON.stringify(checks.filter(({ ok }) => !ok))).to.deep.equal([]);
    const detail = (name: string) => checks.find((check) => check.name === name)?.detail;
    for (const name of ['search_attributes', 'secrets_key', 'bsc', 'schema', 'clock'])
      expect(detail(name), name).to.be.a('string');
    expect(detail('tron')).to.match(/^the genesis block is the right one, USDT has 6 decimals, head \d+/);
    expect(detail('finality_tron')).to.match(/^the solidified block is \d+ behind the head$/);
    expect(detail('requests_tron')).to.match(/10,000,000 a day.*every block is read twice/);
    const other = await diagnosis({ SECRETS_KEY: randomBytes(32).toString('hex') });
    expect(failing(other)).to.deep.equal(['secrets_key']);
    const url = `http://127.0.0.1:1/${API_KEY}`;
    const away = await gateway(['doctor', '--json'], { ...env, TRON_API_URLS: url });
    expect(away.stderr + away.stdout).not.to.include(API_KEY);
  });

  it('fails an open deposit through its actor, and releases it once it is final', async () => {
    const { id } = await pay(25n);
    const fail = (by: string, reason?: string) => ['deposit', 'fail', id, ...why(by, reason)];
    const release = (by: string, reason?: string) => ['deposit', 'release', id, ...why(by, reason)];
    const noTemporal = { TEMPORAL_ADDRESS: '127.0.0.1:1' };
    await refused(
      fail('Ann'),
      /Temporal at 127\.0\.0\.1:1 does not answer.*"gateway start" first/,
      noTemporal,
    );
    await refused(release('Ann'), /not failed; there is nothing to release\.\n$/);
    const failed = { deposit_id: id, status: 'failed', failure_code: 'REJECTED_BY_OPERATOR' };
    expect(await answer(fail('Ann', 'stolen coins'), env)).to.deep.equal(failed);
    const history = await handleOf((await show(id)).workflow_id)?.fetchHistory();
    const asked = history?.events?.filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes);
    expect(asked).to.have.length(1);
    await refused(fail('Ann'), /^Deposit .* has failed already/);
    await refused(release('Bob'), /is not final yet/);
    await chain.mine(10);
    await recorded('the second reading of its block', 'id = ? and verified_at is not null', id);
    const released = { deposit_id: id, status: 'completed', failure_code: null };
    expect(await answer(release('Bob', 'they were not'), env)).to.deep.equal(released);
    await looks.allDelivered();
    const shown = await show(id);
    const delivered = shown.events.flatMap(({ deliveries }) => deliveries.map(({ status }) => status));
    expect(delivered).to.deep.equal(shown.events.map(() => 'succeeded'));
    expect(shown.transitions.slice(-2).map(({ to, by, reason }) => [to, by, reason])).to.deep.equal([
      ['failed', 'Ann', 'stolen coins'],
      ['completed', 'Bob', 'they were not'],
    ]);
    expect(shown.ledger.at(-1)?.entries).to.deep.equal([
      { account: 'held', amount: '-25', currency: 'USDT' },
      { account: 'available', amount: '25', currency: 'USDT' },
    ]);
    expect(shown.workflow_id).to.match(/^deposit:bsc:0x[0-9a-f]{64}:.*:USDT:g2$/);
  });

  it('fails a deposit whose actor is gone, and repair brings other actors back', async () => {
    const lost = await pay(31n);
    const kept = await pay(32n);
    for (const { id } of [lost, kept]) await handleOf((await show(id)).workflow_id)?.terminate('a test');
    expect(await answer(['deposit', 'fail', lost.id, ...why('Ann')], env)).to.include({ status: 'failed' });
    // Temporal's list of running actors follows with a delay, and repair goes by it.
    const repair = async () => {
      const { deposits } = await answer<{ deposits: number }>(['repair'], env);
      return (await isRunning(kept.id)) && deposits;
    };
    expect(await eventually('the return of the actor', repair, LIMIT_MS)).to.be.at.least(1);
    await chain.mine(10);
    await looks.inState(kept.id, 'completed');
    expect(await answer(['deposit', 'stuck'], env)).to.deep.include({ stuck: [] });
    const only = ['--status', 'failed', '--network', 'bsc', '--merchant', merchantId];
    const { deposits } = await answer<{ deposits: Row[] }>(['deposit', 'list', ...only], env);
    expect(deposits.map(({ amount }) => amount)).to.deep.equal(['31']);
    expect((await gateway(['deposit', 'list'], env)).stdout)
      .to.match(/^ID +STATUS +AMOUNT/)
      .and.match(/completed +32 USDT +bsc +live/);
  });

  it('finds with rescan what the watcher could not know, once', async () => {
    const next = deriveAddresses(local.deps.xpubs.live, await looks.nextWalletIndex());
    await chain.usdt.call('transfer', [next.bsc, 77n * USDT_UNIT]);
    const block = await chain.mine();
    await chain.mine(12);
    await eventually('the watcher past it', async () => (await looks.scannedNumber()) > block + 5, LIMIT_MS);
    expect(await newCustomer('late', 'bsc')).to.equal(next.bsc);
    const range = ['rescan', '--network', 'bsc', '--from', String(block - 1), '--to', String(block + 1)];
    const found = { network: 'bsc', from: block - 1, to: block + 1, blocks: 3, found: 1 };
    expect(await answer(range, env)).to.deep.equal(found);
    expect(await answer(range, env)).to.include({ blocks: 3, found: 0 });
    const { id } = await recorded('it', 'address = ?', next.bsc);
    await looks.inState(id, 'completed');
    const ahead = ['rescan', '--network', 'bsc', '--from', '1', '--to', '999999'];
    await refused(ahead, /^Block 999999 was not read for the first time yet.*--from 1\.$/m);
  });

  it('claims a transaction of Tron by its hash in either case, once, and lists it as its merchant sees it', async () => {
    const to = deriveAddresses(local.deps.xpubs.live, await looks.nextWalletIndex()).tron;
    const hash = await node.pay({ to: TRON_ADDRESSES.key(to), currency: 'USDT', units: 8_250_000n });
    const number = node.head().header.number + 10;
    const isPast = async () => (await looks.readTwiceNumber()) > number;
    await eventually('the second read past it', isPast, LIMIT_MS);
    expect(await newCustomer('claimed', 'tron')).to.equal(to);
    const claim = ['deposit', 'claim', '--network', 'tron', '--tx', hash.toUpperCase()];
    const { deposits } = await answer<{ deposits: Row[] }>(claim, env);
    const expected = { address: to, amount: '8.25', transaction_hash: hash };
    expect(deposits.map((row) => ({ ...row, ...expected }))).to.deep.equal(deposits);
    await looks.inState(deposits[0]?.id ?? '', 'completed');
    await refused(claim, /is recorded already; look at it with "deposit show/);
    const { deposits: listed } = await answer<{ deposits: Row[] }>(
      ['deposit', 'list', '--network', 'tron'],
      env,
    );
    expect(listed.map((row) => ({ ...row, ...expected, status: 'completed' }))).to.deep.equal(listed);
    expect((await show(deposits[0]?.id ?? '')).workflow_id).to.equal(`deposit:tron:${hash}:${to}:USDT`);
  });

  it('keeps the key that a provider repeats out of figures, log, rows and the histories of Temporal', async () => {
    const figures = [
      'scan_height',
      'head_height',
      'finalized_height',
      'verified_height',
      'chain_requests_today',
    ];
    const lines = figures.map((name) => new RegExp(`^gateway_${name}\\{network="tron"\\} [1-9]\\d*$`, 'm'));
    const metrics = async () => {
      const text = await page('/metrics');
      return lines.every((line) => line.test(text)) && text;
    };
    const written = [await eventually('the figures of the chain', metrics, LIMIT_MS)];
    node.fault = () => ({ status: 401, body: JSON.stringify({ Error: `ApiKey ${API_KEY} not exists` }) });
    const said = /tron was not read for \d+ s: .*ApiKey \*\*\* not exists/;
    try {
      const isTold = async () => {
        const text = await page('/health/ready');
        return said.test(text) && text;
      };
      written.push(await eventually('readiness with what the provider says', isTold, LIMIT_MS));
      const actor = handleOf('chain:tron');
      written.push(service.stderr(), legible(await actor?.fetchHistory()));
      written.push(legible((await actor?.describe())?.raw));
      written.push(legible(await looks.firstRow('select * from chain_cursors where network = ?', ['tron'])));
      expect(written.at(-1)).to.include('ApiKey *** not exists');
    } finally {
      node.fault = undefined;
    }
    for (const text of written) expect(text).to.have.length.above(100).and.not.include(API_KEY);
    const isReady = async () => (await page('/health/ready')).includes('"ready":true');
    await eventually('readiness', isReady, LIMIT_MS);
  });

  it('ends with 0 on SIGTERM', async () => {
    expect(readRun(env['DATA_DIR'] ?? '')?.api).to.be.a('string');
    expect(await service.stop()).to.equal(0);
  });
});
