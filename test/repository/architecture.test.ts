import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect } from 'chai';
import {
  isArrayLiteralExpression,
  isCallExpression,
  isIdentifier,
  isObjectLiteralExpression,
  isPrefixUnaryExpression,
  isPropertyAccessExpression,
  isSpreadAssignment,
  isSpreadElement,
  type Node,
  SyntaxKind,
} from 'typescript/unstable/ast';
import { ROOT, trackedFiles } from '../support/repository/files.ts';
import { forbiddenImport, pathsOfTable, startsWithAny } from '../support/repository/import-table.ts';
import { circles, importOf } from '../support/repository/imports.ts';
import { longLines } from '../support/repository/long-lines.ts';
import {
  exportedFunction,
  hasModifier,
  isFunctionLike,
  lineOf,
  offenders as offendersIn,
  readSources,
  type Source,
  walk,
} from '../support/repository/sources.ts';

const MAX_FILE_LINES = 300;
const MAX_FUNCTION_LINES = 70;
const MAX_FOLDER_FILES = 20;
const MAX_LINE_COLUMNS = 110;

/** No floating point where money and block heights are handled. */
const EXACT = ['src/domain/', 'src/services/', 'activities/', 'workflows/'];

let compiler: ReturnType<typeof readSources>;
let sources: readonly Source[] = [];

/** Every offender that the rule names, over all files that pass the filter. */
const offenders = (
  rule: (source: Source, node: Node) => string | undefined,
  filter = (_path: string) => true,
): string[] =>
  offendersIn(
    sources.filter(({ path }) => filter(path)),
    rule,
  );

describe('the architecture', () => {
  before(function () {
    this.timeout(180_000);
    compiler = readSources();
    sources = compiler.sources;
  });

  after(() => compiler.close());

  it('is read from every source file', () => {
    const read = new Set(sources.map(({ path }) => path));
    const missed = trackedFiles().filter((path) => /\.ts$/.test(path) && !read.has(path));
    expect(missed).to.deep.equal([]);
    expect(read.size).to.be.greaterThan(100);
  });

  it('lets each part import only what its row of the table names', () => {
    const rule = ({ path }: Source, node: Node) => {
      const found = importOf(node);
      return found && forbiddenImport(path, found);
    };
    expect(offenders(rule)).to.deep.equal([]);
  });

  it('has no row in that table for what does not exist', () => {
    const named = [...pathsOfTable(), ...EXACT];
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).to.deep.equal([]);
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

  it(`ends lines at ${MAX_LINE_COLUMNS} columns, but where one text is most of the line`, () => {
    expect(sources.flatMap((source) => longLines(source, MAX_LINE_COLUMNS))).to.deep.equal([]);
  });

  it('spreads nothing that is written where it stands, which only packs lines', () => {
    const rule = (_: Source, node: Node) => {
      const packs =
        (isSpreadAssignment(node) && isObjectLiteralExpression(node.expression)) ||
        (isSpreadElement(node) && isArrayLiteralExpression(node.expression));
      return packs ? 'spreads a literal' : undefined;
    };
    expect(offenders(rule)).to.deep.equal([]);
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

  it('waits in the one way of src/base/async/pause.ts', () => {
    const rule = (_: Source, node: Node) =>
      importOf(node)?.specifier === 'node:timers/promises' ? 'waits by itself: use pause' : undefined;
    const isOurs = (path: string) => startsWithAny(path, ['src/', 'activities/', 'workflows/']);
    // The client is copied into a merchant's server and stands on nothing.
    const mayNot = (path: string) =>
      isOurs(path) && !startsWithAny(path, ['src/base/async/', 'packages/sdk/src/']);
    expect(offenders(rule, mayNot)).to.deep.equal([]);
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
