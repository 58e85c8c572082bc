/** The query of a call, read with the reference's rules (`rest-api.md` 2.3, 3.2, 3.4). Every method throws `parameter.*`. */
import { isUuid } from '../../model/entity-id.ts'
import type { PageQuery } from '../../model/entities.ts'
import { ParameterErrors } from '../errors.ts'

const INTEGER = /^[+-]?\d+$/

/** Rows of one answer, where no setting says otherwise. */
export const MAX_PAGE_SIZE = 10_000
export const MAX_IDS = 1_000
/** The first row of a page is counted in 64 bits by the databases, and exactly by us up to here. */
const MAX_ROW = Number.MAX_SAFE_INTEGER

export class Query {
  private readonly parameters: URLSearchParams
  private readonly maxPageSize: number

  constructor(text: string, maxPageSize: number = MAX_PAGE_SIZE) {
    this.parameters = new URLSearchParams(text)
    this.maxPageSize = maxPageSize
  }

  has(name: string): boolean {
    return this.parameters.has(name)
  }

  /** Undefined when absent or blank: existing clients send empty parameters for "none". */
  text(name: string): string | undefined {
    const value = this.parameters.get(name)
    return value === null || value.trim() === '' ? undefined : value
  }

  required(name: string): string {
    const value = this.parameters.get(name)
    if (value === null) throw ParameterErrors.MISSING({ name })
    if (value.trim() === '') throw ParameterErrors.EMPTY({ name })
    return value
  }

  integer(name: string): number | undefined {
    const value = this.text(name)
    return value === undefined ? undefined : parseInteger(name, value)
  }

  requiredInteger(name: string): number {
    return parseInteger(name, this.required(name))
  }

  /** Any letter case: the Python client sends `True`. */
  boolean(name: string, absent: boolean): boolean {
    const value = this.text(name)?.toLowerCase()
    if (value === undefined) return absent
    if (value === 'true' || value === 'false') return value === 'true'
    throw ParameterErrors.INVALID({ name, value, expected: 'true or false' })
  }

  oneOf<Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined {
    const value = this.text(name)
    return value === undefined ? undefined : oneOf(name, value, choices)
  }

  uuid(name: string): string | undefined {
    const value = this.text(name)
    return value === undefined ? undefined : uuidOf(name, value)
  }

  /** A list joined by commas. */
  list(name: string): readonly string[] {
    return (this.text(name) ?? '').split(',').filter((item) => item !== '')
  }

  /** Repeated, joined by commas, or both. */
  items(name: string): readonly string[] {
    return this.parameters.getAll(name).flatMap((value) => value.split(',').filter((item) => item !== ''))
  }

  /** Ids joined by commas, lower case, each once. More than a page of them would be a way around paging. */
  uuids(name: string): readonly string[] {
    this.required(name)
    const ids = this.list(name).map((id) => uuidOf(name, id))
    if (ids.length > MAX_IDS)
      throw ParameterErrors.INVALID({ name, value: `${ids.length} ids`, expected: `at most ${MAX_IDS}` })
    return [...new Set(ids)]
  }

  /** Keys of telemetry or attributes: a repeated `key` goes before `keys`, and is the only way to a key with a comma. */
  keys(): readonly string[] {
    const repeated = this.parameters.getAll('key').filter((key) => key !== '')
    return [...new Set(repeated.length > 0 ? repeated : this.list('keys'))]
  }

  page(): PageQuery {
    const pageSize = this.requiredInteger('pageSize')
    const page = this.requiredInteger('page')
    if (pageSize < 1) throw ParameterErrors.PAGE_SIZE({ value: pageSize })
    if (page < 0) throw ParameterErrors.PAGE({ value: page })
    // The reference has no bound and reads all it is asked for into memory.
    if (pageSize > this.maxPageSize) throw ParameterErrors.PAGE_TOO_LARGE({ value: pageSize, limit: this.maxPageSize })
    if (page * pageSize > MAX_ROW) throw ParameterErrors.PAGE_TOO_FAR({ value: page })
    const textSearch = this.text('textSearch')
    const sortProperty = this.text('sortProperty')
    if (sortProperty === undefined) return { pageSize, page, textSearch }
    if (!/^[\w-]+$/.test(sortProperty)) throw ParameterErrors.SORT_PROPERTY()
    const sortOrder = this.text('sortOrder') ?? 'ASC'
    const order = sortOrder.toUpperCase()
    if (order !== 'ASC' && order !== 'DESC') throw ParameterErrors.SORT_ORDER({ value: sortOrder })
    return { pageSize, page, textSearch, sortProperty, sortOrder: order }
  }
}

function parseInteger(name: string, value: string): number {
  const number = Number(value)
  if (!INTEGER.test(value) || !Number.isSafeInteger(number))
    throw ParameterErrors.INVALID({ name, value, expected: 'a whole number' })
  return number
}

export function oneOf<Choice extends string>(name: string, value: string, choices: readonly Choice[]): Choice {
  const choice = choices.find((candidate) => candidate === value)
  if (choice === undefined) throw ParameterErrors.INVALID({ name, value, expected: `one of ${choices.join(', ')}` })
  return choice
}

/** Lower-case UUID text. */
export function uuidOf(name: string, value: string): string {
  if (value.trim() === '') throw ParameterErrors.EMPTY({ name })
  if (!isUuid(value)) throw ParameterErrors.UUID({ value })
  return value.toLowerCase()
}
