/**
 * Changes as they go from process to process: JSON in which every value keeps its type. A LONG beyond what a JSON number holds, and a
 * DOUBLE that JSON has no number for, are texts beside their type.
 */
import { z } from 'zod'
import { ENTITY_TYPES } from '../../model/entity-id.ts'
import { ATTRIBUTE_SCOPES, fitsLong, longValue, type Attribute, type DataPoint, type Entry } from '../../model/value.ts'
import type { Change } from '../subscriptions/change.ts'

type EntryRow = readonly [key: string, type: Entry['type'], value: boolean | number | string, time: number]

export function changeText(change: Change): string {
  switch (change.kind) {
    case 'telemetry': {
      const { kind, entity, sequence, points } = change
      return JSON.stringify({ kind, entity, sequence, points: points.map((point) => rowOf(point, point.ts)) })
    }
    case 'attributes': {
      const { kind, entity, sequence, scope, audience } = change
      const attributes = change.attributes.map((attribute) => rowOf(attribute, attribute.lastUpdateTs))
      return JSON.stringify({ kind, entity, sequence, scope, attributes, audience })
    }
    default:
      return JSON.stringify(change)
  }
}

function rowOf(entry: Entry, time: number): EntryRow {
  const { key, type, value } = entry
  if (typeof value === 'bigint') return [key, type, value.toString(), time]
  if (typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0)))
    return [key, type, Object.is(value, -0) ? '-0' : String(value), time]
  return [key, type, value, time]
}

const rowSchema = z.union([
  z.tuple([z.string(), z.literal('BOOLEAN'), z.boolean(), z.number()]),
  z.tuple([z.string(), z.enum(['STRING', 'JSON']), z.string(), z.number()]),
  z.tuple([z.string(), z.literal('LONG'), z.union([z.number(), z.string().regex(/^-?\d{1,19}$/)]), z.number()]),
  z.tuple([
    z.string(),
    z.literal('DOUBLE'),
    z.union([z.number(), z.enum(['NaN', 'Infinity', '-Infinity', '-0'])]),
    z.number(),
  ]),
])

function entryOf(row: z.infer<typeof rowSchema>): Entry {
  const [key, type, value] = row
  switch (type) {
    case 'LONG': {
      const exact = BigInt(value)
      if (!fitsLong(exact)) throw new RangeError(`${value} is no 64-bit integer`)
      return { key, type, value: longValue(exact) }
    }
    case 'DOUBLE':
      return { key, type, value: Number(value) }
    case 'BOOLEAN':
      return { key, type, value }
    default:
      return { key, type, value }
  }
}

const entitySchema = z.object({ entityType: z.enum(ENTITY_TYPES), id: z.string() })
const tenantChange = { entity: entitySchema, tenantId: z.string() }
const scopeSchema = z.enum(ATTRIBUTE_SCOPES)
const pointSchema = rowSchema.transform((row): DataPoint => ({ ...entryOf(row), ts: row[3] }))
const attributeSchema = rowSchema.transform((row): Attribute => ({ ...entryOf(row), lastUpdateTs: row[3] }))

/** Versions before told none. */
const commitSchema = z.number().optional()

const changeSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('telemetry'),
    entity: entitySchema,
    sequence: commitSchema,
    points: z.array(pointSchema),
  }),
  z.object({
    kind: z.literal('telemetry-deleted'),
    entity: entitySchema,
    sequence: commitSchema,
    keys: z.array(z.string()),
  }),
  z.object({
    kind: z.literal('attributes'),
    entity: entitySchema,
    sequence: commitSchema,
    scope: scopeSchema,
    attributes: z.array(attributeSchema),
    audience: z.enum(['all', 'subscribers', 'device', 'caches']).default('all'),
  }),
  z.object({
    kind: z.literal('attributes-deleted'),
    entity: entitySchema,
    sequence: commitSchema,
    scope: scopeSchema,
    keys: z.array(z.string()),
    audience: z.literal('subscribers').optional(),
  }),
  z.object({
    kind: z.literal('device-changed'),
    entity: entitySchema,
    credentialsChanged: z.boolean(),
    hasMoved: z.literal(true).optional(),
  }),
  z.object({ kind: z.literal('alarm'), ...tenantChange, alarmId: z.string(), isDeleted: z.boolean() }),
  z.object({ kind: z.literal('rule-chain-changed'), ...tenantChange }),
  z.object({ kind: z.literal('queue-changed'), ...tenantChange }),
  z.object({ kind: z.literal('integration-changed'), ...tenantChange }),
  z.object({ kind: z.literal('user-tokens-withdrawn'), entity: entitySchema }),
  z.object({ kind: z.literal('session-ended'), entity: entitySchema, sessionId: z.string(), until: z.number() }),
  z.object({ kind: z.literal('settings-changed'), entity: entitySchema }),
  z.object({ kind: z.literal('inbox-changed'), entity: entitySchema }),
  z.object({ kind: z.literal('relations-changed'), ...tenantChange }),
  z.object({ kind: z.literal('entity-deleted'), ...tenantChange }),
])

/** The change as the listeners of this process hear it. Throws where it is none that this version knows. */
export function remoteChange(parsed: unknown): Change {
  const change = changeSchema.parse(parsed)
  switch (change.kind) {
    case 'telemetry':
    case 'telemetry-deleted':
    case 'attributes':
    case 'attributes-deleted':
      return { ...change, sequence: change.sequence, remote: true }
    default:
      return change
  }
}
