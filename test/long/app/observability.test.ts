import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { startTestChain, TEST_CHAIN_ID, type TestChain } from '../../../dev/support/chain.ts';
import { eventually } from '../../../dev/support/eventually.ts';
import { type FreshDatabase, freshDatabase, ownTemporal } from '../../../dev/support/parts.ts';
import { call } from '../../support/gateway.ts';
import { type GatewayChild, startGatewayChild } from '../../support/gateway-child.ts';
import { expectNamed, ROOT, RULES, rules, seriesIn } from '../../support/repository/prometheus.ts';
import { findPromtool } from '../../support/repository/promtool.ts';

/** Nobody knows these before a wallet was looked at, and something was signed and settled. */
const AFTER_PAYOUTS: readonly (readonly [string, readonly string[]])[] = [
  ['gateway_gas_wallet_balance', ['network']],
  ['gateway_gas_wallet_payouts_left', ['network']],
  ['gateway_settled_deposit_cost_usd', ['network']],
  ['gateway_signer_signed_timestamp_seconds', []],
];

describe('alerts and dashboard of a gateway that runs', function () {
  this.timeout(180_000);
  let database: FreshDatabase;
  let chain: TestChain;
  let temporal: Awaited<ReturnType<typeof ownTemporal>>;
  let gateway: GatewayChild;

  before(async () => {
    [database, chain, temporal] = await Promise.all([freshDatabase(), startTestChain(), ownTemporal()]);
    gateway = await startGatewayChild({
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: temporal.now.address,
      BSC_RPC_URLS: chain.url,
      BSC_CHAIN_ID: String(TEST_CHAIN_ID),
      BSC_USDT_CONTRACT: chain.usdt.address,
    });
  });
  after(async () => {
    await gateway?.child.stop();
    await temporal?.stop();
    await chain?.stop();
    await database?.drop();
  });

  const scrape = async (): Promise<string> => {
    const { status, text } = await call(`${gateway.ops}/metrics`);
    expect(status).to.equal(200);
    return text;
  };

  it('name only metrics and labels that are in its answer', async () => {
    await eventually(
      'the heights of the chain',
      async () => /^gateway_head_height\{/m.test(await scrape()),
      60_000,
    );
    const known = new Map(seriesIn(await scrape()));
    for (const [name, labels] of AFTER_PAYOUTS) if (!known.has(name)) known.set(name, new Set(labels));
    expectNamed(known);
  });

  it('are answered with numbers alone, and with nothing old', async () => {
    const text = await scrape();
    const values = [...text.matchAll(/^(gateway_\S+) (\S+)$/gm)];
    expect(values.length).to.be.above(100);
    expect(
      values.filter(([, , value]) => !/^-?\d+(\.\d+)?(e[+-]?\d+)?$/.test(value ?? '')).map(([line]) => line),
    ).to.deep.equal([]);
    const read = [...text.matchAll(/^gateway_metrics_read_timestamp_seconds\{part="(\w+)"\} (\S+)$/gm)];
    expect(read.map(([, part]) => part)).to.include.members([
      'money',
      'open_deposits',
      'temporal',
      'alarms',
      'endpoints',
    ]);
    for (const [, part, value] of read) expect(Date.now() / 1_000 - Number(value), part).to.be.below(120);
  });

  it('find the workers that ask Temporal for tasks, and every endpoint of the chain', async () => {
    await eventually('a worker at each queue', async () => {
      const asking = [
        ...(await scrape()).matchAll(/^gateway_temporal_pollers\{queue="([^"]+)",kind="(\w+)"\} (\d+)$/gm),
      ];
      return asking.length === 4 && asking.every(([, , , count]) => count !== '0');
    });
    expect(await scrape()).to.contain('gateway_rpc_endpoints{network="bsc",state="well"} 1');
  });
});

describe('alerts as Prometheus reads them', function () {
  this.timeout(300_000);
  let promtool: string;
  before(async () => {
    promtool = await findPromtool({ log: () => undefined, env: process.env });
  });

  const run = (...args: string[]): string => {
    try {
      return execFileSync(promtool, args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string };
      throw new Error(`promtool ${args.join(' ')}: ${stdout}${stderr}`);
    }
  };

  it('are rules without a fault', () => {
    expect(run('check', 'rules', RULES)).to.contain(`${rules.length} rules found`);
  });

  it('sound when money stands, is missing or is found late, and at no other time', () => {
    expect(run('test', 'rules', 'test/long/app/alerts.test.yml')).to.contain('SUCCESS');
  });
});
