/**
 * Finds promises that are begun, kept in a variable or a member, and awaited only after another wait. One that rejects in between has no
 * handler yet, and Node ends the process. What it asks for: `await` or `return` it first, join it (`Promise.all`), give it a `catch`, or begin
 * it through `awaitedLater`.
 *
 * It follows one function at a time, in the order of the text. A promise that is handed to another function, or put away for others, counts as
 * awaited there; so does one that a method keeps in a member: such run on by themselves and never reject. A constructor's has no reader yet.
 */
import ts from 'typescript'

export interface LateAwait {
  /** Offset in the file. */
  readonly position: number
  /** What the promise is kept in. */
  readonly name: string
}

interface Begun {
  readonly place: ts.Node
  readonly promise: ts.Expression
  readonly statement: ts.Node
}

/** These put a promise away. */
const KEEPING = new Set(['set', 'push', 'add'])
/** These give back one that was put away. */
const KEPT = new Set(['get', 'at', 'shift', 'pop'])

export function findLateAwaits(source: ts.SourceFile, checker: ts.TypeChecker): readonly LateAwait[] {
  const found: LateAwait[] = []
  const visit = (node: ts.Node): void => {
    const begun = begunBy(node, checker)
    if (begun !== undefined && mayReject(begun.promise, checker) && isAwaitedLate(begun))
      found.push({ position: begun.place.getStart(source), name: begun.place.getText(source) })
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

function begunBy(node: ts.Node, checker: ts.TypeChecker): Begun | undefined {
  if (ts.isVariableDeclaration(node) || ts.isPropertyDeclaration(node)) {
    if (node.initializer === undefined || !ts.isIdentifier(node.name)) return undefined
    return { place: node.name, promise: node.initializer, statement: node }
  }
  // One whose value is used is awaited or handed on by whoever uses it.
  if (!ts.isExpressionStatement(node) || !ts.isBinaryExpression(node.expression)) return undefined
  const { left, right } = node.expression
  if (!isAssigning(node.expression)) return undefined
  const isOwn = ts.isIdentifier(left)
    ? isOfItsFunction(left, node, checker)
    : ts.isPropertyAccessExpression(left) && ts.isConstructorDeclaration(functionOf(node))
  return isOwn ? { place: left, promise: right, statement: node } : undefined
}

function functionOf(node: ts.Node): ts.Node {
  return ts.findAncestor(node, (each) => ts.isFunctionLike(each) || ts.isSourceFile(each)) ?? node.getSourceFile()
}

function isOfItsFunction(variable: ts.Identifier, statement: ts.Node, checker: ts.TypeChecker): boolean {
  const declaration = checker.getSymbolAtLocation(variable)?.valueDeclaration
  return declaration !== undefined && functionOf(declaration) === functionOf(statement)
}

/** Whether the expression begins a promise that nobody listens to. */
function mayReject(expression: ts.Expression, checker: ts.TypeChecker): boolean {
  const bare = withoutCasts(expression)
  if (ts.isConditionalExpression(bare)) return mayReject(bare.whenTrue, checker) || mayReject(bare.whenFalse, checker)
  if (ts.isBinaryExpression(bare)) return mayReject(bare.right, checker)
  if (ts.isNewExpression(bare)) return isPromise(bare, checker) && canItsExecutorReject(bare)
  if (!ts.isCallExpression(bare) || !isPromise(bare, checker)) return false
  const { expression: called, arguments: given } = bare
  if (ts.isIdentifier(called)) return called.text !== 'awaitedLater'
  if (!ts.isPropertyAccessExpression(called)) return true
  const name = called.name.text
  if (called.expression.getText() === 'Promise') return name !== 'allSettled' && name !== 'resolve'
  if (name === 'catch') return given[0] !== undefined && throwsAgain(given[0])
  if (name === 'then') return given.length < 2 && mayReject(called.expression, checker)
  if (name === 'finally') return mayReject(called.expression, checker)
  return !KEPT.has(name)
}

function withoutCasts(expression: ts.Expression): ts.Expression {
  let bare = expression
  while (
    ts.isParenthesizedExpression(bare) ||
    ts.isAsExpression(bare) ||
    ts.isSatisfiesExpression(bare) ||
    ts.isNonNullExpression(bare)
  )
    bare = bare.expression
  return bare
}

function isPromise(node: ts.Node, checker: ts.TypeChecker): boolean {
  const type = checker.getTypeAtLocation(node)
  const parts = type.isUnion() ? type.types : [type]
  return parts.some((part) => (part.flags & ts.TypeFlags.Any) === 0 && part.getProperty('then') !== undefined)
}

function canItsExecutorReject({ arguments: given }: ts.NewExpression): boolean {
  const executor = given?.[0]
  return executor === undefined || !ts.isArrowFunction(executor) || executor.parameters.length > 1
}

function throwsAgain(handler: ts.Node): boolean {
  let throws = false
  const visit = (node: ts.Node): void => {
    if (ts.isThrowStatement(node)) throws = true
    else ts.forEachChild(node, visit)
  }
  visit(handler)
  return throws
}

function isAwaitedLate({ place, statement }: Begun): boolean {
  if (ts.isPropertyDeclaration(statement)) return true
  const scope = functionOf(statement)
  const name = place.getText()
  let hasWaited = false
  let isPutAway = false
  let isLate: boolean | undefined
  const visit = (node: ts.Node): void => {
    if (isLate !== undefined || node.end <= statement.end || (node !== scope && ts.isFunctionLike(node))) return
    const isAfter = node.pos >= statement.end
    if (isAfter && isNamed(node, name)) {
      if (isPuttingAway(node)) isPutAway = true
      else if (isUse(node)) isLate = hasWaited
    }
    ts.forEachChild(node, (child) => {
      visit(child)
      if (isAfter && ts.isForOfStatement(node) && node.awaitModifier !== undefined && child === node.expression)
        hasWaited = true
    })
    if (isAfter && ts.isAwaitExpression(node)) hasWaited = true
  }
  visit(scope)
  return isLate ?? !isPutAway
}

function isNamed(node: ts.Node, name: string): node is ts.Identifier | ts.PropertyAccessExpression {
  return (ts.isIdentifier(node) || ts.isPropertyAccessExpression(node)) && node.getText() === name
}

/** In a collection, or in a member or a variable of others. */
function isPuttingAway(node: ts.Node): boolean {
  const { parent } = node
  if (ts.isBinaryExpression(parent)) return isAssigning(parent) && parent.right === node
  if (!ts.isCallExpression(parent) || !ts.isPropertyAccessExpression(parent.expression)) return false
  return parent.expression !== node && KEEPING.has(parent.expression.name.text)
}

/** A place where somebody may come to listen: no name of something else, no comparing. */
function isUse(node: ts.Node): boolean {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent) && parent.name === node) return false
  if (ts.isPropertyAssignment(parent) && parent.name === node) return false
  return !ts.isBinaryExpression(parent) || parent.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken
}

function isAssigning({ operatorToken }: ts.BinaryExpression): boolean {
  const { kind } = operatorToken
  return kind === ts.SyntaxKind.EqualsToken || kind === ts.SyntaxKind.QuestionQuestionEqualsToken
}
