/** A whole script as one closure. */
import { Budget, type TbelLimits } from './budget.ts'
import { compileExpression } from './compile-expression.ts'
import { compileStatements } from './compile-statement.ts'
import { Frame, type Evaluate } from './frame.ts'
import { parseProgram } from './parser.ts'
import { syntaxError } from './source.ts'
import { Scope, type Slot } from './scope.ts'
import type { Clock } from '../../../model/clock.ts'
import type { Compiler, ScriptFunction } from './compiler.ts'
import type { Library } from './library/library.ts'
import type { FunctionDefinition, Program } from './syntax.ts'
import type { Value } from './values.ts'

export interface CompiledProgram {
  /** Whether it can change its arguments, so that they must be its own. */
  readonly writes: boolean
  /** One run at a time. Throws a Fault, or a RangeError where the stack ends. */
  run(values: readonly Value[]): Value
  /** Of the present or last run. */
  readonly budget: Budget
}

/** Throws `SCRIPT_SYNTAX`. */
export function compileProgram(
  source: string,
  parameters: readonly string[],
  library: Library,
  limits: TbelLimits,
  clock: Clock,
): CompiledProgram {
  const program = parseProgram(source)
  const budget = new Budget(limits, clock)
  const functions = declareFunctions(source, program)
  const root = new Scope(parameters)
  const body = compileStatements(compilerOf(source, library, functions, root, budget), program.body.statements)
  for (const definition of program.functions)
    compileFunction(definition, source, library, functions, root, budget, program)
  return { writes: program.writes, budget, run: runner(body, parameters.length, root.size, budget) }
}

function runner(body: Evaluate, parameters: number, size: number, budget: Budget): (values: readonly Value[]) => Value {
  const variables: (Value | undefined)[] = new Array<Value | undefined>(size).fill(undefined)
  return (values) => {
    for (let index = 0; index < parameters; index++) variables[index] = values[index]
    for (let index = parameters; index < size; index++) variables[index] = undefined
    budget.reset()
    return body(new Frame(variables, variables, budget))
  }
}

function compilerOf(
  source: string,
  library: Library,
  functions: ReadonlyMap<string, ScriptFunction>,
  scope: Scope,
  budget: Budget,
): Compiler {
  const compiler: Compiler = {
    source,
    scope,
    functions,
    budget,
    expression: (expression) => compileExpression(compiler, library, expression),
  }
  return compiler
}

function declareFunctions(source: string, program: Program): Map<string, ScriptFunction> {
  const functions = new Map<string, ScriptFunction>()
  for (const { at, name, parameters } of program.functions) {
    if (functions.has(name)) throw syntaxError(source, at, `function '${name}' exists twice`)
    functions.set(name, { name, parameters: parameters.length, size: parameters.length, body: () => null })
  }
  return functions
}

function compileFunction(
  definition: FunctionDefinition,
  source: string,
  library: Library,
  functions: ReadonlyMap<string, ScriptFunction>,
  root: Scope,
  budget: Budget,
  program: Program,
): void {
  const own = functions.get(definition.name)
  if (own === undefined) return
  const scope = new Scope(definition.parameters, root.names, declaredBefore(program, definition.at, root.names))
  own.body = compileStatements(compilerOf(source, library, functions, scope, budget), definition.body.statements)
  own.size = scope.size
}

/** The variables declared before a function: those it writes instead of making its own. */
function declaredBefore(program: Program, at: number, names: ReadonlyMap<string, Slot>): Set<string> {
  const declared = new Set<string>()
  for (const statement of program.body.statements) {
    if (statement.kind === 'declare' && statement.at < at && names.has(statement.name)) declared.add(statement.name)
  }
  return declared
}
