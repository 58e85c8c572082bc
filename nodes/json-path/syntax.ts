/** What a JSON path is when it was read: steps from the root, and conditions inside of filters. */
import type { JsonValue } from '../../model/json.ts'

export type Step =
  /** Several names at the end make one object of these members. */
  | { readonly kind: 'child'; readonly names: readonly string[] }
  /** Negative ones count from the end. */
  | { readonly kind: 'index'; readonly indexes: readonly number[] }
  | { readonly kind: 'slice'; readonly from: number | undefined; readonly to: number | undefined }
  | { readonly kind: 'wildcard' }
  /** The next step is taken at every depth. */
  | { readonly kind: 'descend' }
  | { readonly kind: 'filter'; readonly condition: Condition }

export interface Path {
  /** `@` is the item that a filter looks at. */
  readonly root: '$' | '@'
  readonly steps: readonly Step[]
  readonly call: FunctionCall | undefined
  /** It names one place at most: the result is the value there, not a list. */
  readonly isDefinite: boolean
}

export interface FunctionCall {
  readonly name: FunctionName
  readonly arguments: readonly Operand[]
}

export const FUNCTION_NAMES = [
  'append',
  'avg',
  'concat',
  'first',
  'index',
  'keys',
  'last',
  'length',
  'max',
  'min',
  'size',
  'stddev',
  'sum',
] as const
export type FunctionName = (typeof FUNCTION_NAMES)[number]

export const OPERATORS = [
  '===',
  '!==',
  '==',
  '!=',
  '<=',
  '>=',
  '=~',
  '<',
  '>',
  'in',
  'nin',
  'subsetof',
  'anyof',
  'noneof',
  'contains',
  'size',
  'empty',
] as const
export type Operator = (typeof OPERATORS)[number]

export type Condition =
  | { readonly kind: 'and' | 'or'; readonly left: Condition; readonly right: Condition }
  | { readonly kind: 'not'; readonly condition: Condition }
  | { readonly kind: 'exists'; readonly path: Path }
  | { readonly kind: 'compare'; readonly operator: Operator; readonly left: Operand; readonly right: Operand }

export type Operand =
  | { readonly kind: 'value'; readonly value: JsonValue }
  | { readonly kind: 'path'; readonly path: Path }
  | { readonly kind: 'pattern'; readonly source: string; readonly flags: string }

export function isDefinite(steps: readonly Step[]): boolean {
  return steps.every((step, index) => {
    if (step.kind === 'child') return step.names.length === 1 || index === steps.length - 1
    return step.kind === 'index' && step.indexes.length === 1
  })
}
