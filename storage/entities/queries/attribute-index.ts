/**
 * Conditions on attributes that an index answers alone, exactly as the predicate says it. Numbers and flags are in `attribute_values`, which
 * holds the id too: SQLite looks up the row of an indexed expression for each entry, which costs sixty times as much. Texts are in
 * `attribute_words` with their beginning.
 */
import { sql } from 'kysely'
import { compareNumbers, type NumericOperation, type StringOperation } from '../../../model/comparison.ts'
import type { KeyFilter, KeyPredicate } from '../../../model/entity-query.ts'
import { ATTRIBUTE_SCOPE_NUMBERS } from '../attribute-columns.ts'
import type { EntityKey } from '../../../model/entity-query.ts'
import { COMPARISONS, finite, isLong, listOf, predicateSql, type Sql, type SqlDialect } from './predicates-sql.ts'

/** The same words as in the migration that made the index. */
const WORDS = sql.raw('case when kind = 4 then substr(text_value, 1, 64) end')
const WORDS_CHARACTERS = 64
const MAX_WORDS = 100
/** What a value of another kind, which has no text, does not fulfil. */
const OF_TEXTS: ReadonlySet<StringOperation> = new Set(['EQUAL', 'STARTS_WITH', 'ENDS_WITH', 'CONTAINS', 'IN'])
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
  return scopeNumber(key) !== undefined && indexedRanges(predicate) !== undefined
}

/** Of an attribute of any scope: that no other scope has it too, written later. */
export function isNewest(alias: string): Sql {
  const of = sql.ref(alias)
  return sql`not exists (select 1 from attribute n where n.entity_id = ${of}.entity_id and n.key = ${of}.key
    and (n.last_update_ts > ${of}.last_update_ts or (n.last_update_ts = ${of}.last_update_ts and n.scope < ${of}.scope)))`
}

/** Whether the different texts of the key, where they are few, tell what the filter matches: {@link wordsOf} them the index finds it. */
export function comparesWords({ key, predicate }: KeyFilter): boolean {
  if (typeof scopeNumber(key) !== 'number' || predicate.type !== 'STRING') return false
  return OF_TEXTS.has(predicate.operation) && !(predicate.operation === 'IN' && isLong(listOf(predicate.value)))
}

/** The beginnings of the different texts of the key, as `word`: a query that finds each in the index behind the one before. */
export function wordsOf(key: EntityKey): Sql {
  const of = sql`key = ${key.key} and scope = ${sql.lit(scopeNumber(key) ?? 0)} and kind = 4`
  const first = sql`select ${WORDS} as word from attribute where ${of} order by ${WORDS} limit 1`
  const next = sql`select ${WORDS} from attribute where ${of} and ${WORDS} > words.word order by ${WORDS} limit 1`
  return sql`with recursive words (word) as (select word from (${first}) as first_word
    union all select (${next}) from words where words.word is not null) select word from words where word is not null`
}

/**
 * The ids of all entities of any tenant of which any of the filters, each {@link isIndexed} or {@link comparesWords}, holds, each once: a
 * query. An estimate looks at the index alone, and has those too that another scope overrides.
 */
export function matchingIds(dialect: SqlDialect, filters: readonly KeyFilter[], isEstimate = false): Sql {
  const queries = filters.map((filter) => {
    const stretches = isIndexed(filter) ? indexStretches(filter, isEstimate) : wordStretches(dialect, filter)
    if (stretches.length === 0) return sql`select a.entity_id as id from attribute a where 1 = 0`
    const parts = stretches.map((stretch) => sql`select a.entity_id as id from attribute a where ${stretch}`)
    return sql.join(parts, sql` union all `)
  })
  return queries.length === 1
    ? sql`${queries[0]}`
    : sql.join(
        queries.map((ids) => sql`select id from (${ids}) as one`),
        sql` union `,
      )
}

/** Conditions on `attribute a`, which have nothing in common. Of longer texts than the index has them the text itself is compared. */
function wordStretches(dialect: SqlDialect, { key, predicate }: KeyFilter): readonly Sql[] {
  const holds = (text: Sql): Sql => predicateSql(dialect, predicate, { text, number: text, flag: text })
  const of = sql`a.key = ${key.key} and a.scope = ${sql.lit(scopeNumber(key) ?? 0)} and a.kind = 4`
  const among = (condition: Sql): Sql =>
    sql`${WORDS} in (select word from (${wordsOf(key)}) as found where ${condition})`
  const isWhole = sql`octet_length(word) < ${sql.lit(WORDS_CHARACTERS)}`
  return [
    sql`${of} and ${among(sql`${isWhole} and ${holds(sql`word`)}`)}`,
    sql`${of} and ${among(sql`not ${isWhole}`)} and ${holds(sql`a.text_value`)}`,
  ]
}

/** The {@link indexedRanges} of the key: conditions on `attribute a`, each a stretch of the index. */
export function indexStretches({ key, predicate }: KeyFilter, isEstimate = false): readonly Sql[] {
  const scope = scopeNumber(key)
  // SQLite takes an index of some rows where the condition holds the same words.
  const isIndexed = predicate.type === 'STRING' ? sql`` : sql` and a.kind < 4`
  const ranges = indexedRanges(predicate) ?? []
  const stretches = (of: number): readonly Sql[] =>
    ranges.map((range) => sql`a.key = ${key.key} and a.scope = ${sql.lit(of)}${isIndexed} and ${range}`)
  if (typeof scope === 'number') return stretches(scope)
  const ofAny = Object.values(ATTRIBUTE_SCOPE_NUMBERS).flatMap(stretches)
  return isEstimate ? ofAny : ofAny.map((stretch) => sql`${stretch} and ${isNewest('a')}`)
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
  if (values.length > MAX_WORDS || values.some((value) => !beginOf(value).isWhole)) return undefined
  return [sql`a.kind = 4 and ${WORDS} in (${sql.join(values)})`]
}

/** `%` and `_` stand for other letters. */
function beginningWith(value: string): readonly Sql[] | undefined {
  if (/[%_]/.test(value) || !beginOf(value).isWhole) return undefined
  return [sql`a.kind = 4 and ${WORDS} >= ${value} and ${WORDS} < ${`${value}\u{10ffff}`}`]
}
