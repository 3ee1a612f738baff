import { expect } from 'chai';
import { SyntaxKind } from 'typescript/unstable/ast';
import { offenders, readSources } from '../support/repository/sources.ts';

const NAMES: ReadonlySet<string> = new Set(['bsc', 'tron', 'bnb', 'trx']);

/** Files and folders that may name a chain, each with its reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'src/chains/': 'where everything lies that is true of one chain',
  'src/domain/assets.ts': 'the one table of networks and assets, which workflows read too',
  'src/config/parsers.ts': 'sentences that show how a list of assets is written',
  'src/config/variables/money.ts': 'defaults and examples of such lists',
  'src/contract/': 'the contract: its descriptions and its examples',
  'src/api/openapi/': 'the examples of calls',
  'src/cli/table/': 'the examples of commands',
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

const isExcepted = (path: string) => Object.keys(EXCEPTIONS).some((exception) => path.startsWith(exception));

describe('the names of chains', () => {
  it('stand outside src/chains only where one has a reason', function () {
    this.timeout(60_000);
    const { sources, close } = readSources();
    const product = sources.filter(
      ({ path }) => /^(src|workflows|activities)\//.test(path) && !isExcepted(path),
    );
    const named = offenders(product, ({ ast }, node) => {
      const text = TEXTS.has(node.kind) ? node.getText(ast) : '';
      return namesAChain(text) ? text : undefined;
    });
    close();
    expect(named).to.deep.equal([]);
    expect(product.length).to.be.greaterThan(100);
  });
});
