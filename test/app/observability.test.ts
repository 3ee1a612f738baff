import { expect } from 'chai';
import type { Command } from 'commander';
import { parse } from 'yaml';
import { createMetrics } from '../../src/app/metrics.ts';
import { makeProgram } from '../../src/cli/program.ts';
import { expectNamed, expressions, namesIn, read, rules } from '../support/repository/prometheus.ts';

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

  it('name only metrics that there are, and labels of theirs', async () => {
    const metrics = (await createMetrics().registry.getMetricsAsArray()) as unknown as {
      name: string;
      type: string;
      labelNames: string[];
    }[];
    const parts = ['', '_bucket', '_sum', '_count'];
    expectNamed(
      new Map(
        metrics.flatMap(({ name, labelNames }) => parts.map((part) => [name + part, new Set(labelNames)])),
      ),
    );
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
