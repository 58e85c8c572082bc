/** Filters and orders over columns of latest values: the same as over values one by one (`predicates.ts`), without an object for each. */
import type { Combination, EntitySort, KeyFilter } from '../../model/entity-query.ts'
import { COLUMN_KINDS, type LatestColumn } from '../../model/latest-column.ts'
import { matches, type ComparedValue } from './predicates.ts'

const { BOOLEAN, STRING, JSON: JSON_TEXT } = COLUMN_KINDS

/** By keys. */
export type Columns = ReadonlyMap<string, LatestColumn>

/** The places that the filters let through, ascending. */
export function matchingPlaces(
  size: number,
  filters: readonly KeyFilter[],
  operation: Combination,
  columns: Columns,
): readonly number[] {
  const checks = filters.map(({ key, predicate }) => {
    const column = columnOf(columns, key.key)
    return (place: number): boolean => matches(predicate, valueAt(column, place))
  })
  const places: number[] = []
  for (let place = 0; place < size; place++) {
    const fits =
      checks.length === 0 ||
      (operation === 'AND' ? checks.every((check) => check(place)) : checks.some((check) => check(place)))
    if (fits) places.push(place)
  }
  return places
}

/**
 * The first of the places in this order: numbers before texts; what is not there comes last ascending by number, first ascending by text.
 * Only so many are ever sorted.
 */
export function firstPlaces(
  places: readonly number[],
  ids: readonly string[],
  { key, direction }: EntitySort,
  columns: Columns,
  count: number,
): readonly number[] {
  if (count === 0) return []
  const column = columnOf(columns, key.key)
  const sign = direction === 'DESC' ? -1 : 1
  const compare = (a: number, b: number): number => {
    const first = numberAt(column, a)
    const second = numberAt(column, b)
    if (first !== second) {
      if (first === null) return sign
      if (second === null) return -sign
      return first < second ? -sign : sign
    }
    const text = textAt(column, a)
    const other = textAt(column, b)
    if (text !== other) return text < other ? -sign : sign
    return (ids[a] ?? '') < (ids[b] ?? '') ? -sign : sign
  }
  let first: number[] = []
  let worst: number | undefined
  for (const place of places) {
    if (worst !== undefined && compare(place, worst) > 0) continue
    first.push(place)
    if (first.length < 2 * count + MIN_SORTED) continue
    first = first.sort(compare).slice(0, count)
    worst = first.at(-1)
  }
  return first.sort(compare).slice(0, count)
}

/** Small pages are not sorted again and again. */
const MIN_SORTED = 1_000

function columnOf(columns: Columns, key: string): LatestColumn {
  const column = columns.get(key)
  if (column === undefined) throw new TypeError(`no column of ${key}`)
  return column
}

function valueAt({ kinds, numbers, texts }: LatestColumn, place: number): ComparedValue | undefined {
  const kind = kinds[place] ?? 0
  if (kind === 0) return undefined
  const number = numbers[place] ?? 0
  if (kind === STRING) return { text: texts[number] ?? '', number: null, flag: null }
  if (kind === JSON_TEXT) return { text: null, number: null, flag: null }
  return kind === BOOLEAN ? { text: null, number: null, flag: number === 1 } : { text: null, number, flag: null }
}

/** A flag sorts as a number. */
function numberAt({ kinds, numbers }: LatestColumn, place: number): number | null {
  const kind = kinds[place] ?? 0
  return kind === 0 || kind >= STRING ? null : (numbers[place] ?? 0)
}

function textAt({ kinds, numbers, texts }: LatestColumn, place: number): string {
  return (kinds[place] ?? 0) >= STRING ? (texts[numbers[place] ?? 0] ?? '') : ''
}
