import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT, trackedFiles } from '../support/repository/files.ts';

const ROW = /^\| `([^`]+)` \| ([\d,]+) \|/gm;

describe('the budgets of rooms in CONTRIBUTING.md', () => {
  it('are kept: a change that adds takes something away', () => {
    const lines = trackedFiles()
      .filter((file) => file.endsWith('.ts'))
      .map((file) => [file, readFileSync(join(ROOT, file), 'utf8').split('\n').length - 1] as const);
    const budgets = [...readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8').matchAll(ROW)];
    expect(budgets).to.have.length.above(20);
    const over = budgets.flatMap(([, room = '', most = '']) => {
      const of = lines.filter(([file]) => file.startsWith(`${room}/`));
      const sum = of.reduce((total, [, count]) => total + count, 0);
      return sum > Number(most.replaceAll(',', '')) ? [`${room} has ${sum} lines, at most ${most}`] : [];
    });
    expect(over).to.deep.equal([]);
  });
});
