/**
 * Predicates of entity queries in SQL. What they mean is in `rest-api.md` 7.3; `services/queries/predicates.ts` says the same for values in
 * memory, and one test holds both against each other.
 */
import { sql, type RawBuilder } from 'kysely'
import type { StringOperation } from '../../../model/comparison.ts'
import type { Combination, KeyPredicate } from '../../../model/entity-query.ts'
import type { EntityDatabase } from '../database.ts'

export type Sql = RawBuilder<unknown>

/** As much of a database as predicates differ by. */
export type SqlDialect = Pick<EntityDatabase, 'isShared' | 'foldFunction'>

/** The parts of a value, each null where it is not of that kind. */
export interface ValueParts {
  readonly text: Sql
  readonly number: Sql
  readonly flag: Sql
}

export function combined(parts: readonly Sql[], operation: Combination): Sql {
  if (parts.length === 0) return operation === 'AND' ? sql`1 = 1` : sql`1 = 0`
  return sql`(${sql.join(parts, operation === 'AND' ? sql` and ` : sql` or `)})`
}

export function predicateSql(dialect: SqlDialect, predicate: KeyPredicate, value: ValueParts): Sql {
  switch (predicate.type) {
    case 'COMPLEX':
      return combined(
        predicate.predicates.map((each) => predicateSql(dialect, each, value)),
        predicate.operation,
      )
    case 'NUMERIC':
      return sql`coalesce(${value.number} ${sql.raw(COMPARISONS[predicate.operation])} ${sql.lit(finite(predicate.value))}, ${sql.raw(falseIn(dialect))})`
    case 'BOOLEAN': {
      const equal = predicate.operation === 'EQUAL' ? sql`=` : sql`<>`
      return sql`coalesce(${value.flag} ${equal} ${sql.lit(predicate.value ? 1 : 0)}, ${sql.raw(falseIn(dialect))})`
    }
    case 'STRING':
      return textSql(dialect, predicate.operation, predicate.value, predicate.ignoreCase, value.text)
  }
}

/** Whether the text holds the other one, in whatever case; `%` in it stands for any letters. */
export function containsSql(dialect: SqlDialect, text: Sql, wanted: string): Sql {
  return likeSql(dialect, text, `%${wanted}%`)
}

/** A pattern in whatever case, in which `%` alone stands for others. */
export function likeSql(dialect: SqlDialect, text: Sql, pattern: string): Sql {
  const escaped = pattern.replace(/[\\_]/g, (special) => `\\${special}`)
  const compare: FoldedComparison = (folded, fold) => sql`${folded} like ${fold(escaped)} escape '\\'`
  return inAnyCase(dialect, text, ASCII.test(pattern), compare)
}

type FoldedComparison = (text: Sql, fold: (value: string) => Sql) => Sql

/**
 * A comparison in whatever case. The function that folds letters beyond ASCII costs more than all else: where what is wanted is ASCII it is
 * left to texts beyond ASCII, as others fold by A to Z alone.
 */
function inAnyCase(dialect: SqlDialect, text: Sql, isAscii: boolean, compare: FoldedComparison): Sql {
  const fold = sql.raw(dialect.foldFunction)
  const exact = compare(sql`${fold}(${text})`, (value) => sql`${fold}(${value})`)
  if (!isAscii) return exact
  const quick = dialect.isShared
    ? compare(sql`lower((${text}) collate "C")`, (value) => sql`${value.toLowerCase()}`)
    : compare(sql`${text} collate nocase`, (value) => sql`${value}`)
  return sql`(${quick} or length(${text}) <> octet_length(${text}) and ${exact})`
}

const ASCII = /^[\x01-\x7f]*$/

export const COMPARISONS = {
  EQUAL: '=',
  NOT_EQUAL: '<>',
  GREATER: '>',
  LESS: '<',
  GREATER_OR_EQUAL: '>=',
  LESS_OR_EQUAL: '<=',
} as const

function falseIn(dialect: SqlDialect): string {
  return dialect.isShared ? 'false' : '0'
}

/** SQL knows no infinite literals; nothing is beyond these. */
export function finite(value: number): number {
  return Math.min(Number.MAX_VALUE, Math.max(-Number.MAX_VALUE, value))
}

function textSql(dialect: SqlDialect, operation: StringOperation, wanted: string, ignoreCase: boolean, text: Sql): Sql {
  const compared = (isAscii: boolean, compare: FoldedComparison): Sql =>
    ignoreCase ? inAnyCase(dialect, text, isAscii, compare) : compare(text, (value) => sql`${value}`)
  const isEqual = (): Sql => compared(ASCII.test(wanted), (value, fold) => sql`${value} = ${fold(wanted)}`)
  const isIn = (): Sql => {
    const list = listOf(wanted)
    const isAscii = !isLong(list) && list.every((each) => ASCII.test(each))
    return compared(isAscii, (value, fold) => sql`${value} in (${sql.join(list.map(fold))})`)
  }
  const like = (pattern: string): Sql => {
    const noEscape = NO_ESCAPE[dialect.isShared ? 'shared' : 'own']
    // A `_` stands for one letter, of which there may be two when it is folded.
    const isPlain = ASCII.test(pattern) && !pattern.includes('_')
    if (ignoreCase) return compared(isPlain, (value, fold) => sql`${value} like ${fold(pattern)}${noEscape}`)
    return dialect.isShared ? sql`${text} like ${pattern} escape ''` : sql`${text} glob ${globOf(pattern)}`
  }
  switch (operation) {
    case 'EQUAL':
      return isEqual()
    case 'NOT_EQUAL':
      return sql`(${text} is null or not (${isEqual()}))`
    case 'STARTS_WITH':
      return like(`${wanted}%`)
    case 'ENDS_WITH':
      return like(`%${wanted}`)
    case 'CONTAINS':
      return like(`%${wanted}%`)
    case 'NOT_CONTAINS':
      return sql`(${text} is null or not (${like(`%${wanted}%`)}))`
    case 'IN':
      return isIn()
    case 'NOT_IN':
      return sql`(${text} is null or not (${isIn()}))`
  }
}

/** A backslash is a letter like others. */
const NO_ESCAPE = { shared: sql` escape ''`, own: sql`` } as const

/** Items are parted by commas; blanks and single quotes around them do not count. */
export function listOf(text: string): readonly string[] {
  return text.split(',').map((item) => item.trim().replace(/^'(.*)'$/s, '$1'))
}

const MAX_LISTED_AGAIN = 1_000

/** Whether it may stand in a statement once only: each item is a parameter, of which SQLite takes 32,766 and PostgreSQL 65,535. */
export function isLong(list: readonly string[]): boolean {
  return list.length > MAX_LISTED_AGAIN
}

/** SQLite's LIKE takes no heed of case, its GLOB does. */
function globOf(pattern: string): string {
  return pattern
    .replace(/[*?[]/g, (special) => `[${special}]`)
    .replaceAll('%', '*')
    .replaceAll('_', '?')
}
