import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect } from 'chai';
import {
  isArrowFunction,
  isCallExpression,
  isConstructorDeclaration,
  isFunctionDeclaration,
  isFunctionExpression,
  isIdentifier,
  isMethodDeclaration,
  isPrefixUnaryExpression,
  isPropertyAccessExpression,
  isVariableStatement,
  type Node,
  type SourceFile,
  SyntaxKind,
} from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';
import { trackedFiles } from '../support/repository/files.ts';
import { circles, type Import, importOf } from '../support/repository/imports.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const [MAX_FILE_LINES, MAX_FUNCTION_LINES, MAX_FOLDER_FILES] = [450, 101, 20];

/**
 * What a part of the program may import from the rest of it. The longest
 * prefix that fits a file is its row; `values` and `types` are prefixes of
 * the imported file. A part may always import itself. `packages` absent: any.
 */
type Row = {
  readonly values: readonly string[];
  readonly types?: readonly string[];
  readonly packages?: readonly string[];
};
const INNER = [
  'src/domain/',
  'src/chains/',
  'src/signer/',
  'src/db/',
  'src/services/',
  'src/base/',
  'activities/',
  'workflows/',
  'migrations/',
];
const PRODUCT = ['src/', 'workflows/', 'activities/', 'migrations/'];
const TABLE: Readonly<Record<string, Row>> = {
  // Stands on nothing of ours: errors, logs, secrets, processes, and what waits in line.
  'src/base/': { values: [] },
  'src/domain/': { values: [], packages: [] },
  'src/signer/': {
    values: [
      'src/domain/',
      'src/chains/account-xpubs.ts',
      'src/chains/address-key.ts',
      'src/chains/index.ts',
    ],
  },
  // What the API says: schema, type and example in one.
  'src/contract/': { values: ['src/domain/'], packages: ['zod'] },
  'src/db/': { values: ['src/domain/', 'migrations/'], types: ['src/chains/address-key.ts'] },
  // A chain says what its variables are, in the language of
  // all variables; the table of them is made from the chains.
  'src/chains/': {
    values: [
      'src/domain/',
      'src/base/',
      'src/config/parser.ts',
      'src/config/parsers.ts',
      'src/config/urls.ts',
      'src/config/variable.ts',
    ],
  },
  'src/services/': {
    values: [
      'src/db/',
      'src/domain/',
      'src/chains/addresses.ts',
      'src/chains/address-key.ts',
      'src/chains/index.ts',
    ],
    types: ['src/chains/reader.ts', 'src/chains/account-xpubs.ts', 'src/contract/'],
  },
  // Addresses are read and compared in one place; a request's address is text like any other.
  'src/api/': {
    values: [
      'src/services/',
      'src/contract/',
      'src/domain/',
      'src/chains/addresses.ts',
      'src/chains/index.ts',
    ],
  },
  'src/web/': { values: ['src/services/', 'src/contract/', 'src/domain/', 'src/chains/index.ts'] },
  'src/sdk/': { values: [], types: ['src/domain/events.ts'], packages: ['node:'] },
  'src/config/': {
    values: [
      'src/base/',
      'src/domain/',
      'src/chains/account-xpubs.ts',
      'src/chains/addresses.ts',
      'src/chains/index.ts',
      'src/db/tls.ts',
    ],
  },
  'activities/': { values: ['src/services/', 'src/domain/'], types: ['src/chains/reader.ts'] },
  'workflows/': { values: ['src/domain/'], types: ['activities/'], packages: ['@temporalio/workflow'] },
  'migrations/': { values: [], packages: ['@mikro-orm/migrations'] },
  // The servers of a gateway that is given none.
  'src/embedded/': { values: ['src/base/', 'src/temporal/client.ts'] },
  // The wiring of a process, then what a process is for, then the command line around both.
  'src/app/': { values: [...INNER, 'src/api/', 'src/web/', 'src/config/', 'src/temporal/', 'src/embedded/'] },
  'src/roles/': { values: [...INNER, 'src/config/', 'src/temporal/', 'src/app/'] },
  'src/': { values: PRODUCT },
  // Tests and measurements stand on it, and on nothing of each other.
  'dev/': { values: PRODUCT },
  'bench/': { values: [...PRODUCT, 'dev/'] },
  'examples/': { values: ['src/sdk/'] },
  'test/': { values: [...PRODUCT, 'dev/', 'examples/'] },
};
/** Needed everywhere and without any import of their own; what is pure, or runs elsewhere, needs nothing. */
const COMMON_VALUES = ['src/base/errors.ts', 'src/base/async/'];
const PURE = ['src/domain/', 'src/sdk/', 'workflows/', 'migrations/'];
const COMMON_TYPES = ['src/base/log.ts', 'src/app/metrics.ts'];
/** No floating point where money and block heights are handled. */
const EXACT = ['src/domain/', 'src/services/', 'activities/', 'workflows/'];

