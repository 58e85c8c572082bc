/** Comparisons in conditions of alarm rules (`rule-engine.md` 7.2). */
import { z } from 'zod'
import type { TypedValue } from '../../model/value.ts'
import {
  booleanOf,
  decimal,
  numberOf,
  resolved,
  ruleValue,
  textOf,
  type RuleValue,
  type RuleValues,
  type Source,
} from './rule-values.ts'

const EQUALITY = ['EQUAL', 'NOT_EQUAL'] as const
const TEXT = [...EQUALITY, 'STARTS_WITH', 'ENDS_WITH', 'CONTAINS', 'NOT_CONTAINS', 'IN', 'NOT_IN'] as const
const NUMBER = [...EQUALITY, 'GREATER', 'LESS', 'GREATER_OR_EQUAL', 'LESS_OR_EQUAL'] as const

const plain = [
  z.looseObject({
    type: z.literal('STRING'),
    operation: z.enum(TEXT),
    value: ruleValue(z.string()),
    ignoreCase: z
      .boolean()
      .nullish()
      .transform((value) => value ?? false),
  }),
  z.looseObject({ type: z.literal('NUMERIC'), operation: z.enum(NUMBER), value: ruleValue(decimal) }),
  z.looseObject({ type: z.literal('BOOLEAN'), operation: z.enum(EQUALITY), value: ruleValue(z.boolean()) }),
] as const

type Plain = z.output<(typeof plain)[number]>
export type Predicate =
  Plain | { readonly type: 'COMPLEX'; readonly operation: 'AND' | 'OR'; readonly predicates: readonly Predicate[] }

export const predicate: z.ZodType<Predicate> = z.lazy(() =>
  z.discriminatedUnion('type', [
    ...plain,
    z.looseObject({ type: z.literal('COMPLEX'), operation: z.enum(['AND', 'OR']), predicates: z.array(predicate) }),
  ]),
)

/** `isConstant`: the value is the rule's own, and only what an attribute says is compared with it. */
export function holds(wanted: Predicate, value: TypedValue, values: RuleValues, isConstant = false): boolean {
  switch (wanted.type) {
    case 'COMPLEX': {
      const each = (one: Predicate): boolean => holds(one, value, values, isConstant)
      return wanted.operation === 'AND' ? wanted.predicates.every(each) : wanted.predicates.some(each)
    }
    case 'STRING':
      return both(textOf(value), against(wanted.value, values, textOf, isConstant), (text, other) =>
        wanted.ignoreCase
          ? compareTexts(wanted.operation, text.toLowerCase(), other.toLowerCase())
          : compareTexts(wanted.operation, text, other),
      )
    case 'NUMERIC':
      return both(numberOf(value), against(wanted.value, values, numberOf, isConstant), (number, other) =>
        compareNumbers(wanted.operation, number, other),
      )
    case 'BOOLEAN':
      return both(booleanOf(value), against(wanted.value, values, booleanOf, isConstant), (flag, other) =>
        wanted.operation === 'EQUAL' ? flag === other : flag !== other,
      )
  }
}

/** Of everything that stands for a written value in it. */
export function sourcesOf(wanted: Predicate): readonly Source[] {
  if (wanted.type === 'COMPLEX') return wanted.predicates.flatMap(sourcesOf)
  return wanted.value.source === undefined ? [] : [wanted.value.source]
}

function against<Value>(
  value: RuleValue<Value>,
  values: RuleValues,
  read: (value: TypedValue) => Value | undefined,
  isConstant: boolean,
): Value | undefined {
  return resolved(isConstant ? { ...value, written: undefined } : value, values, read)
}

function both<Value>(
  one: Value | undefined,
  other: Value | undefined,
  compare: (one: Value, other: Value) => boolean,
): boolean {
  return one !== undefined && other !== undefined && compare(one, other)
}

function compareTexts(operation: (typeof TEXT)[number], text: string, other: string): boolean {
  switch (operation) {
    case 'EQUAL':
      return text === other
    case 'NOT_EQUAL':
      return text !== other
    case 'STARTS_WITH':
      return text.startsWith(other)
    case 'ENDS_WITH':
      return text.endsWith(other)
    case 'CONTAINS':
      return text.includes(other)
    case 'NOT_CONTAINS':
      return !text.includes(other)
    case 'IN':
      return listOf(other).includes(text)
    case 'NOT_IN':
      return !listOf(other).includes(text)
  }
}

/** Items between commas; quotes around them go where all have the same. */
function listOf(text: string): readonly string[] {
  const items = text.split(',').map((item) => item.trim())
  for (const quote of ["'", '"'])
    if (items.every((item) => item.length >= 2 && item.startsWith(quote) && item.endsWith(quote)))
      return items.map((item) => item.slice(1, -1))
  return items
}

function compareNumbers(operation: (typeof NUMBER)[number], number: number, other: number): boolean {
  switch (operation) {
    case 'EQUAL':
      return number === other
    case 'NOT_EQUAL':
      return number !== other
    case 'GREATER':
      return number > other
    case 'LESS':
      return number < other
    case 'GREATER_OR_EQUAL':
      return number >= other
    case 'LESS_OR_EQUAL':
      return number <= other
  }
}
