/** Predicates of entity queries over values in memory, for what no SQL can see; SQL says the same in `storage/entities/queries`. */
import { compareNumbers, type StringOperation } from '../../model/comparison.ts'
import type { KeyPredicate } from '../../model/entity-query.ts'
import type { TypedValue } from '../../model/value.ts'
import { listOf } from '../../storage/entities/queries/predicates-sql.ts'

/** A value by its kind; each is null where it is not of that kind. */
export interface ComparedValue {
  readonly text: string | null
  readonly number: number | null
  readonly flag: boolean | null
}

export function comparedValue({ type, value }: TypedValue): ComparedValue {
  return {
    text: type === 'STRING' ? value : null,
    number: type === 'LONG' || type === 'DOUBLE' ? Number(value) : null,
    flag: type === 'BOOLEAN' ? value : null,
  }
}

/** Of a member of the entity. */
export function comparedField(value: string | number | null): ComparedValue {
  if (typeof value === 'number') return { text: String(value), number: value, flag: null }
  return { text: value, number: null, flag: null }
}

/** A value that is not there matches nothing, and no negation either. */
export function matches(predicate: KeyPredicate, value: ComparedValue | undefined): boolean {
  if (value === undefined) return false
  switch (predicate.type) {
    case 'COMPLEX':
      return predicate.operation === 'AND'
        ? predicate.predicates.every((each) => matches(each, value))
        : predicate.predicates.some((each) => matches(each, value))
    case 'NUMERIC':
      return value.number !== null && compareNumbers(predicate.operation, value.number, predicate.value)
    case 'BOOLEAN':
      return value.flag !== null && (value.flag === predicate.value) === (predicate.operation === 'EQUAL')
    case 'STRING':
      return matchesText(predicate.operation, value.text, predicate.value, predicate.ignoreCase)
  }
}

function matchesText(operation: StringOperation, text: string | null, wanted: string, ignoreCase: boolean): boolean {
  const fold = (value: string): string => (ignoreCase ? value.toLowerCase() : value)
  if (text === null) return operation === 'NOT_EQUAL' || operation === 'NOT_CONTAINS' || operation === 'NOT_IN'
  const folded = fold(text)
  const like = (pattern: string): boolean => patternOf(fold(pattern)).test(folded)
  switch (operation) {
    case 'EQUAL':
      return folded === fold(wanted)
    case 'NOT_EQUAL':
      return folded !== fold(wanted)
    case 'STARTS_WITH':
      return like(`${wanted}%`)
    case 'ENDS_WITH':
      return like(`%${wanted}`)
    case 'CONTAINS':
      return like(`%${wanted}%`)
    case 'NOT_CONTAINS':
      return !like(`%${wanted}%`)
    case 'IN':
      return listOf(wanted).map(fold).includes(folded)
    case 'NOT_IN':
      return !listOf(wanted).map(fold).includes(folded)
  }
}

/** A pattern of LIKE: `%` any letters, `_` one. Text without them is looked for as it is, as most is. */
function patternOf(pattern: string): { test(text: string): boolean } {
  const inner = pattern.replace(/^%|%$/g, '')
  if (!/[%_]/.test(inner)) {
    const isOpenBefore = pattern.startsWith('%')
    const isOpenAfter = pattern.endsWith('%') && pattern.length > 1
    if (isOpenBefore && isOpenAfter) return { test: (text) => text.includes(inner) }
    if (isOpenAfter) return { test: (text) => text.startsWith(inner) }
    if (isOpenBefore) return { test: (text) => text.endsWith(inner) }
  }
  return { test: (text) => isLike(text, pattern) }
}

/** Looks back to the last `%` only, so that no pattern takes longer than text times pattern. */
function isLike(text: string, pattern: string): boolean {
  let at = 0
  let place = 0
  let open = -1
  let mark = 0
  while (at < text.length) {
    if (pattern[place] === '%') {
      open = place++
      mark = at
    } else if (pattern[place] === '_' || (place < pattern.length && pattern[place] === text[at])) {
      place++
      at++
    } else if (open >= 0) {
      place = open + 1
      at = ++mark
    } else return false
  }
  while (pattern[place] === '%') place++
  return place === pattern.length
}
