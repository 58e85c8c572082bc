/** The inboxes of users: each keeps its newest. Whoever reads or changes one does so as its user. */
import type { Page, PageQuery } from '../../model/entities.ts'
import { parseJson, type JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'
import type { Statement } from '../../storage/entities/database.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { Row } from '../../storage/entities/tables/entity-table.ts'
import type { Condition, RowStore } from '../../storage/entities/tables/row-store.ts'
import type { CommitDoubts } from '../changes/commit-doubts.ts'
import { inboxRows } from '../entities/notification.ts'
import { NotificationErrors } from './errors.ts'

export interface InboxParts {
  readonly entities: EntityStore
  readonly feed: ChangeFeed
  readonly doubts: CommitDoubts
}

/** What is put into an inbox. */
export interface Delivered {
  readonly id: string
  readonly createdTime: number
  readonly tenantId: string
  readonly recipientId: string
  readonly requestId: string | null
  readonly type: string
  readonly subject: string | null
  readonly text: string
  readonly additionalConfig: string
  readonly info: string
}

const MAX_INBOX = 1_000
const SORTS = { createdTime: 'created_time', subject: 'subject', text: 'text', type: 'type', status: 'status' } as const
const UNREAD: Condition = { column: 'status', is: 'SENT' }

export class Inbox {
  private readonly parts: InboxParts
  private readonly rows: RowStore

  constructor(parts: InboxParts) {
    this.parts = parts
    this.rows = inboxRows(parts.entities)
  }

  /** `types`: only of these, where there are any. */
  async page(
    { userId }: Pick<Principal, 'userId'>,
    isUnreadOnly: boolean,
    query: PageQuery,
    types: readonly string[] = [],
  ): Promise<Page<JsonObject>> {
    const where = [...ownedBy(userId, isUnreadOnly), ...ofTypes(types)]
    const page = await this.rows.page({ where, query, sort: SORTS, search: ['subject', 'text'] })
    return { ...page, data: page.data.map(jsonOf) }
  }

  unreadCount({ userId }: Pick<Principal, 'userId'>, types: readonly string[] = []): Promise<number> {
    return this.rows.count([...ownedBy(userId, true), ...ofTypes(types)])
  }

  /** Of another user it is not found. */
  async markRead(principal: Principal, id: string): Promise<void> {
    await this.own(principal, id)
    await this.change(principal.userId, this.rows.updateAll([{ column: 'id', is: id }], { status: 'READ' }))
  }

  /** Those among them that are the user's. */
  async markManyRead({ userId }: Principal, ids: readonly string[]): Promise<void> {
    const where = [...ownedBy(userId, true), { column: 'id', in: ids }]
    await this.change(userId, this.rows.updateAll(where, { status: 'READ' }))
  }

  async markAllRead({ userId }: Principal): Promise<void> {
    await this.change(userId, this.rows.updateAll(ownedBy(userId, true), { status: 'READ' }))
  }

  async delete(principal: Principal, id: string): Promise<void> {
    await this.own(principal, id)
    await this.change(principal.userId, this.rows.deleteAll([{ column: 'id', is: id }]))
  }

  /** Steps that put it there; whoever commits them tells the feed. */
  delivery(delivered: Delivered): readonly Statement[] {
    const { id, createdTime, tenantId, recipientId, requestId, type, subject, text, additionalConfig, info } = delivered
    return [
      this.rows.insert({
        id,
        created_time: createdTime,
        version: 1,
        tenant_id: tenantId,
        recipient_id: recipientId,
        request_id: requestId,
        type,
        subject,
        text,
        additional_config: additionalConfig,
        info,
        status: 'SENT',
      }),
      this.rows.keepNewest({ recipient_id: recipientId }, MAX_INBOX),
    ]
  }

  tell(userIds: Iterable<string>): void {
    for (const id of userIds) this.parts.feed.publish({ kind: 'inbox-changed', entity: { entityType: 'USER', id } })
  }

  /** Whose inboxes have something of the request. */
  async recipientsOf(requestId: string): Promise<readonly string[]> {
    return (await this.rows.distinct('recipient_id', [{ column: 'request_id', is: requestId }])).map(String)
  }

  /** A step that takes away at most so many of before that time (Unix ms). */
  removal(before: number, limit: number): Statement {
    return this.rows.deleteOldest([{ column: 'created_time', from: 0, to: before }], limit)
  }

  private async change(userId: string, statement: Statement): Promise<void> {
    const tell = (): void => this.tell([userId])
    await this.parts.doubts.watch(this.parts.entities.write([statement]), tell)
    tell()
  }

  private async own({ userId }: Principal, id: string): Promise<void> {
    const found = await this.rows.find([
      { column: 'id', is: id },
      { column: 'recipient_id', is: userId },
    ])
    if (found === undefined) throw NotificationErrors.NOT_FOUND()
  }
}

function ownedBy(userId: string, isUnreadOnly: boolean): Condition[] {
  const own: Condition = { column: 'recipient_id', is: userId }
  return isUnreadOnly ? [own, UNREAD] : [own]
}

function ofTypes(types: readonly string[]): readonly Condition[] {
  return types.length === 0 ? [] : [{ column: 'type', in: types }]
}

function jsonOf(row: Row): JsonObject {
  const text = (column: string): string => String(row[column] ?? '')
  const { request_id: requestId, subject } = row
  return {
    id: { entityType: 'NOTIFICATION', id: text('id') },
    createdTime: Number(row['created_time']),
    requestId: typeof requestId === 'string' ? { entityType: 'NOTIFICATION_REQUEST', id: requestId } : null,
    recipientId: { entityType: 'USER', id: text('recipient_id') },
    type: text('type'),
    deliveryMethod: 'WEB',
    subject: typeof subject === 'string' ? subject : null,
    text: text('text'),
    additionalConfig: parseJson(text('additional_config')),
    info: parseJson(text('info')),
    status: text('status'),
  }
}