type Source = { readonly path: string; readonly ast: SourceFile };

const api = new API({ cwd: ROOT });
let sources: readonly Source[] = [];

const startsWithAny = (text: string, prefixes: readonly string[]) =>
  prefixes.some((prefix) => text.startsWith(prefix));
const lineOf = ({ ast }: Source, position: number) => ast.text.slice(0, position).split('\n').length;
const place = (source: Source, node: Node, what: string) =>
  `${source.path}:${lineOf(source, node.getStart(source.ast))} ${what}`;

function walk(node: Node, visit: (node: Node) => void): void {
  visit(node);
  node.forEachChild((child) => {
    walk(child, visit);
    return undefined;
  });
}

/** Every offender that the rule names, over all files that pass the filter. */
function offenders(
  rule: (source: Source, node: Node) => string | undefined,
  filter = (_path: string) => true,
): string[] {
  const found: string[] = [];
  for (const source of sources.filter(({ path }) => filter(path)))
    walk(source.ast, (node) => {
      const what = rule(source, node);
      if (what !== undefined) found.push(place(source, node, what));
    });
  return found;
}

function rowOf(path: string): [string, Row] {
  const prefix = Object.keys(TABLE)
    .filter((key) => path.startsWith(key))
    .sort((a, b) => b.length - a.length)[0];
  const row = prefix === undefined ? undefined : TABLE[prefix];
  if (prefix === undefined || !row) throw new Error(`${path} is in no row of the import table`);
  return [prefix, row];
}

/** Why a file may not import something; undefined where it may. */
function forbidden(path: string, { specifier, typeOnly }: Import): string | undefined {
  const [prefix, row] = rowOf(path);
  if (!specifier.startsWith('.')) {
    if (typeOnly && !path.startsWith('src/domain/') && !path.startsWith('workflows/')) return undefined;
    if (row.packages && !startsWithAny(specifier, row.packages)) return `imports the package ${specifier}`;
    return undefined;
  }
  const target = relative(ROOT, resolve(ROOT, dirname(path), specifier));
  const values = [prefix, ...row.values, ...(PURE.includes(prefix) ? [] : COMMON_VALUES)];
  const allowed = typeOnly ? [...values, ...(row.types ?? []), ...COMMON_TYPES] : values;
  return startsWithAny(target, allowed)
    ? undefined
    : `imports ${typeOnly ? 'types' : 'values'} from ${target}`;
}

const isFunctionLike = (node: Node) =>
  isFunctionDeclaration(node) ||
  isFunctionExpression(node) ||
  isArrowFunction(node) ||
  isMethodDeclaration(node) ||
  isConstructorDeclaration(node);

const hasModifier = (node: Node, kind: SyntaxKind) =>
  ((node as { modifiers?: readonly Node[] }).modifiers ?? []).some((modifier) => modifier.kind === kind);

/** The name of an exported function, also of one that is a constant. */
function exportedFunction(node: Node): string | undefined {
  if (!hasModifier(node, SyntaxKind.ExportKeyword)) return undefined;
  if (isFunctionDeclaration(node)) return node.name?.text;
  if (!isVariableStatement(node)) return undefined;
  const made = node.declarationList.declarations.find(
    ({ initializer }) => initializer && isFunctionLike(initializer),
  );
  return made && isIdentifier(made.name) ? made.name.text : undefined;
}

