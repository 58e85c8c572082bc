/**
 * What people say of an alarm, and what the platform notes of what they did to it. A comment that is deleted leaves a note that it was.
 * Source: `rest-api.md` 9.2.
 */
import type { Clock, Random } from '../../model/clock.ts'
import type { Page, PageQuery } from '../../model/entities.ts'
import { isJsonObject, parseJson, stringifyJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { Statement } from '../../storage/entities/database.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import type { RowStore } from '../../storage/entities/tables/row-store.ts'
import type { EntityTable, Row } from '../../storage/entities/tables/entity-table.ts'
import type { Alarm } from '../entities/alarm.ts'
import { AlarmErrors } from './errors.ts'

export const ALARM_COMMENTS: EntityTable = {
  name: 'alarm_comment',
  version: 1,
  columns: [
    { name: 'alarm_id', type: 'text', isNullable: false, references: { table: 'alarm', whenDeleted: 'delete' } },
    { name: 'user_id', type: 'text', isNullable: true },
    { name: 'type', type: 'text', isNullable: false },
    { name: 'comment', type: 'text', isNullable: false },
  ],
  unique: [],
  indexes: [{ columns: ['alarm_id', 'created_time'] }],
}

/** More is no conversation, and would be a way to fill the disk. */
const MAX_COMMENTS = 10_000
/** Notes of the platform for one alarm: a rule may change it without end, so the newest stay. */
const MAX_NOTES = 200

export interface AlarmComment {
  readonly id: string
  readonly createdTime: number
  readonly version: number
  readonly tenantId: string
  readonly alarmId: string
  readonly userId: string | null
  readonly type: 'SYSTEM' | 'OTHER'
  readonly comment: JsonValue
}

export interface CommentDraft {
  readonly id?: string | undefined
  readonly comment?: JsonValue | undefined
}

export function commentJson(comment: AlarmComment): JsonObject {
  const { id, createdTime, alarmId, userId, type } = comment
  return {
    id: { id },
    createdTime,
    alarmId: { entityType: 'ALARM', id: alarmId },
    userId: userId === null ? null : { entityType: 'USER', id: userId },
    type,
    comment: comment.comment,
    name: stringifyJson(comment.comment),
  }
}

/** As comments name people. */
export function titleOf({ firstName, lastName, email }: Pick<Principal, 'firstName' | 'lastName' | 'email'>): string {
  const names = [firstName, lastName].filter((name) => name !== null && name !== '')
  return names.length === 0 ? email : names.join(' ')
}

export class AlarmComments {
  private readonly rows: RowStore
  private readonly clock: Clock
  private readonly random: Random

  constructor(entities: EntityStore, clock: Clock, random: Random) {
    const overtaken = (): Error => EntityStoreErrors.VERSION_CONFLICT({ entity: 'Alarm comment' })
    this.rows = entities.rows(ALARM_COMMENTS, { taken: {}, overtaken })
    this.clock = clock
    this.random = random
  }

  /** A note of what was done, for the transaction that does it. The oldest go where there are too many. */
  note(alarm: Alarm, subtype: string, text: string, more: JsonObject): readonly Statement[] {
    const note = this.fresh(alarm, null, 'SYSTEM', { text, subtype, ...more })
    return [this.rows.insert(rowOf(note)), this.rows.keepNewest({ alarm_id: alarm.id, type: 'SYSTEM' }, MAX_NOTES)]
  }

  /** Of that alarm. Throws `COMMENT_UNKNOWN`, `COMMENT_OF_OTHER_ALARM`. */
  async find(alarm: Pick<Alarm, 'id' | 'tenantId'>, id: string): Promise<AlarmComment> {
    const comment = await this.findAny(alarm, id)
    if (comment === undefined) throw AlarmErrors.COMMENT_UNKNOWN({ id })
    if (comment.alarmId !== alarm.id) throw AlarmErrors.COMMENT_OF_OTHER_ALARM()
    return comment
  }

  private async findAny({ tenantId }: Pick<Alarm, 'tenantId'>, id: string): Promise<AlarmComment | undefined> {
    const row = await this.rows.find([
      { column: 'id', is: id },
      { column: 'tenant_id', is: tenantId },
    ])
    return row && commentOf(row)
  }

  /** A new one, or the author's other words. Throws `COMMENT_…`, `TOO_MANY_COMMENTS`. */
  async prepare(
    principal: Principal,
    alarm: Alarm,
    draft: CommentDraft,
  ): Promise<{ readonly comment: AlarmComment; readonly statement: Statement; readonly isNew: boolean }> {
    const said = draft.comment
    if (said === undefined || said === null) throw AlarmErrors.COMMENT_MISSING()
    if (draft.id === undefined) {
      if ((await this.rows.count([{ column: 'alarm_id', is: alarm.id }])) >= MAX_COMMENTS)
        throw AlarmErrors.TOO_MANY_COMMENTS({ limit: MAX_COMMENTS })
      const comment = this.fresh(alarm, principal.userId, 'OTHER', said)
      return { comment, statement: this.rows.insert(rowOf(comment)), isNew: true }
    }
    const before = await this.findAny(alarm, draft.id)
    if (before === undefined) throw AlarmErrors.COMMENT_NOT_UPDATED()
    if (before.alarmId !== alarm.id) throw AlarmErrors.COMMENT_OF_OTHER_ALARM()
    if (before.type === 'SYSTEM') throw AlarmErrors.COMMENT_OF_SYSTEM_FIXED()
    if (before.userId !== principal.userId) throw AlarmErrors.COMMENT_OF_OTHER()
    const edited = isJsonObject(said) ? { ...said, edited: 'true', editedOn: this.clock.now() } : said
    const comment = { ...before, version: before.version + 1, comment: edited }
    return { comment, statement: this.rows.update(rowOf(comment)), isNew: false }
  }

  /** Leaves a note in its place. Throws `COMMENT_OF_SYSTEM`. */
  remove(principal: Principal, comment: AlarmComment): Statement {
    if (comment.type === 'SYSTEM') throw AlarmErrors.COMMENT_OF_SYSTEM()
    const userName = titleOf(principal)
    const note = { text: `Comment was deleted by user ${userName}`, subtype: 'COMMENT_DELETED', userName }
    const { version } = comment
    return this.rows.update(rowOf({ ...comment, version: version + 1, userId: null, type: 'SYSTEM', comment: note }))
  }

  /** With who said it. Throws `SORT_PROPERTY`. */
  async page(alarmId: string, query: PageQuery): Promise<Page<JsonObject>> {
    const page = await this.rows.page({
      where: [{ column: 'alarm_id', is: alarmId }],
      joins: [
        {
          alias: 'author',
          table: 'app_user',
          column: 'user_id',
          shows: { firstName: 'first_name', lastName: 'last_name', email: 'email' },
        },
      ],
      sort: { createdTime: 'created_time' },
      search: [],
      query,
    })
    const data = page.data.map((row) => ({
      ...commentJson(commentOf(row)),
      firstName: row['firstName'] ?? null,
      lastName: row['lastName'] ?? null,
      email: row['email'] ?? null,
    }))
    return { ...page, data }
  }

  private fresh(alarm: Alarm, userId: string | null, type: AlarmComment['type'], comment: JsonValue): AlarmComment {
    const { id: alarmId, tenantId } = alarm
    const createdTime = this.clock.now()
    return { id: this.random.uuid(), createdTime, version: 1, tenantId, alarmId, userId, type, comment }
  }
}

function rowOf(comment: AlarmComment): Row {
  return {
    id: comment.id,
    created_time: comment.createdTime,
    version: comment.version,
    tenant_id: comment.tenantId,
    alarm_id: comment.alarmId,
    user_id: comment.userId,
    type: comment.type,
    comment: stringifyJson(comment.comment),
  }
}

function commentOf(row: Row): AlarmComment {
  const { user_id: userId } = row
  return {
    id: String(row['id']),
    createdTime: Number(row['created_time']),
    version: Number(row['version']),
    tenantId: String(row['tenant_id']),
    alarmId: String(row['alarm_id']),
    userId: typeof userId === 'string' ? userId : null,
    type: row['type'] === 'SYSTEM' ? 'SYSTEM' : 'OTHER',
    comment: parseJson(String(row['comment'])),
  }
}
