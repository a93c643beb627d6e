import ts from 'typescript';

/** What an operator makes of a node: the node that is replaced (mostly itself), by what. */
export interface Change {
  readonly operator: string;
  readonly weight?: number;
  readonly node: ts.Node;
  readonly text: string;
}

type Operator = (node: ts.Node, text: (node: ts.Node) => string) => readonly Change[];

const swapped: ReadonlyMap<ts.SyntaxKind, string> = new Map([
  [ts.SyntaxKind.LessThanToken, '<='],
  [ts.SyntaxKind.LessThanEqualsToken, '<'],
  [ts.SyntaxKind.GreaterThanToken, '>='],
  [ts.SyntaxKind.GreaterThanEqualsToken, '>'],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, '==='],
  [ts.SyntaxKind.PlusToken, '-'],
  [ts.SyntaxKind.MinusToken, '+'],
  [ts.SyntaxKind.AsteriskToken, '/'],
  [ts.SyntaxKind.SlashToken, '*'],
]);

const logical: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.QuestionQuestionToken,
]);

/** Calls whose answer is like what they are called on. */
const likeTheirReceiver: ReadonlySet<string> = new Set([
  ...['filter', 'sort', 'toSorted', 'toReversed', 'slice', 'trim', 'toLowerCase', 'toUpperCase', 'concat', 'flat'],
]);

const isText = (node: ts.Expression): boolean =>
  ts.isStringLiteral(node) || ts.isTemplateExpression(node) || ts.isNoSubstitutionTemplateLiteral(node);

const holdsText = (node: ts.Expression): boolean =>
  isText(node) || (ts.isBinaryExpression(node) && (holdsText(node.left) || holdsText(node.right)));

const binary: Operator = (node, text) => {
  if (!ts.isBinaryExpression(node)) return [];
  const kind = node.operatorToken.kind;
  const [left, right] = [text(node.left), text(node.right)];
  if (logical.has(kind))
    return [
      { operator: 'operand dropped', node, text: `(${left})` },
      { operator: 'operand dropped', node, text: `(${right})` },
    ];
  const other = swapped.get(kind);
  if (other === undefined || (kind === ts.SyntaxKind.PlusToken && holdsText(node))) return [];
  return [{ operator: 'other operator', node, text: `${left} ${other} ${right}` }];
};

const condition: Operator = (node, text) => {
  if (ts.isIfStatement(node))
    return [{ operator: 'condition negated', node: node.expression, text: `!(${text(node.expression)})` }];
  if (ts.isConditionalExpression(node))
    return [{ operator: 'condition negated', node: node.condition, text: `!(${text(node.condition)})` }];
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
    return [{ operator: 'negation dropped', node, text: `(${text(node.operand)})` }];
  return [];
};

const leaves = (statement: ts.Statement): boolean => {
  const last = ts.isBlock(statement) ? statement.statements.at(-1) : statement;
  return (
    last !== undefined &&
    (ts.isReturnStatement(last) ||
      ts.isThrowStatement(last) ||
      ts.isContinueStatement(last) ||
      ts.isBreakStatement(last))
  );
};

const isRemovable = (node: ts.Expression): boolean => {
  if (ts.isAwaitExpression(node) || ts.isVoidExpression(node)) return isRemovable(node.expression);
  if (ts.isCallExpression(node)) return node.expression.kind !== ts.SyntaxKind.SuperKeyword;
  return (
    ts.isDeleteExpression(node) ||
    ts.isPostfixUnaryExpression(node) ||
    (ts.isBinaryExpression(node) &&
      node.operatorToken.kind >= ts.SyntaxKind.FirstAssignment &&
      node.operatorToken.kind <= ts.SyntaxKind.LastAssignment)
  );
};

const statement: Operator = (node) => {
  if (ts.isIfStatement(node) && node.elseStatement === undefined && leaves(node.thenStatement))
    return [{ operator: 'guard removed', node, text: ';' }];
  if (ts.isExpressionStatement(node) && isRemovable(node.expression))
    return [{ operator: 'statement removed', node, text: ';' }];
  return [];
};

const literal: Operator = (node) => {
  const from = { node, operator: 'other literal' };
  if (ts.isNumericLiteral(node)) {
    const value = Number(node.text.replaceAll('_', ''));
    return [{ ...from, text: value === 0 ? '1' : value === 1 ? '0' : String(value * 1000) }];
  }
  if (node.kind === ts.SyntaxKind.TrueKeyword) return [{ ...from, text: 'false' }];
  if (node.kind === ts.SyntaxKind.FalseKeyword) return [{ ...from, text: 'true' }];
  // What has blanks in it is prose: tests hold what it has to say, not its every word.
  if (ts.isStringLiteral(node) && node.text !== '' && !/\s/.test(node.text))
    return [{ ...from, weight: 0.15, text: "''" }];
  return [];
};

const collection: Operator = (node) => {
  if (ts.isArrayLiteralExpression(node) && node.elements.length > 0)
    return [{ operator: 'emptied', weight: 0.4, node, text: '[]' }];
  if (ts.isObjectLiteralExpression(node) && node.properties.length > 0)
    return [{ operator: 'emptied', weight: 0.15, node, text: '{}' }];
  return [];
};

const chain: Operator = (node, text) => {
  if (ts.isPropertyAccessExpression(node) && node.questionDotToken !== undefined)
    return [{ operator: 'chain not optional', weight: 0.4, node: node.questionDotToken, text: '.' }];
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return [];
  const { name, expression: receiver } = node.expression;
  if (
    likeTheirReceiver.has(name.text) &&
    node.questionDotToken === undefined &&
    node.expression.questionDotToken === undefined
  )
    return [{ operator: 'call dropped', node, text: text(receiver) }];
  const [first, second] = node.arguments;
  if (text(receiver) === 'Math' && (name.text === 'min' || name.text === 'max') && first && second)
    return [first, second].map((left) => ({ operator: 'bound dropped', node, text: `(${text(left)})` }));
  return [];
};

/** Every change that a node by itself can undergo. Awaits are kept: what is not awaited fails by chance, later and elsewhere. */
export const operators: readonly Operator[] = [binary, condition, statement, literal, collection, chain];