describe('the architecture', () => {
  before(function () {
    this.timeout(60_000);
    const project = api.updateSnapshot({ openProject: join(ROOT, 'tsconfig.json') }).getProjects()[0];
    if (!project) throw new Error('tsconfig.json names no project');
    sources = project.rootFiles.flatMap((file) => {
      const ast = project.program.getSourceFile(file);
      return ast ? [{ path: relative(ROOT, file), ast }] : [];
    });
  });

  after(() => api.close());

  it('is read from every source file', () => {
    const read = new Set(sources.map(({ path }) => path));
    const missed = trackedFiles().filter((path) => /\.ts$/.test(path) && !read.has(path));
    expect(missed).to.deep.equal([]);
    expect(read.size).to.be.greaterThan(100);
  });

  it('lets each part import only what its row of the table names', () => {
    const rule = ({ path }: Source, node: Node) => {
      const found = importOf(node);
      return found && forbidden(path, found);
    };
    expect(offenders(rule)).to.deep.equal([]);
  });

  it('has no row in that table for what does not exist', () => {
    const rows = Object.entries(TABLE).flatMap(([prefix, { values, types = [] }]) => [
      prefix,
      ...values,
      ...types,
    ]);
    const named = new Set([...rows, ...COMMON_VALUES, ...COMMON_TYPES, ...PURE, ...EXACT]);
    expect([...named].filter((path) => !existsSync(join(ROOT, path)))).to.deep.equal([]);
  });

  it('has no circle of imports, also not by type', () => {
    const imports = new Map<string, string[]>();
    for (const { path, ast } of sources)
      walk(ast, (node) => {
        const specifier = importOf(node)?.specifier;
        if (specifier?.startsWith('.'))
          imports.set(path, [
            ...(imports.get(path) ?? []),
            relative(ROOT, resolve(ROOT, dirname(path), specifier)),
          ]);
      });
    expect(circles(imports)).to.deep.equal([]);
  });

  it('imports files by their full name', () => {
    const rule = (_: Source, node: Node) => {
      const specifier = importOf(node)?.specifier;
      return specifier?.startsWith('.') && !/\.(ts|json)$/.test(specifier)
        ? `imports ${specifier}`
        : undefined;
    };
    expect(offenders(rule)).to.deep.equal([]);
  });

  it(`keeps files within ${MAX_FILE_LINES} lines`, () => {
    const long = sources
      .filter(({ ast }) => ast.text.trimEnd().split('\n').length > MAX_FILE_LINES)
      .map(({ path }) => path);
    expect(long).to.deep.equal([]);
  });

  it(`keeps folders within ${MAX_FOLDER_FILES} files`, () => {
    const folders = Map.groupBy(sources, ({ path }) => dirname(path));
    // Migrations are a series: none of them is ever looked for among the others.
    const full = [...folders.keys()].filter(
      (folder) => (folders.get(folder)?.length ?? 0) > MAX_FOLDER_FILES && folder !== 'migrations',
    );
    expect(full).to.deep.equal([]);
  });

  it(`keeps functions within ${MAX_FUNCTION_LINES} lines`, () => {
    const rule = (source: Source, node: Node) => {
      if (!isFunctionLike(node)) return undefined;
      const lines = lineOf(source, node.end) - lineOf(source, node.getStart(source.ast)) + 1;
      return lines > MAX_FUNCTION_LINES ? `is a function of ${lines} lines` : undefined;
    };
    // A describe block is a list of tests, not a function that anybody has to follow.
    expect(offenders(rule, (path) => !path.endsWith('.test.ts'))).to.deep.equal([]);
  });

  it('uses only TypeScript that vanishes: no enum, no namespace, no decorator', () => {
    const names = new Map([
      [SyntaxKind.EnumDeclaration, 'enum'],
      [SyntaxKind.ModuleDeclaration, 'namespace'],
      [SyntaxKind.Decorator, 'decorator'],
    ]);
    expect(offenders((_, node) => names.get(node.kind))).to.deep.equal([]);
  });

  it('has no default export', () => {
    const rule = (_: Source, node: Node) =>
      node.kind === SyntaxKind.ExportAssignment || hasModifier(node, SyntaxKind.DefaultKeyword)
        ? 'exports a default'
        : undefined;
    expect(offenders(rule)).to.deep.equal([]);
  });

  it('turns no text into a floating-point number where money is handled', () => {
    const rule = (_: Source, node: Node) => {
      if (!isCallExpression(node)) return undefined;
      const callee = isPropertyAccessExpression(node.expression) ? node.expression.name : node.expression;
      return isIdentifier(callee) && ['Number', 'parseFloat'].includes(callee.text)
        ? `calls ${callee.text}()`
        : undefined;
    };
    expect(offenders(rule, (path) => startsWithAny(path, EXACT))).to.deep.equal([]);
  });

  it('turns no text into one with a plus sign either, but where a figure leaves the program', () => {
    const figure = 'src/domain/money.ts +formatUnits(units, decimals)';
    const rule = ({ path, ast }: Source, node: Node) => {
      if (!isPrefixUnaryExpression(node) || node.operator !== SyntaxKind.PlusToken) return undefined;
      const text = node.getText(ast);
      return `${path} ${text}` === figure ? undefined : `says ${text}`;
    };
    expect(offenders(rule, (path) => startsWithAny(path, EXACT))).to.deep.equal([]);
  });

  it('writes SQL in the one way of src/db/sql.ts', () => {
    const rule = (_: Source, node: Node) =>
      isPropertyAccessExpression(node) && node.name.text === 'execute'
        ? 'executes a text: use rows, firstRow or run'
        : undefined;
    expect(
      offenders(
        rule,
        (path) => startsWithAny(path, ['src/', 'activities/', 'workflows/']) && !path.startsWith('src/db/'),
      ),
    ).to.deep.equal([]);
  });

  it('says of each exported function what it promises', () => {
    const documented = new Set<string>();
    const rule = ({ path, ast }: Source, node: Node) => {
      const name = exportedFunction(node);
      if (name === undefined) return undefined;
      const key = `${path} ${name}`;
      // Overloads share the text above the first of them.
      if (ast.text.slice(node.pos, node.getStart(ast)).includes('/**')) documented.add(key);
      return documented.has(key) ? undefined : `exports ${name} without a docstring`;
    };
    expect(offenders(rule)).to.deep.equal([]);
  });
});
