import { dirname, join, relative, resolve } from 'node:path';
import { expect } from 'chai';
import type { Node } from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';
import { importOf } from '../support/repository/imports.ts';
import { readRepository, unitTests } from '../support/repository/reach.ts';

const ROOT = resolve(import.meta.dirname, '../..');

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
