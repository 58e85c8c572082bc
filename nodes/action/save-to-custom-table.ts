/** Puts members of the body into a table that the administrator made for the tenant (`rule-nodes.md` 43). */
import { z } from 'zod'
import type { BatchResult } from '../../engine/rulechain/node.ts'
import type { CustomTable, CustomTableRow } from '../../engine/rulechain/capabilities/tables.ts'
import { errorText } from '../../model/errors.ts'
import { stringifyJson, type JsonValue } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import { bodyObject } from '../body.ts'
import { defineNode, orZero, requireField } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'

const NAME = 'save to custom table'
/** In the place of a member of the body: the originator's id. */
const ENTITY_ID = '$entityId'
/** 20 years, as in the reference's database. */
const MAX_SECONDS = 630_720_000

export const saveToCustomTable = defineNode({
  type: 'org.thingsboard.rule.engine.action.TbSaveToCustomCassandraTableNode',
  name: NAME,
  category: 'ACTION',
  relations: ['Success'],
  description:
    'Puts members of the body into the columns of a table of the tenant, by its primary key. Without PostgreSQL the node does not start. The guide on operating says how tables are made.',
  configurationVersion: 1,
  configuration: z.looseObject({
    tableName: orZero(z.string().max(255), '').meta({ title: 'Table', description: 'Without the prefix `cs_tb_`.' }),
    fieldsMapping: orZero(z.record(z.string(), z.string()), {}).meta({
      title: 'Columns',
      description: "Column by member of the body; `$entityId` stands for the originator's id.",
    }),
    defaultTtl: orZero(z.int().min(0).max(MAX_SECONDS), 0).meta({
      title: 'Time to live',
      description: 'In seconds, written to the column `expires_at`; 0 keeps the rows.',
    }),
  }),
  defaults: { tableName: '', fieldsMapping: { '': '' }, defaultTtl: 0 },
  editor: { form: 'tbActionNodeCustomTableConfig', icon: 'file_upload' },
  examples: [],
  upgrade: (configuration, fromVersion) => (fromVersion === 0 ? { defaultTtl: 0, ...configuration } : configuration),
  uses: ['tables'],
  effects: true,
  create: async ({ tableName, fieldsMapping, defaultTtl }, { services: { tables } }) => {
    requireField(tableName !== '', NAME, 'tableName', 'is empty')
    const fields = Object.keys(fieldsMapping)
    const columns = Object.values(fieldsMapping)
    const table = await tables.open({ name: tableName, columns, ttlSeconds: defaultTtl })
    return { handleBatch: (messages, result) => write(table, fields, messages, result) }
  },
})

async function write(
  table: CustomTable,
  fields: readonly string[],
  messages: readonly Message[],
  result: BatchResult,
): Promise<void> {
  const places: number[] = []
  const rows: CustomTableRow[] = []
  for (const [index, message] of messages.entries()) {
    try {
      rows.push(rowOf(message, fields))
      places.push(index)
    } catch (error) {
      result.fail(index, errorOf(error))
    }
  }
  const outcomes = rows.length === 0 ? [] : await written(table, rows)
  for (const [at, index] of places.entries()) {
    const error = outcomes[at]
    if (error === undefined) result.emit(index, 'Success')
    else result.fail(index, error)
  }
}

async function written(table: CustomTable, rows: readonly CustomTableRow[]): Promise<readonly (Error | undefined)[]> {
  try {
    return await table.write(rows)
  } catch (error) {
    return rows.map(() => errorOf(error))
  }
}

function rowOf(message: Message, fields: readonly string[]): CustomTableRow {
  const body = bodyObject(message)
  return fields.map((field) => {
    if (field === ENTITY_ID) return message.originator.id
    const value = Object.hasOwn(body, field) ? body[field] : undefined
    if (value === undefined) throw NodeErrors.VALUE_MISSING({ key: field, place: 'data' })
    return textOf(value)
  })
}

/** What is no scalar goes in as JSON. */
function textOf(value: JsonValue): string | null {
  return value === null || typeof value === 'string' ? value : stringifyJson(value)
}

function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(errorText(error))
}
