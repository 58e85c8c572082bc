/**
 * Rule-engine messages that were committed together with the change that caused them and are not yet in the link's log
 * (`design.md` section 3). A message leaves after the log has it, so a crash between delivers it once more, never less.
 *
 * Where several processes share the table, an entry is its process's to publish for some seconds; one that is still there then
 * may be claimed by any process, for some seconds again.
 */
import { sql } from 'kysely'
import type { Message } from '../../model/message.ts'
import { type EntityDatabase, type Statement, type Written } from './database.ts'
import { EntityStoreErrors } from './errors.ts'
import { messageOf, messageText } from './message-text.ts'

export interface OutboxEntry {
  readonly id: number
  readonly message: Message
}

export class OutboxRepository {
  private readonly database: EntityDatabase
  private adding: string | undefined
  private readonly removal: string

  constructor(database: EntityDatabase) {
    this.database = database
    this.removal = database.builder.deleteFrom('outbox').where('id', '=', 0).compile().sql
  }

  /** A step of the transaction that makes the change; {@link addedId} reads the entry's id off the result. */
  add(message: Message): Statement {
    const row = { message: messageText(message) }
    this.adding ??= this.database.builder.insertInto('outbox').values(row).returning('id').compile().sql
    return { sql: this.adding, parameters: [row.message], returnsRows: true }
  }

  addedId(written: Written, statementIndex: number): number {
    const [row] = (written.results[statementIndex]?.rows ?? []) as readonly { id: number }[]
    if (row === undefined) throw EntityStoreErrors.FAILED({ reason: 'the outbox gave no id' })
    return row.id
  }

  /** Whether other processes add entries too: their ids do not come in the order of commits, so `after` is no way to follow them. */
  get isShared(): boolean {
    return this.database.isShared
  }

  /**
   * Of a shared table: takes the oldest entries that are nobody's any more, for so long, oldest first. By the clock of the
   * database, which all processes share.
   */
  async claim(leaseMs: number, limit: number): Promise<readonly OutboxEntry[]> {
    const now = '(extract(epoch from clock_timestamp()) * 1000)::bigint'
    const statement: Statement = {
      sql: `update outbox set claimed_until = ${now} + $1 where id in (
          select id from outbox where claimed_until <= ${now} order by id limit $2 for update skip locked
        ) returning id, message`,
      parameters: [leaseMs, limit],
      returnsRows: true,
    }
    const { results } = await this.database.write([statement])
    const rows = (results[0]?.rows ?? []) as readonly { readonly id: number; readonly message: string }[]
    return rows.map(entryOf).sort((a, b) => a.id - b.id)
  }

  /** Of a shared table: who has the entries keeps them for so long from now. */
  renew(ids: readonly number[], leaseMs: number): Statement {
    return {
      sql: `update outbox set claimed_until = (extract(epoch from clock_timestamp()) * 1000)::bigint + $1
        where id = any(string_to_array($2, ',')::bigint[])`,
      parameters: [leaseMs, ids.join(',')],
    }
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
    return rows.map(entryOf)
  }

  async size(): Promise<number> {
    const row = await this.database.builder
      .selectFrom('outbox')
      .select(sql<number>`count(*)`.as('size'))
      .executeTakeFirst()
    return row?.size ?? 0
  }

  remove(ids: readonly number[]): Statement {
    // A shared table is a server's: one statement for all of them.
    if (this.database.isShared)
      return {
        sql: `delete from outbox where id = any(string_to_array($1, ',')::bigint[])`,
        parameters: [ids.join(',')],
      }
    return { sql: this.removal, parameters: [], parameterRows: ids.map((id) => [id]) }
  }
}

function entryOf(row: { readonly id: number; readonly message: string }): OutboxEntry {
  return { id: row.id, message: messageOf(row.message) }
}
