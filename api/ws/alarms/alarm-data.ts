/** One ALARM_DATA command: a page of alarms, and what changes of it. Source: `websocket-api.md` 7. */
import type { AlarmDataQuery } from '../../../model/alarm-query.ts'
import type { Page } from '../../../model/entities.ts'
import type { EntityId } from '../../../model/entity-id.ts'
import { isAttributeType, type EntityKeyType } from '../../../model/entity-query.ts'
import { stringifyJson, type JsonObject } from '../../../model/json.ts'
import { MAX_ALARM_ENTITIES, type AlarmData } from '../../../services/alarms/alarm-query-service.ts'
import { alarmDataJson } from '../../alarm-query.ts'
import type { CommandContext, LiveCommand } from '../define-command.ts'
import { Draft } from '../entity-data/draft.ts'
import { LiveValues } from '../entity-data/live-values.ts'
import type { FollowedChange } from '../followed-entities.ts'
import type { Flushable } from '../subscription.ts'
import { FollowedAlarms, type AlarmView } from './followed-alarms.ts'

/** Changes of values kept while alarms are read; one more, and they are read again. */
const HEARD_LIMIT = 10_000

export class AlarmDataSubscription implements LiveCommand, AlarmView, Flushable {
  readonly cmdId: number
  readonly liveKind = 'query'
  private readonly query: AlarmDataQuery
  private readonly context: CommandContext
  private readonly followed: FollowedAlarms
  private readonly values: LiveValues
  /** By id, in the order of the page. */
  private shown: Map<string, AlarmData> | undefined
  private onPage: ReadonlySet<string> = new Set()
  private totalElements = 0
  private heardMeanwhile: (readonly [EntityId, FollowedChange])[] | undefined
  private draft: Draft | undefined

  constructor(cmdId: number, query: AlarmDataQuery, context: CommandContext) {
    this.cmdId = cmdId
    this.query = query
    this.context = context
    this.values = new LiveValues(() => this.changed())
    this.values.set(query.latest, undefined)
    const ofType = (isOf: (type: EntityKeyType) => boolean) =>
      new Set(query.latest.filter(({ type }) => isOf(type)).map(({ key }) => key))
    this.followed = new FollowedAlarms(context, query, this, {
      series: ofType((type) => type === 'TIME_SERIES'),
      attributes: ofType(isAttributeType),
    })
  }

  start(): Promise<void> {
    return this.followed.readAgain()
  }

  /** A page of a fixed time, or a later one, shows no alarm that was not on it. */
  concerns(alarmId: string): boolean {
    const showsNew = this.query.timeWindowMs !== undefined && this.query.page.page === 0
    return showsNew || this.shown?.has(alarmId) === true
  }

  heard(entity: EntityId, change: FollowedChange): void {
    if (this.heardMeanwhile === undefined) return this.showValues(entity, change)
    if (this.heardMeanwhile.length < HEARD_LIMIT) this.heardMeanwhile.push([entity, change])
    else this.followed.doubt()
  }

  async read(): Promise<void> {
    const { services, principal, reads } = this.context
    const { entities = [] } = this.followed
    this.heardMeanwhile = []
    try {
      const page = await reads.run(() => services.alarmQueries.pageOf(principal, this.query, entities))
      if (!this.followed.isClosed) this.tell(page)
    } finally {
      const heard = this.heardMeanwhile
      this.heardMeanwhile = undefined
      for (const [entity, change] of heard) this.showValues(entity, change)
    }
  }

  /** Sends the alarms whose values changed, whole. */
  flush(): void {
    const { draft } = this
    if (draft === undefined || this.followed.isClosed) return
    const { host } = this.context
    if (host.isSlow) return host.whenDrained(this)
    this.draft = undefined
    const changed = new Set(draft.shown().map(({ entityId }) => entityId.id))
    const alarms = [...(this.shown?.values() ?? [])]
    this.sendUpdate(alarms.filter(({ entity }) => changed.has(entity.id)))
  }

  close(): void {
    this.followed.close()
    this.draft = undefined
  }

  private tell(page: Page<AlarmData>): void {
    const before = this.shown
    const totalBefore = this.totalElements
    this.shown = new Map(page.data.map((alarm) => [alarm.id, alarm]))
    this.totalElements = page.totalElements
    const onPage = page.data.map(({ entity }) => entity)
    this.onPage = new Set(onPage.map(({ id }) => id))
    this.values.take(page.data)
    this.draft = undefined
    const isSame =
      before !== undefined &&
      before.size === page.data.length &&
      totalBefore === page.totalElements &&
      page.data.every(({ id }) => before.has(id))
    if (!isSame) return this.sendPage(page)
    this.sendUpdate(page.data.filter((alarm) => printOf(alarm) !== printOf(before.get(alarm.id))))
  }

  private showValues(entity: EntityId, change: FollowedChange): void {
    if (!this.onPage.has(entity.id)) return
    if (!this.values.show(entity, change)) this.followed.ask()
  }

  private changed(): Draft {
    if (this.draft === undefined) {
      this.draft = new Draft()
      this.context.host.atTurnEnd(this)
    }
    return this.draft
  }

  private sendPage(page: Page<AlarmData>): void {
    this.send({ data: { ...page, data: page.data.map(alarmDataJson) }, update: null })
  }

  /** With the newest values that are known of their entities. */
  private sendUpdate(alarms: readonly AlarmData[]): void {
    if (alarms.length === 0) return
    const update = alarms.map((alarm) => ({ ...alarm, latest: this.values.known.shown(alarm.entity) }))
    for (const alarm of update) this.shown?.set(alarm.id, alarm)
    this.send({ data: null, update: update.map(alarmDataJson) })
  }

  private send(members: JsonObject): void {
    const { total } = this.followed
    const head = { cmdId: this.cmdId, errorCode: 0, errorMsg: null, cmdUpdateType: 'ALARM_DATA' }
    // Where nothing matched nothing is followed.
    const allowedEntities = total === 0 ? 0 : MAX_ALARM_ENTITIES
    this.context.host.send(stringifyJson({ ...head, ...members, allowedEntities, totalEntities: total }))
  }
}

/** What of an alarm is news when it differs: fields are always as of now. */
function printOf(alarm: AlarmData | undefined): string {
  if (alarm === undefined) return ''
  const { ENTITY_FIELD: fields = {}, ...latest } = alarm.latest
  const texts = Object.entries(fields).map(([key, { value }]) => [key, value])
  return stringifyJson(alarm.info) + JSON.stringify([alarm.entity, texts, latest])
}
