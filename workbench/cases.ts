/** Cases of a rule chain as a YAML file holds them: a world, messages, and what must come of them. `docs/guides/rule-chains-as-code.md`. */
import { z } from 'zod'
import { parse } from 'yaml'
import { errorText } from '../model/errors.ts'
import type { JsonObject, JsonValue } from '../model/json.ts'
import { WorkbenchErrors } from './errors.ts'

const json = z.custom<JsonValue>((value) => value !== undefined)
const jsonObject = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'an object is expected',
)
const text = z.union([z.string(), z.number(), z.boolean()]).transform(String)
const texts = z.union([z.string().transform((one) => [one]), z.array(z.string())])

const attributes = z.strictObject({
  client: jsonObject.optional(),
  server: jsonObject.optional(),
  shared: jsonObject.optional(),
})

const entity = z
  .strictObject({
    /** Its profile's name; of an entity view its type. */
    type: z.string().optional(),
    label: z.string().optional(),
    /** The name of a customer of this world. */
    customer: z.string().optional(),
    attributes: attributes.optional(),
    /** Points of now. */
    latest: jsonObject.optional(),
    /** By key, `[time, value]` each. */
    series: z.record(z.string(), z.array(z.tuple([json, json]))).optional(),
    /** Further members as the API shows the entity, such as `phone` of a customer. */
    fields: jsonObject.optional(),
  })
  .nullable()
  .transform((value) => value ?? {})

const world = z.strictObject({
  tenant: entity.optional(),
  customers: z.record(z.string(), entity).default({}),
  devices: z.record(z.string(), entity).default({}),
  assets: z.record(z.string(), entity).default({}),
  users: z.record(z.string(), entity).default({}),
  /** `[from, type, to]`, ends by name. */
  relations: z.array(z.tuple([z.string(), z.string(), z.string()])).default([]),
  /** What services outside answer, by their kind (`http`, `mqtt`, `sqs`, `sns`, `lambda`, `smtp`, `ai`). */
  outside: z
    .record(
      z.string(),
      z.strictObject({
        /** Of `http`. */
        status: z.number().int().default(200),
        body: json.optional(),
        /** The call fails for this reason. */
        fails: z.string().optional(),
      }),
    )
    .default({}),
  alarms: z
    .array(
      z.strictObject({
        of: z.string(),
        type: z.string(),
        severity: z.enum(['CRITICAL', 'MAJOR', 'MINOR', 'WARNING', 'INDETERMINATE']).default('CRITICAL'),
        details: json.optional(),
      }),
    )
    .default([]),
})

const message = z.strictObject({
  /** The originator's name in the world; without it the first device. */
  from: z.string().optional(),
  type: z.string().default('POST_TELEMETRY_REQUEST'),
  /** JSON; a text is taken as JSON text, so that `2.0` stays a double. */
  data: json.default({}),
  metadata: z.record(z.string(), text).default({}),
  /** Unix ms, or an ISO time; without it now. */
  ts: z.union([z.number(), z.string()]).optional(),
})

const expectation = z.strictObject({
  /** The nodes that were entered, in order. */
  way: z.array(z.string()).optional(),
  /** By node: the relations it emitted, in any order. */
  relations: z.record(z.string(), texts).optional(),
  /** Each must be among the messages that came out of nodes; members that are not named may be anything. */
  out: z
    .array(
      z.strictObject({
        node: z.string(),
        relation: z.string().optional(),
        type: z.string().optional(),
        data: json.optional(),
        metadata: z.record(z.string(), text).optional(),
      }),
    )
    .optional(),
  /** All that was done to the world, in any order; of each only the members that are named count. */
  effects: z.array(jsonObject).optional(),
  /** A part of the reason for which the message failed. Without it a message that fails is no pass. */
  fails: z.string().optional(),
})

const step = z.strictObject({
  send: z.union([message.transform((one) => [one]), z.array(message)]).optional(),
  /** Time passes, such as `90 s`, `15 min`, `2 h`, `3 d`, or ms. */
  wait: z.union([z.number(), z.string()]).optional(),
  expect: expectation.default({}),
})

const caseSchema = z.union([
  z.strictObject({ name: z.string(), world: world.optional(), steps: z.array(step).min(1) }),
  step
    .extend({ name: z.string(), world: world.optional() })
    .transform(({ name, world: own, ...only }) => ({ name, world: own, steps: [only] })),
])

const fileSchema = z.strictObject({
  /** What the clock shows when a case begins: Unix ms, or an ISO time. */
  clock: z.union([z.number(), z.string(), z.date()]).default('2026-01-01T00:00:00Z'),
  world: world.prefault({}),
  cases: z.array(caseSchema).min(1),
})

export type CaseFile = z.output<typeof fileSchema>
export type ChainCase = CaseFile['cases'][number]
export type CaseStep = ChainCase['steps'][number]
export type CaseMessage = NonNullable<CaseStep['send']>[number]
export type Expectation = CaseStep['expect']
export type WorldText = CaseFile['world']
export type OutsideText = WorldText['outside'][string]
export type EntityText = WorldText['devices'][string]

/** `file` is what errors call it. Throws `FILE_NOT_CASES`. */
export function parseCases(yaml: string, file: string): CaseFile {
  try {
    return fileSchema.parse(parse(yaml))
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : errorText(error)
    throw WorkbenchErrors.FILE_NOT_CASES({ file, reason }, error)
  }
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, min: 60_000, h: 3_600_000, d: 86_400_000 }

/** Ms of a time that passes. Throws `FILE_NOT_CASES`. */
export function durationMs(value: number | string): number {
  if (typeof value === 'number') return value
  const found = /^(\d+(?:\.\d+)?) ?(ms|s|min|h|d)$/.exec(value)
  const unit = UNITS[found?.[2] ?? '']
  if (found === null || unit === undefined) {
    throw WorkbenchErrors.FILE_NOT_CASES({
      file: 'wait',
      reason: `'${value}' is no time such as 90 s, 15 min, 2 h, 3 d`,
    })
  }
  return Number(found[1]) * unit
}

/** Unix ms. Throws `FILE_NOT_CASES`. */
export function timeMs(value: number | string | Date): number {
  const ms = typeof value === 'number' ? value : new Date(value).getTime()
  if (!Number.isFinite(ms))
    throw WorkbenchErrors.FILE_NOT_CASES({ file: 'time', reason: `'${String(value)}' is no time` })
  return ms
}
