import { existsSync, readdirSync, readFileSync } from 'node:fs';
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
const partOf = (text: string, heading: string): string =>
  text.split(/^## /m).find((part) => part.startsWith(heading)) ?? '';

describe('the architecture on one screen', () => {
  const text = read('docs/architecture.md');

  it('is at most 60 lines of 110 columns', () => {
    const lines = text.trimEnd().split('\n');
    expect(lines.length).to.be.at.most(60);
    expect(lines.filter((line) => line.length > 110)).to.deep.equal([]);
  });

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

  it('leads a deposit through at most twelve files, each once', () => {
    const files = [...partOf(text, 'The way of a deposit').matchAll(/^\| \d+ \| `([^`]+)` \|/gm)].map(
      ([, file = '']) => file,
    );
    expect(files.length).to.be.within(8, 12);
    expect(new Set(files).size).to.equal(files.length);
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).to.deep.equal([]);
  });
});

describe('the glossary', () => {
  it('has at most twenty words, each once and in order', () => {
    const words = firstCells(read('docs/glossary.md').split(/^## /m)[0] ?? '')
      .slice(1)
      .filter((word) => !/^-+$/.test(word));
    expect(words.length).to.be.within(10, 20);
    expect(words).to.deep.equal([...new Set(words)].sort());
  });
});

describe('the decisions', () => {
  const files = readdirSync(join(ROOT, 'docs/adr')).filter((file) => file !== 'README.md');

  it('are of one form: number, title, date, status, then context, decision and consequences', () => {
    for (const file of files) {
      const text = read(`docs/adr/${file}`);
      expect(text, file).to.match(
        new RegExp(
          `^# ${Number(file.slice(0, 4))}\\. .+\n\n\\d{4}-\\d\\d-\\d\\d · (accepted|superseded by \\[\\d+\\]\\(.+\\))\n\n## Context\n`,
        ),
      );
      const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
      expect(headings, file).to.deep.equal(['Context', 'Decision', 'Consequences']);
    }
  });

  it('stand in the index, each with its title, date and status', () => {
    const rows = [...read('docs/adr/README.md').matchAll(/^\| (\d+) \|.*\|$/gm)].map(([row]) => row);
    const wanted = files.map((file) => {
      const [, number, title, date, status] =
        /^# (\d+)\. (.+)\n\n(\S+) · (.+)\n/.exec(read(`docs/adr/${file}`)) ?? [];
      return `| ${number} | [${title}](${file}) | ${date} | ${status} |`;
    });
    expect(rows).to.deep.equal(wanted);
  });
});

describe('the page for contributors', () => {
  it('names every script', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Readonly<Record<string, string>> };
    const text = read('CONTRIBUTING.md');
    const missed = Object.keys(scripts).filter((name) => !new RegExp(`\`npm (run )?${name}[\` ]`).test(text));
    expect(missed).to.deep.equal([]);
  });

  it('leads to files that exist', () => {
    for (const page of [
      'CONTRIBUTING.md',
      'SECURITY.md',
      'test/support/README.md',
      'docs/adr/README.md',
      'docs/architecture.md',
    ]) {
      const links = [...read(page).matchAll(/\]\(([^)#:]+)\)/g)].map(([, link = '']) => link);
      const named = [
        ...read(page).matchAll(/`((?:src|activities|workflows|migrations|dev|test|docs)\/[\w./-]+)`/g),
      ].map(([, path = '']) => path);
      const gone = [...links.map((link) => join(page, '..', link)), ...named].filter(
        (path) => !existsSync(join(ROOT, path)),
      );
      expect(gone, page).to.deep.equal([]);
    }
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
    const texts = trackedFiles().filter((file) => /^(README\.md|docs\/.*\.md)$/.test(file));
    expect(texts).to.include('docs/architecture.md');
    const missing = texts.flatMap((file) => {
      const named = readFileSync(join(ROOT, file), 'utf8').matchAll(
        /`((?:src|activities|workflows|migrations|bench|dev|test|examples)\/[\w./-]+\.\w+)`/g,
      );
      return [...named].flatMap(([, path = '']) => (existsSync(join(ROOT, path)) ? [] : `${file}: ${path}`));
    });
    expect(missing).to.deep.equal([]);
  });

  it('holds no mark of a merge that was not finished', () => {
    const mark = new RegExp(`^(${['<', '>', '|'].map((sign) => `[${sign}]{7} `).join('|')}|={7}$)`, 'm');
    const marked = trackedFiles().filter((file) => {
      const bytes = readFileSync(join(ROOT, file));
      return !bytes.includes(0) && mark.test(bytes.toString());
    });
    expect(marked).to.deep.equal([]);
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
