/**
 * What a client may send: both envelopes become one list of commands. Strict as the reference is: an unknown member refuses
 * the whole frame. Source: `websocket-api.md` 2.1, 3 and 4.
 */
import { z } from 'zod'

/** An integer, also written as text. */
const integer = z.union([
  z.number().int(),
  z
    .string()
    .regex(/^-?\d{1,15}$/)
    .transform(Number),
])
const text = z.string().nullish()
const cmdId = integer.default(0)
const target = {
  cmdId,
  entityType: text,
  entityId: text,
  keys: text,
  scope: text,
  unsubscribe: z.boolean().default(false),
}
const range = { startTs: integer.default(0), interval: integer.default(0), limit: integer.default(0), agg: text }

const timeSeries = { ...target, ...range, timeWindow: integer.default(0), endTs: integer.optional() }
const history = { ...target, ...range, endTs: integer.default(0) }

/** Commands of later days: known by name, so that they are answered one by one and do not spoil their frame. */
const UNSERVED_TYPES = [
  'ENTITY_DATA',
  'ENTITY_DATA_UNSUBSCRIBE',
  'ENTITY_COUNT',
  'ENTITY_COUNT_UNSUBSCRIBE',
  'ALARM_DATA',
  'ALARM_DATA_UNSUBSCRIBE',
  'ALARM_COUNT',
  'ALARM_COUNT_UNSUBSCRIBE',
  'ALARM_STATUS',
  'ALARM_STATUS_UNSUBSCRIBE',
  'NOTIFICATIONS',
  'NOTIFICATIONS_COUNT',
  'MARK_NOTIFICATIONS_AS_READ',
  'MARK_ALL_NOTIFICATIONS_AS_READ',
  'NOTIFICATIONS_UNSUBSCRIBE',
] as const
export type UnservedType = (typeof UNSERVED_TYPES)[number]

const timeSeriesCommand = z.strictObject({ type: z.literal('TIMESERIES'), ...timeSeries })
const historyCommand = z.strictObject({ type: z.literal('TIMESERIES_HISTORY'), ...history })
const attributesCommand = z.strictObject({ type: z.literal('ATTRIBUTES'), ...target })
const unservedCommand = z.looseObject({ type: z.enum(UNSERVED_TYPES), cmdId })
const command = z.discriminatedUnion('type', [timeSeriesCommand, historyCommand, attributesCommand, unservedCommand])

export type TimeSeriesCommand = z.infer<typeof timeSeriesCommand>
export type HistoryCommand = z.infer<typeof historyCommand>
export type AttributesCommand = z.infer<typeof attributesCommand>
export type Command = z.infer<typeof command>

const authCommand = z.strictObject({ cmdId: integer.nullish(), token: text, apiKey: text })
export type AuthCommand = z.infer<typeof authCommand>

export interface Envelope {
  readonly authCmd: AuthCommand | undefined
  readonly commands: readonly Command[]
}

const newEnvelope = z
  .strictObject({ authCmd: authCommand.nullish(), cmds: z.array(command).nullish() })
  .transform(({ authCmd, cmds }): Envelope => ({ authCmd: authCmd ?? undefined, commands: cmds ?? [] }))

/** A list of commands whose kind its member's name says; a `type` beside it is tolerated. */
function listOf<Type extends Command['type'], Fields extends z.ZodRawShape>(type: Type, fields: Fields) {
  return z
    .array(z.strictObject({ ...fields, type: z.literal(type).default(type) }))
    .nullish()
    .transform((list) => list ?? [])
}

function unservedListOf(type: UnservedType) {
  return z
    .array(z.looseObject({ cmdId, type: z.literal(type).default(type) }))
    .nullish()
    .transform((list) => list ?? [])
}

const legacyEnvelope = z
  .strictObject({
    attrSubCmds: listOf('ATTRIBUTES', target),
    tsSubCmds: listOf('TIMESERIES', timeSeries),
    historyCmds: listOf('TIMESERIES_HISTORY', history),
    entityDataCmds: unservedListOf('ENTITY_DATA'),
    entityDataUnsubscribeCmds: unservedListOf('ENTITY_DATA_UNSUBSCRIBE'),
    entityCountCmds: unservedListOf('ENTITY_COUNT'),
    entityCountUnsubscribeCmds: unservedListOf('ENTITY_COUNT_UNSUBSCRIBE'),
    alarmDataCmds: unservedListOf('ALARM_DATA'),
    alarmDataUnsubscribeCmds: unservedListOf('ALARM_DATA_UNSUBSCRIBE'),
    alarmCountCmds: unservedListOf('ALARM_COUNT'),
    alarmCountUnsubscribeCmds: unservedListOf('ALARM_COUNT_UNSUBSCRIBE'),
  })
  .transform((lists): Envelope => ({ authCmd: undefined, commands: Object.values(lists).flat() }))

/** The two command envelopes: that of `/api/ws` and that of `/api/ws/plugins/telemetry`. */
export type EnvelopeKind = 'new' | 'legacy'

/** Undefined where the text is not such an envelope. */
export function parseEnvelope(kind: EnvelopeKind, frame: string): Envelope | undefined {
  let document: unknown
  try {
    document = JSON.parse(frame)
  } catch {
    return undefined
  }
  const parsed = (kind === 'new' ? newEnvelope : legacyEnvelope).safeParse(document)
  return parsed.success ? parsed.data : undefined
}

/** The keys of a comma-separated text; undefined where it names none, which means all. */
export function keysOf(list: string | null | undefined): readonly string[] | undefined {
  const keys = (list ?? '')
    .split(',')
    .map((key) => key.trim())
    .filter((key) => key !== '')
  return keys.length === 0 ? undefined : [...new Set(keys)]
}
