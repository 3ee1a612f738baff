import { relative, resolve } from 'node:path';
import { expect } from 'chai';
import { type Node, SyntaxKind } from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';

const ROOT = resolve(import.meta.dirname, '../..');
const NAMES: ReadonlySet<string> = new Set(['bsc', 'tron', 'bnb', 'trx']);

/** Files and folders that may name a chain, each with its reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'src/chains/': 'where everything lies that is true of one chain',
  'src/domain/assets.ts': 'the one table of networks and assets, which workflows read too',
  'src/config/parsers.ts': 'sentences that show how a list of assets is written',
  'src/config/variables/money.ts': 'defaults and examples of such lists',
  'src/contract/': 'the contract: its descriptions and its examples',
  'src/api/openapi/': 'the examples of calls',
  'src/cli/examples.ts': 'the examples of commands',
  'packages/sdk/src/': 'what merchants import, which stands on nothing of ours',
};

/** Where names are used by a program; a comment decides nothing. */
const TEXTS: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.Identifier,
  SyntaxKind.StringLiteral,
  SyntaxKind.NoSubstitutionTemplateLiteral,
  SyntaxKind.TemplateHead,
  SyntaxKind.TemplateMiddle,
  SyntaxKind.TemplateTail,
]);

/** Whether one of the words of a text or an identifier is the name of a chain or of its coin. */
function namesAChain(text: string): boolean {
  return (text.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []).some((word) => NAMES.has(word.toLowerCase()));
}

/** Where each file of the product names a chain. */
function readNames(): Map<string, string[]> {
  const api = new API({ cwd: ROOT });
  try {
    const project = api.updateSnapshot({ openProject: resolve(ROOT, 'tsconfig.json') }).getProjects()[0];
    if (!project) throw new Error('tsconfig.json names no project');
    const found = new Map<string, string[]>();
    for (const file of project.rootFiles) {
      const path = relative(ROOT, file);
      const ast = /^(src|workflows|activities)\//.test(path)
        ? project.program.getSourceFile(file)
        : undefined;
      if (!ast) continue;
      const visit = (node: Node): undefined => {
        const text = TEXTS.has(node.kind) ? node.getText(ast) : '';
        if (namesAChain(text)) {
          const line = ast.text.slice(0, node.getStart(ast)).split('\n').length;
          found.set(path, [...(found.get(path) ?? []), `${path}:${line} ${text}`]);
        }
        node.forEachChild(visit);
      };
      visit(ast);
    }
    return found;
  } finally {
    api.close();
  }
}

describe('the names of chains', () => {
  let found: ReadonlyMap<string, readonly string[]>;
  before(function () {
    this.timeout(60_000);
    found = readNames();
  });

  it('stand outside src/chains only where one has a reason', () => {
    const excepted = (path: string) =>
      Object.keys(EXCEPTIONS).some((exception) => path.startsWith(exception));
    const others = [...found].flatMap(([path, places]) => (excepted(path) ? [] : places));
    expect(others).to.deep.equal([]);
  });
});
