/**
 * Alarms: raised, raised further, acknowledged, cleared, assigned, deleted; by users, and by rules (`createOrUpdate`, `clear`). An entity has
 * at most one active alarm of a type. Each change is one transaction with its notes among the comments and, where a user made it, its
 * rule-engine message; then the change feed tells every entity on which the alarm shows. Source: `rest-api.md` section 9,
 * `rule-engine.md` 2.3 and 7.1.
 */
import type { Page, PageQuery, User } from '../../model/entities.ts'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import { stringifyJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import type { KnownMessageType } from '../../model/message-type.ts'
import { Message } from '../../model/message.ts'
import type { Principal } from '../../model/principal.ts'
import type { AlarmFilter } from '../../storage/entities/alarms.ts'
import type { Statement } from '../../storage/entities/database.ts'
import type { Row } from '../../storage/entities/tables/entity-table.ts'
import { itemNotFound, ServiceErrors } from '../errors.ts'
import { alarms, type Alarm } from '../entities/alarm.ts'
import type { JoinedChange } from '../entities/service-parts.ts'
import { AlarmComments, commentJson, titleOf, type AlarmComment, type CommentDraft } from './alarm-comments.ts'
import type { AlarmDraft, UserAlarmDraft } from './alarm-drafts.ts'
import { AlarmReads, type AlarmReadsParts } from './alarm-reads.ts'
import { AlarmWriter, retried, type AlarmOutcome, type AlarmWriterParts, type NoteOutcome } from './alarm-writer.ts'
import { AlarmErrors } from './errors.ts'

export interface AlarmServiceParts extends AlarmReadsParts, AlarmWriterParts {}

export type { AlarmFilter, AlarmOutcome, UserAlarmDraft }

const MAX_TOLD = 1_000
/** UTF-8 bytes of their messages, which are written, with the rows of the audit log, all at once. */
const MAX_TOLD_BYTES = 4 << 20

export class AlarmService extends AlarmReads {
  private readonly parts: AlarmServiceParts
  private readonly comments: AlarmComments
  private readonly writer: AlarmWriter

  constructor(parts: AlarmServiceParts) {
    super(parts)
    this.parts = parts
    this.comments = new AlarmComments(parts.entities, parts.clock, parts.random)
    this.writer = new AlarmWriter(parts, this, this.comments)
  }

  /** For rules: tells the rule engine nothing, which the caller does in its own words. Throws `ITEM_NOT_FOUND`. */
  createOrUpdate(tenantId: string, draft: AlarmDraft, note?: NoteOutcome): Promise<AlarmOutcome> {
    return this.writer.raise(tenantId, draft, undefined, note)
  }

  /** For rules: undefined where nothing of that type is active. */
  clear(
    originator: EntityId,
    type: string,
    details?: JsonValue,
    note?: NoteOutcome,
  ): Promise<AlarmOutcome | undefined> {
    return retried(async () => {
      const active = await this.findActive(originator.id, type)
      return active && this.writer.commit(this.clearedNow(active, details), active, [], undefined, note)
    })
  }

  async saveByUser(principal: Principal, draft: UserAlarmDraft): Promise<Alarm> {
    const { tenantId } = principal
    if (tenantId === null) throw ServiceErrors.PERMISSION_DENIED()
    const { id } = draft
    if (id === undefined && principal.authority === 'CUSTOMER_USER' && draft.customerId !== principal.customerId)
      throw ServiceErrors.PERMISSION_DENIED()
    // Before anything is written: a refused assignee must not leave half of the save.
    if (draft.assigneeId !== undefined && draft.assigneeId !== null) {
      const assignee = await this.requireAssignee(tenantId, draft.assigneeId)
      const before = id === undefined ? undefined : await this.get(id)
      const isOwn = assignee.customerId === principal.customerId
      if (principal.authority === 'CUSTOMER_USER' && !isOwn && before?.assigneeId !== draft.assigneeId)
        throw ServiceErrors.PERMISSION_DENIED()
    }
    const { alarm } =
      id === undefined
        ? await this.writer.raise(tenantId, draft, principal)
        : await retried(async () => this.writer.changeBy(await this.get(id), draft, principal))
    let saved = alarm
    if (draft.acknowledged === true && !saved.acknowledged) saved = (await this.ackByUser(principal, saved.id)).alarm
    if (draft.cleared === true && !saved.cleared) saved = (await this.clearByUser(principal, saved.id)).alarm
    if ((draft.assigneeId ?? null) === saved.assigneeId) return saved
    return (await this.assignByUser(principal, saved.id, draft.assigneeId ?? null)).alarm
  }

  ackByUser(principal: Principal, id: string): Promise<AlarmOutcome> {
    return this.changeByUser(principal, id, 'ALARM_ACK', (before) => {
      if (before.acknowledged) throw AlarmErrors.ALREADY_ACKNOWLEDGED()
      const alarm = { ...before, acknowledged: true, ackTs: this.parts.clock.now() }
      const by = titleOf(principal)
      return { alarm, note: this.noteBy(principal, alarm, 'ACKED_BY_USER', `Alarm was acknowledged by user ${by}`) }
    })
  }

  clearByUser(principal: Principal, id: string): Promise<AlarmOutcome> {
    return this.changeByUser(principal, id, 'ALARM_CLEAR', (before) => {
      if (before.cleared) throw AlarmErrors.ALREADY_CLEARED()
      const alarm = this.clearedNow(before, undefined)
      const by = titleOf(principal)
      return { alarm, note: this.noteBy(principal, alarm, 'CLEARED_BY_USER', `Alarm was cleared by user ${by}`) }
    })
  }

  /** Null takes it from whom it is assigned to. Who can not see the alarm can not have it. */
  assignByUser(principal: Principal, id: string, assigneeId: string | null): Promise<AlarmOutcome> {
    if (assigneeId === null) return this.unassignByUser(principal, id)
    return this.changeByUser(principal, id, 'ALARM_ASSIGNED', async (before) => {
      if (before.assigneeId === assigneeId) throw AlarmErrors.ALREADY_ASSIGNED()
      const assignee = await this.requireAssignee(before.tenantId, assigneeId)
      if (assignee.customerId !== null && assignee.customerId !== before.customerId)
        throw AlarmErrors.ASSIGNEE_WITHOUT_ACCESS()
      const alarm = { ...before, assigneeId, assignTs: this.parts.clock.now() }
      const text = `Alarm was assigned by user ${titleOf(principal)} to user ${titleOf(assignee)}`
      const more = { assigneeId, assigneeName: titleOf(assignee) }
      return { alarm, note: this.noteBy(principal, alarm, 'ASSIGNED_TO_USER', text, more) }
    })
  }

  private async requireAssignee(tenantId: string, id: string) {
    const assignee = await this.parts.findUser(id)
    if (assignee?.tenantId !== tenantId) throw itemNotFound(entityId('USER', id))
    return assignee
  }

  private unassignByUser(principal: Principal, id: string): Promise<AlarmOutcome> {
    return this.changeByUser(principal, id, 'ALARM_UNASSIGNED', (before) => {
      if (before.assigneeId === null) throw AlarmErrors.ALREADY_UNASSIGNED()
      const alarm = { ...before, assigneeId: null, assignTs: this.parts.clock.now() }
      const text = `Alarm was unassigned by user ${titleOf(principal)}`
      return { alarm, note: this.noteBy(principal, alarm, 'UNASSIGNED_BY_USER', text) }
    })
  }

  /**
   * What is noted and told when a user goes, or a customer with all his users: for the transaction in which they go. Of more than
   * {@link MAX_TOLD} alarms, or {@link MAX_TOLD_BYTES} of them, the others are taken from them without a word.
   */
  async unassignedWith(principal: Principal, gone: EntityId): Promise<readonly JoinedChange[]> {
    const leaving = new Map((await this.usersOf(gone)).map((user) => [user.id, user]))
    if (leaving.size === 0) return []
    const unassigned: JoinedChange[] = []
    let bytes = 0
    for await (const before of this.assignedTo([...leaving.keys()])) {
      if (unassigned.length === MAX_TOLD || bytes >= MAX_TOLD_BYTES) break
      const user = leaving.get(before.assigneeId ?? '')
      if (user === undefined) continue
      const alarm = { ...before, assigneeId: null, assignTs: this.parts.clock.now() }
      const userName = titleOf(user)
      const text = `Alarm was unassigned because user ${userName} - was deleted`
      const note = this.comments.note(alarm, 'UNASSIGNED_FROM_DELETED_USER', text, { userName })
      const change = await this.writer.assigned(alarm, before, note, { principal, type: 'ALARM_UNASSIGNED' })
      bytes += Buffer.byteLength(change.event.data)
      unassigned.push(change)
    }
    return unassigned
  }

  private async usersOf({ entityType, id }: EntityId): Promise<readonly Leaving[]> {
    if (entityType === 'USER') return [(await this.parts.findUser(id)) ?? []].flat()
    if (entityType !== 'CUSTOMER') return []
    const where = [{ column: 'customer_id', is: id }]
    return (await this.parts.userPage({ where, query: { page: 0, pageSize: MAX_TOLD } })).data
  }

  async deleteByUser(principal: Principal, id: string): Promise<void> {
    const alarm = await this.get(id)
    const event = await this.writer.eventOf(alarm, { principal, type: 'ALARM_DELETE' }, alarms.jsonOf(alarm))
    await this.writer.remove(alarm, (steps) => this.parts.changes.commit(steps, event))
  }

  /** One whose time is over: nobody's change, of which the rule engine hears all the same. */
  async deleteExpired(row: Row): Promise<void> {
    const alarm = alarms.recordOf(row)
    const { changes, routeOf, random, clock } = this.parts
    const originator = entityId(alarm.originatorType, alarm.originatorId)
    const route = await routeOf(originator)
    const message =
      route &&
      new Message({
        ...{ id: random.uuid(), ts: clock.now(), type: 'ALARM_DELETE', tenantId: alarm.tenantId, originator },
        customerId: alarm.customerId ?? undefined,
        metadata: { entityName: alarm.type, entityType: alarm.originatorType },
        data: stringifyJson(alarms.jsonOf(alarm)),
        ruleChainId: route.ruleChainId ?? undefined,
        queueName: route.queueName ?? undefined,
      })
    await this.writer.remove(alarm, (steps) => changes.commitWith(steps, message))
  }

  async saveCommentByUser(principal: Principal, alarmId: string, draft: CommentDraft): Promise<AlarmComment> {
    const alarm = await this.get(alarmId)
    const { comment, statement, isNew } = await this.comments.prepare(principal, alarm, draft)
    const info = await this.findInfo(alarm.id)
    const event = await this.writer.eventOf(
      alarm,
      {
        principal,
        type: isNew ? 'COMMENT_CREATED' : 'COMMENT_UPDATED',
        metadata: { comment: stringifyJson(commentJson(comment)) },
      },
      info,
    )
    const { changes, notifications } = this.parts
    const told = await notifications.alarmCommented({ alarm, info, by: principal }, comment.comment, isNew)
    await changes.commit([statement, ...told], event)
    notifications.committed(told)
    return comment
  }

  async deleteCommentByUser(principal: Principal, alarmId: string, commentId: string): Promise<void> {
    const alarm = await this.get(alarmId)
    const comment = await this.comments.find(alarm, commentId)
    const removal = this.comments.remove(principal, comment)
    const metadata = { comment: stringifyJson(commentJson(comment)) }
    const event = await this.writer.eventOf(
      alarm,
      { principal, type: 'COMMENT_UPDATED', metadata },
      await this.findInfo(alarmId),
    )
    // No message tells of it.
    const audit = { ...event.audit, actionType: 'DELETED_COMMENT' } as const
    await this.parts.entities.write([removal, ...(await this.parts.changes.audited({ ...event, audit }))])
  }

  pageOfComments(alarmId: string, query: PageQuery): Promise<Page<JsonObject>> {
    return this.comments.page(alarmId, query)
  }

  private clearedNow(before: Alarm, details: JsonValue | undefined): Alarm {
    const clearTs = this.parts.clock.now()
    return { ...before, cleared: true, clearTs, details: details ?? before.details }
  }

  private changeByUser(
    principal: Principal,
    id: string,
    type: KnownMessageType,
    change: (before: Alarm) => Changed | Promise<Changed>,
  ): Promise<AlarmOutcome> {
    return retried(async () => {
      const before = await this.get(id)
      const { alarm, note } = await change(before)
      return this.writer.commit(alarm, before, note, { principal, type })
    })
  }

  private noteBy(
    principal: Principal,
    alarm: Alarm,
    subtype: string,
    text: string,
    more: Readonly<Record<string, string>> = {},
  ): readonly Statement[] {
    const by = { userId: principal.userId, userName: titleOf(principal) }
    return this.comments.note(alarm, subtype, text, { ...by, ...more })
  }
}

type Leaving = Pick<User, 'id' | 'firstName' | 'lastName' | 'email'>

interface Changed {
  readonly alarm: Alarm
  readonly note: readonly Statement[]
}
