import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, posix, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../../..');

/** What the text of one file names: packages, and files of the repository by their path from its root. */
export type Asked = {
  /** Loaded with it: imports and re-exports of values, also those at run time. */
  readonly imports: readonly string[];
  readonly packages: readonly string[];
  /**
   * Named in a string, and therefore perhaps read, compiled or
   * started: data, entry points, workers; folders end in a slash.
   */
  readonly named: readonly string[];
};

/** Every file of the repository with what it asks for. */
export type Repository = ReadonlyMap<string, Asked>;

/** A test that imports one of these starts a program, or builds something: it is no unit test. */
const STARTS_PROGRAMS = [
  'node:child_process',
  'node:cluster',
  '@temporalio/worker',
  'playwright-core',
  'solc',
  'typescript/unstable/sync',
];
/** Reads every file there is. */
const READS_ALL = 'test/repository/architecture.test.ts';
/** Everything depends on these, and no text names them. */
const EVERYWHERE = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  '.mocharc.json',
  'test/run.ts',
  'test/support/hooks.ts',
];

const SPECIFIER =
  /^(?:import|export)\s(?!type\s)[^;'"]*?from '([^']+)'|^import '([^']+)'|\bimport\(\s*'([^']+)'/gms;
const TYPES_ONLY = /^(?:import|export)\s+type\s[^;'"]*?from '[^']+';?/gms;
/**
 * Scripts that a test writes for a process of its own import by this form; see support/repository/scripts.ts.
 */
const FROM_ROOT = /\bfrom ROOT\/([\w./-]+)/g;
/** With a letter in it: `/` and `..` alone are no paths that mean anything. */
const STRING = /(['"`])([@./-]*\w[\w@./-]*)\1/g;

/**
 * What a file asks for, from its text. `exists` says whether a path
 * from the root is a file of the repository, or with a slash a folder.
 */
export function askedBy(path: string, text: string, exists: (file: string) => boolean): Asked {
  const imports = new Set<string>();
  const packages = new Set<string>();
  const named = new Set<string>();
  const values = text.replace(TYPES_ONLY, '');
  for (const [, from, bare, dynamic] of values.matchAll(SPECIFIER)) {
    const specifier = from ?? bare ?? dynamic ?? '';
    if (specifier.startsWith('.')) imports.add(posix.join(dirname(path), specifier));
    else packages.add(specifier);
  }
  for (const [, file = ''] of values.matchAll(FROM_ROOT)) if (exists(file)) named.add(file);
  for (const [, , string = ''] of values.matchAll(STRING)) {
    const places = [posix.join(dirname(path), string), posix.normalize(string)];
    // A lone word is no folder: `test` is a mode, too.
    const found = places
      .flatMap((place) => (string.includes('/') ? [place, `${place.replace(/\/$/, '')}/`] : [place]))
      .find(exists);
    if (found !== undefined && !imports.has(found)) named.add(found);
  }
  return { imports: [...imports], packages: [...packages], named: [...named] };
}

/** All files that git knows or would add, with what each asks for. */
export function readRepository(): Repository {
  const files = git('ls-files', '-z', '--cached', '--others', '--exclude-standard').filter((file) =>
    existsSync(join(ROOT, file)),
  );
  const known = new Set(files.flatMap(withFolders));
  const none = { imports: [], packages: [], named: [] };
  return new Map(
    files.map((file) => [
      file,
      /\.(ts|mjs)$/.test(file)
        ? askedBy(file, readFileSync(join(ROOT, file), 'utf8'), (other) => known.has(other))
        : none,
    ]),
  );
}

/** A file and the folders that contain it, except the root. */
function withFolders(file: string): string[] {
  const parts = file.split('/');
  return parts.map((_, index) => (index === 0 ? file : `${parts.slice(0, index).join('/')}/`));
}

/** All that a file leads to, itself included. */
function reachedFrom(file: string, next: (file: string) => readonly string[]): ReadonlySet<string> {
  const seen = new Set([file]);
  for (const at of seen) for (const other of next(at)) seen.add(other);
  return seen;
}

/** Of the gate: those of the long suite run as a whole. */
const isTest = (file: string): boolean => /^test\/(?!long\/).*\.test\.ts$/.test(file);

/**
 * The tests that start no program, whatever they import: they
 * need no server and no tool, and nothing is built for them.
 */
export function unitTests(repository: Repository): string[] {
  const startsPrograms = (file: string): boolean =>
    repository.get(file)?.packages.some((name) => STARTS_PROGRAMS.includes(name)) ?? false;
  return [...repository.keys()].filter(
    (file) =>
      isTest(file) && ![...reachedFrom(file, (at) => repository.get(at)?.imports ?? [])].some(startsPrograms),
  );
}

/**
 * The tests that a change of these files can reach: through
 * imports, and through files that are named and not imported.
 */
export function testsReachedBy(repository: Repository, changed: readonly string[]): string[] {
  const tests = [...repository.keys()].filter(isTest);
  if (changed.length === 0) return [];
  if (changed.some((file) => EVERYWHERE.includes(file))) return tests;
  const touched = changed.flatMap(withFolders);
  const next = (file: string): readonly string[] => {
    const asked = repository.get(file);
    return asked ? [...asked.imports, ...asked.named] : [];
  };
  return tests.filter((test) => {
    if (test === READS_ALL) return true;
    const reached = reachedFrom(test, next);
    return touched.some((file) => reached.has(file));
  });
}

/**
 * The files that differ from a commit, new and removed ones
 * included. Throws what git says of a commit that it does not know.
 */
export function changedSince(ref: string): string[] {
  return [
    ...new Set([
      ...git('diff', '--name-only', '--no-renames', '-z', ref),
      ...git('ls-files', '-z', '--others', '--exclude-standard'),
    ]),
  ];
}

function git(...args: string[]): string[] {
  return execFileSync('git', args, {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
    .split('\0')
    .filter((file) => file !== '');
}
