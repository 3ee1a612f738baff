import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { renderConfigDocs, renderEnvExample } from '../../src/config/docs.ts';
import { trackedFiles } from '../support/repository/files.ts';
import { readRepository } from '../support/repository/reach.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
/** The first cells of a document's rows, by the heading that the table stands under. */
const firstCells = (text: string): string[] =>
  [...text.matchAll(/^\| ([^|]+?) \|/gm)].map(([, cell = '']) => cell);
describe('the architecture on one screen', () => {
  const text = read('docs/architecture.md');

  it('has a line for every folder of the sources and of the repository, and for none that is gone', () => {
    const named = firstCells(text).flatMap((cell) =>
      [...cell.matchAll(/`([\w/]+)`/g)].map(([, folder = '']) => folder),
    );
    const paths = [...readRepository().keys()]
      .filter((path) => !path.startsWith('.'))
      .map((path) => path.split('/'));
    const top = paths.flatMap(([folder = '', ...rest]) =>
      rest.length > 0 && folder !== 'src' ? [folder] : [],
    );
    const inner = paths.flatMap(([first, folder, ...rest]) =>
      first === 'src' && rest.length > 0 ? [`src/${folder}`] : [],
    );
    expect(named).to.have.members([...new Set([...top, ...inner])]);
  });
});

describe('the page for contributors', () => {
  it('names every script', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Readonly<Record<string, string>> };
    const text = read('CONTRIBUTING.md');
    const missed = Object.keys(scripts).filter((name) => !new RegExp(`\`npm (run )?${name}[\` ]`).test(text));
    expect(missed).to.deep.equal([]);
  });
});

describe('the version of Node', () => {
  it('that runs the code is one: in the package, in the bootstrap, in the Node that npm brings along, and for people', () => {
    const { engines, devEngines, optionalDependencies } = JSON.parse(read('package.json')) as {
      readonly engines: { readonly node: string };
      readonly devEngines: { readonly runtime: { readonly version: string } };
      readonly optionalDependencies: Readonly<Record<string, string>>;
    };
    const needed = /NEEDED = \[(\d+), (\d+)\]/.exec(read('src/bin.mjs'))?.slice(1).map(Number) ?? [];
    const brought = read('.nvmrc').trim().split('.').map(Number);
    expect(brought[0]).to.equal(needed[0]);
    expect(brought[1]).to.be.at.least(needed[1] ?? 0);
    // What a machine needs to install it and to start it, as the README says.
    const [, started] = /Node (\d+) or newer, npm and git/.exec(read('README.md')) ?? [];
    expect([engines.node, devEngines.runtime.version]).to.deep.equal([`>=${started}`, `>=${started}`]);
    expect(new Set(Object.values(optionalDependencies ?? {}))).to.deep.equal(
      new Set([read('.nvmrc').trim()]),
    );
  });
});

describe('the repository', () => {
  it('has its generated documents up to date', () => {
    const renewed = 'run "npm run docs"';
    expect(
      readFileSync(join(ROOT, 'docs/configuration.md'), 'utf8') === renderConfigDocs(),
      `docs/configuration.md: ${renewed}`,
    ).to.equal(true);
    expect(
      readFileSync(join(ROOT, '.env.example'), 'utf8') === renderEnvExample(),
      `.env.example: ${renewed}`,
    ).to.equal(true);
  });

  it('names in its documents only files that exist', () => {
    const texts = trackedFiles().filter((file) =>
      /^(README|CONTRIBUTING|SECURITY|docs\/.*|test\/support\/README)\.md$/.test(file),
    );
    expect(texts).to.include.members(['docs/architecture.md', 'CONTRIBUTING.md', 'test/support/README.md']);
    const missing = texts.flatMap((file) => {
      const named = readFileSync(join(ROOT, file), 'utf8').matchAll(
        /`((?:src|activities|workflows|migrations|bench|dev|test|examples)\/[\w./-]+\.\w+)`/g,
      );
      return [...named].flatMap(([, path = '']) => (existsSync(join(ROOT, path)) ? [] : `${file}: ${path}`));
    });
    expect(missing).to.deep.equal([]);
  });

  it('names no path of the machine that it was written on', () => {
    const path = ['', 'work', ''].join('/');
    const named = trackedFiles().filter((file) => {
      const bytes = readFileSync(join(ROOT, file));
      return !bytes.includes(0) && bytes.includes(path);
    });
    expect(named).to.deep.equal([]);
  });
});
