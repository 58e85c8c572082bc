/**
 * One ENTITY_DATA command: a page of entities, and what of them is followed. It listens first and reads then; what was heard meanwhile is
 * shown after what was read, unless it says nothing new. Steps of one command are carried out one after the other.
 */
import type { TimerHandle } from '../../../model/clock.ts'
import type { EntityId } from '../../../model/entity-id.ts'
import { isMillraceError } from '../../../model/errors.ts'
import {
  isAttributeType,
  type EntityData,
  type EntityDataQuery,
  type EntityKey,
  type EntityKeyType,
} from '../../../model/entity-query.ts'
import type { Page } from '../../../model/entities.ts'
import { dynamicSources } from '../../../services/queries/resolve.ts'
import { distinct } from '../../entity-query.ts'
import { notingChanges, type ChangedMeanwhile } from '../changed-meanwhile.ts'
import type { CommandContext, LiveCommand } from '../define-command.ts'
import type { FollowedChange, Follower } from '../followed-entities.ts'
import { INTERNAL_ERROR } from '../frames.ts'
import type { Rereadable } from '../rereads.ts'
import type { Flushable } from '../subscription.ts'
import { checkReads } from './check-reads.ts'
import { Doubts } from './doubts.ts'
import { Draft } from './draft.ts'
import { changesFrame, dataFrame, failureFrame, type ShownEntity } from './frames.ts'
import { GONE, LiveValues } from './live-values.ts'
import { isSamePage } from './same-page.ts'
import { readAggregates, readSeries, type SeriesRequest } from './series.ts'
import type { SubCommands } from './sub-commands.ts'

/** Changes kept while values are read; one more, and all is read again. */
const HEARD_LIMIT = 10_000
/** Points of series that wait for one frame. */
const FRAME_POINTS = 1_000
const REFRESH_MS = 60_000
/** Points a key that are read again where some may have been missed. */
const MISSED_LIMIT = 1_000

type Heard = readonly [EntityId, FollowedChange]

export class EntityDataSubscription implements LiveCommand, Follower, Flushable, Rereadable {
  readonly cmdId: number
  readonly liveKind = 'query'
  /** What is followed of each entity; the feed looks here. */
  series: ReadonlySet<string> = new Set()
  attributes: ReadonlySet<string> = new Set()
  private readonly query: EntityDataQuery
  private readonly context: CommandContext
  private readonly values: LiveValues
  private page: Page<EntityData> = { data: [], totalPages: 0, totalElements: 0, hasNext: false }
  private entities: readonly EntityId[] = []
  /** Whether the client was told of another page than this one. */
  private isStale = false
  private liveKeys: readonly EntityKey[] = []
  private readonly doubts: Doubts
  private heardMeanwhile: Heard[] | undefined
  private hasMissed = false
  private isDataSent = false
  private isFollowing = false
  private draft: Draft | undefined
  private steps: Promise<void> = Promise.resolve()
  private timer: TimerHandle | undefined
  private readonly stops: (() => void)[] = []
  private closed = false

  constructor(cmdId: number, query: EntityDataQuery, context: CommandContext) {
    this.cmdId = cmdId
    this.query = query
    this.context = context
    this.values = new LiveValues(() => this.changed())
    this.doubts = new Doubts(
      (entity) => context.checkAccess(entity, 'READ'),
      (entity) => this.lose(entity),
      () => this.notFound(),
    )
    const { feed, rereads } = context.host
    this.stops.push(
      feed.onGap(() => this.missed()),
      () => rereads.forget(this),
    )
    for (const source of dynamicSources(context.principal, query.keyFilters))
      this.stops.push(feed.listen(source, ({ kind }) => void (kind.startsWith('attributes') && this.refreshSoon(0))))
  }

  get isClosed(): boolean {
    return this.closed
  }

  start(subCommands: SubCommands | undefined): Promise<void> {
    return this.step(async (changed) => {
      const latest = distinct([...this.query.latest, ...(subCommands?.latest ?? [])])
      this.take(await this.find({ ...this.query, latest }))
      if (subCommands === undefined) this.sendData()
      else await this.carryOut(subCommands, changed)
      if (this.query.page.isDynamic) this.refreshSoon(REFRESH_MS)
    })
  }

