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
import { takeOver as takeOverHeld, type Held } from './held.ts'

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

/**
 * Has `before` be `after` without a part of it being made anew where only values of arguments and what kinds keep changed; false where more did, and
 * nothing was done. Most states change with each message and live until the next one of their entity: to collect what they were takes more than to
 * change them. `after` must be nobody else's.
 */
export function takeOver(before: EntityState, after: EntityState): boolean {
  if (before.owner !== after.owner || !haveSameKeys(before.fields, after.fields)) return false
  const fields: Record<string, FieldState> = before.fields
  for (const id in fields) {
    const held = fields[id]
    const changed = after.fields[id]
    if (held === undefined || changed === undefined || held === changed) continue
    if (!takeOverField(held, changed)) fields[id] = changed
  }
  return true
}

interface ChangedField {
  args: Record<string, Held>
  own: JsonValue
  wakeAt?: number
  reloadAt?: number
}

function takeOverField(before: FieldState, after: FieldState): boolean {
  const { wakeAt, reloadAt } = after
  if (before.version !== after.version || before.isTooLarge !== after.isTooLarge) return false
  // A member that comes or goes makes another object of it anyway.
  if ((before.wakeAt === undefined) !== (wakeAt === undefined)) return false
  if ((before.reloadAt === undefined) !== (reloadAt === undefined)) return false
  if (before.args !== after.args && !haveSameKeys(before.args, after.args)) return false
  const field: ChangedField = before
  field.own = after.own
  if (wakeAt !== undefined) field.wakeAt = wakeAt
  if (reloadAt !== undefined) field.reloadAt = reloadAt
  if (before.args === after.args) return true
  for (const name in field.args) {
    const held = field.args[name]
    const changed = after.args[name]
    if (held === undefined || changed === undefined || held === changed) continue
    if (!takeOverHeld(held, changed)) field.args[name] = changed
  }
  return true
}

export function haveSameKeys(
  one: Readonly<Record<string, unknown>>,
  other: Readonly<Record<string, unknown>>,
): boolean {
  // Without lists of them: this is once a message.
  let more = 0
  for (const key in one) {
    if (other[key] === undefined) return false
    more++
  }
  for (const _key in other) more--
  return more === 0
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
  for (const key in value) {
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
  let first = Number.POSITIVE_INFINITY
  for (const id in fields) {
    const field = fields[id]
    if (field?.wakeAt !== undefined) first = Math.min(first, timeBehind(field.wakeAt, wokenAt))
    if (field?.reloadAt !== undefined) first = Math.min(first, timeBehind(field.reloadAt, wokenAt))
  }
  return first === Number.POSITIVE_INFINITY ? undefined : first
}

function timeBehind(time: number, wokenAt: number): number {
  return time <= wokenAt ? wokenAt + AGAIN_MS : time
}
