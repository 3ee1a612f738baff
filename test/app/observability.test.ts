import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Command } from 'commander';
import { parse } from 'yaml';
import { startTestChain, TEST_CHAIN_ID, type TestChain } from '../../dev/support/chain.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { type FreshDatabase, freshDatabase, ownTemporal } from '../../dev/support/parts.ts';
import { createMetrics } from '../../src/app/metrics.ts';
import { makeProgram } from '../../src/cli/program.ts';
import { call } from '../support/gateway.ts';
import { type GatewayChild, startGatewayChild } from '../support/gateway-child.ts';
import { namesIn, seriesIn } from '../support/repository/prometheus.ts';
import { findPromtool } from '../support/repository/promtool.ts';

type Rule = {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly action: string };
};
type Dashboard = {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
};

const ROOT = join(import.meta.dirname, '../..');
const RULES = 'deploy/prometheus/alerts.yml';
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const rules = (parse(read(RULES)) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(read('deploy/grafana/gateway.json')) as Dashboard;
const expressions = [
  ...rules.map(({ expr }) => expr),
  ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
];

/** What Prometheus itself adds. */
const OF_PROMETHEUS = ['job', 'instance', 'le'];
/**
 * What each process knows of itself: these gauges may be told
 * apart or summed, all others are the same in each process.
 */
const OF_PROCESS = /^(gateway_pool_|process_|nodejs_)/;

/** Nobody knows these before a wallet was looked at, and something was signed and settled. */
const AFTER_PAYOUTS: readonly (readonly [string, readonly string[]])[] = [
  ['gateway_gas_wallet_balance', ['network']],
  ['gateway_gas_wallet_payouts_left', ['network']],
  ['gateway_settled_deposit_cost_usd', ['network']],
  ['gateway_signer_signed_timestamp_seconds', []],
];

/** Whether every metric and label that the rules and panels name is among these series. */
function expectNamed(known: ReadonlyMap<string, ReadonlySet<string>>): void {
  for (const expr of expressions) {
    const { series, grouped } = namesIn(expr);
    expect(series, expr).to.not.have.length(0);
    for (const { name, labels } of series) {
      if (name === 'up') continue;
      expect([...known.keys()], expr).to.include(name);
      for (const label of [...labels, ...grouped])
        expect([...(known.get(name) ?? []), ...OF_PROMETHEUS], `${label} in ${expr}`).to.include(label);
    }
  }
}

describe('alerts and dashboard', () => {
  it('show every metric of the product somewhere', async () => {
    const names = (await createMetrics({ defaults: false }).registry.getMetricsAsArray()).map(
      ({ name }) => name,
    );
    const shown = new Set(
      expressions.flatMap((expr) =>
        namesIn(expr).series.map(({ name }) => name.replace(/_(bucket|sum|count)$/, '')),
      ),
    );
    expect(names.filter((name) => !shown.has(name))).to.deep.equal([]);
  });

  it('never sum over processes what each of them reads from the same rows', async () => {
    const gauges = (await createMetrics().registry.getMetricsAsArray()).filter(
      (metric) => String(metric.type) === 'gauge',
    );
    const shared = new Set(gauges.map(({ name }) => name).filter((name) => !OF_PROCESS.test(name)));
    const asked = expressions.filter((expr) => namesIn(expr).series.some(({ name }) => shared.has(name)));
    expect(asked.length).to.be.above(20);
    for (const expr of asked) expect(expr).to.match(/^max(?: by \([a-z, ]+\) ?)?\(/);
  });

  it('have for each alert a severity, how long it lasts, and a paragraph that says what it means', () => {
    const runbook = read('docs/operations.md');
    expect(new Set(rules.map(({ alert }) => alert)).size).to.equal(rules.length);
    expect([...runbook.matchAll(/^\*\*(Gateway\w+)\*\*/gm)].map((match) => match[1])).to.have.members(
      rules.map(({ alert }) => alert),
    );
    for (const { alert, labels, annotations, for: lasts } of rules) {
      expect(lasts, alert).to.match(/^\d+m$/);
      expect(['critical', 'warning', 'info'], alert).to.include(labels.severity);
      expect(runbook, alert).to.match(
        new RegExp(
          `\\*\\*${alert}\\*\\* \\(${labels.severity}\\): ${annotations.summary}\\. [A-Z0-9\`].+\\.\\nType: `,
        ),
      );
      expect(runbook, alert).to.contain(`Type: ${annotations.action}.`);
    }
  });

  it('say what to type in commands that exist', () => {
    const services = Object.keys((parse(read('docker-compose.yml')) as { services: object }).services);
    for (const { alert, annotations } of rules) {
      const typed = [...annotations.action.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '');
      expect(typed, alert).to.not.have.length(0);
      for (const line of typed) {
        const [program, ...words] = line.split(' ');
        if (program === 'gateway') expectCommand(line, words);
        else {
          const service = words
            .slice(1)
            .filter((word) => !['-d'].includes(word))
            .slice(1);
          expect([program, words[0], ['ps', 'logs', 'up'].includes(words[1] ?? '')], line).to.deep.equal([
            'docker',
            'compose',
            true,
          ]);
          expect(
            service.filter((name) => !services.includes(name)),
            line,
          ).to.deep.equal([]);
        }
      }
    }
  });

  it('come with a table of the warnings in the log that quotes them as they are', () => {
    const table = read('docs/operations.md').split('| `warn` line |')[1]?.split('\n\n')[0] ?? '';
    const quoted = table
      .split('\n')
      .slice(2)
      .flatMap((row) =>
        [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(
          (match) => (match[1] ?? '').split('…')[0]?.trim() ?? '',
        ),
      );
    const files = execFileSync('git', ['ls-files', 'src', 'activities'], { cwd: ROOT, encoding: 'utf8' })
      .trim()
      .split('\n');
    const sources = files.filter((path) => path.endsWith('.ts')).map(read);
    expect(quoted.length).to.be.above(12);
    for (const text of quoted.filter((one) => one !== 'config'))
      expect(
        sources.some((source) => source.includes(`'${text}`) || source.includes(`\`${text}`)),
        text,
      ).to.equal(true);
    expect(sources.some((source) => source.includes(`component: 'config'`))).to.equal(true);
  });

  it('show in legends only labels by which a panel groups', () => {
    for (const { title, targets } of dashboard.panels) {
      for (const { expr, legendFormat } of targets) {
        const allowed = [...namesIn(expr).grouped, 'instance'];
        for (const match of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
          expect(allowed, `${title}: ${legendFormat}`).to.include(match[1]);
      }
    }
  });
});

/**
 * Fails where the command line has no such command, option, value
 * of an option or argument. Words in capitals stand for values.
 */
function expectCommand(line: string, words: readonly string[]): void {
  let command: Command = makeProgram();
  const rest = [...words];
  for (let next = rest[0]; next !== undefined; next = rest[0]) {
    const found = command.commands.find((one) => one.name() === next);
    if (!found) break;
    command = found;
    rest.shift();
  }
  expect(command.commands, `${line}: no whole command`).to.have.length(0);
  let values = 0;
  while (rest.length > 0) {
    const word = rest.shift() ?? '';
    const option = word.startsWith('--') ? command.options.find(({ long }) => long === word) : undefined;
    if (word.startsWith('--')) expect(option, `${line}: ${word}`).to.not.equal(undefined);
    else values += 1;
    const value = option?.required ? rest.shift() : undefined;
    if (value !== undefined && !/^[A-Z]+$/.test(value)) option?.parseArg?.(value, undefined);
    expect(option?.required && value === undefined, `${line}: ${word} wants a value`).to.not.equal(true);
  }
  const wanted = command.registeredArguments;
  expect(values, `${line}: arguments`).to.be.within(
    wanted.filter(({ required }) => required).length,
    wanted.length,
  );
}

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
    expect(run('test', 'rules', 'test/app/alerts.test.yml')).to.contain('SUCCESS');
  });
});
