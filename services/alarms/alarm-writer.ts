/**
 * Each change of an alarm is one transaction with its notes among the comments and, where a user made it, its rule-engine message; then the
 * change feed tells every entity on which the alarm shows. An entity has at most one active alarm of a type.
 */
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'
import { USAGE, type UsageMeter } from '../../engine/usage/usage.ts'
import type { Clock, Random } from '../../model/clock.ts'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import { isMillraceError } from '../../model/errors.ts'
import { stringifyJson, type JsonObject } from '../../model/json.ts'
import type { KnownMessageType } from '../../model/message-type.ts'
import type { Metadata } from '../../model/message.ts'
import type { Principal } from '../../model/principal.ts'
import type { Statement } from '../../storage/entities/database.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import type { RowStore } from '../../storage/entities/tables/row-store.ts'
import type { Changes } from '../changes/changes.ts'
import type { Cleanup } from '../cleanup/cleanup.ts'
import type { CommitDoubts } from '../changes/commit-doubts.ts'
import { itemNotFound, ServiceErrors } from '../errors.ts'
import { alarms, type Alarm } from '../entities/alarm.ts'
import { tableName } from '../entities/define.ts'
import { retriedWhile } from '../entities/retried.ts'
import { recordWith, rowsOf } from '../entities/rows.ts'
import type { JoinedChange } from '../entities/service-parts.ts'
import type { MessageRoute, RouteLookup } from '../changes/message-route.ts'
import type { ChangeNotifications } from '../notifications/change-notifications.ts'
import { UsageErrors } from '../usage/errors.ts'
import type { AlarmComments } from './alarm-comments.ts'
import { checkDraft, membersOf, type AlarmDraft } from './alarm-drafts.ts'
import type { AlarmReads } from './alarm-reads.ts'
import type { Propagation } from './propagation.ts'

export interface AlarmWriterParts {
  readonly entities: EntityStore
  readonly changes: Changes
  readonly feed: ChangeFeed
  readonly doubts: CommitDoubts
  readonly cleanup: Cleanup
  readonly clock: Clock
  readonly random: Random
  readonly routeOf: RouteLookup
  readonly propagation: Propagation
  readonly notifications: ChangeNotifications
  readonly meter: UsageMeter
  readonly forgetAttributes: (entityId: string) => void
}

export interface AlarmOutcome {
  readonly alarm: Alarm
  /** Undefined where it is new. */
  readonly before: Alarm | undefined
  /** As messages carry it. */
  readonly info: JsonObject
}

/** What a user did, for the rule engine. */
export interface UserEvent {
  readonly principal: Principal
  readonly type: KnownMessageType
  readonly metadata?: Metadata
}

/** Steps of the transaction, made of what it makes of the alarm. */
export type NoteOutcome = (outcome: AlarmOutcome) => readonly Statement[]

export class AlarmWriter {
  private readonly parts: AlarmWriterParts
  private readonly reads: AlarmReads
  private readonly comments: AlarmComments
  private readonly rows: RowStore

  constructor(parts: AlarmWriterParts, reads: AlarmReads, comments: AlarmComments) {
    this.parts = parts
    this.reads = reads
    this.comments = comments
    this.rows = rowsOf(alarms, parts.entities)
  }

  /** Throws `ITEM_NOT_FOUND` where the originator is none of the tenant's. Starts again where another change came between. */
  raise(
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
      const active = await this.reads.findActive(originator.id, draft.type)
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
  async changeBy(
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
      const unchanged = { alarm: before, before, info: await this.reads.findInfo(before.id) }
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

  async commit(
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
    const info = await this.reads.infos.of(alarm)
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

  /**
   * A change of who has the alarm, committed with another one. Where something else of the alarm changes meanwhile it counts all the same: of
   * alarms that rules change all the time the whole would never come to its end. It is undone where another one has the alarm by then.
   */
  async assigned(changed: Alarm, before: Alarm, notes: readonly Statement[], event: UserEvent): Promise<JoinedChange> {
    const alarm = { ...changed, version: before.version + 1 }
    const shown = await this.parts.entities.alarms.shownOn(alarm.id)
    const tell = (): void => this.tell(alarm, shown, false)
    const whose = [
      { column: 'id', is: alarm.id },
      { column: 'assignee_id', is: before.assigneeId },
    ]
    const own = this.rows.updateAll(whose, { assignee_id: alarm.assigneeId, assign_ts: alarm.assignTs })
    const otherwise = (): Error => EntityStoreErrors.VERSION_CONFLICT({ entity: alarms.label })
    return {
      statements: [{ ...own, expect: { changes: 1, otherwise } }, ...notes],
      event: await this.eventOf(alarm, event, await this.reads.infos.of(alarm)),
      committed: tell,
      inDoubt: tell,
    }
  }

  /** An alarm of what is gone would stay for ever. */
  private originatorHeld({ id, originatorType, originatorId }: Alarm) {
    const gone = () => itemNotFound(entityId(originatorType, originatorId))
    return this.parts.entities.alarms.requireOriginator(id, originatorId, tableName(originatorType), gone)
  }

  async eventOf(alarm: Alarm, { principal, type, metadata }: UserEvent, body: JsonObject) {
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
      // The audit row is the originator's, and under its name.
      audit: { entityName: undefined },
    }
  }

  async remove(alarm: Alarm, commit: (steps: readonly Statement[]) => Promise<unknown>): Promise<void> {
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

  private tell({ id, tenantId }: Alarm, entities: readonly EntityId[], isDeleted: boolean): void {
    const byId = new Map(entities.map((entity) => [entity.id, entity]))
    for (const entity of byId.values())
      this.parts.feed.publish({ kind: 'alarm', entity, tenantId, alarmId: id, isDeleted })
  }
}

function areSame(some: readonly EntityId[], others: readonly EntityId[]): boolean {
  const ids = new Set(others.map(({ id }) => id))
  return some.length === ids.size && some.every(({ id }) => ids.has(id))
}

const OVERTAKEN = new Set(['entities.VERSION_CONFLICT', 'alarm.RAISED_MEANWHILE'])

/** Starts again when another change came between its reads and its commit. */
export function retried<Result>(attempt: () => Promise<Result>): Promise<Result> {
  return retriedWhile((error) => isMillraceError(error) && OVERTAKEN.has(error.code), attempt)
}
