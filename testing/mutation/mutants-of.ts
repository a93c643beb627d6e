import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import ts from 'typescript';
import type { Mutant } from './mutant.ts';
import { operators } from './operators.ts';

/** Every mutant of one file of TypeScript, in the order of the text. */
export function mutantsOf(file: string, source: string): readonly Mutant[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.ES2024, true);
  const text = (node: ts.Node): string => source.slice(node.getStart(tree), node.end);
  const seen = new Map<string, number>();
  const found: Mutant[] = [];

  const walk = (node: ts.Node, within: string): void => {
    if (isOutside(node)) return;
    const inner = named(node) === undefined ? within : [within, named(node)].filter((name) => name !== '').join('.');
    for (const { operator, weight = 1, node: place, text: replacement } of operators.flatMap((of) => of(node, text))) {
      const key = [basename(file), inner, operator, text(place), replacement].join('\0');
      const before = seen.get(key) ?? 0;
      seen.set(key, before + 1);
      const [start, end] = [place.getStart(tree), place.end];
      found.push({
        id: createHash('sha256').update(`${key}\0${before}`).digest('hex').slice(0, 12),
        ...{ file, within: inner, operator, weight, original: text(place), replacement, start, end },
        line: tree.getLineAndCharacterOfPosition(start).line + 1,
        probe: probeOf(place, tree),
      });
    }
    ts.forEachChild(node, (child) => {
      if (!isName(node, child)) walk(child, inner);
    });
  };
  walk(tree, '');
  return found;
}

/** Types, imports and what is thrown with its words are no behavior that a test could hold to. */
function isOutside(node: ts.Node): boolean {
  return (
    ts.isTypeNode(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isImportDeclaration(node) ||
    (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined) ||
    (ts.isPropertyAssignment(node) && node.name.getText() === 'description') ||
    (ts.isExpressionStatement(node) && isLog(node.expression)) ||
    (ts.isBinaryExpression(node) &&
      node.operatorToken.kind === ts.SyntaxKind.EqualsToken &&
      (ts.isArrayLiteralExpression(node.left) || ts.isObjectLiteralExpression(node.left)))
  );
}

/** `log.info(…)` and the like: text for logs only. */
const isLog = (node: ts.Expression): boolean =>
  ts.isCallExpression(node) && /\blog(ger)?\??\.\w+$/.test(node.expression.getText());

/** A literal that is a property's name, not a value. */
const isName = (parent: ts.Node, child: ts.Node): boolean =>
  (ts.isPropertyAssignment(parent) || ts.isMethodDeclaration(parent) || ts.isPropertyDeclaration(parent)) &&
  parent.name === child;

function named(node: ts.Node): string | undefined {
  if (ts.isConstructorDeclaration(node)) return 'constructor';
  const names =
    ts.isFunctionDeclaration(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isAccessor(node) ||
    ts.isPropertyDeclaration(node) ||
    (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name));
  return names ? node.name?.getText() : undefined;
}

function probeOf(place: ts.Node, tree: ts.SourceFile): Mutant['probe'] {
  let node = place.kind === ts.SyntaxKind.QuestionDotToken ? place.parent : place;
  // Parentheses within a chain would end its short cut, and a method's `this`.
  while (isLink(node)) node = node.parent;
  return { start: node.getStart(tree), end: node.end, statement: ts.isStatement(node) };
}

const isLink = ({ parent, ...node }: ts.Node): boolean =>
  (ts.isPropertyAccessExpression(parent) ||
    ts.isElementAccessExpression(parent) ||
    ts.isCallExpression(parent) ||
    ts.isNonNullExpression(parent)) &&
  parent.expression.pos === node.pos;