  /** Ends what earlier sub-commands follow. Of entities that are not followed nobody was told what became of them. */
  goOn(subCommands: SubCommands): Promise<void> {
    return this.step(async (changed) => {
      if (!this.isFollowing) this.doubts.addAll()
      await this.doubts.settleAll()
      await this.carryOut(subCommands, changed)
    })
  }

  /** Reads the followed values once more and sends what differs. */
  readAgain(): Promise<void> {
    return this.step(async () => {
      this.heardMeanwhile = []
      try {
        await this.doubts.settleAll()
        await this.context.host.feed.settled()
        await this.readLatest()
        await this.readMissedPoints()
      } finally {
        this.showHeard()
      }
    })
  }

  heard(entity: EntityId, change: FollowedChange): void {
    if (this.closed) return
    if (change.kind === 'entity') return this.doubt(entity)
    if (this.heardMeanwhile === undefined) return this.show(entity, change)
    if (this.heardMeanwhile.length < HEARD_LIMIT) this.heardMeanwhile.push([entity, change])
    else this.hasMissed = true
  }

  /** Sends what changed. A client that is slow is told of the newest values when it has read what waits for it. */
  flush(): void {
    const { draft } = this
    if (draft === undefined || this.closed) return
    const { host } = this.context
    if (host.isSlow && draft.points < FRAME_POINTS) return host.whenDrained(this)
    this.draft = undefined
    if (!draft.isEmpty) host.send(changesFrame(this.cmdId, draft.shown()))
  }

  close(): void {
    this.closed = true
    this.timer?.cancel()
    this.doubts.clear()
    for (const stop of this.stops) stop()
    this.unfollow()
    this.heardMeanwhile = undefined
    this.draft = undefined
  }

  /** One after the other; a closed command does nothing more. What is found is followed only later: until then who changes hands is noted. */
  private step(work: (changed: ChangedMeanwhile) => Promise<void>): Promise<void> {
    const done = this.steps.then(() => (this.closed ? undefined : notingChanges(this.context.host.feed, work)))
    // Who asked for the step hears of its failure; the next one begins all the same.
    this.steps = done.catch(() => undefined)
    return done
  }

  private find(query: EntityDataQuery): Promise<Page<EntityData>> {
    const { reads, services, principal } = this.context
    return reads.run(() => services.entityQueries.find(principal, query))
  }

  private take(page: Page<EntityData>): void {
    this.page = page
    this.entities = page.data.map(({ entity }) => entity)
    this.values.take(page.data)
  }

  private async carryOut(subCommands: SubCommands, changed: ChangedMeanwhile): Promise<void> {
    await checkReads(this.context, this.entities, subCommands)
    if (this.closed) return
    this.unfollow()
    const { aggHistory, aggSeries, history, latest, series } = subCommands
    const aggregated = (aggSeries?.keys ?? []).map(({ key }): EntityKey => ({ type: 'TIME_SERIES', key }))
    this.liveKeys = distinct([...(latest ?? []), ...aggregated])
    this.values.set(this.liveKeys, series)
    // What is not followed any more would be shown as it once was.
    this.values.known.keepOnlyKeys([...this.query.latest, ...this.liveKeys])
    try {
      await this.follow(changed)
      for (const aggregates of [aggHistory, aggSeries]) {
        if (aggregates === undefined) continue
        const { keys, ...range } = aggregates
        const telemetry = this.context.services.telemetry
        const read = (entity: EntityId) => readAggregates(telemetry.history, entity, keys, range)
        await this.sendRead(read, (aggLatest) => ({ timeseries: {}, aggLatest }))
      }
      if (history !== undefined) await this.sendSeries(history)
      if (latest !== undefined && !this.isDataSent) this.sendData()
      if (series !== undefined) await this.sendSeries(series)
    } finally {
      this.showHeard()
    }
  }

