import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { importOf } from '../support/repository/imports.ts';
import { readRepository, unitTests } from '../support/repository/reach.ts';
import { offenders, readSources } from '../support/repository/sources.ts';

describe('what a file asks for', () => {
  it('holds every import that the compiler sees', function () {
    this.timeout(60_000);
    const repository = readRepository();
    const { sources, close } = readSources();
    const missed = offenders(sources, ({ path }, node) => {
      const found = importOf(node);
      if (!found || found.typeOnly) return undefined;
      const { specifier } = found;
      const target = specifier.startsWith('.') ? join(dirname(path), specifier) : specifier;
      const { imports = [], packages = [] } = repository.get(path) ?? {};
      return [...imports, ...packages].includes(target) ? undefined : `imports ${target}`;
    });
    close();
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
