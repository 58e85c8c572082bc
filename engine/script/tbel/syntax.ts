/** The syntax tree. Every node knows the offset in the source at which its author looks for it. */
import type { Value } from './values.ts'

export type BinaryOperator =
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | '**'
  | '&'
  | '|'
  | '^'
  | '<<'
  | '>>'
  | '>>>'
  | '<'
  | '<='
  | '>'
  | '>='
  | '=='
  | '!='
  | '&&'
  | '||'
  | '#'
  | '~='
  | 'contains'
  | 'soundslike'
  | 'strsim'

export type Expression = { readonly at: number } & (
  | { readonly kind: 'literal'; readonly value: Value; readonly float?: boolean }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'list'; readonly items: readonly Expression[] }
  | { readonly kind: 'map'; readonly entries: readonly (readonly [Expression, Expression])[] }
  | { readonly kind: 'unary'; readonly operator: '-' | '!' | '~'; readonly operand: Expression }
  | {
      readonly kind: 'binary'
      readonly operator: BinaryOperator
      readonly left: Expression
      readonly right: Expression
      /** In brackets of its own. */
      readonly grouped?: boolean
    }
  | { readonly kind: 'instance'; readonly operand: Expression; readonly type: string }
  | { readonly kind: 'conditional'; readonly test: Expression; readonly yes: Expression; readonly no: Expression }
  | { readonly kind: 'cast'; readonly type: string; readonly operand: Expression }
  | { readonly kind: 'defined'; readonly name: string }
  | { readonly kind: 'member'; readonly object: Expression; readonly name: string; readonly safe: boolean }
  | { readonly kind: 'index'; readonly object: Expression; readonly index: Expression }
  | { readonly kind: 'call'; readonly name: string; readonly arguments: readonly Expression[] }
  | {
      readonly kind: 'method'
      readonly object: Expression
      readonly name: string
      readonly safe: boolean
      readonly arguments: readonly Expression[]
    }
  | { readonly kind: 'new'; readonly type: string; readonly arguments: readonly Expression[] }
  /** `operator` is what joins the old value with the new one: undefined for a plain `=`. */
  | { readonly kind: 'assign'; readonly target: Target; readonly operator?: BinaryOperator; readonly value: Expression }
  /** `x++`, `--x` of a variable; the value is the old one after it, the new one before it. */
  | { readonly kind: 'step'; readonly name: string; readonly by: 1 | -1; readonly prefix: boolean }
)

export type Target = Extract<Expression, { kind: 'name' | 'member' | 'index' }>

export type Statement = { readonly at: number } & (
  | { readonly kind: 'expression'; readonly expression: Expression }
  | { readonly kind: 'declare'; readonly name: string; readonly type: string; readonly value: Expression | undefined }
  | { readonly kind: 'return'; readonly value: Expression | undefined }
  | { readonly kind: 'break' }
  | { readonly kind: 'if'; readonly test: Expression; readonly yes: Block; readonly no: Block | undefined }
  /** All loops: `until` turns the test round, `testAfter` is `do`. */
  | {
      readonly kind: 'loop'
      readonly init: readonly Statement[]
      readonly test: Expression | undefined
      readonly until: boolean
      readonly testAfter: boolean
      readonly update: readonly Statement[]
      readonly body: Block
    }
  | { readonly kind: 'foreach'; readonly name: string; readonly items: Expression; readonly body: Block }
  | { readonly kind: 'switch'; readonly subject: Expression; readonly cases: readonly SwitchCase[] }
)

export interface Block {
  readonly statements: readonly Statement[]
}

export interface SwitchCase {
  /** undefined: `default`. */
  readonly value: Expression | undefined
  readonly body: Block
}

export interface FunctionDefinition {
  readonly at: number
  readonly name: string
  readonly parameters: readonly string[]
  readonly body: Block
}

export interface Program {
  readonly body: Block
  readonly functions: readonly FunctionDefinition[]
  /** Whether any part can change a map or a list: if not, message data is used in place. */
  readonly writes: boolean
}