  /** Listens, and brings what is known up to where it listens. */
  private async follow(changed: ChangedMeanwhile): Promise<void> {
    const ofType = (isOf: (type: EntityKeyType) => boolean) =>
      this.liveKeys.filter(({ type }) => isOf(type)).map(({ key }) => key)
    this.series = new Set([...ofType((type) => type === 'TIME_SERIES'), ...(this.values.points?.keys ?? [])])
    this.attributes = new Set(ofType(isAttributeType))
    // Also where no key is live: what it has read of one that changes hands meanwhile is not shown.
    this.context.followed.follow(this.entities, this)
    this.isFollowing = true
    if (this.series.size > 0 || this.attributes.size > 0) this.heardMeanwhile = []
    for (const entity of changed.take(this.entities)) this.doubts.add(entity)
    await this.doubts.settleAll()
    if (this.heardMeanwhile === undefined) return
    await this.context.host.feed.settled()
    await this.readLatest()
  }

  private unfollow(): void {
    this.context.followed.unfollow(this.entities, this)
    this.isFollowing = false
    this.series = new Set()
    this.attributes = new Set()
    this.values.clear()
  }

  private async readLatest(): Promise<void> {
    const keys = this.liveKeys.filter(({ type }) => type !== 'ENTITY_FIELD')
    if (keys.length === 0) return
    const values = await this.context.services.entityQueries.values(this.entities, keys)
    for (const entity of this.entities) {
      if (this.doubts.has(entity)) continue
      for (const { type, key } of keys) {
        const value = values.get(entity.id)?.[type]?.[key] ?? GONE
        const isNews = this.values.known.put(entity, type, key, value, true)
        if (isNews && this.isDataSent) this.changed().latest(entity, type, key, value)
      }
    }
  }

  private async readMissedPoints(): Promise<void> {
    const { context } = this
    const { points } = this.values
    if (points === undefined) return
    for (const entity of this.entities) {
      const startTs = this.values.lastTime(entity) + 1
      if (!Number.isFinite(startTs)) continue
      const request = { keys: points.keys, startTs, endTs: context.clock.now() + 1, limit: MISSED_LIMIT }
      const { value } = await context.services.telemetry.history(entity, request)
      // Meanwhile too it may have changed hands.
      if (this.doubts.has(entity) || !this.entities.includes(entity)) continue
      for (const found of value.values()) for (const point of [...found].reverse()) this.values.showPoint(entity, point)
    }
  }

  private async sendSeries(request: SeriesRequest): Promise<void> {
    const { history } = this.context.services.telemetry
    const read = async (entity: EntityId) => {
      const { series, sequence } = await readSeries(history, entity, request)
      if (request === this.values.points) this.values.note(entity, series, sequence)
      return series
    }
    await this.sendRead(read, (timeseries) => ({ timeseries, aggLatest: {} }))
  }

  private async sendRead<Read>(
    read: (entity: EntityId) => Promise<Read>,
    shown: (read: Read) => Pick<ShownEntity, 'timeseries' | 'aggLatest'>,
  ): Promise<void> {
    let found: readonly (readonly [EntityId, Read])[]
    try {
      // Few at a time: reads of history wait for their turns.
      found = await Promise.all(this.entities.map(async (entity) => [entity, await read(entity)] as const))
      // Whoever has it by then may see what was read.
      await this.doubts.settleAll()
    } catch (error) {
      return this.failed(error)
    }
    if (this.closed) return
    const left = new Set(this.entities)
    const parts = found
      .filter(([entity]) => left.has(entity))
      .map(([entity, part]) => ({ entityId: entity, latest: this.values.known.shown(entity), ...shown(part) }))
    this.sendParts(parts)
  }

  private failed(error: unknown): void {
    if (this.closed) return
    const isTold = isMillraceError(error) && error.kind === 'invalid'
    if (!isMillraceError(error)) this.context.log.error('ENTITY_DATA failed', { error })
    const message = isTold ? error.message : 'Failed to fetch historical data!'
    this.context.host.send(failureFrame(this.cmdId, INTERNAL_ERROR, message))
  }

