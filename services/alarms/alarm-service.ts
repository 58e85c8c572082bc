/**
 * Alarms: raised, raised further, acknowledged, cleared, assigned, deleted; by users, and by rules (`createOrUpdate`, `clear`). An entity has
 * at most one active alarm of a type. Each change is one transaction with its notes among the comments and, where a user made it, its
 * rule-engine message; then the change feed tells every entity on which the alarm shows. Source: `rest-api.md` section 9,
 * `rule-engine.md` 2.3 and 7.1.
 */
import type { Clock, Random } from '../../model/clock.ts'
import type { Page, PageQuery, User } from '../../model/entities.ts'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import { isMillraceError } from '../../model/errors.ts'
import { stringifyJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import type { KnownMessageType } from '../../model/message-type.ts'
import { Message, type Metadata } from '../../model/message.ts'
import type { Principal } from '../../model/principal.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'
import type { ActiveAlarms, AlarmFilter, AssigneeColumns } from '../../storage/entities/alarms.ts'
import { originatorSorts } from '../../storage/entities/queries/originator-names.ts'
import type { QueryTable } from '../../storage/entities/queries/query.ts'
import type { Statement } from '../../storage/entities/database.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { RowStore } from '../../storage/entities/tables/row-store.ts'
import type { Row } from '../../storage/entities/tables/entity-table.ts'
import type { Changes } from '../changes.ts'
import type { Cleanup } from '../cleanup.ts'
import type { CommitDoubts } from '../commit-doubts.ts'
import { itemNotFound, ServiceErrors } from '../errors.ts'
import { alarms, SEVERITIES, type Alarm, type AlarmSeverity } from '../entities/alarm.ts'
import { tableName } from '../entities/define.ts'
import type { ManyNamesLookup } from '../entities/many-names.ts'
import { retriedWhile } from '../entities/retried.ts'
import { recordWith, rowsOf } from '../entities/rows.ts'
import { USAGE, type UsageMeter } from '../../engine/usage/usage.ts'
import { UsageErrors } from '../usage/errors.ts'
import type { MessageRoute, RouteLookup } from '../message-route.ts'
import type { ChangeNotifications } from '../notifications/change-notifications.ts'
import { candidatesFor, type UserPage } from './alarm-candidates.ts'
import { AlarmComments, commentJson, titleOf, type AlarmComment, type CommentDraft } from './alarm-comments.ts'
import { checkDraft, membersOf, type AlarmDraft, type UserAlarmDraft } from './alarm-drafts.ts'
import { AlarmInfos } from './alarm-infos.ts'
import { AlarmErrors } from './errors.ts'
import type { Propagation } from './propagation.ts'

export interface AlarmServiceParts {
  readonly entities: EntityStore
  readonly changes: Changes
  readonly feed: ChangeFeed
  readonly doubts: CommitDoubts
  readonly cleanup: Cleanup
  readonly clock: Clock
  readonly random: Random
  readonly routeOf: RouteLookup
  readonly namesOf: ManyNamesLookup
  readonly findUser: (id: string) => Promise<User | undefined>
  readonly userPage: UserPage
  readonly propagation: Propagation
  readonly notifications: ChangeNotifications
  readonly meter: UsageMeter
  readonly forgetAttributes: (entityId: string) => void
  /** Where names of originators are. */
  readonly originators: readonly QueryTable[]
}

export type { AlarmFilter, UserAlarmDraft }

export interface AlarmOutcome {
  readonly alarm: Alarm
  /** Undefined where it is new. */
  readonly before: Alarm | undefined
  /** As messages carry it. */
  readonly info: JsonObject
}

/** What a user did, for the rule engine. */
interface UserEvent {
  readonly principal: Principal
  readonly type: KnownMessageType
  readonly metadata?: Metadata
}

/** Steps of the transaction, made of what it makes of the alarm. */
type NoteOutcome = (outcome: AlarmOutcome) => readonly Statement[]

export class AlarmService {
  private readonly parts: AlarmServiceParts
  private readonly rows: RowStore
  private readonly comments: AlarmComments
  private readonly infos: AlarmInfos
  private readonly sorts: ReturnType<typeof originatorSorts>

  constructor(parts: AlarmServiceParts) {
    this.parts = parts
    this.rows = rowsOf(alarms, parts.entities)
    this.comments = new AlarmComments(parts.entities, parts.clock, parts.random)
    this.infos = new AlarmInfos(parts)
    this.sorts = originatorSorts(parts.originators)
  }

  async find(id: string): Promise<Alarm | undefined> {
    const row = await this.rows.find([{ column: 'id', is: id }])
    return row && alarms.recordOf(row)
  }

  /** Throws `ITEM_NOT_FOUND`. */
  async get(id: string): Promise<Alarm> {
    const alarm = await this.find(id)
    if (alarm === undefined) throw itemNotFound(entityId('ALARM', id))
    return alarm
  }

  /** Throws `ITEM_NOT_FOUND`. */
  async findInfo(id: string): Promise<JsonObject> {
    const row = await this.parts.entities.alarms.find(id)
    if (row === undefined) throw itemNotFound(entityId('ALARM', id))
    return (await this.infos.ofRows([row]))[0] ?? {}
  }

  /** As infos. */
  async page(filter: AlarmFilter, query: PageQuery): Promise<Page<JsonObject>> {
    const page = await this.parts.entities.alarms.page(filter, query, this.sorts)
    return { ...page, data: await this.infos.ofRows(page.data) }
  }

  types(
    filter: Pick<AlarmFilter, 'tenantId' | 'customerId'>,
    query: Omit<PageQuery, 'sortProperty'>,
  ): Promise<Page<string>> {
    return this.parts.entities.alarms.types(filter, query)
  }

  async highestSeverity(filter: AlarmFilter): Promise<AlarmSeverity | undefined> {
    const found = await this.parts.entities.alarms.severities(filter)
    return SEVERITIES.find((severity) => found.includes(severity))
  }

  hasActive(wanted: ActiveAlarms): Promise<boolean> {
    return this.parts.entities.alarms.hasActive(wanted)
  }

  /** The active one of that type on that entity. */
  async findActive(originatorId: string, type: string): Promise<Alarm | undefined> {
    const row = await this.rows.find([
      { column: 'originator_id', is: originatorId },
      { column: 'type', is: type },
      { column: 'cleared', is: 0 },
    ])
    return row && alarms.recordOf(row)
  }

  /** For rules: tells the rule engine nothing, which the caller does in its own words. Throws `ITEM_NOT_FOUND`. */
  createOrUpdate(tenantId: string, draft: AlarmDraft, note?: NoteOutcome): Promise<AlarmOutcome> {
    return this.raise(tenantId, draft, undefined, note)
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
      return active && this.commit(this.clearedNow(active, details), active, [], undefined, note)
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
        ? await this.raise(tenantId, draft, principal)
        : await retried(async () => this.changeBy(await this.get(id), draft, principal))
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
      return { alarm, note: this.noteBy(principal, alarm, 'ACK', `Alarm was acknowledged by user ${by}`) }
    })
  }

  clearByUser(principal: Principal, id: string): Promise<AlarmOutcome> {
    return this.changeByUser(principal, id, 'ALARM_CLEAR', (before) => {
      if (before.cleared) throw AlarmErrors.ALREADY_CLEARED()
      const alarm = this.clearedNow(before, undefined)
      const by = titleOf(principal)
      return { alarm, note: this.noteBy(principal, alarm, 'CLEAR', `Alarm was cleared by user ${by}`) }
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

  async deleteByUser(principal: Principal, id: string): Promise<void> {
    const alarm = await this.get(id)
    const event = await this.eventOf(alarm, { principal, type: 'ALARM_DELETE' }, alarms.jsonOf(alarm))
    await this.remove(alarm, (steps) => this.parts.changes.commit(steps, event))
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
    await this.remove(alarm, (steps) => changes.commitWith(steps, message))
  }

  private async remove(alarm: Alarm, commit: (steps: readonly Statement[]) => Promise<unknown>): Promise<void> {
    const { entities, cleanup, feed, doubts, forgetAttributes } = this.parts
    const { id } = alarm
    const shownOn = await entities.alarms.shownOn(id)
    const steps = [this.rows.delete(alarm), ...entities.deleteAttached(id), entities.cleanups.note(id)]
    const { tenantId } = alarm
    const tell = (): void => this.tell(alarm, shownOn, true)
    await doubts.watch(commit(steps), () => {
      tell()
      // They go with it.
      feed.publish({ kind: 'relations-changed', entity: entityId('TENANT', tenantId), tenantId })
    })
    forgetAttributes(id)
    tell()
    feed.publish({ kind: 'entity-deleted', entity: entityId('ALARM', id), tenantId })
    await cleanup.run(id)
  }

  /** Who may have the alarm, as far as the caller sees them. Throws `ITEM_NOT_FOUND`. */
  async pageOfCandidates(principal: Principal, alarmId: string, query: PageQuery): Promise<Page<JsonObject>> {
    return candidatesFor(await this.get(alarmId), this.parts.userPage, principal, query)
  }

  async saveCommentByUser(principal: Principal, alarmId: string, draft: CommentDraft): Promise<AlarmComment> {
    const alarm = await this.get(alarmId)
    const { comment, statement, isNew } = await this.comments.prepare(principal, alarm, draft)
    const info = await this.findInfo(alarm.id)
    const event = await this.eventOf(
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
    const comment = await this.comments.find(alarmId, commentId)
    const removal = this.comments.remove(principal, comment)
    const alarm = await this.get(alarmId)
    const metadata = { comment: stringifyJson(commentJson(comment)) }
    const event = await this.eventOf(
      alarm,
      { principal, type: 'COMMENT_UPDATED', metadata },
      await this.findInfo(alarmId),
    )
    // No message tells of it.
    const audit = { actionType: 'DELETED_COMMENT' } as const
    await this.parts.entities.write([removal, ...(await this.parts.changes.audited({ ...event, audit }))])
  }

  pageOfComments(alarmId: string, query: PageQuery): Promise<Page<JsonObject>> {
    return this.comments.page(alarmId, query)
  }

  private raise(
    tenantId: string,
    draft: AlarmDraft,
    principal: Principal | undefined,
    note?: NoteOutcome,
  ): Promise<AlarmOutcome> {
    checkDraft(draft)
    return retried(async () => {
      const { originator } = draft
      const route = await this.parts.routeOf(originator)
      if (route === undefined || route.tenantId !== tenantId) throw itemNotFound(originator)
      const active = await this.findActive(originator.id, draft.type)
      if (principal?.authority === 'CUSTOMER_USER' && (active ?? route).customerId !== principal.customerId)
        throw ServiceErrors.PERMISSION_DENIED()
      return active === undefined
        ? this.create(route, draft, principal, note)
        : this.changeBy(active, draft, principal, note)
    })
  }

  private async create(
    route: MessageRoute,
    draft: AlarmDraft,
    principal: Principal | undefined,
    note: NoteOutcome | undefined,
  ): Promise<AlarmOutcome> {
    const { clock, random, meter } = this.parts
    const { tenantId, customerId } = route
    if (meter.isDisabled(tenantId, 'ALARM')) throw UsageErrors.ALARMS()
    const identity = { id: random.uuid(), createdTime: clock.now(), version: 1, tenantId }
    const { originator, type } = draft
    const own = { customerId, type, originatorType: originator.entityType, originatorId: originator.id }
    const alarm = recordWith(alarms, identity, { ...own, ...membersOf(draft, clock.now()) })
    const event: UserEvent | undefined = principal && { principal, type: 'ENTITY_CREATED' }
    const outcome = await this.commit(alarm, undefined, [], event, note)
    meter.of(tenantId).add(USAGE.createdAlarms, 1)
    return outcome
  }

  /** Nothing but the note is written, and nobody hears of it, where nothing differs. */
  private async changeBy(
    before: Alarm,
    draft: AlarmDraft,
    principal: Principal | undefined,
    note?: NoteOutcome,
  ): Promise<AlarmOutcome> {
    checkDraft(draft)
    // A rule that says nothing of the start leaves it where it was; a user's save begins now.
    const members = membersOf(draft, principal === undefined ? before.startTs : this.parts.clock.now())
    const alarm = { ...before, ...members, version: before.version + 1 }
    if (stringifyJson(alarms.jsonOf(alarm)) === stringifyJson(alarms.jsonOf(before))) {
      const unchanged = { alarm: before, before, info: await this.findInfo(before.id) }
      if (note !== undefined) await this.parts.entities.write(note(unchanged))
      return unchanged
    }
    const notes: Statement[] = []
    if (alarm.severity !== before.severity) {
      const text = `Alarm severity was updated from ${before.severity} to ${alarm.severity}`
      const more = { oldSeverity: before.severity, newSeverity: alarm.severity }
      notes.push(...this.comments.note(alarm, 'SEVERITY_CHANGED', text, more))
    }
    return this.commit(alarm, before, notes, principal && { principal, type: 'ENTITY_UPDATED' }, note)
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
      return this.commit(alarm, before, note, { principal, type })
    })
  }

  private async commit(
    changed: Alarm,
    before: Alarm | undefined,
    notes: readonly Statement[],
    event: UserEvent | undefined,
    note?: NoteOutcome,
  ): Promise<AlarmOutcome> {
    const { entities, changes, doubts, propagation, notifications } = this.parts
    const alarm = before === undefined ? changed : { ...changed, version: before.version + 1 }
    const shownBefore = before === undefined ? [] : await entities.alarms.shownOn(alarm.id)
    const shown = await propagation.entitiesOf(alarm)
    const row = alarms.rowOf(alarm)
    const own = before === undefined ? this.rows.insert(row) : this.rows.update(row)
    const showing = areSame(shown, shownBefore) ? [] : entities.alarms.showOn(alarm, shown)
    const info = await this.infos.of(alarm)
    const held = before === undefined ? this.originatorHeld(alarm) : undefined
    const told = await notifications.alarmChanged({ alarm, before, info, by: event?.principal })
    const outcome = { alarm, before, info }
    const noted = note === undefined ? [] : note(outcome)
    const after = [...(held === undefined ? [] : [held.after]), ...showing, ...notes, ...told, ...noted]
    const steps = [...(held?.before ?? []), own, ...after]
    const write =
      event === undefined ? entities.write(steps) : changes.commit(steps, await this.eventOf(alarm, event, info))
    const tell = (): void => this.tell(alarm, [...shown, ...shownBefore], false)
    await doubts.watch(write, tell)
    tell()
    notifications.committed(told)
    return outcome
  }

  /** An alarm of what is gone would stay for ever. */
  private originatorHeld({ id, originatorType, originatorId }: Alarm) {
    const gone = () => itemNotFound(entityId(originatorType, originatorId))
    return this.parts.entities.alarms.requireOriginator(id, originatorId, tableName(originatorType), gone)
  }

  private async eventOf(alarm: Alarm, { principal, type, metadata }: UserEvent, body: JsonObject) {
    const { tenantId, customerId, originatorType, originatorId } = alarm
    const originator = entityId(originatorType, originatorId)
    const route = await this.parts.routeOf(originator)
    return {
      type,
      principal,
      tenantId,
      customerId,
      originator,
      ruleChainId: route?.ruleChainId ?? null,
      queueName: route?.queueName ?? null,
      metadata: { ...metadata, entityName: alarm.type, entityType: originatorType },
      data: stringifyJson(body),
    }
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

  private tell({ id, tenantId }: Alarm, entities: readonly EntityId[], isDeleted: boolean): void {
    const byId = new Map(entities.map((entity) => [entity.id, entity]))
    for (const entity of byId.values())
      this.parts.feed.publish({ kind: 'alarm', entity, tenantId, alarmId: id, isDeleted })
  }

  /** Rows as lists show them. */
  infosOf(rows: readonly (Row & AssigneeColumns)[]): Promise<JsonObject[]> {
    return this.infos.ofRows(rows)
  }
}

interface Changed {
  readonly alarm: Alarm
  readonly note: readonly Statement[]
}

function areSame(some: readonly EntityId[], others: readonly EntityId[]): boolean {
  const ids = new Set(others.map(({ id }) => id))
  return some.length === ids.size && some.every(({ id }) => ids.has(id))
}

const OVERTAKEN = new Set(['entities.VERSION_CONFLICT', 'alarm.RAISED_MEANWHILE'])

/** Starts again when another change came between its reads and its commit. */
function retried<Result>(attempt: () => Promise<Result>): Promise<Result> {
  return retriedWhile((error) => isMillraceError(error) && OVERTAKEN.has(error.code), attempt)
}
