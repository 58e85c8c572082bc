/** What calculated fields of several types share in their configurations: arguments, outputs, relations. Source: `rule-engine.md` 8.1. */
import { z } from 'zod'
import { ENTITY_TYPES, isUuid, NULL_UUID } from '../entity-id.ts'
import { LongDecimal, WholeDouble } from '../json.ts'
import { ATTRIBUTE_SCOPES } from '../value.ts'

/** Members that are absent or null are left out, as the reference shows them. */
export function withoutNulls<Members extends object>(members: Members): Members {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== null && value !== undefined),
  ) as Members
}

/** Absent means null, and is shown so. */
export function orNull<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? null)
}

export const text = z.string('must be a text').trim().min(1, 'must not be empty')
export const whole = z
  .union([z.int(), z.instanceof(WholeDouble)], 'must be a whole number')
  .transform(Number)
  .refine(Number.isSafeInteger, 'must be a whole number')
export const decimal = z
  .union([z.number(), z.bigint(), z.instanceof(WholeDouble), z.instanceof(LongDecimal)], 'must be a number')
  .transform(Number)
export const flag = z
  .boolean('must be true or false')
  .nullish()
  .transform((value) => value ?? false)

export const entityReference = z.object({
  entityType: z.enum(ENTITY_TYPES, 'must be an entity type'),
  id: z
    .string()
    .refine(isUuid, 'must be a UUID')
    .transform((id) => id.toLowerCase()),
})
export type EntityReference = z.infer<typeof entityReference>

const optionalReference = entityReference
  .nullish()
  .transform((reference) => (reference?.id === NULL_UUID ? undefined : reference))

export const direction = z.enum(['FROM', 'TO'], 'must be FROM or TO')
export const relation = z.object({ direction, relationType: text })

export const dynamicSource = z.discriminatedUnion('type', [
  z.object({ type: z.literal('CURRENT_OWNER') }),
  z.object({ type: z.literal('RELATION_PATH_QUERY'), levels: z.array(relation).min(1, 'must not be empty') }),
])

export const argument = z
  .object({
    refEntityId: optionalReference,
    refDynamicSourceConfiguration: dynamicSource.nullish(),
    refEntityKey: z
      .object({
        key: text,
        type: z.enum(['TS_LATEST', 'ATTRIBUTE', 'TS_ROLLING'], 'must be TS_LATEST, ATTRIBUTE or TS_ROLLING'),
        scope: z.enum(ATTRIBUTE_SCOPES, 'must be an attribute scope').nullish(),
      })
      .transform(withoutNulls),
    defaultValue: z.string().nullish(),
    limit: whole.nullish(),
    timeWindow: whole.nullish(),
  })
  .transform(withoutNulls)
export type Argument = z.infer<typeof argument>

export const namedArguments = z
  .record(z.string(), argument, 'must not be null')
  .refine((members) => Object.keys(members).length > 0, 'must not be empty')
export type NamedArguments = z.infer<typeof namedArguments>

const timeSeriesStrategy = z.discriminatedUnion('type', [
  z.object({ type: z.literal('RULE_CHAIN') }),
  z.object({
    type: z.literal('IMMEDIATE'),
    ttl: whole.nullish().transform((value) => value ?? 0),
    saveTimeSeries: flag,
    saveLatest: flag,
    sendWsUpdate: flag,
    processCfs: flag,
  }),
])
const attributesStrategy = z.discriminatedUnion('type', [
  z.object({ type: z.literal('RULE_CHAIN') }),
  z.object({
    type: z.literal('IMMEDIATE'),
    sendAttributesUpdatedNotification: flag,
    updateAttributesOnlyOnValueChange: flag,
    saveAttribute: flag,
    sendWsUpdate: flag,
    processCfs: flag,
  }),
])
const TO_RULE_CHAIN = { type: 'RULE_CHAIN' } as const
const outputMembers = {
  name: z.string().nullish(),
  scope: z.enum(ATTRIBUTE_SCOPES, 'must be an attribute scope').nullish(),
  decimalsByDefault: whole.nullish(),
}

export const output = z.discriminatedUnion('type', [
  z
    .object({
      type: z.literal('TIME_SERIES'),
      ...outputMembers,
      strategy: timeSeriesStrategy.nullish().transform((strategy) => strategy ?? TO_RULE_CHAIN),
    })
    .transform(shownOutput),
  z
    .object({
      type: z.literal('ATTRIBUTES'),
      ...outputMembers,
      strategy: attributesStrategy.nullish().transform((strategy) => strategy ?? TO_RULE_CHAIN),
    })
    .transform(shownOutput),
])

/** The number of decimals is shown where it was sent, null too. */
function shownOutput<Members extends { readonly decimalsByDefault?: number | null | undefined }>(members: Members) {
  const { decimalsByDefault, ...others } = members
  return { ...withoutNulls(others), ...(decimalsByDefault === undefined ? {} : { decimalsByDefault }) }
}
