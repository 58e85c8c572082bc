/** The query of a call, read with the reference's rules (`rest-api.md` 2.3, 3.2, 3.4). Every method throws `parameter.*`. */
import { isUuid } from '../../model/entity-id.ts'
import type { PageQuery } from '../../model/entities.ts'
import { isJsonObject, type JsonValue } from '../../model/json.ts'
import { ParameterErrors } from '../errors.ts'

const INTEGER = /^[+-]?\d+$/
const MAX_LONG = 2 ** 63

/** Rows of one answer, where no setting says otherwise. */
export const MAX_PAGE_SIZE = 10_000
export const MAX_IDS = 1_000
/** The reference reads sizes and numbers of pages as integers of Java; its front end asks for "all" by this. */
const MAX_ASKED = 2_147_483_647
/** The first row of a page is counted in 64 bits by the databases, and exactly by us up to here. */
const MAX_ROW = Number.MAX_SAFE_INTEGER

const YES: ReadonlySet<string> = new Set(['true', 'yes', 'on', '1'])
const NO: ReadonlySet<string> = new Set(['false', 'no', 'off', '0'])

export class Query {
  private readonly parameters: URLSearchParams
  private readonly maxPageSize: number
  /** The size that was asked for where {@link page} cut it. */
  private cutFrom: number | undefined

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
    return value === undefined ? undefined : parseInteger(name, value.trim())
  }

  requiredInteger(name: string): number {
    return parseInteger(name, this.required(name).trim())
  }

  /**
   * Any letter case, blanks around it, and the words that the reference's framework takes: the Python client sends `True`, and the list of
   * widgets in the reference's front end a line break and blanks.
   */
  boolean(name: string, absent: boolean): boolean {
    const value = this.text(name)?.trim().toLowerCase()
    if (value === undefined) return absent
    if (YES.has(value) || NO.has(value)) return YES.has(value)
    throw ParameterErrors.INVALID({ name, value, expected: 'true or false' })
  }

  oneOf<Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined {
    const value = this.text(name)
    return value === undefined ? undefined : oneOf(name, value.trim(), choices)
  }

  uuid(name: string): string | undefined {
    const value = this.text(name)
    return value === undefined ? undefined : uuidOf(name, value)
  }

  /** A list joined by commas. */
  private list(name: string): readonly string[] {
    return (this.text(name) ?? '').split(',').filter((item) => item !== '')
  }

  /** Repeated, joined by commas, or both; blanks around the parts of a joined one are not looked at. */
  items(name: string): readonly string[] {
    const joined = this.parameters.getAll(name).flatMap((value) => value.split(','))
    return joined.map((item) => item.trim()).filter((item) => item !== '')
  }

  /** Ids joined by commas or repeated, lower case, each once. More than a page of them would be a way around paging. */
  uuids(name: string): readonly string[] {
    this.required(name)
    const ids = this.items(name).map((id) => uuidOf(name, id))
    if (ids.length > MAX_IDS)
      throw ParameterErrors.INVALID({ name, value: `${ids.length} ids`, expected: `at most ${MAX_IDS}` })
    return [...new Set(ids)]
  }

  /** Keys of telemetry or attributes: a repeated `key` goes before `keys`, and is the only way to a key with a comma. */
  keys(): readonly string[] {
    const repeated = this.parameters.getAll('key').filter((key) => key !== '')
    return [...new Set(repeated.length > 0 ? repeated : this.list('keys'))]
  }

  /**
   * The reference has no bound and reads all it is asked for into memory. Here the first page may be asked for larger than a page may be:
   * it is read cut, and {@link requireWhole} refuses it where rows are left over.
   */
  page(): PageQuery {
    const asked = this.requiredInteger('pageSize')
    const page = this.requiredInteger('page')
    if (asked < 1) throw ParameterErrors.PAGE_SIZE({ value: asked })
    if (page < 0) throw ParameterErrors.PAGE({ value: page })
    if (asked > (page === 0 ? MAX_ASKED : this.maxPageSize)) throw this.tooLarge(asked)
    if (page * asked > MAX_ROW) throw ParameterErrors.PAGE_TOO_FAR({ value: page })
    const pageSize = Math.min(asked, this.maxPageSize)
    this.cutFrom = pageSize < asked ? asked : undefined
    const textSearch = this.text('textSearch')
    const sortProperty = this.text('sortProperty')
    if (sortProperty === undefined) return { pageSize, page, textSearch }
    if (!/^[\w-]+$/.test(sortProperty)) throw ParameterErrors.SORT_PROPERTY()
    const sortOrder = this.text('sortOrder') ?? 'ASC'
    const order = sortOrder.toUpperCase()
    if (order !== 'ASC' && order !== 'DESC') throw ParameterErrors.SORT_ORDER({ value: sortOrder })
    return { pageSize, page, textSearch, sortProperty, sortOrder: order }
  }

  /** Throws `PAGE_TOO_LARGE` for an answer that holds fewer rows than were asked for, and there are more. */
  requireWhole(answer: JsonValue): void {
    if (this.cutFrom !== undefined && isJsonObject(answer) && answer['hasNext'] === true)
      throw this.tooLarge(this.cutFrom)
  }

  private tooLarge(value: number): Error {
    return ParameterErrors.PAGE_TOO_LARGE({ value, limit: this.maxPageSize })
  }
}

/** A whole number of 64 bits, as clients in Java write the end of time (`Long.MAX_VALUE`); cut to those that are exact here. */
function parseInteger(name: string, value: string): number {
  const number = Number(value)
  if (!INTEGER.test(value) || Math.abs(number) > MAX_LONG)
    throw ParameterErrors.INVALID({ name, value, expected: 'a whole number' })
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(number, Number.MAX_SAFE_INTEGER))
}

export function oneOf<Choice extends string>(name: string, value: string, choices: readonly Choice[]): Choice {
  const choice = choices.find((candidate) => candidate === value)
  if (choice === undefined) throw ParameterErrors.INVALID({ name, value, expected: `one of ${choices.join(', ')}` })
  return choice
}

/** Parts of a path that are flags; written in letters of any case, as clients in Python write `True` (`rest-api.md` 3.4). */
export const FLAG_WORDS = ['true', 'false'] as const

export function flagOf(name: string, value: string): boolean {
  return oneOf(name, value.toLowerCase(), FLAG_WORDS) === 'true'
}

/** Lower-case UUID text. */
export function uuidOf(name: string, value: string): string {
  if (value.trim() === '') throw ParameterErrors.EMPTY({ name })
  if (!isUuid(value)) throw ParameterErrors.UUID({ value })
  return value.toLowerCase()
}
