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

  it('has nobody run what a registry holds under a name, which may be a stranger’s', () => {
    const own = 'test/repository/documents.test.ts';
    const asks = trackedFiles().filter(
      (path) =>
        /\.(md|m?[jt]s|json|ya?ml|sh|py|php)$/.test(path) &&
        path !== own &&
        /\bnpx (?!--no-install )/.test(read(path)),
    );
    expect(asks).to.deep.equal([]);
    const { name, bin } = JSON.parse(read('packages/sdk/package.json')) as Record<string, unknown>;
    expect([name, bin], 'the SDK has a scope, and no command to look up').to.deep.equal([
      '@deposit-gateway/sdk',
      undefined,
    ]);
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
});
