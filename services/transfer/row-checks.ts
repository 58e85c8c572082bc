/** What a row of a file may say: a save would have refused the rest, and whoever reads it later relies on that. */
import { z } from 'zod'
import { PROCESSING_STRATEGIES, SUBMIT_STRATEGIES } from '../../model/entities.ts'
import { isMillraceError } from '../../model/errors.ts'
import { isJsonObject, parseJson, stringifyJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import type { SqlValue } from '../../storage/entities/database.ts'
import { allColumns, type ColumnType, type Row } from '../../storage/entities/tables/entity-table.ts'
import type { Column } from '../entities/column.ts'
import { DECLARED, DECLARED_TABLES } from '../entities/declared.ts'
import { columnOf } from '../entities/define.ts'
import { checkPayloadSchemas, checkSparkplug } from '../entities/device-profile-data.ts'
import { checkQueue } from '../queues/queue-rules.ts'
import { TenantTransferErrors } from './errors.ts'

const text = z.string()
const count = z.int()
const object = z.custom<JsonObject>(isJsonObject, 'an object is expected')

function jsonIn<Value>(schema: z.ZodType<Value>) {
  return text.transform((value, context): Value => {
    const found = schema.safeParse(plain(jsonOf(value)))
    if (found.success) return found.data
    context.addIssue({ code: 'custom', message: found.error.issues[0]?.message ?? '' })
    return z.NEVER
  })
}

const queueSchema = z.object({
  ...{ id: text, created_time: count, version: count, tenant_id: text, name: text, topic: text },
  ...{ poll_interval: count, partitions: count, consumer_per_partition: count, pack_processing_timeout: count },
  submit_strategy: jsonIn(z.object({ type: z.enum(SUBMIT_STRATEGIES), batchSize: z.number() })),
  processing_strategy: jsonIn(
    z.object({
      type: z.enum(PROCESSING_STRATEGIES),
      ...{ retries: z.number(), failurePercentage: z.number() },
      ...{ pauseBetweenRetries: z.number(), maxPauseBetweenRetries: z.number() },
    }),
  ),
  additional_info: jsonIn(z.unknown()),
})

function checkQueueRow(row: Row): void {
  const queue = queueSchema.parse(row)
  checkQueue({
    ...{ id: queue.id, createdTime: queue.created_time, version: queue.version, tenantId: queue.tenant_id },
    ...{ name: queue.name, topic: queue.topic, pollInterval: queue.poll_interval, partitions: queue.partitions },
    consumerPerPartition: queue.consumer_per_partition === 1,
    packProcessingTimeout: queue.pack_processing_timeout,
    ...{ submitStrategy: queue.submit_strategy, processingStrategy: queue.processing_strategy, additionalInfo: null },
  })
}

const profileData = z.looseObject({
  configuration: object.nullish(),
  transportConfiguration: object.nullish(),
  provisionConfiguration: object.nullish(),
  alarms: z.array(z.unknown()).nullish(),
})

async function checkProfileRow(row: Row): Promise<void> {
  const data = jsonOf(String(row['profile_data']))
  profileData.parse(data)
  if (!isJsonObject(data)) return
  if (row['transport_type'] === 'MQTT') checkSparkplug(data)
  await checkPayloadSchemas(data)
}

const nodeRow = z.looseObject({
  type: text,
  name: text,
  configuration: jsonIn(object),
  debug_settings: jsonIn(z.unknown()),
  additional_info: jsonIn(z.unknown()),
})

/** What the columns alone do not say. */
const CHECKS: Readonly<Record<string, (row: Row) => void | Promise<void>>> = {
  queue: checkQueueRow,
  device_profile: checkProfileRow,
  rule_node: (row) => void nodeRow.parse(row),
}

const TABLES = new Map(DECLARED_TABLES.map((table) => [table.name, table]))
const DEFINITIONS = new Map(DECLARED.map((definition) => [definition.storedAs.name, definition]))

/** Throws `ROW`. */
export async function checkRow(table: string, row: Row): Promise<void> {
  try {
    checkColumns(table, row)
    await CHECKS[table]?.(row)
  } catch (error) {
    throw TenantTransferErrors.ROW({ table, reason: reasonOf(error) }, error)
  }
}

function checkColumns(table: string, row: Row): void {
  const declared = TABLES.get(table)
  if (declared === undefined) return
  for (const { name, type, isNullable } of allColumns(declared)) {
    const value = row[name]
    // A file of an older version has fewer.
    if (value === undefined || (value === null && (isNullable || name === 'tenant_id'))) continue
    if (!IS_OF[type](value)) throw new RangeError(`${name} is no ${type}`)
  }
  const definition = DEFINITIONS.get(table)
  if (definition === undefined) return
  for (const [member, column] of Object.entries(definition.columns)) {
    const value = row[columnOf(member, column)]
    if (value !== undefined && value !== null) checkMember(member, column, value)
  }
}

const IS_OF: Readonly<Record<ColumnType, (value: SqlValue) => boolean>> = {
  text: (value) => typeof value === 'string',
  integer: (value) => typeof value === 'bigint' || Number.isInteger(value),
  double: (value) => typeof value === 'number',
}

function checkMember(member: string, { shape, isJson, input }: Column<unknown>, value: SqlValue): void {
  const choices = shape['enum']
  if (Array.isArray(choices) && !choices.includes(String(value)))
    throw new RangeError(`${member} is none of its values`)
  if (isJson !== true) return
  const found = input.safeParse(jsonOf(String(value)))
  if (!found.success) throw new RangeError(`${member}: ${reasonOf(found.error)}`)
}

function jsonOf(value: string): JsonValue {
  try {
    return parseJson(value)
  } catch (error) {
    throw new RangeError('JSON is expected', { cause: error })
  }
}

/** Whole doubles as the numbers that they are. */
function plain(value: JsonValue): unknown {
  return JSON.parse(stringifyJson(value))
}

function reasonOf(error: unknown): string {
  if (error instanceof z.ZodError) {
    const [issue] = error.issues
    return `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`
  }
  return isMillraceError(error) || error instanceof Error ? error.message : String(error)
}
