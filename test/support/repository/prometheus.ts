import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';

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

export const ROOT = join(import.meta.dirname, '../../..');
export const RULES = 'deploy/prometheus/alerts.yml';
/** The text of a file, by its path in the repository. */
export const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
/** The alerts and the dashboard that are shipped, and all that they ask Prometheus. */
export const rules = (parse(read(RULES)) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);
export const dashboard = JSON.parse(read('deploy/grafana/gateway.json')) as Dashboard;
export const expressions = [
  ...rules.map(({ expr }) => expr),
  ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
];

/** What Prometheus itself adds. */
const OF_PROMETHEUS = ['job', 'instance', 'le'];

/** Throws where rules or panels name a metric or a label that is not among these series. */
export function expectNamed(known: ReadonlyMap<string, ReadonlySet<string>>): void {
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

const WORDS = new Set(['sum', 'max', 'min', 'by', 'rate', 'increase', 'delta', 'histogram_quantile', 'time']);

/**
 * What an expression names: series with the labels that are asked of
 * them, and labels by which it groups. Throws for what it cannot read.
 */
export function namesIn(expr: string): { series: { name: string; labels: string[] }[]; grouped: string[] } {
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
  expect(rest, expr).to.match(/^[\s\d.()<>=*/,-]+$/);
  expect([...rest].filter((letter) => letter === '(').length, expr).to.equal(
    [...rest].filter((letter) => letter === ')').length,
  );
  return { series, grouped };
}

/** The labels of every series in an answer of `/metrics`, by name. */
export function seriesIn(text: string): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const [, name = '', labels = ''] of text.matchAll(/^([a-z_][a-z0-9_]*)(?:\{(.*)\})? \S+$/gim)) {
    const known = found.get(name) ?? new Set();
    for (const [, label = ''] of labels.matchAll(/([a-z_]+)="(?:[^"\\]|\\.)*"/g)) known.add(label);
    found.set(name, known);
  }
  return found;
}

/** The value of one series, written as in the answer (`name{label="x"}`); undefined where it is not there. */
export function valueIn(text: string, series: string): number | undefined {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}
