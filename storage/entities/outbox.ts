/**
 * Rule-engine messages that were committed together with the change that caused them and are not yet in the link's log
 * (`design.md` section 3). A message leaves after the log has it, so a crash between delivers it once more, never less.
 */
import { sql } from 'kysely'
import { isEntityType } from '../../model/entity-id.ts'
import { Message, type DataType, type Metadata } from '../../model/message.ts'
import { stringifyJson, type JsonObject } from '../../model/json.ts'
import { jsonObjectOf } from './columns.ts'
import { statementOf, type EntityDatabase, type Statement, type Written } from './database.ts'
import { EntityStoreErrors } from './errors.ts'

export interface OutboxEntry {
  readonly id: number
  readonly message: Message
}

export class OutboxRepository {
  private readonly database: EntityDatabase
  private readonly removal: string

  constructor(database: EntityDatabase) {
    this.database = database
    this.removal = database.builder.deleteFrom('outbox').where('id', '=', 0).compile().sql
  }

  /** A step of the transaction that makes the change; {@link addedId} reads the entry's id off the result. */
  add(message: Message): Statement {
    const query = this.database.builder
      .insertInto('outbox')
      .values({ message: messageText(message) })
      .returning('id')
    return statementOf(query, { returnsRows: true })
  }

  addedId(written: Written, statementIndex: number): number {
    const [row] = (written.results[statementIndex]?.rows ?? []) as readonly { id: number }[]
    if (row === undefined) throw EntityStoreErrors.FAILED({ reason: 'the outbox gave no id' })
    return row.id
  }

  /** Entries after `id`, oldest first. */
  async after(id: number, limit: number): Promise<readonly OutboxEntry[]> {
    const rows = await this.database.builder
      .selectFrom('outbox')
      .selectAll()
      .where('id', '>', id)
      .orderBy('id')
      .limit(limit)
      .execute()
    return rows.map((row) => ({ id: row.id, message: messageOf(jsonObjectOf(row.message)) }))
  }

  async size(): Promise<number> {
    const row = await this.database.builder
      .selectFrom('outbox')
      .select(sql<number>`count(*)`.as('size'))
      .executeTakeFirst()
    return row?.size ?? 0
  }

  remove(ids: readonly number[]): Statement {
    return { sql: this.removal, parameters: [], parameterRows: ids.map((id) => [id]) }
  }
}

function messageText(message: Message): string {
  return stringifyJson({
    id: message.id,
    ts: message.ts,
    type: message.type,
    tenantId: message.tenantId,
    originatorType: message.originator.entityType,
    originatorId: message.originator.id,
    customerId: message.customerId ?? null,
    metadata: { ...message.metadata },
    dataType: message.dataType,
    data: message.data,
    ruleChainId: message.ruleChainId ?? null,
    ruleNodeId: message.ruleNodeId ?? null,
    queueName: message.queueName ?? null,
  })
}

function messageOf(stored: JsonObject): Message {
  const text = (name: string): string => {
    const value = stored[name]
    if (typeof value !== 'string') throw EntityStoreErrors.FAILED({ reason: `an outbox entry has no ${name}` })
    return value
  }
  const optional = (name: string): string | undefined =>
    stored[name] === null || stored[name] === undefined ? undefined : text(name)
  const originatorType = text('originatorType')
  if (!isEntityType(originatorType))
    throw EntityStoreErrors.FAILED({ reason: `an outbox entry comes from ${originatorType}` })
  return new Message({
    id: text('id'),
    ts: Number(stored['ts']),
    type: text('type'),
    tenantId: text('tenantId'),
    originator: { entityType: originatorType, id: text('originatorId') },
    customerId: optional('customerId'),
    metadata: stored['metadata'] as Metadata,
    dataType: text('dataType') as DataType,
    data: text('data'),
    ruleChainId: optional('ruleChainId'),
    ruleNodeId: optional('ruleNodeId'),
    queueName: optional('queueName'),
  })
}
