/** What is stored of one entity's calculated fields. */
import { z } from 'zod'
import { isJsonObject, stringifyJson, type JsonObject, type JsonValue } from '../../../model/json.ts'
import { ENTITY_TYPES, type EntityId, type EntityType } from '../../../model/entity-id.ts'
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

/** Nobody but this runtime writes what is in the fields. */
const stored = z.object({
  entity: z.tuple([z.enum(ENTITY_TYPES), z.string()]),
  owner: z.string(),
  fields: z.custom<Readonly<Record<string, FieldState>>>(isJsonObject),
})

/** Throws where it is of another shape. */
export function stateOf(json: JsonValue): EntityState {
  return stored.parse(json)
}

export function entityOfState({ entity: [entityType, id] }: EntityState): EntityId {
  return { entityType, id }
}

export function bytesOf(state: FieldState): number {
  return stringifyJson(plainJson(state)).length
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
