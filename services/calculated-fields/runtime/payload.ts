/** What the log carries to the fields of an entity: the data of a message whose originator is the entity that is calculated. */
import { z } from 'zod'
import { isJsonObject, parseJson, stringifyJson, type JsonValue } from '../../../model/json.ts'
import { plainJson } from './plain-json.ts'
import { ENTITY_TYPES, type EntityId } from '../../../model/entity-id.ts'
import { ATTRIBUTE_SCOPES, type TypedValue } from '../../../model/value.ts'
import type { CalculatedValues } from '../../../engine/rulechain/capabilities/calculated.ts'

export const TRIGGER_TYPE = 'CALCULATED_FIELDS'
export const RESULT_TYPE = 'CALCULATED_FIELD_RESULT'

const anyValue = z.custom<JsonValue>((value) => value !== undefined)
export const entitySchema = z.object({ entityType: z.enum(ENTITY_TYPES), id: z.string() })
const source = z.enum(['series', ...ATTRIBUTE_SCOPES])

const values = z.object({
  kind: z.literal('values'),
  /** Whose values they are, where that is another entity than the message's. */
  from: entitySchema.optional(),
  source,
  values: z.array(z.tuple([z.string(), z.number(), anyValue])),
  /** Attributes that went; of series those of which points went. */
  deleted: z.array(z.string()),
  /** The cause's type, for debug events. */
  type: z.string(),
})
const news = z.discriminatedUnion('kind', [
  values,
  /** A field of the entity, or of the profile that it has, is new or another. */
  z.object({ kind: z.literal('field'), id: z.string(), version: z.number() }),
  /** It has another profile or owner. */
  z.object({ kind: z.literal('entity') }),
  /** Alarms of the entity changed, by whatever hands: what is active is looked up. */
  z.object({ kind: z.literal('alarm') }),
  /** Relations came or went: whoever reads values by them, or writes to what they lead to, is told. */
  z.object({
    kind: z.literal('relations'),
    changed: z.array(z.object({ from: entitySchema, to: entitySchema, type: z.string() })),
  }),
  /** Relations lead the entity to others now. */
  z.object({ kind: z.literal('related') }),
])
export type News = z.infer<typeof news>
export type ValuesNews = z.infer<typeof values>
export type RelationsNews = Extract<News, { readonly kind: 'relations' }>
export type Source = z.infer<typeof source>

const payload = z.union([
  news,
  /** To a profile: for each of its members behind `after`. */
  z.object({ kind: z.literal('members'), after: z.string(), news }),
])
export type Payload = z.infer<typeof payload>

/** Throws where it is of another shape. */
export function payloadOf(json: JsonValue): Payload {
  return isOwnValues(json) ? json : payload.parse(json)
}

const SOURCES: ReadonlySet<string> = new Set(source.options)

/** What nearly all messages say, values of the entity itself, as the schema has it; by hand, since it is looked at with each of them. */
function isOwnValues(json: unknown): json is ValuesNews {
  if (!isJsonObject(json) || json['kind'] !== 'values' || json['from'] !== undefined) return false
  const { source: from, values: points, deleted, type } = json
  return (
    typeof from === 'string' &&
    SOURCES.has(from) &&
    typeof type === 'string' &&
    Array.isArray(points) &&
    points.every(isPoint) &&
    Array.isArray(deleted) &&
    deleted.every((key) => typeof key === 'string')
  )
}

function isPoint(json: JsonValue): boolean {
  if (!Array.isArray(json) || json.length !== 3) return false
  return typeof json[0] === 'string' && typeof json[1] === 'number' && json[2] !== undefined
}

export function payloadText(given: Payload): string {
  return stringifyJson(plainJson(given))
}

export function newsOf(given: CalculatedValues, now: number, type: string): ValuesNews {
  switch (given.kind) {
    case 'series':
      return {
        ...{ kind: 'values', source: 'series', deleted: [], type },
        values: given.points.map((point) => [point.key, point.ts, jsonOf(point)]),
      }
    case 'series deleted':
      return { kind: 'values', source: 'series', values: [], deleted: [...given.keys], type }
    case 'attributes':
      return {
        ...{ kind: 'values', source: given.scope, deleted: [], type },
        values: given.entries.map((entry) => [entry.key, now, jsonOf(entry)]),
      }
    case 'attributes deleted':
      return { kind: 'values', source: given.scope, values: [], deleted: [...given.keys], type }
  }
}

/** Series of which points went: what is left of them has to be read. */
export interface GoneSeries {
  readonly keys: readonly string[]
  /** Another entity than the one whose turn it is. */
  readonly from: EntityId | undefined
}

export function goneSeries(payload: Payload | undefined): GoneSeries | undefined {
  if (payload?.kind !== 'values' || payload.source !== 'series' || payload.deleted.length === 0) return undefined
  return { keys: payload.deleted, from: payload.from }
}

/** Keeps what kind of number it is. */
export function jsonOf(typed: TypedValue): JsonValue {
  switch (typed.type) {
    case 'JSON':
      return parseJson(typed.value)
    case 'DOUBLE':
      return double(typed.value)
    default:
      return typed.value
  }
}

function double(value: number): JsonValue {
  return Number.isInteger(value) ? parseJson(`${value.toFixed(1)}`) : value
}

export function sameEntity(a: EntityId, b: EntityId): boolean {
  return a.id === b.id && a.entityType === b.entityType
}
