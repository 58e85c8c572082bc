/**
 * Conditions on attributes that an index answers alone, exactly as the predicate says it. Numbers and flags are in `attribute_values`, which
 * holds the id too: SQLite looks up the row of an indexed expression for each entry, which costs sixty times as much. Texts are in
 * `attribute_words` with their beginning.
 */
import { sql } from 'kysely'
import { compareNumbers, type NumericOperation } from '../../../model/comparison.ts'
import type { KeyFilter, KeyPredicate } from '../../../model/entity-query.ts'
import { ATTRIBUTE_SCOPE_NUMBERS } from '../attribute-columns.ts'
import type { EntityKey } from '../../../model/entity-query.ts'
import { COMPARISONS, finite, listOf, type Sql } from './predicates-sql.ts'

/** The same words as in the migration that made the index. */
const WORDS = sql.raw('case when kind = 4 then substr(text_value, 1, 64) end')
const WORDS_CHARACTERS = 64
const MOST_WORDS = 100
const LARGEST_LONG = 2 ** 63

/** The scope that a type of key names; null for any of them. */
export function scopeNumber({ type }: EntityKey): number | null | undefined {
  switch (type) {
    case 'ATTRIBUTE':
      return null
    case 'CLIENT_ATTRIBUTE':
      return ATTRIBUTE_SCOPE_NUMBERS.CLIENT_SCOPE
    case 'SERVER_ATTRIBUTE':
      return ATTRIBUTE_SCOPE_NUMBERS.SERVER_SCOPE
    case 'SHARED_ATTRIBUTE':
      return ATTRIBUTE_SCOPE_NUMBERS.SHARED_SCOPE
    default:
      return undefined
  }
}

/** Whether an index finds what the filter matches. */
export function isIndexed({ key, predicate }: KeyFilter): boolean {
  return typeof scopeNumber(key) === 'number' && indexedRanges(predicate) !== undefined
}

/** The ids of all entities of any tenant that an indexed filter matches, each once: a query. */
export function matchingIds({ key, predicate }: KeyFilter): Sql {
  const stretches = indexStretches({ key, predicate })
  if (stretches.length === 0) return sql`select a.entity_id as id from attribute a where 1 = 0`
  const parts = stretches.map((stretch) => sql`select a.entity_id as id from attribute a where ${stretch}`)
  return sql.join(parts, sql` union all `)
}

/** The {@link indexedRanges} of the key: conditions on `attribute a`, each a stretch of the index. */
export function indexStretches({ key, predicate }: KeyFilter): readonly Sql[] {
  const scope = scopeNumber(key) ?? 0
  // SQLite takes an index of some rows where the condition holds the same words.
  const isIndexed = predicate.type === 'STRING' ? sql`` : sql` and a.kind < 4`
  const ranges = indexedRanges(predicate) ?? []
  return ranges.map((range) => sql`a.key = ${key.key} and a.scope = ${sql.lit(scope)}${isIndexed} and ${range}`)
}

/** Ranges of an index on `attribute a`, which have nothing in common and together are the predicate; undefined where there are none such. */
export function indexedRanges(predicate: KeyPredicate): readonly Sql[] | undefined {
  switch (predicate.type) {
    case 'NUMERIC':
      return predicate.operation === 'NOT_EQUAL'
        ? undefined
        : numberRanges(predicate.operation, finite(predicate.value))
    case 'BOOLEAN': {
      const wanted = predicate.value === (predicate.operation === 'EQUAL') ? 1 : 0
      return [sql`a.kind = 1 and a.long_value = ${sql.lit(wanted)}`]
    }
    case 'STRING': {
      const { operation, value, ignoreCase } = predicate
      if (ignoreCase) return undefined
      if (operation === 'EQUAL') return [equalText(value)]
      if (operation === 'STARTS_WITH') return beginningWith(value)
      return operation === 'IN' ? oneOf(listOf(value)) : undefined
    }
    case 'COMPLEX':
      return undefined
  }
}

/** Integers are compared with integers: PostgreSQL uses no index of them for a fraction. */
function numberRanges(operation: Exclude<NumericOperation, 'NOT_EQUAL'>, value: number): readonly Sql[] {
  const comparison = sql.raw(COMPARISONS[operation])
  const ranges = [sql`a.kind = 3 and a.long_value is null and a.double_value ${comparison} ${sql.lit(value)}`]
  // A negative zero is kept as text.
  if (compareNumbers(operation, 0, value))
    ranges.push(sql`a.kind = 3 and a.long_value is null and a.double_value is null`)
  const bound = operation === 'LESS' || operation === 'GREATER_OR_EQUAL' ? Math.ceil(value) : Math.floor(value)
  if (Math.abs(bound) < LARGEST_LONG) {
    if (operation !== 'EQUAL' || bound === value)
      ranges.push(sql`a.kind = 2 and a.long_value ${comparison} ${sql.raw(String(BigInt(bound)))}`)
  } else if (compareNumbers(operation, 0, value)) ranges.push(sql`a.kind = 2`)
  return ranges
}

/** By code points, as SQL counts. */
function beginOf(text: string): { readonly begin: string; readonly isWhole: boolean } {
  const characters = Array.from(text)
  return { begin: characters.slice(0, WORDS_CHARACTERS).join(''), isWhole: characters.length < WORDS_CHARACTERS }
}

function equalText(value: string): Sql {
  const { begin, isWhole } = beginOf(value)
  const indexed = sql`a.kind = 4 and ${WORDS} = ${begin}`
  return isWhole ? indexed : sql`${indexed} and a.text_value = ${value}`
}

function oneOf(values: readonly string[]): readonly Sql[] | undefined {
  if (values.length > MOST_WORDS || values.some((value) => !beginOf(value).isWhole)) return undefined
  return [sql`a.kind = 4 and ${WORDS} in (${sql.join(values)})`]
}

/** `%` and `_` stand for other letters. */
function beginningWith(value: string): readonly Sql[] | undefined {
  if (/[%_]/.test(value) || !beginOf(value).isWhole) return undefined
  return [sql`a.kind = 4 and ${WORDS} >= ${value} and ${WORDS} < ${`${value}\u{10ffff}`}`]
}