  /** The first frame is the page, all later ones are changes of it. */
  private sendParts(parts: readonly ShownEntity[]): void {
    const { host } = this.context
    if (this.isDataSent) return host.send(changesFrame(this.cmdId, parts))
    this.isDataSent = true
    host.send(dataFrame(this.cmdId, { ...this.page, data: parts }))
  }

  private sendData(): void {
    if (this.closed) return
    this.isDataSent = false
    const nothing = { timeseries: {}, aggLatest: {} }
    const latestOf = (entity: EntityId) => this.values.known.shown(entity)
    this.sendParts(this.entities.map((entity) => ({ entityId: entity, latest: latestOf(entity), ...nothing })))
  }

  private showHeard(): void {
    const heard = this.heardMeanwhile ?? []
    this.heardMeanwhile = undefined
    if (this.closed) return
    for (const [entity, change] of heard) this.show(entity, change)
    if (!this.hasMissed) return
    this.hasMissed = false
    this.context.host.rereads.ask(this)
  }

  private show(entity: EntityId, change: FollowedChange): void {
    if (!this.doubts.has(entity) && !this.values.show(entity, change)) this.context.host.rereads.ask(this)
  }

  private changed(): Draft {
    const { host } = this.context
    if (this.draft !== undefined && this.draft.points >= FRAME_POINTS) this.flush()
    if (this.draft === undefined) {
      this.draft = new Draft()
      host.atTurnEnd(this)
    }
    return this.draft
  }

  /** It may have changed hands: nothing of it is shown until it is known who may see it. */
  private doubt(entity: EntityId): void {
    if (!this.doubts.add(entity)) return
    this.draft?.forget(entity)
    // Where the store does not answer, reading again asks again.
    const readAgain = (): void => void (this.closed || this.context.host.rereads.ask(this))
    this.doubts.settle(entity.id).then(readAgain, readAgain)
  }

  /** Those that the query does not find any more. */
  private async notFound(): Promise<readonly EntityId[]> {
    const { data } = await this.find({ ...this.query, latest: [] })
    const found = new Set(data.map(({ entity }) => entity.id))
    return this.entities.filter(({ id }) => !found.has(id))
  }

  private lose(entity: EntityId): void {
    this.context.followed.unfollow([entity], this)
    this.values.known.forget(entity)
    // Those that were heard since are of whoever has it now.
    this.heardMeanwhile = this.heardMeanwhile?.filter(([{ id }]) => id !== entity.id)
    this.entities = this.entities.filter(({ id }) => id !== entity.id)
    this.isStale = true
  }

  private missed(): void {
    if (this.closed) return
    this.doubts.addAll()
    if (this.heardMeanwhile === undefined) this.context.host.rereads.ask(this)
    else this.hasMissed = true
  }

  private refreshSoon(delayMs: number): void {
    this.timer?.cancel()
    if (!this.closed) this.timer = this.context.clock.after(delayMs, () => void this.refresh())
  }

  /** Runs the query again; a page that has other entities than the client was told is sent whole. */
  private async findAnew(changed: ChangedMeanwhile): Promise<void> {
    const latest = distinct([...this.query.latest, ...this.liveKeys])
    let page: Page<EntityData>
    let entities: readonly EntityId[]
    do {
      entities = this.entities
      page = await this.find({ ...this.query, latest })
      // It may be older than the loss of one.
    } while (!this.closed && entities !== this.entities)
    if (this.closed || (!this.isStale && isSamePage(this.entities, page))) return
    this.unfollow()
    this.take(page)
    this.isStale = true
    // Series of entities that are new come with the next sub-command.
    try {
      await this.follow(changed)
      // One that was lost meanwhile is still in its totals.
      this.isStale = this.entities.length !== page.data.length
      this.sendData()
    } finally {
      this.showHeard()
    }
  }

  private async refresh(): Promise<void> {
    try {
      await this.step((changed) => this.findAnew(changed))
    } catch (error) {
      // The store does not answer: the next turn asks again.
      this.context.host.rereads.failed(error)
    } finally {
      if (this.query.page.isDynamic) this.refreshSoon(REFRESH_MS)
    }
  }
}
