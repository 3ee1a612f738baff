import { dirname, join, relative, resolve } from 'node:path';
import { expect } from 'chai';
import type { Node } from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';
import { importOf } from '../support/repository/imports.ts';
import {
  askedBy,
  type Repository,
  readRepository,
  testsReachedBy,
  unitTests,
} from '../support/repository/reach.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** A repository of these texts. */
function of(texts: Readonly<Record<string, string>>): Repository {
  const known = new Set(Object.keys(texts));
  const folders = new Set([...known].flatMap((file) => (file.includes('/') ? [`${dirname(file)}/`] : [])));
  return new Map(
    Object.entries(texts).map(([file, text]) => [
      file,
      askedBy(file, text, (other) => known.has(other) || folders.has(other)),
    ]),
  );
}

describe('what a file asks for', () => {
  it('holds every import that the compiler sees', function () {
    this.timeout(60_000);
    const api = new API({ cwd: ROOT });
    const repository = readRepository();
    const missed: string[] = [];
    const project = api.updateSnapshot({ openProject: join(ROOT, 'tsconfig.json') }).getProjects()[0];
    for (const file of project?.rootFiles ?? []) {
      const path = relative(ROOT, file);
      const known = repository.get(path);
      const visit = (node: Node): undefined => {
        const found = importOf(node);
        const target = found?.specifier.startsWith('.')
          ? join(dirname(path), found.specifier)
          : found?.specifier;
        if (
          found &&
          !found.typeOnly &&
          ![...(known?.imports ?? []), ...(known?.packages ?? [])].includes(target ?? '')
        )
          missed.push(`${path}: ${target}`);
        node.forEachChild(visit);
      };
      const ast = project?.program.getSourceFile(file);
      if (ast) visit(ast);
    }
    api.close();
    expect(missed).to.deep.equal([]);
    expect(repository.size).to.be.greaterThan(500);
  });
});

describe('the unit tests', () => {
  it('are those that start no program, not through anything that they import either', () => {
    const repository = of({
      'src/money.ts': 'export const a = 1;',
      'src/start.ts': "import { spawn } from 'node:child_process';",
      'test/money.test.ts': "import { a } from '../src/money.ts';",
      'test/type.test.ts': "import type { S } from '../src/start.ts';",
      'test/parts.ts': "export { start } from '../src/start.ts';",
      'test/server.test.ts': "import { start } from './parts.ts';",
      'test/replay.test.ts': "import { Worker } from '@temporalio/worker';",
    });
    expect(unitTests(repository)).to.deep.equal(['test/money.test.ts', 'test/type.test.ts']);
  });

  it('hold all of the domain, and none that stands on real parts', () => {
    const repository = readRepository();
    const unit = unitTests(repository);
    expect(unit).to.include.members(
      [...repository.keys()].filter((file) => /^test\/domain\/.*\.test\.ts$/.test(file)),
    );
    const served = ['test/db/schema.test.ts', 'test/temporal/replay.test.ts', 'test/cli/usage.test.ts'];
    expect(unit.filter((file) => served.includes(file))).to.deep.equal([]);
    expect(repository).to.include.all.keys(...served);
    expect(unit.length).to.be.greaterThan(30);
  });
});

describe('the tests that a change reaches', () => {
  const repository = of({
    'src/a.ts': "import { b } from './b.ts';",
    'src/b.ts': 'export const b = 1;',
    'src/lone.ts': 'export const c = 1;',
    'src/bin.mjs': "import './a.ts';",
    'deploy/alerts/rules.yml': '',
    'test/a.test.ts': "import { a } from '../src/a.ts';",
    'test/child.test.ts': "spawn('src/bin.mjs');",
    'test/rules.test.ts': "readdir('deploy/alerts');",
    'test/type.test.ts': "import type { A } from '../src/a.ts';",
    'test/repository/architecture.test.ts': '',
  });
  const reached = (...changed: string[]) => testsReachedBy(repository, changed);

  it('import it, start a program that does, or name it or its folder', () => {
    expect(reached('src/b.ts')).to.deep.equal([
      'test/a.test.ts',
      'test/child.test.ts',
      'test/repository/architecture.test.ts',
    ]);
    expect(reached('deploy/alerts/new.yml')).to.deep.equal([
      'test/rules.test.ts',
      'test/repository/architecture.test.ts',
    ]);
    expect(reached('test/type.test.ts')).to.include('test/type.test.ts');
  });
});
