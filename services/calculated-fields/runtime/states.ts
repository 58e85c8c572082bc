/** What is stored of one entity's calculated fields. */
import {
  isJsonObject,
  LongDecimal,
  stringifyJson,
  WholeDouble,
  type JsonObject,
  type JsonValue,
} from '../../../model/json.ts'
import { isEntityType, type EntityId, type EntityType } from '../../../model/entity-id.ts'
import { plainJson } from './plain-json.ts'
import type { Held } from './held.ts'

export interface FieldState {
  readonly version: number
  readonly args: Readonly<Record<string, Held>>
  /** The kind's own. */
  readonly own: JsonValue
  /** Unix ms, where the kind asked for it. */
  readonly wakeAt?: number
  /** Unix ms: arguments from owners and relations are read again. */
  readonly reloadAt?: number
  /** Its state was larger than the tenant may have: it rests until it is saved again. */
  readonly isTooLarge?: true
}

export interface EntityState {
  readonly entity: readonly [type: EntityType, id: string]
  /** Whose it was, as its arguments were read: another owner has other values. */
  readonly owner: string
  readonly fields: Readonly<Record<string, FieldState>>
}

export function stateJson(state: EntityState): JsonObject {
  return plainJson(state)
}

/** Asked three times for each message: by hand it takes a tenth of what a schema does. Nobody but this runtime writes what is in the fields. */
function isEntityState(json: unknown): json is EntityState {
  if (!isJsonObject(json)) return false
  const { entity, owner, fields } = json
  if (!Array.isArray(entity) || entity.length !== 2 || typeof owner !== 'string' || !isJsonObject(fields)) return false
  const [type, id] = entity
  return typeof type === 'string' && isEntityType(type) && typeof id === 'string'
}

/** Throws where it is of another shape. */
export function stateOf(json: unknown): EntityState {
  if (!isEntityState(json)) throw new TypeError('this is no state of calculated fields')
  return json
}

export function entityOfState({ entity: [entityType, id] }: EntityState): EntityId {
  return { entityType, id }
}

export function bytesOf(state: FieldState): number {
  return stringifyJson(plainJson(state)).length
}

/** Whether its text has at most so many characters. The text is only made where a look at its parts does not say so: each step asks. */
export function isWithin(state: FieldState, most: number): boolean {
  return mostCharacters(plainJson(state), most) <= most || bytesOf(state) <= most
}

/** No digit is forgotten: of 2^-1022 and 10^21 in full. */
const NUMBER_CHARACTERS = 32
/** What a character takes that is written as its number. */
const ESCAPED_CHARACTERS = 6

/** What the text has at most; anything above `enough` where that is known to be exceeded. */
function mostCharacters(value: JsonValue | undefined, enough: number): number {
  switch (typeof value) {
    case 'string':
      return 2 + ESCAPED_CHARACTERS * value.length
    case 'number':
      return Math.abs(value) < 1e21 ? NUMBER_CHARACTERS : Infinity
    case 'bigint':
      return Infinity
    case 'object':
      break
    default:
      return 5
  }
  if (value === null) return 4
  if (value instanceof WholeDouble) return NUMBER_CHARACTERS
  if (value instanceof LongDecimal) return value.text.length
  let most = 2
  if (Array.isArray(value)) {
    for (const item of value) if ((most += 1 + mostCharacters(item, enough)) > enough) return most
    return most
  }
  for (const key of Object.keys(value)) {
    most += 4 + ESCAPED_CHARACTERS * key.length + mostCharacters(value[key], enough)
    if (most > enough) return most
  }
  return most
}

/** What has passed without anything coming of it is looked at again so much later. */
const AGAIN_MS = 60_000

/** When the first of the fields wants to be woken. `wokenAt`: now is such a time, so that none which has passed comes again at once. */
export function nextWake(
  fields: Readonly<Record<string, FieldState>>,
  wokenAt = Number.NEGATIVE_INFINITY,
): number | undefined {
  const times = Object.values(fields).flatMap(({ wakeAt, reloadAt }) =>
    [wakeAt, reloadAt].filter((time) => time !== undefined),
  )
  if (times.length === 0) return undefined
  return Math.min(...times.map((time) => (time <= wokenAt ? wokenAt + AGAIN_MS : time)))
}
