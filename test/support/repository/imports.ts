import {
  isCallExpression,
  isExportDeclaration,
  isImportDeclaration,
  isImportTypeNode,
  isLiteralTypeNode,
  isStringLiteral,
  type Node,
  SyntaxKind,
} from 'typescript/unstable/ast';

/** What a file asks for from another one, or from a package. */
export type Import = { readonly specifier: string; readonly typeOnly: boolean; readonly node: Node };

/**
 * The import that a node of the syntax tree is, also a re-export, a type by `import()` and
 * one at run time; undefined for any other node.
 */
export function importOf(node: Node): Import | undefined {
  if (isImportDeclaration(node) && isStringLiteral(node.moduleSpecifier))
    return {
      specifier: node.moduleSpecifier.text,
      typeOnly: node.importClause?.phaseModifier === SyntaxKind.TypeKeyword,
      node,
    };
  if (isExportDeclaration(node) && node.moduleSpecifier && isStringLiteral(node.moduleSpecifier))
    return { specifier: node.moduleSpecifier.text, typeOnly: node.isTypeOnly, node };
  if (isImportTypeNode(node) && isLiteralTypeNode(node.argument) && isStringLiteral(node.argument.literal))
    return { specifier: node.argument.literal.text, typeOnly: true, node };
  if (isCallExpression(node) && node.expression.kind === SyntaxKind.ImportKeyword) {
    const [argument] = node.arguments;
    if (argument && isStringLiteral(argument)) return { specifier: argument.text, typeOnly: false, node };
  }
  return undefined;
}

/**
 * The circles of a graph: nodes that can be built neither before nor after the other nodes of their circle.
 */
export function circles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (file: string, way: readonly string[]): void => {
    if (way.includes(file)) {
      found.push([...way.slice(way.indexOf(file)), file].join(' → '));
      return;
    }
    if (done.has(file)) return;
    for (const next of graph.get(file) ?? []) visit(next, [...way, file]);
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  return found;
}
