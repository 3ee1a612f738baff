import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';
import { createMetrics } from '../src/metrics.ts';

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

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const rules = (parse(read('deploy/prometheus/alerts.yml')) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(read('deploy/grafana/gateway.json')) as Dashboard;

/** What Prometheus itself adds. */
const OF_PROMETHEUS = { up: ['job', 'instance'] } as const;
const LABELS_OF_PROMETHEUS = ['job', 'instance', 'le'];
const WORDS = new Set(['sum', 'max', 'by', 'rate', 'increase', 'histogram_quantile']);

/** The labels of every series that a process tells, by name: what it has, and the parts of a histogram. */
async function seriesOf(): Promise<Map<string, readonly string[]>> {
  const found = new Map<string, readonly string[]>(Object.entries(OF_PROMETHEUS));
  for (const metric of await createMetrics().registry.getMetricsAsArray()) {
    const { name, labelNames, type } = metric as unknown as { name: string; labelNames: string[]; type: string };
    const parts = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
    for (const part of parts) found.set(`${name}${part}`, [...labelNames, ...LABELS_OF_PROMETHEUS]);
  }
  return found;
}

/** What an expression names: series with the labels that are asked of them, and labels by which it groups. Throws for what it cannot read. */
function namesIn(expr: string): { series: { name: string; labels: string[] }[]; grouped: string[] } {
  const grouped: string[] = [];
  const series: { name: string; labels: string[] }[] = [];
  const rest = expr
    .replace(/\bby \(([^)]*)\)/g, (_all, list: string) => {
      grouped.push(...list.split(',').map((name) => name.trim()));
      return '';
    })
    .replace(/([a-z_][a-z0-9_]*)\{([^}]*)\}(?:\[\d+[mhd]\])?/g, (_all, name: string, matchers: string) => {
      const labels = [...matchers.matchAll(/([a-z_]+)(?:=~|!=|=)"[^"]*"/g)].map((match) => match[1] ?? '');
      expect(labels.length, `${expr}: ${matchers}`).to.equal(matchers.split('",').length);
      series.push({ name, labels });
      return '1';
    })
    .replace(/([a-z_][a-z0-9_]*)(?:\[\d+[mhd]\])?/g, (all, name: string) => {
      if (WORDS.has(name)) return '';
      series.push({ name, labels: [] });
      return all === '' ? '' : '1';
    });
  expect(rest, expr).to.match(/^[\s\d.()<>=*/,]+$/);
  expect([...rest].filter((letter) => letter === '(').length, expr).to.equal([...rest].filter((letter) => letter === ')').length);
  return { series, grouped };
}

describe('alerts and dashboard', () => {
  const expressions = [...rules.map(({ expr }) => expr), ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))];

  it('name only metrics and labels that a process has', async () => {
    const known = await seriesOf();
    expect(expressions.length).to.be.above(25);
    for (const expr of expressions) {
      const { series, grouped } = namesIn(expr);
      expect(series, expr).to.not.have.length(0);
      for (const { name, labels } of series) {
        expect([...known.keys()], expr).to.include(name);
        for (const label of [...labels, ...grouped]) expect(known.get(name), `${label} in ${expr}`).to.include(label);
      }
    }
  });

  it('show every metric of the product somewhere', async () => {
    const names = (await createMetrics({ defaults: false }).registry.getMetricsAsArray()).map(({ name }) => name);
    for (const name of names)
      expect(
        expressions.some((expr) => expr.includes(name)),
        name,
      ).to.equal(true);
  });

  it('have for each alert a severity, how long it lasts, and a paragraph that says what to type', () => {
    const runbook = read('docs/operations.md');
    expect(new Set(rules.map(({ alert }) => alert)).size).to.equal(rules.length);
    for (const { alert, labels, annotations, for: lasts } of rules) {
      expect(lasts, alert).to.match(/^\d+m$/);
      expect(['critical', 'warning', 'info'], alert).to.include(labels.severity);
      expect(runbook, alert).to.contain(`**${alert}** (${labels.severity}): ${annotations.summary}`);
      expect(runbook, alert).to.contain(`Type: ${annotations.action}.`);
    }
  });

  it('show in legends only labels by which a panel groups', () => {
    for (const { title, targets } of dashboard.panels) {
      for (const { expr, legendFormat } of targets) {
        const allowed = [...namesIn(expr).grouped, 'instance'];
        for (const match of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) expect(allowed, `${title}: ${legendFormat}`).to.include(match[1]);
      }
    }
  });
});
