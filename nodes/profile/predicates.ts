/** Comparisons in conditions of alarm rules (`rule-engine.md` 7.2). */
import { z } from 'zod'
import { decimal } from '../../model/calculated-fields/arguments.ts'
import { BOOLEAN_OPERATIONS, compareNumbers, NUMERIC_OPERATIONS, STRING_OPERATIONS } from '../../model/comparison.ts'
import type { TypedValue } from '../../model/value.ts'
import { compareFlags, compareTexts } from '../rules/comparison.ts'
import { booleanOf, numberOf, textOf } from '../rules/typed-reading.ts'
import { resolved, ruleValue, type RuleValue, type RuleValues, type Source } from './rule-values.ts'

const plain = [
  z.looseObject({
    type: z.literal('STRING'),
    operation: z.enum(STRING_OPERATIONS),
    value: ruleValue(z.string()),
    ignoreCase: z
      .boolean()
      .nullish()
      .transform((value) => value ?? false),
  }),
  z.looseObject({ type: z.literal('NUMERIC'), operation: z.enum(NUMERIC_OPERATIONS), value: ruleValue(decimal) }),
  z.looseObject({ type: z.literal('BOOLEAN'), operation: z.enum(BOOLEAN_OPERATIONS), value: ruleValue(z.boolean()) }),
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
        compareTexts(wanted.operation, text, other, wanted.ignoreCase),
      )
    case 'NUMERIC':
      return both(numberOf(value), against(wanted.value, values, numberOf, isConstant), (number, other) =>
        compareNumbers(wanted.operation, number, other),
      )
    case 'BOOLEAN':
      return both(booleanOf(value), against(wanted.value, values, booleanOf, isConstant), (flag, other) =>
        compareFlags(wanted.operation, flag, other),
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
