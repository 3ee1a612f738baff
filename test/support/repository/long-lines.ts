import {
  isNoSubstitutionTemplateLiteral,
  isRegularExpressionLiteral,
  isStringLiteral,
  isTaggedTemplateExpression,
  isTemplateExpression,
  type Node,
} from 'typescript/unstable/ast';
import { type Source, walk } from './sources.ts';

/** A text that is at least this wide is what makes its line long. */
const LONG_TEXT_COLUMNS = 50;

const isText = (node: Node): boolean =>
  isStringLiteral(node) ||
  isNoSubstitutionTemplateLiteral(node) ||
  isTemplateExpression(node) ||
  isRegularExpressionLiteral(node);

/** A statement is broken before its clauses: nobody searches for its whole text. */
const isStatement = ({ parent }: Node): boolean =>
  isTaggedTemplateExpression(parent) && parent.tag.getText() === 'sql';

/** The lines of a file above this width, except those of which one text takes the larger part. */
export function longLines({ path, ast }: Source, columns: number): string[] {
  const lines = ast.text.split('\n');
  const long = new Set(lines.flatMap((line, index) => (line.length > columns ? [index] : [])));
  if (long.size === 0) return [];
  const at = (position: number): [number, number] => {
    const before = ast.text.slice(0, position).split('\n');
    return [before.length - 1, before.at(-1)?.length ?? 0];
  };
  walk(ast, (node) => {
    if (!isText(node) || isStatement(node)) return;
    const [first, from] = at(node.getStart(ast));
    const [last, to] = at(node.end);
    for (let line = first; line <= last; line++) {
      const begin = line === first ? from : 0;
      const end = line === last ? to : (lines[line]?.length ?? 0);
      if (end - begin >= LONG_TEXT_COLUMNS) long.delete(line);
    }
  });
  return [...long].map((index) => `${path}:${index + 1} has ${lines[index]?.length} columns`);
}
