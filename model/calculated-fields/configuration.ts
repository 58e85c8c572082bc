/**
 * Configurations of calculated fields, each type with its own: read strictly where the platform will run them, shown with every default.
 * Source: `rule-engine.md` 8.2.
 */
import { z } from 'zod'
import { parseJson, type JsonObject } from '../json.ts'
import { alarmConfiguration } from './alarm-rules.ts'
import {
  decimal,
  direction,
  dynamicSource,
  entityReference,
  flag,
  namedArguments,
  orNull,
  output,
  relation,
  text,
  whole,
  withoutNulls,
  type EntityReference,
  type NamedArguments,
} from './arguments.ts'

export const CALCULATED_FIELD_TYPES = [
  'SIMPLE',
  'SCRIPT',
  'GEOFENCING',
  'ALARM',
  'PROPAGATION',
  'RELATED_ENTITIES_AGGREGATION',
  'ENTITY_AGGREGATION',
] as const
export type CalculatedFieldType = (typeof CALCULATED_FIELD_TYPES)[number]

const metrics = z
  .record(
    z.string(),
    z
      .object({
        function: z.enum(['MIN', 'MAX', 'SUM', 'AVG', 'COUNT', 'COUNT_UNIQUE'], 'must be a way to aggregate'),
        filter: z.string().nullish(),
        input: z.discriminatedUnion('type', [
          z.object({ type: z.literal('key'), key: text }),
          z.object({ type: z.literal('function'), function: text }),
        ]),
        defaultValue: decimal.nullish(),
      })
      .transform(withoutNulls),
    'must not be null',
  )
  .refine((members) => Object.keys(members).length > 0, 'must not be empty')

const zoneGroup = z
  .object({
    refEntityId: entityReference.nullish(),
    refDynamicSourceConfiguration: dynamicSource.nullish(),
    perimeterKeyName: text,
    reportStrategy: z.enum(
      ['REPORT_TRANSITION_EVENTS_ONLY', 'REPORT_PRESENCE_STATUS_ONLY', 'REPORT_TRANSITION_EVENTS_AND_PRESENCE_STATUS'],
      'must be a report strategy',
    ),
    createRelationsWithMatchedZones: flag,
    relationType: z.string().nullish(),
    direction: direction.nullish(),
  })
  .transform(withoutNulls)
  .refine(
    (group) => !group.createRelationsWithMatchedZones || (group.relationType && group.direction),
    'must have relationType and direction to create relations',
  )

const interval = z
  .object({
    type: z.enum(['HOUR', 'DAY', 'WEEK', 'WEEK_SUN_SAT', 'MONTH', 'QUARTER', 'YEAR', 'CUSTOM'], 'must be an interval'),
    tz: text,
    offsetSec: whole.nullish(),
    durationSec: whole.nullish(),
  })
  .refine(({ type, durationSec }) => type !== 'CUSTOM' || (durationSec ?? 0) >= 1, {
    path: ['durationSec'],
    message: 'must be greater than or equal to 1',
  })
  .transform(withoutNulls)

const scheduled = { scheduledUpdateEnabled: flag, scheduledUpdateInterval: whole.nullish() }

export const configuration = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('SIMPLE'),
    arguments: namedArguments,
    expression: text,
    output: output.refine(({ name }) => name !== undefined && name !== '', {
      path: ['name'],
      message: 'must not be empty',
    }),
    useLatestTs: flag,
  }),
  z.object({ type: z.literal('SCRIPT'), arguments: namedArguments, expression: text, output }),
  z
    .object({
      type: z.literal('GEOFENCING'),
      entityCoordinates: z.object({ latitudeKeyName: text, longitudeKeyName: text }),
      zoneGroups: z
        .record(z.string(), zoneGroup, 'must not be null')
        .refine((groups) => Object.keys(groups).length > 0, 'must not be empty'),
      ...scheduled,
      output,
    })
    .transform(withoutNulls),
  alarmConfiguration,
  z.object({
    type: z.literal('PROPAGATION'),
    arguments: namedArguments,
    relation,
    applyExpressionToResolvedArguments: flag,
    expression: orNull(z.string()),
    output,
  }),
  z
    .object({
      type: z.literal('RELATED_ENTITIES_AGGREGATION'),
      relation,
      arguments: namedArguments,
      deduplicationIntervalInSec: whole.nullish(),
      metrics,
      useLatestTs: flag,
      ...scheduled,
      output,
    })
    .transform(withoutNulls),
  z
    .object({
      type: z.literal('ENTITY_AGGREGATION'),
      arguments: namedArguments,
      metrics,
      interval,
      watermark: z
        .object({ duration: whole.refine((duration) => duration >= 0, 'must be greater than or equal to 0') })
        .nullish(),
      produceIntermediateResult: flag,
      output,
    })
    .transform(withoutNulls),
])
export type Configuration = z.infer<typeof configuration>

/** As it is stored and shown. */
export function configurationJson(read: Configuration): JsonObject {
  // Numbers were read into plain ones: what JSON has.
  const json = parseJson(JSON.stringify(read))
  return typeof json === 'object' && json !== null && !Array.isArray(json) ? (json as JsonObject) : {}
}

export function argumentsOf(read: Configuration): NamedArguments {
  return read.type === 'GEOFENCING' ? {} : read.arguments
}

/** Every entity that it names: whose values it reads. */
export function entitiesOf(read: Configuration): readonly EntityReference[] {
  const sources = read.type === 'GEOFENCING' ? Object.values(read.zoneGroups) : Object.values(read.arguments)
  return sources.flatMap(({ refEntityId }) => (refEntityId === undefined || refEntityId === null ? [] : [refEntityId]))
}
