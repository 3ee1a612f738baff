import { join, relative } from 'node:path';
import {
  isArrowFunction,
  isConstructorDeclaration,
  isFunctionDeclaration,
  isFunctionExpression,
  isIdentifier,
  isMethodDeclaration,
  isVariableStatement,
  type Node,
  type SourceFile,
  SyntaxKind,
} from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';
import { ROOT } from './files.ts';

/** A source file by its path from the root, as the compiler reads it. */
export type Source = { readonly path: string; readonly ast: SourceFile };

/** Every file of the program and the compiler that read it, which runs until it is closed. */
export function readSources(): { readonly sources: readonly Source[]; close(): void } {
  const api = new API({ cwd: ROOT });
  const project = api.updateSnapshot({ openProject: join(ROOT, 'tsconfig.json') }).getProjects()[0];
  if (!project) throw new Error('tsconfig.json names no project');
  const sources = project.rootFiles.flatMap((file) => {
    const ast = project.program.getSourceFile(file);
    return ast ? [{ path: relative(ROOT, file), ast }] : [];
  });
  return { sources, close: () => api.close() };
}

/** Visits a node and everything below it, in the order of the text. */
export function walk(node: Node, visit: (node: Node) => void): void {
  visit(node);
  node.forEachChild((child) => {
    walk(child, visit);
    return undefined;
  });
}

/** The line of a position in a file, counted from 1. */
export const lineOf = ({ ast }: Source, position: number): number =>
  ast.text.slice(0, position).split('\n').length;

/** Every offender that the rule names, with file and line, over all of these files. */
export function offenders(
  sources: readonly Source[],
  rule: (source: Source, node: Node) => string | undefined,
): string[] {
  const found: string[] = [];
  for (const source of sources)
    walk(source.ast, (node) => {
      const what = rule(source, node);
      if (what !== undefined)
        found.push(`${source.path}:${lineOf(source, node.getStart(source.ast))} ${what}`);
    });
  return found;
}

/** Whether a node is a function of any kind, also a method and a constructor. */
export const isFunctionLike = (node: Node) =>
  isFunctionDeclaration(node) ||
  isFunctionExpression(node) ||
  isArrowFunction(node) ||
  isMethodDeclaration(node) ||
  isConstructorDeclaration(node);

/** Whether a declaration carries this modifier. */
export const hasModifier = (node: Node, kind: SyntaxKind) =>
  ((node as { modifiers?: readonly Node[] }).modifiers ?? []).some((modifier) => modifier.kind === kind);

/** The name of an exported function, also of one that is a constant; undefined for everything else. */
export function exportedFunction(node: Node): string | undefined {
  if (!hasModifier(node, SyntaxKind.ExportKeyword)) return undefined;
  if (isFunctionDeclaration(node)) return node.name?.text;
  if (!isVariableStatement(node)) return undefined;
  const made = node.declarationList.declarations.find(
    ({ initializer }) => initializer && isFunctionLike(initializer),
  );
  return made && isIdentifier(made.name) ? made.name.text : undefined;
}
